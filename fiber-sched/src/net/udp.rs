//! UDP.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use fiber_core::scheduler::net::{DatagramSocket, Readiness, Socket};

use super::peek::is_readable;
use super::reactor::{Reactor, SocketName};
use super::socket::Registered;

/// A socket for datagrams.
pub(super) struct Datagrams(Registered<mio::net::UdpSocket>);

impl Datagrams {
    pub(super) fn new(reactor: Arc<Reactor>, io: mio::net::UdpSocket) -> io::Result<Self> {
        let registered = Registered::new(reactor, io)?;
        if let Ok(at) = registered.io.local_addr() {
            registered.source.set_name(SocketName::DatagramsAt(at));
        }
        Ok(Datagrams(registered))
    }

    fn io(&self) -> &mio::net::UdpSocket {
        &self.0.io
    }
}

impl Socket for Datagrams {
    fn readable(&self) -> &Readiness {
        &self.0.source.readable
    }

    fn writable(&self) -> &Readiness {
        &self.0.source.writable
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io().local_addr()
    }
}

impl DatagramSocket for Datagrams {
    fn connect(&self, to: SocketAddr) -> io::Result<()> {
        self.io().connect(to)
    }

    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io().peer_addr()
    }

    fn try_send(&self, datagram: &[u8], to: Option<SocketAddr>) -> io::Result<()> {
        match to {
            Some(to) => self.io().send_to(datagram, to),
            None => self.io().send(datagram),
        }
        .map(drop)
    }

    fn try_receive(&self, into: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.io().recv_from(into)
    }

    fn try_peek(&self) -> io::Result<()> {
        is_readable(self.io())
    }
}
