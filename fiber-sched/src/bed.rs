//! Where a worker sleeps.
//!
//! The type is small on purpose: a worker that also waits for readiness of I/O can sleep elsewhere without a change to
//! the protocols by which it falls asleep.

use std::time::Instant;

use crate::primitive::{Parker, Unparker};

/// The worker's side.
pub(crate) struct Bed(Parker);

/// The side of those that wake it.
pub(crate) struct Alarm(Unparker);

impl Bed {
    /// Makes the current thread get up in time, where the system can do that: on Linux, a thread sleeps up to 50 us longer
    /// than it asked for, unless it says that this is not welcome.
    pub(crate) fn be_punctual() {
        // A thread that may not change it sleeps a bit longer.
        #[cfg(target_os = "linux")]
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZero::new(1));
    }

    pub(crate) fn new() -> (Self, Alarm) {
        let parker = Parker::new();
        let alarm = Alarm(parker.unparker().clone());
        (Bed(parker), alarm)
    }

    /// Sleeps until the alarm rings, or until a time. An alarm that has rung before ends the sleep at once. The sleep
    /// may also end for no reason.
    pub(crate) fn sleep(&self, until: Option<Instant>) {
        match until {
            Some(at) => self.0.park_deadline(at),
            None => self.0.park(),
        }
    }
}

impl Alarm {
    pub(crate) fn ring(&self) {
        self.0.unpark();
    }
}
