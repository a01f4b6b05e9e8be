//! A deadline as a descriptor in the poll: the poll's own timeouts are in milliseconds.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

pub(super) struct Timer {
    descriptor: OwnedFd,
    /// The deadline that is set.
    armed: Option<Instant>,
}

impl Timer {
    pub(super) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let descriptor = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        registry.register(&mut SourceFd(&descriptor.as_raw_fd()), token, Interest::READABLE)?;
        Ok(Timer { descriptor, armed: None })
    }

    /// Sets the deadline, and returns the timeout of the poll.
    pub(super) fn set(&mut self, at: Instant, left: Duration) -> Option<Duration> {
        if self.armed == Some(at) {
            return None;
        }
        let none = Timespec { tv_sec: 0, tv_nsec: 0 };
        let seconds = i64::try_from(left.as_secs()).unwrap_or(i64::MAX);
        let value = Timespec { tv_sec: seconds, tv_nsec: left.subsec_nanos().into() };
        let spec = Itimerspec { it_interval: none, it_value: value };
        match timerfd_settime(&self.descriptor, TimerfdTimerFlags::empty(), &spec) {
            Ok(_) => {
                self.armed = Some(at);
                None
            }
            Err(_) => Some(left),
        }
    }

    /// The deadline has passed.
    pub(super) fn fired(&mut self) {
        self.armed = None;
    }
}
