//! The sockets that fibers have.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;

use fiber_core::net::{ListenerSocket, Readiness, Socket, StreamOption, StreamSocket};
use mio::Token;
use mio::event::Source as MioSource;

use super::linger::set_linger;
use super::polls::Polls;
use super::reactor::{Reactor, SocketName, Source};

/// Where an edge comes for whatever arrives after a short transfer, the next call need not be tried. Windows arms an event
/// only by a call that would block.
const SHORT_MEANS_EMPTY: bool = cfg!(unix);

/// A socket in a poll, which it leaves when it is dropped.
struct Registered<S: MioSource> {
    io: S,
    token: Token,
    source: Arc<Source>,
    reactor: Arc<Reactor>,
}

impl<S: MioSource> Registered<S> {
    fn new(reactor: Arc<Reactor>, mut io: S) -> io::Result<Self> {
        let (token, source) = reactor.register(&mut io)?;
        Ok(Registered { io, token, source, reactor })
    }
}

impl<S: MioSource> Drop for Registered<S> {
    fn drop(&mut self) {
        self.reactor.deregister(&mut self.io, self.token);
    }
}

/// A socket at which connections arrive.
pub(super) struct Listener {
    registered: Registered<mio::net::TcpListener>,
    /// For the connections.
    polls: Arc<Polls>,
}

impl Listener {
    pub(super) fn new(
        polls: Arc<Polls>,
        reactor: Arc<Reactor>,
        io: mio::net::TcpListener,
    ) -> io::Result<Self> {
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
        let (stream, from) = self.registered.io.accept()?;
        let stream = Stream::new(self.polls.here()?, stream, SocketName::StreamFrom(from))?;
        Ok((Box::new(stream), from))
    }
}

/// One end of a connection.
pub(super) struct Stream(Registered<mio::net::TcpStream>);

impl Stream {
    pub(super) fn new(reactor: Arc<Reactor>, io: mio::net::TcpStream, name: SocketName) -> io::Result<Self> {
        let registered = Registered::new(reactor, io)?;
        registered.source.set_name(name);
        Ok(Stream(registered))
    }

    fn io(&self) -> &mio::net::TcpStream {
        &self.0.io
    }
}

impl Socket for Stream {
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
        SHORT_MEANS_EMPTY
    }
}

impl StreamSocket for Stream {
    fn connected(&self) -> io::Result<()> {
        if let Some(error) = self.io().take_error()? {
            return Err(error);
        }
        match self.io().peer_addr() {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::NotConnected => Err(ErrorKind::WouldBlock.into()),
            Err(error) => Err(error),
        }
    }

    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io().peer_addr()
    }

    fn try_read(&self, into: &mut [u8]) -> io::Result<usize> {
        self.io().read(into)
    }

    fn try_peek(&self) -> io::Result<()> {
        self.io().peek(&mut [0]).map(drop)
    }

    fn try_write(&self, from: &[u8]) -> io::Result<usize> {
        self.io().write(from)
    }

    fn try_write_vectored(&self, from: &[IoSlice<'_>]) -> io::Result<usize> {
        self.io().write_vectored(from)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.io().shutdown(how)
    }

    fn set_option(&self, option: StreamOption) -> io::Result<()> {
        match option {
            StreamOption::NoDelay(is_on) => self.io().set_nodelay(is_on),
            StreamOption::TimeToLive(hops) => self.io().set_ttl(hops),
            StreamOption::Linger(time) => set_linger(self.io(), time),
            _ => Ok(()),
        }
    }
}
