//! Who listens where, and how long it takes to get there.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use fiber_core::Instant;
use fiber_core::net::{DatagramSocket, ListenerSocket, Net, PathListenerSocket, StreamSocket};
use parking_lot::{MappedMutexGuard, Mutex, MutexGuard};

use super::datagrams::{Mailbox, SimulatedDatagrams};
use super::delivery::{self, End, Packet};
use super::link::Link;
use super::socket::{Listening, SimulatedListener, SimulatedStream};
use crate::machine::Machine;

/// The first port that is given out, as on most systems.
const FIRST_PORT: u16 = 49_152;

const DEFAULT_CAPACITY: usize = 64 * 1024;

pub(crate) struct World {
    me: Weak<World>,
    machine: Weak<Machine>,
    state: Mutex<State>,
}

struct State {
    settings: Settings,
    next_port: u16,
    listeners: BTreeMap<SocketAddr, Arc<Listening>>,
    /// The listeners at paths, which have an address as well.
    paths: BTreeMap<PathBuf, SocketAddr>,
    mailboxes: BTreeMap<SocketAddr, Arc<Mailbox>>,
    links: Vec<Weak<Link>>,
    cut: BTreeSet<SocketAddr>,
}

pub(super) struct Settings {
    pub(super) latency: Duration,
    pub(super) jitter: Duration,
    pub(super) capacity: usize,
    pub(super) hosts: BTreeMap<String, IpAddr>,
}

impl Default for State {
    fn default() -> Self {
        let localhost = ("localhost".to_owned(), IpAddr::V4(Ipv4Addr::LOCALHOST));
        State {
            settings: Settings {
                latency: Duration::ZERO,
                jitter: Duration::ZERO,
                capacity: DEFAULT_CAPACITY,
                hosts: [localhost].into(),
            },
            next_port: FIRST_PORT,
            listeners: BTreeMap::new(),
            paths: BTreeMap::new(),
            mailboxes: BTreeMap::new(),
            links: Vec::new(),
            cut: BTreeSet::new(),
        }
    }
}

impl State {
    fn port(&mut self) -> u16 {
        let port = self.next_port;
        self.next_port = if port == u16::MAX { FIRST_PORT } else { port + 1 };
        port
    }

    fn listener(&self, to: SocketAddr) -> Option<&Arc<Listening>> {
        at_address(&self.listeners, to)
    }

    fn links(&mut self) -> Vec<Arc<Link>> {
        self.links.retain(|link| link.strong_count() > 0);
        self.links.iter().filter_map(Weak::upgrade).collect()
    }
}

/// Who is at an address, or at all addresses.
fn at_address<T>(all: &BTreeMap<SocketAddr, T>, to: SocketAddr) -> Option<&T> {
    let any: IpAddr = if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    all.get(&to).or_else(|| all.get(&(any, to.port()).into()))
}

/// The host itself.
pub(super) fn localhost(like: SocketAddr) -> IpAddr {
    if like.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() }
}

/// Where the listeners at paths are.
const AT_PATHS: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);

impl World {
    pub(crate) fn new(machine: Weak<Machine>) -> Arc<Self> {
        Arc::new_cyclic(|me| World { me: me.clone(), machine, state: Mutex::default() })
    }

    /// Becomes as new, for another run.
    pub(crate) fn restart(&self) {
        // Dropped without the lock.
        let before = std::mem::take(&mut *self.state.lock());
        drop(before);
    }

    pub(super) fn machine(&self) -> &Weak<Machine> {
        &self.machine
    }

    pub(super) fn settings(&self) -> MappedMutexGuard<'_, Settings> {
        MutexGuard::map(self.state.lock(), |state| &mut state.settings)
    }

    /// When a packet that is sent now arrives.
    pub(super) fn arrival(&self) -> Instant {
        let (latency, jitter) = {
            let settings = self.settings();
            (settings.latency, settings.jitter)
        };
        delivery::arrival(&self.machine, latency, jitter)
    }

    pub(super) fn listener(&self, to: SocketAddr) -> Option<Arc<Listening>> {
        self.state.lock().listener(to).cloned()
    }

    pub(super) fn forget(&self, listener: SocketAddr) {
        let mut state = self.state.lock();
        let forgotten = state.listeners.remove(&listener);
        state.paths.retain(|_, at| *at != listener);
        drop(state);
        drop(forgotten);
    }

    /// Who receives the datagrams to an address, if they get there.
    pub(super) fn mailbox(&self, from: SocketAddr, to: SocketAddr) -> Option<Arc<Mailbox>> {
        let state = self.state.lock();
        let is_cut = state.cut.contains(&from) || state.cut.contains(&to);
        at_address(&state.mailboxes, to).filter(|_| !is_cut).cloned()
    }

    pub(super) fn forget_mailbox(&self, at: SocketAddr) {
        let forgotten = self.state.lock().mailboxes.remove(&at);
        drop(forgotten);
    }

    fn links_to(&self, listener: SocketAddr) -> impl Iterator<Item = Arc<Link>> {
        self.state.lock().links().into_iter().filter(move |link| link.to == listener)
    }

    pub(super) fn cut(&self, listener: SocketAddr) {
        self.state.lock().cut.insert(listener);
        self.links_to(listener).for_each(|link| link.cut());
    }

    pub(super) fn heal(&self, listener: SocketAddr) {
        self.state.lock().cut.remove(&listener);
        self.links_to(listener).for_each(|link| link.heal());
    }

    pub(super) fn reset(&self, listener: SocketAddr) {
        self.links_to(listener).for_each(|link| link.break_off());
    }

    pub(super) fn connections(&self) -> usize {
        let links = self.state.lock().links();
        links.into_iter().filter(|link| link.has_open_end()).count()
    }
}

impl World {
    fn listen_at(&self, mut at: SocketAddr) -> io::Result<SimulatedListener> {
        let mut state = self.state.lock();
        if at.port() == 0 {
            at.set_port(state.port());
        }
        if state.listeners.contains_key(&at) {
            return Err(ErrorKind::AddrInUse.into());
        }
        let listening = Listening::new(at);
        state.listeners.insert(at, listening.clone());
        Ok(SimulatedListener { listening, world: self.me.clone() })
    }
}

impl Net for World {
    fn listen(&self, at: SocketAddr) -> io::Result<Box<dyn ListenerSocket>> {
        Ok(Box::new(self.listen_at(at)?))
    }

    fn connect(&self, to: SocketAddr) -> io::Result<Box<dyn StreamSocket>> {
        let world = self.me.upgrade().ok_or(ErrorKind::Unsupported)?;
        let mut state = self.state.lock();
        let from = (localhost(to), state.port()).into();
        let link = Link::new(&world, to, [from, to], state.settings.capacity, state.cut.contains(&to));
        state.links.push(Arc::downgrade(&link));
        drop(state);
        link.send(Packet::Hello);
        Ok(Box::new(SimulatedStream::new(link, End::Client)))
    }

    fn bind_datagrams(&self, mut at: SocketAddr) -> io::Result<Box<dyn DatagramSocket>> {
        let world = self.me.upgrade().ok_or(ErrorKind::Unsupported)?;
        let mut state = self.state.lock();
        if at.port() == 0 {
            at.set_port(state.port());
        }
        if state.mailboxes.contains_key(&at) {
            return Err(ErrorKind::AddrInUse.into());
        }
        let mailbox = Mailbox::new(at, self.machine.clone());
        state.mailboxes.insert(at, mailbox.clone());
        Ok(Box::new(SimulatedDatagrams::new(mailbox, &world)))
    }

    /// A path is free again when its listener has gone.
    fn listen_at_path(&self, at: &Path) -> io::Result<Box<dyn PathListenerSocket>> {
        if self.state.lock().paths.contains_key(at) {
            return Err(ErrorKind::AddrInUse.into());
        }
        let listener = self.listen_at((AT_PATHS, 0).into())?;
        self.state.lock().paths.insert(at.to_owned(), listener.address());
        Ok(Box::new(listener))
    }

    fn connect_to_path(&self, to: &Path) -> io::Result<Box<dyn StreamSocket>> {
        let at = self.state.lock().paths.get(to).copied();
        self.connect(at.ok_or(ErrorKind::NotFound)?)
    }

    fn pair(&self) -> io::Result<[Box<dyn StreamSocket>; 2]> {
        let world = self.me.upgrade().ok_or(ErrorKind::Unsupported)?;
        let mut state = self.state.lock();
        let mut address = || (AT_PATHS, state.port()).into();
        let (one, other): (SocketAddr, SocketAddr) = (address(), address());
        let link = Link::new(&world, other, [one, other], state.settings.capacity, false);
        link.join();
        state.links.push(Arc::downgrade(&link));
        Ok([End::Client, End::Server].map(|end| {
            let end: Box<dyn StreamSocket> = Box::new(SimulatedStream::new(link.clone(), end));
            end
        }))
    }

    fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let address = self.settings().hosts.get(host).copied();
        let unknown = || io::Error::new(ErrorKind::NotFound, format!("no host is called {host}"));
        Ok(vec![(address.ok_or_else(unknown)?, port).into()])
    }
}
