//! Pipes: one end for reading, the other one for writing.

use std::borrow::Cow;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::Shutdown;

use fiber_core::scheduler::net::StreamSocket;
use mio::event::Source;
use mio::unix::pipe::{Receiver, Sender, new};
use mio::{Interest, Registry, Token};
use parking_lot::Mutex;

use super::peek::is_readable;
use super::polls::Polls;
use super::reactor::SocketName;
use super::socket::{Carrier, Piece, Stream};

const READER: SocketName = SocketName::Other(Cow::Borrowed("pipe to read from"));
const WRITER: SocketName = SocketName::Other(Cow::Borrowed("pipe to write to"));

impl Polls {
    /// The read end and the write end.
    pub(crate) fn pipe(&self) -> io::Result<[Box<dyn StreamSocket>; 2]> {
        let (writer, reader) = new()?;
        Ok([
            Stream::boxed(self.here()?, reader, READER)?,
            Stream::boxed(self.here()?, WriteEnd::new(writer), WRITER)?,
        ])
    }

    /// The read end of a pipe.
    pub(crate) fn reader(&self, pipe: impl Into<Receiver>) -> io::Result<Box<dyn StreamSocket>> {
        let reader = pipe.into();
        reader.set_nonblocking(true)?;
        Stream::boxed(self.here()?, reader, READER)
    }

    /// The write end of a pipe.
    pub(crate) fn writer(&self, pipe: impl Into<Sender>) -> io::Result<Box<dyn StreamSocket>> {
        let writer = pipe.into();
        writer.set_nonblocking(true)?;
        Stream::boxed(self.here()?, WriteEnd::new(writer), WRITER)
    }
}

/// The error of the system for the wrong direction.
fn one_way() -> io::Error {
    ErrorKind::Unsupported.into()
}

impl Carrier for Receiver {
    /// The process at the other end may have made it a pipe of packets (`O_DIRECT`): a read takes one, and others may follow.
    fn read(&self, into: &mut [u8]) -> io::Result<Piece> {
        Ok(Piece { bytes: Read::read(&mut &*self, into)?, has_stopped: true })
    }

    fn peek(&self) -> io::Result<()> {
        is_readable(self)
    }

    fn write(&self, _: &[u8]) -> io::Result<usize> {
        Err(one_way())
    }

    fn write_vectored(&self, _: &[IoSlice<'_>]) -> io::Result<usize> {
        Err(one_way())
    }
}

/// The write end. `None` once it is closed: the reader learns of the end when the descriptor is gone.
struct WriteEnd(Mutex<Option<Sender>>);

impl WriteEnd {
    fn new(sender: Sender) -> Self {
        WriteEnd(Mutex::new(Some(sender)))
    }

    fn write_by(&self, write: impl FnOnce(&mut &Sender) -> io::Result<usize>) -> io::Result<usize> {
        self.0.lock().as_ref().map_or(Err(ErrorKind::BrokenPipe.into()), |mut sender| write(&mut sender))
    }

    /// Nothing, if it is closed: the system has forgotten the descriptor.
    fn as_source(&mut self, call: impl FnOnce(&mut Sender) -> io::Result<()>) -> io::Result<()> {
        self.0.get_mut().as_mut().map_or(Ok(()), call)
    }
}

impl Source for WriteEnd {
    fn register(&mut self, registry: &Registry, token: Token, interests: Interest) -> io::Result<()> {
        self.as_source(|sender| sender.register(registry, token, interests))
    }

    fn reregister(&mut self, registry: &Registry, token: Token, interests: Interest) -> io::Result<()> {
        self.as_source(|sender| sender.reregister(registry, token, interests))
    }

    fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        self.as_source(|sender| sender.deregister(registry))
    }
}

impl Carrier for WriteEnd {
    fn read(&self, _: &mut [u8]) -> io::Result<Piece> {
        Err(one_way())
    }

    fn peek(&self) -> io::Result<()> {
        Err(one_way())
    }

    fn write(&self, from: &[u8]) -> io::Result<usize> {
        self.write_by(|sender| sender.write(from))
    }

    fn write_vectored(&self, from: &[IoSlice<'_>]) -> io::Result<usize> {
        self.write_by(|sender| sender.write_vectored(from))
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        if how == Shutdown::Read {
            return Err(one_way());
        }
        // Dropped without the lock.
        let closed = self.0.lock().take();
        drop(closed);
        Ok(())
    }
}
