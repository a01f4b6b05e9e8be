//! Pipes: one end for reading, the other one for writing.

use std::borrow::Cow;
use std::io::{self, ErrorKind, IoSlice, Read, Write};

use fiber_core::scheduler::net::StreamSocket;
use mio::unix::pipe::{Receiver, Sender, new};

use super::peek::is_readable;
use super::polls::Polls;
use super::reactor::SocketName;
use super::socket::{Carrier, Stream};

const READER: SocketName = SocketName::Other(Cow::Borrowed("pipe to read from"));
const WRITER: SocketName = SocketName::Other(Cow::Borrowed("pipe to write to"));

impl Polls {
    /// The read end and the write end.
    pub(crate) fn pipe(&self) -> io::Result<[Box<dyn StreamSocket>; 2]> {
        let (writer, reader) = new()?;
        Ok([Stream::boxed(self.here()?, reader, READER)?, Stream::boxed(self.here()?, writer, WRITER)?])
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
        Stream::boxed(self.here()?, writer, WRITER)
    }
}

/// The error of the system for the wrong direction.
fn one_way() -> io::Error {
    ErrorKind::Unsupported.into()
}

impl Carrier for Receiver {
    fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        Read::read(&mut &*self, into)
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

impl Carrier for Sender {
    fn read(&self, _: &mut [u8]) -> io::Result<usize> {
        Err(one_way())
    }

    fn peek(&self) -> io::Result<()> {
        Err(one_way())
    }

    fn write(&self, from: &[u8]) -> io::Result<usize> {
        Write::write(&mut &*self, from)
    }

    fn write_vectored(&self, from: &[IoSlice<'_>]) -> io::Result<usize> {
        Write::write_vectored(&mut &*self, from)
    }
}
