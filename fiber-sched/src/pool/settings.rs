//! The settings of a pool that can be changed while it runs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use fiber_core::scheduler::Unobserved;

use super::stuck::Stuck;
use crate::blocking::{DEFAULT_KEEP_ALIVE, DEFAULT_MAX_THREADS};

/// The limits and hooks of a [`Pool`](super::Pool): see [`Builder::settings`](super::Builder::settings) and
/// [`Pool::reconfigure`](super::Pool::reconfigure).
///
/// ```
/// use fiber_sched::{Pool, Settings};
/// use std::time::Duration;
///
/// let settings = Settings::new().blocking_threads(8).quantum(Duration::from_millis(1));
/// let pool = Pool::builder().settings(settings).build();
/// pool.reconfigure(pool.settings().blocking_threads(64));
/// ```
#[derive(Clone)]
#[must_use = "settings change nothing until a pool gets them"]
pub struct Settings {
    pub(super) blocking_threads: usize,
    pub(super) blocking_keep_alive: Duration,
    pub(super) quantum: Duration,
    on_unobserved: Arc<dyn Fn(&Unobserved) + Send + Sync>,
    on_stuck: Arc<dyn Fn(&Stuck) + Send + Sync>,
}

/// How long a fiber may run before it yields to others at its next bind.
const DEFAULT_QUANTUM: Duration = Duration::from_millis(2);

/// A worker that has been in a turn for this many quanta is stuck.
const STUCK_AFTER: u32 = 10;

impl Settings {
    /// The default settings.
    pub fn new() -> Self {
        Settings {
            blocking_threads: DEFAULT_MAX_THREADS,
            blocking_keep_alive: DEFAULT_KEEP_ALIVE,
            quantum: DEFAULT_QUANTUM,
            on_unobserved: Arc::new(|failure| eprintln!("{failure}")),
            on_stuck: Arc::new(|_| ()),
        }
    }

    /// The largest number of threads for blocking calls, beside the workers. They start on demand; further calls wait
    /// for a free one. The default is 512.
    ///
    /// # Panics
    /// If `most` is zero.
    #[track_caller]
    pub fn blocking_threads(mut self, most: usize) -> Self {
        assert!(most > 0, "blocking calls need a thread");
        self.blocking_threads = most;
        self
    }

    /// How long a blocking thread waits for more work before it ends. The default is 10 seconds.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::{Pool, Settings};
    /// use std::{thread, time::Duration};
    ///
    /// let settings = Settings::new().blocking_threads(1).blocking_keep_alive(Duration::from_secs(3_600));
    /// let pool = Pool::builder().settings(settings).build();
    /// let call = || pool.run(Fiber::blocking(|| thread::current().id())).unwrap();
    /// assert_eq!(call(), call(), "the same thread");
    /// ```
    pub fn blocking_keep_alive(mut self, keep_alive: Duration) -> Self {
        self.blocking_keep_alive = keep_alive;
        self
    }

    /// How long a fiber may run before it yields at its next bind, if another one waits for its worker. The default is
    /// 2 ms. The worker notices it some milliseconds late. A fiber that binds often also yields after a number of steps.
    pub fn quantum(mut self, quantum: Duration) -> Self {
        self.quantum = quantum;
        self
    }

    /// Sets the hook for failures and panics of fibers whose outcome can no longer be taken. The default prints a
    /// line to stderr. A panic of the hook is ignored.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::{Pool, Settings};
    /// use std::sync::mpsc;
    ///
    /// let (sender, lost) = mpsc::channel();
    /// let settings = Settings::new().on_unobserved(move |failure| _ = sender.send(failure.message().to_owned()));
    /// let pool = Pool::builder().settings(settings).build();
    /// drop(pool.spawn(Fiber::<()>::fail("nobody listens")));
    /// assert_eq!(lost.recv().unwrap(), "nobody listens");
    /// ```
    pub fn on_unobserved(mut self, hook: impl Fn(&Unobserved) + Send + Sync + 'static) -> Self {
        self.on_unobserved = Arc::new(hook);
        self
    }

    /// Sets the hook for a worker that is stuck, because a closure of its fiber computes or blocks for ten
    /// [quanta](Settings::quantum). The hook is called once for each such turn, at the earliest when other work waits. By
    /// default nothing is reported.
    ///
    /// Another thread runs other fibers in the place of the worker meanwhile. A computation of borrowed tasks lets it do so earlier,
    /// where it splits, and is not reported then. Other long computations should bind from time to
    /// time, and calls that block belong into [`Fiber::blocking`](fiber_core::Fiber::blocking).
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_sched::{Pool, Settings, block_on};
    /// use std::sync::mpsc;
    ///
    /// let (report, reports) = mpsc::channel();
    /// let settings = Settings::new().on_stuck(move |stuck| _ = report.send(*stuck));
    /// let pool = Pool::builder().workers(1).settings(settings).build();
    /// let stuck = pool.spawn(Fiber::lazy(move || reports.recv().unwrap().to_string()));
    /// // It waits for the only worker.
    /// assert!(block_on(pool.spawn(Fiber::success(()))).is_success());
    /// assert!(block_on(stuck).unwrap().contains("keeps its worker"));
    /// ```
    pub fn on_stuck(mut self, hook: impl Fn(&Stuck) + Send + Sync + 'static) -> Self {
        self.on_stuck = Arc::new(hook);
        self
    }

    /// After how long a worker is stuck.
    pub(super) fn stuck_after(&self) -> Duration {
        self.quantum.saturating_mul(STUCK_AFTER)
    }

    pub(super) fn unobserved(&self, failure: &Unobserved) {
        (self.on_unobserved)(failure);
    }

    pub(super) fn stuck(&self, stuck: &Stuck) {
        (self.on_stuck)(stuck);
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings::new()
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("blocking_threads", &self.blocking_threads)
            .field("blocking_keep_alive", &self.blocking_keep_alive)
            .field("quantum", &self.quantum)
            .finish_non_exhaustive()
    }
}
