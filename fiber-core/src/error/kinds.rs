//! The errors that the library itself raises.

use std::error::Error as StdError;
use std::fmt::{self, Display};
use std::panic::Location;
use std::time::Duration;

use super::trace::Site;
use crate::instant::Instant;

macro_rules! plain_error {
    ($(#[$doc:meta])* $name:ident, $text:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $name;

        impl Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($text)
            }
        }

        impl StdError for $name {}
    };
}

plain_error! {
    /// A fiber that should have given a value was cancelled: it was joined, or its [`Outcome`](crate::Outcome) was
    /// converted into a `Result`.
    Cancelled, "the fiber was cancelled"
}

plain_error! {
    /// A [`Resume`](crate::Resume) was dropped unused, or a scheduler dropped a task, so nothing can end the wait any
    /// more.
    Abandoned, "nothing can resume this wait any more: its `Resume` was dropped unused, or its scheduler dropped the task"
}

plain_error! {
    /// The program tried to fork a fiber in a [`Scope`](crate::Scope) that has ended.
    ScopeEnded, "the scope has ended: fork while its body or one of its fibers runs"
}

plain_error! {
    /// A fiber that should never end succeeded; see [`Fiber::restarted`](crate::Fiber::restarted).
    EndedEarly, "the fiber succeeded, although it should never end"
}

plain_error! {
    /// A fiber was awaited in a future that does not run inside a fiber, so there is no scheduler to run it on.
    NoScheduler,
    "a fiber was awaited outside of any fiber: spawn it on a scheduler and await its handle instead"
}

/// A `timeout` passed.
///
/// ```
/// use fiber_core::{Fiber, error::TimedOut};
/// use std::time::Duration;
///
/// let error = fiber_sched::run(Fiber::<()>::never().timeout(Duration::from_millis(1))).failure().unwrap();
/// assert_eq!(error.downcast_ref::<TimedOut>().unwrap().after(), Duration::from_millis(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedOut {
    after: Duration,
    location: Site,
}

impl TimedOut {
    pub(crate) fn new(after: Duration, location: Site) -> Self {
        TimedOut { after, location }
    }

    /// The time limit.
    pub fn after(&self) -> Duration {
        self.after
    }

    /// Where the timeout was set.
    pub fn location(&self) -> &'static Location<'static> {
        self.location
    }
}

impl Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "timed out after {:?}", self.after)
    }
}

impl StdError for TimedOut {}

/// A deadline passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadlineExceeded {
    deadline: Instant,
    location: Site,
}

impl DeadlineExceeded {
    pub(crate) fn new(deadline: Instant, location: Site) -> Self {
        DeadlineExceeded { deadline, location }
    }

    /// The deadline, in the scheduler's time.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Where it was set.
    pub fn location(&self) -> &'static Location<'static> {
        self.location
    }
}

impl Display for DeadlineExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the deadline at {} of the scheduler's time has passed", self.deadline)
    }
}

impl StdError for DeadlineExceeded {}

/// A panic that became an error, in [`Outcome::into_result`](crate::Outcome::into_result) or
/// [`Panic::into_error`](crate::Panic::into_error), or as a suppressed error.
///
/// ```
/// use fiber_core::{Fiber, error::Panicked};
/// # std::panic::set_hook(Box::new(|_| {}));
///
/// let error = fiber_sched::run(Fiber::lazy(|| -> u8 { panic!("out of tea") })).into_result().unwrap_err();
/// assert_eq!(error.downcast_ref::<Panicked>().unwrap().message(), "out of tea");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panicked {
    message: String,
}

impl Panicked {
    pub(crate) fn new(message: String) -> Self {
        Panicked { message }
    }

    /// The message of the panic, as [`Panic::message`](crate::Panic::message) gives it.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "panic: {}", self.message)
    }
}

impl StdError for Panicked {}

/// `1 item`, `3 bytes`.
pub(crate) fn counted<N: Display + PartialEq + From<u8>>(count: N, unit: &str) -> String {
    if count == N::from(1) { format!("1 {unit}") } else { format!("{count} {unit}s") }
}
