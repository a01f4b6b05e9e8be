//! Unix sockets.

use std::borrow::Cow;
use std::io::{self, IoSlice, IoSliceMut, Write};
use std::net::Shutdown;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::Arc;

use fiber_core::scheduler::net::{PathListenerSocket, Readiness, Socket, StreamSocket};
use mio::net::{UnixListener, UnixStream};
use rustix::net::{RecvAncillaryBuffer, RecvFlags, ReturnFlags, recvmsg};

use super::path::address;
use super::peek::is_readable;
use super::polls::Polls;
use super::reactor::SocketName;
use super::socket::{Carrier, Piece, Registered, Stream, has_connected};

pub(super) fn listen(polls: Arc<Polls>, at: &Path) -> io::Result<Box<dyn PathListenerSocket>> {
    let registered = Registered::new(polls.here()?, UnixListener::bind_addr(&address(at)?)?)?;
    registered.source.set_name(named(format!("UnixListener at {}", place(at))));
    Ok(Box::new(Listener { registered, of_streams: format!("UnixStream at {}", place(at)), polls }))
}

pub(super) fn connect(polls: &Polls, to: &Path) -> io::Result<Box<dyn StreamSocket>> {
    Stream::boxed(
        polls.here()?,
        UnixStream::connect_addr(&address(to)?)?,
        named(format!("UnixStream to {}", place(to))),
    )
}

/// Removes a path, if it is that of a socket: a wrong setting must not cost a file.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    if !std::fs::symlink_metadata(path)?.file_type().is_socket() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is not the path of a socket"));
    }
    std::fs::remove_file(path)
}

pub(super) fn pair(polls: &Polls) -> io::Result<[Box<dyn StreamSocket>; 2]> {
    let (one, other) = UnixStream::pair()?;
    let end = |io| Stream::boxed(polls.here()?, io, named("UnixStream of a pair"));
    Ok([end(one)?, end(other)?])
}

/// A path as dumps name it: an abstract address with an `@`.
fn place(path: &Path) -> String {
    path.display().to_string().replacen('\0', "@", 1)
}

fn named(name: impl Into<Cow<'static, str>>) -> SocketName {
    SocketName::Other(name.into())
}

/// A listening socket.
struct Listener {
    registered: Registered<UnixListener>,
    /// The name of the accepted connections.
    of_streams: String,
    /// For the accepted connections.
    polls: Arc<Polls>,
}

impl Socket for Listener {
    fn readable(&self) -> &Readiness {
        &self.registered.source.readable
    }

    fn writable(&self) -> &Readiness {
        &self.registered.source.writable
    }
}

impl PathListenerSocket for Listener {
    fn try_accept(&self) -> io::Result<Box<dyn StreamSocket>> {
        // Before the connection leaves the queue: without descriptors, there may be no poll.
        let reactor = self.polls.here()?;
        let (stream, _) = self.registered.io.accept()?;
        Stream::boxed(reactor, stream, named(self.of_streams.clone()))
    }
}

impl Carrier for UnixStream {
    fn connected(&self) -> io::Result<()> {
        has_connected(self.take_error(), || self.peer_addr())
    }

    /// Descriptors that come with the bytes are closed, and the read stops behind these bytes.
    fn read(&self, into: &mut [u8]) -> io::Result<Piece> {
        let (mut into, mut nothing) = ([IoSliceMut::new(into)], RecvAncillaryBuffer::default());
        let read = recvmsg(self, &mut into, &mut nothing, RecvFlags::empty())?;
        Ok(Piece { bytes: read.bytes, has_stopped: read.flags.contains(ReturnFlags::CTRUNC) })
    }

    fn peek(&self) -> io::Result<()> {
        is_readable(self)
    }

    fn write(&self, from: &[u8]) -> io::Result<usize> {
        Write::write(&mut &*self, from)
    }

    fn write_vectored(&self, from: &[IoSlice<'_>]) -> io::Result<usize> {
        Write::write_vectored(&mut &*self, from)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.shutdown(how)
    }
}
