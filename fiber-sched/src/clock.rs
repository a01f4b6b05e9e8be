//! The real clock of a scheduler.

use std::time::Duration;

use fiber_core::Instant;

/// Measures the time since its creation.
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

    /// The same point in the time of the operating system; `None` if that cannot represent it.
    pub(crate) fn to_system(self, at: Instant) -> Option<std::time::Instant> {
        self.epoch.checked_add(Duration::from_nanos(at.as_nanos()))
    }
}
