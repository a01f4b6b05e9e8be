//! Where the end of a process is no event.

use std::io;
use std::process::Child;

use fiber_core::net::StreamSocket;

use super::polls::Polls;

impl Polls {
    /// An error: the system cannot tell.
    pub(crate) fn end_of(&self, _: &Child) -> io::Result<Box<dyn StreamSocket>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
