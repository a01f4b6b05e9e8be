//! What a shutdown did not end.

use std::error::Error;
use std::fmt;

use fiber_core::Dump;

/// What had not ended when the limit of a [`Pool::shutdown`](crate::Pool::shutdown), or of another scheduler, had passed: fibers,
/// blocking calls and threads.
///
/// ```
/// use fiber_core::Fiber;
/// use fiber_sched::{Pool, Shutdown};
/// use std::time::Duration;
///
/// let pool = Pool::new();
/// let _flush = pool.context().spawn_here(Fiber::<()>::never().uncancelable().named("flush"));
/// let unfinished = pool.shutdown(Shutdown::within(Duration::from_millis(1))).unwrap_err();
/// let flush = unfinished.dump().fibers().next().unwrap();
/// assert_eq!(flush.name(), Some("flush"));
/// assert!(flush.fork_site().file().ends_with(".rs"));
/// // the scheduler has not ended: 1 fiber at 1.1ms
/// //   fiber 0 "flush" (forked at src/main.rs:6) waits for nothing that will ever happen (never) (wait 1), cancelled, ..
/// assert!(unfinished.to_string().starts_with("the scheduler has not ended: 1 fiber at "));
/// ```
#[derive(Clone, Debug)]
pub struct Unfinished {
    dump: Dump,
    calls: Vec<String>,
    threads: Vec<String>,
}

/// How many fibers and calls the text names; it only counts the rest.
const LONGEST_LIST: usize = 20;

impl Unfinished {
    pub(crate) fn new(dump: Dump, calls: Vec<String>, threads: Vec<String>) -> Self {
        Unfinished { dump, calls, threads }
    }

    /// The fibers that had not ended.
    pub fn dump(&self) -> &Dump {
        &self.dump
    }

    /// The fibers whose blocking calls had not returned, each with its name and fork site. The fiber itself may have
    /// ended: a cancellation does not wait for the call.
    pub fn blocking_calls(&self) -> &[String] {
        &self.calls
    }

    /// The names of the threads that had not ended. They end when their task or call does.
    pub fn threads(&self) -> &[String] {
        &self.threads
    }
}

/// The text names the threads only if there is nothing else.
impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the scheduler has not ended: {:.LONGEST_LIST$}", self.dump)?;
        for call in self.calls.iter().take(LONGEST_LIST) {
            write!(f, "\n  a blocking call of {call} has not returned")?;
        }
        match self.calls.len().saturating_sub(LONGEST_LIST) {
            0 => {}
            1 => write!(f, "\n  and 1 more blocking call")?,
            more => write!(f, "\n  and {more} more blocking calls")?,
        }
        if self.dump.is_empty() && self.calls.is_empty() {
            write!(f, "\n  these threads have not ended: {}", self.threads.join(", "))?;
        }
        Ok(())
    }
}

impl Error for Unfinished {}
