//! The policy of retries.

use std::io::{self, ErrorKind};
use std::time::Duration;

use fiber_core::{Error, Policy};

/// Three more attempts, after pauses that double, as long as the failure may be temporary.
pub(crate) fn policy() -> Policy {
    (Policy::exponential(Duration::from_millis(100)) & Policy::recurs(3)).while_input(may_pass)
}

fn may_pass(error: &Error) -> bool {
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    matches!(kind, Some(ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut))
}
