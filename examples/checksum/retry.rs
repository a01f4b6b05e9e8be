//! Trying again.

use std::io::{self, ErrorKind};
use std::iter::successors;
use std::time::Duration;

use fiber_core::{Error, Fiber};

/// The pauses between attempts: one for each time that it is tried again, each double the one before.
pub(crate) fn pauses() -> impl Iterator<Item = Duration> + Send {
    successors(Some(Duration::from_millis(100)), |pause| Some(*pause * 2)).take(3)
}

/// Runs the fiber that `attempt` makes. As long as it fails in a way that may pass, and there is a pause left, waits
/// for so long and tries again.
pub(crate) fn retry<T, I, F>(mut pauses: I, attempt: F) -> Fiber<T>
where
    T: Send + 'static,
    I: Iterator<Item = Duration> + Send + 'static,
    F: Fn() -> Fiber<T> + Send + 'static,
{
    let first = attempt();
    let again = move |error: Error| match pauses.next() {
        Some(pause) if may_pass(&error) => Fiber::delay(pause).bind(|()| retry(pauses, attempt)).boxed(),
        _ => Fiber::fail(error).boxed(),
    };
    first.catch(again).boxed()
}

fn may_pass(error: &Error) -> bool {
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    matches!(kind, Some(ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut))
}
