//! Real time, as a scheduler tells it.

use std::time::Duration;

use fiber_core::Instant;

/// Tells the time since it was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    epoch: std::time::Instant,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Clock { epoch: std::time::Instant::now() }
    }

    pub(crate) fn now(self) -> Instant {
        Instant::EPOCH + self.epoch.elapsed()
    }

    /// The same point in the time of the operating system; `None` if that does not reach so far.
    pub(crate) fn to_system(self, at: Instant) -> Option<std::time::Instant> {
        self.epoch.checked_add(Duration::from_nanos(at.as_nanos()))
    }
}
