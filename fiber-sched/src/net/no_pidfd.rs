//! For systems that do not report the end of a process as an event.

use std::io;
use std::process::Child;

use fiber_core::scheduler::net::StreamSocket;

use super::polls::Polls;

impl Polls {
    /// An error: the system does not support it.
    pub(crate) fn end_of(&self, _: &Child) -> io::Result<Box<dyn StreamSocket>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
