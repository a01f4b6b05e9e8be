//! For systems where deadlines cannot be descriptors: the poll rounds them up to milliseconds.

use std::io;
use std::time::{Duration, Instant};

use mio::{Registry, Token};

pub(super) struct Timer;

impl Timer {
    pub(super) fn new(_: &Registry, _: Token) -> io::Result<Self> {
        Ok(Timer)
    }

    /// Returns the timeout of the poll.
    pub(super) fn set(&mut self, _: Instant, left: Duration) -> Option<Duration> {
        Some(left)
    }

    pub(super) fn fired(&mut self) {}
}
