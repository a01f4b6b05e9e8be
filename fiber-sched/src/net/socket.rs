//! The common part of all sockets in a poll, and connections of all kinds.

use std::io::{self, IoSlice};
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;

use fiber_core::scheduler::net::{Readiness, Socket, StreamOption, StreamSocket};
use mio::Token;
use mio::event::Source as MioSource;

use super::reactor::{Reactor, SocketName, Source};

/// Where data that arrives after a short transfer fires an edge, the next call need not be tried. Windows arms an event
/// only by a call that would block; other systems do not tell of urgent data, at which a read stops.
const SHORT_MEANS_EMPTY: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// A socket in a poll. Its drop deregisters it.
pub(super) struct Registered<S: MioSource> {
    pub(super) io: S,
    token: Token,
    pub(super) source: Arc<Source>,
    reactor: Arc<Reactor>,
}

impl<S: MioSource> Registered<S> {
    pub(super) fn new(reactor: Arc<Reactor>, mut io: S) -> io::Result<Self> {
        let (token, source) = reactor.register(&mut io)?;
        Ok(Registered { io, token, source, reactor })
    }
}

impl<S: MioSource> Drop for Registered<S> {
    fn drop(&mut self) {
        self.reactor.deregister(&mut self.io, self.token);
    }
}

/// Whether a connection is established, from the error of its socket and the address of its peer: the result of
/// [`Carrier::connected`].
pub(super) fn has_connected<A>(
    error: io::Result<Option<io::Error>>,
    peer: impl FnOnce() -> io::Result<A>,
) -> io::Result<()> {
    if let Some(error) = error? {
        return Err(error);
    }
    match peer() {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Err(io::ErrorKind::WouldBlock.into()),
        Err(error) => Err(error),
    }
}

/// What a read gives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// The number of bytes.
    pub(super) bytes: usize,
    /// It stopped at something that came with the bytes, and more may follow at once.
    pub(super) has_stopped: bool,
}

impl From<usize> for Piece {
    fn from(bytes: usize) -> Self {
        Piece { bytes, has_stopped: false }
    }
}

/// The underlying socket of a connection.
pub(super) trait Carrier: MioSource + Send + Sync + 'static {
    /// `WouldBlock`: not yet. Any other error: the connection has failed.
    fn connected(&self) -> io::Result<()> {
        Ok(())
    }

    fn read(&self, into: &mut [u8]) -> io::Result<Piece>;

    /// Whether a read would return something.
    fn peek(&self) -> io::Result<()>;

    fn write(&self, from: &[u8]) -> io::Result<usize>;

    fn write_vectored(&self, from: &[IoSlice<'_>]) -> io::Result<usize>;

    fn shutdown(&self, _: Shutdown) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Ignores an option that the socket does not have.
    fn set_option(&self, _: StreamOption) -> io::Result<()> {
        Ok(())
    }
}

/// One end of a connection.
pub(super) struct Stream<C: Carrier>(Registered<C>);

impl<C: Carrier> Stream<C> {
    pub(super) fn boxed(reactor: Arc<Reactor>, io: C, name: SocketName) -> io::Result<Box<dyn StreamSocket>> {
        let registered = Registered::new(reactor, io)?;
        registered.source.set_name(name);
        Ok(Box::new(Stream(registered)))
    }

    fn io(&self) -> &C {
        &self.0.io
    }
}

impl<C: Carrier> Socket for Stream<C> {
    fn readable(&self) -> &Readiness {
        &self.0.source.readable
    }

    fn writable(&self) -> &Readiness {
        &self.0.source.writable
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io().local_addr()
    }

    fn short_means_empty(&self) -> bool {
        SHORT_MEANS_EMPTY && !self.0.source.stops_early()
    }
}

impl<C: Carrier> StreamSocket for Stream<C> {
    fn connected(&self) -> io::Result<()> {
        self.io().connected()
    }

    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io().peer_addr()
    }

    fn try_read(&self, into: &mut [u8]) -> io::Result<usize> {
        let Piece { bytes, has_stopped } = self.io().read(into)?;
        if has_stopped {
            self.0.source.set_stops_early();
        }
        Ok(bytes)
    }

    fn try_peek(&self) -> io::Result<()> {
        self.io().peek()
    }

    fn try_write(&self, from: &[u8]) -> io::Result<usize> {
        self.io().write(from)
    }

    fn try_write_vectored(&self, from: &[IoSlice<'_>]) -> io::Result<usize> {
        self.io().write_vectored(from)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.io().shutdown(how)?;
        if how != Shutdown::Read {
            // Linux reports no event to a writer of a Unix socket that waits for room, although its write fails from now on.
            self.0.source.writable.event(true).fire();
        }
        Ok(())
    }

    fn set_option(&self, option: StreamOption) -> io::Result<()> {
        self.io().set_option(option)
    }
}
