//! The end of a child process as an event: a descriptor that becomes readable.

use std::io::{self, ErrorKind, IoSlice};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::Child;

use fiber_core::scheduler::net::StreamSocket;
use mio::event::Source;
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::peek::is_readable;
use super::polls::Polls;
use super::reactor::SocketName;
use super::socket::{Carrier, Piece, Stream};

impl Polls {
    /// A stream that is readable when the process has ended. An error where the system does not support it.
    pub(crate) fn end_of(&self, process: &Child) -> io::Result<Box<dyn StreamSocket>> {
        let descriptor = pidfd_open(Pid::from_child(process), PidfdFlags::empty())?;
        Stream::boxed(
            self.here()?,
            Process(descriptor),
            SocketName::Other(format!("process {}", process.id()).into()),
        )
    }
}

struct Process(OwnedFd);

impl Source for Process {
    fn register(&mut self, registry: &Registry, token: Token, interests: Interest) -> io::Result<()> {
        SourceFd(&self.0.as_raw_fd()).register(registry, token, interests)
    }

    fn reregister(&mut self, registry: &Registry, token: Token, interests: Interest) -> io::Result<()> {
        SourceFd(&self.0.as_raw_fd()).reregister(registry, token, interests)
    }

    fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        SourceFd(&self.0.as_raw_fd()).deregister(registry)
    }
}

/// Only the readiness is used.
impl Carrier for Process {
    fn read(&self, _: &mut [u8]) -> io::Result<Piece> {
        Err(ErrorKind::Unsupported.into())
    }

    fn peek(&self) -> io::Result<()> {
        is_readable(&self.0)
    }

    fn write(&self, _: &[u8]) -> io::Result<usize> {
        Err(ErrorKind::Unsupported.into())
    }

    fn write_vectored(&self, _: &[IoSlice<'_>]) -> io::Result<usize> {
        Err(ErrorKind::Unsupported.into())
    }
}
