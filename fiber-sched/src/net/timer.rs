//! A deadline as a descriptor in the poll: those of a poll itself are in milliseconds.

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
    /// What it is set to.
    armed: Option<Instant>,
}

impl Timer {
    pub(super) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let descriptor = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        registry.register(&mut SourceFd(&descriptor.as_raw_fd()), token, Interest::READABLE)?;
        Ok(Timer { descriptor, armed: None })
    }

    /// Sets it, and returns how long the poll may take.
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

    /// It was due.
    pub(super) fn fired(&mut self) {
        self.armed = None;
    }
}
