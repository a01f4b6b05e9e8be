//! The network as fibers see it: it opens sockets, at addresses and ports that are free.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use fiber_core::scheduler::net::{DatagramSocket, ListenerSocket, Net, PathListenerSocket, StreamSocket};

use super::addresses::{self, canonical, destination, key, overlap};
use super::datagrams::{Mailbox, SimulatedDatagrams};
use super::delivery::End;
use super::errors::unknown_host;
use super::link::{Addresses, Link};
use super::socket::{Listening, SimulatedListener, SimulatedStream};
use super::world::{State, World};

/// The first ephemeral port, as on most systems.
pub(super) const FIRST_PORT: u16 = 49_152;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Tcp,
    Udp,
}

impl State {
    /// A port of a host that no socket has.
    fn port(&mut self, host: usize, protocol: Protocol) -> Option<u16> {
        (FIRST_PORT..=u16::MAX).find_map(|_| {
            let port = self.next_port;
            self.next_port = if port == u16::MAX { FIRST_PORT } else { port + 1 };
            (!self.has_socket_at_port(host, port, protocol)).then_some(port)
        })
    }

    fn has_socket_at_port(&self, host: usize, port: u16, protocol: Protocol) -> bool {
        match protocol {
            Protocol::Tcp => {
                let is_heard = addresses::of_port(&self.listeners, host, port).next().is_some();
                is_heard || self.client(host, port).is_some()
            }
            Protocol::Udp => addresses::of_port(&self.mailboxes, host, port).next().is_some(),
        }
    }

    /// The address of the client of a host that is connected from a port.
    fn client(&self, host: usize, port: u16) -> Option<SocketAddr> {
        self.clients.get(&(host, port))?.upgrade()?.port_in_use()
    }

    /// The address at which a socket is opened, if it is free.
    fn free(&mut self, host: usize, at: SocketAddr, protocol: Protocol) -> io::Result<SocketAddr> {
        let mut at = canonical(at);
        if !self.has(host, at.ip()) {
            return Err(ErrorKind::AddrNotAvailable.into());
        }
        if at.port() == 0 {
            at.set_port(self.port(host, protocol).ok_or(ErrorKind::AddrInUse)?);
            return Ok(at);
        }
        let is_taken = match protocol {
            Protocol::Tcp => {
                let client = self.client(host, at.port());
                addresses::is_taken(&self.listeners, host, at)
                    || client.is_some_and(|client| overlap(client.ip(), at.ip()))
            }
            Protocol::Udp => addresses::is_taken(&self.mailboxes, host, at),
        };
        if is_taken { Err(ErrorKind::AddrInUse.into()) } else { Ok(at) }
    }
}

impl World {
    fn me(&self) -> io::Result<Arc<World>> {
        Ok(self.me.upgrade().ok_or(ErrorKind::Unsupported)?)
    }

    /// A connection within a host.
    fn unix(&self, host: usize) -> io::Result<Arc<Link>> {
        let capacity = self.settings().capacity;
        let link = Link::unix(&self.me()?, host, capacity);
        self.state.lock().add_link(&link);
        Ok(link)
    }
}

impl Net for World {
    fn listen(&self, at: SocketAddr) -> io::Result<Box<dyn ListenerSocket>> {
        let host = self.here()?;
        let mut state = self.state.lock();
        let is_v6 = at.is_ipv6();
        let at = state.free(host, at, Protocol::Tcp)?;
        let listening = Listening::new(Some((host, at)), is_v6);
        state.listeners.insert(key(host, at), listening.clone());
        Ok(Box::new(SimulatedListener { listening, world: self.me.clone() }))
    }

    fn connect(&self, to: SocketAddr) -> io::Result<Box<dyn StreamSocket>> {
        let (world, host) = (self.me()?, self.here()?);
        let (is_client_v6, server) = (to.is_ipv6(), destination(to));
        let link = {
            let mut state = self.state.lock();
            let hosts = [host, state.owner(server.ip(), host)];
            let port = state.port(host, Protocol::Tcp).ok_or(ErrorKind::AddrNotAvailable)?;
            let client = (state.source(host, server.ip()), port).into();
            let (is_cut, capacity) = (state.is_cut(server, hosts), state.settings.capacity);
            let link = Link::tcp(&world, Addresses { client, server, is_client_v6 }, hosts, capacity, is_cut);
            state.add_link(&link);
            state.clients.insert((host, port), Arc::downgrade(&link));
            link
        };
        link.greet();
        Ok(Box::new(SimulatedStream::new(link, End::Client)))
    }

    fn bind_datagrams(&self, at: SocketAddr) -> io::Result<Box<dyn DatagramSocket>> {
        let (world, host) = (self.me()?, self.here()?);
        let mut state = self.state.lock();
        let is_v6 = at.is_ipv6();
        let at = state.free(host, at, Protocol::Udp)?;
        let mailbox = Mailbox::new(host, at, is_v6, self.machine.clone());
        state.mailboxes.insert(key(host, at), mailbox.clone());
        Ok(Box::new(SimulatedDatagrams::new(mailbox, &world)))
    }

    fn listen_at_path(&self, at: &Path) -> io::Result<Box<dyn PathListenerSocket>> {
        let host = self.here()?;
        let listening = self.state.lock().paths.listen(host, at)?;
        Ok(Box::new(SimulatedListener { listening, world: self.me.clone() }))
    }

    fn connect_to_path(&self, to: &Path) -> io::Result<Box<dyn StreamSocket>> {
        let host = self.here()?;
        let listening = self.state.lock().paths.find(host, to)?;
        let link = self.unix(host)?;
        listening.arrives(link.clone());
        Ok(Box::new(SimulatedStream::new(link, End::Client)))
    }

    fn remove_path(&self, path: &Path) -> io::Result<()> {
        let host = self.here()?;
        self.state.lock().paths.remove(host, path)
    }

    fn pair(&self) -> io::Result<[Box<dyn StreamSocket>; 2]> {
        let link = self.unix(self.here()?)?;
        Ok(End::BOTH.map(|end| {
            let end: Box<dyn StreamSocket> = Box::new(SimulatedStream::new(link.clone(), end));
            end
        }))
    }

    fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        if host.contains('\0') {
            return Err(ErrorKind::InvalidInput.into());
        }
        let address = self.find(host).map(|host| self.address(host));
        Ok(vec![(address.ok_or_else(|| unknown_host(host))?, port).into()])
    }
}
