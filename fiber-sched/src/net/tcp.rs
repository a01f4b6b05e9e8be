//! TCP.

use std::io::{self, IoSlice, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;

use fiber_core::scheduler::net::{ListenerSocket, Readiness, Socket, StreamOption, StreamSocket};

use super::options::{lengthen_queue, set_linger};
use super::peek::is_readable;
use super::polls::Polls;
use super::reactor::{Reactor, SocketName};
use super::socket::{Carrier, Piece, Registered, Stream, has_connected};

/// A listening socket.
pub(super) struct Listener {
    registered: Registered<mio::net::TcpListener>,
    /// For the accepted connections.
    polls: Arc<Polls>,
}

impl Listener {
    pub(super) fn new(
        polls: Arc<Polls>,
        reactor: Arc<Reactor>,
        io: mio::net::TcpListener,
    ) -> io::Result<Self> {
        lengthen_queue(&io)?;
        let registered = Registered::new(reactor, io)?;
        if let Ok(at) = registered.io.local_addr() {
            registered.source.set_name(SocketName::ListenerAt(at));
        }
        Ok(Listener { registered, polls })
    }
}

impl Socket for Listener {
    fn readable(&self) -> &Readiness {
        &self.registered.source.readable
    }

    fn writable(&self) -> &Readiness {
        &self.registered.source.writable
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.registered.io.local_addr()
    }
}

impl ListenerSocket for Listener {
    fn try_accept(&self) -> io::Result<(Box<dyn StreamSocket>, SocketAddr)> {
        // Before the connection leaves the queue: without descriptors, there may be no poll.
        let reactor = self.polls.here()?;
        let (stream, from) = self.registered.io.accept()?;
        Ok((Stream::boxed(reactor, stream, SocketName::StreamFrom(from))?, from))
    }
}

impl Carrier for mio::net::TcpStream {
    fn connected(&self) -> io::Result<()> {
        has_connected(self.take_error(), || self.peer_addr())
    }

    fn read(&self, into: &mut [u8]) -> io::Result<Piece> {
        Ok(Read::read(&mut &*self, into)?.into())
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

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.local_addr()
    }

    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.peer_addr()
    }

    fn set_option(&self, option: StreamOption) -> io::Result<()> {
        match option {
            StreamOption::NoDelay(is_on) => self.set_nodelay(is_on),
            StreamOption::TimeToLive(hops) => self.set_ttl(hops),
            StreamOption::Linger(time) => set_linger(self, time),
            _ => Ok(()),
        }
    }
}
