//! The listeners of all hosts, and the latencies between them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use fiber_core::net::{DatagramSocket, ListenerSocket, Net, PathListenerSocket, StreamSocket};
use fiber_core::sync::Watch;
use fiber_core::{Context, Instant, Scheduler};
use parking_lot::{MappedMutexGuard, Mutex, MutexGuard};

use super::datagrams::{Mailbox, SimulatedDatagrams};
use super::delivery::{self, End, Packet};
use super::hosts::{HostState, LOCALHOST, Power};
use super::link::Link;
use super::socket::{Listening, SimulatedListener, SimulatedStream};
use super::ways::Ways;
use crate::fault::is_host_name;
use crate::machine::Machine;

/// The first ephemeral port, as on most systems.
const FIRST_PORT: u16 = 49_152;

const DEFAULT_CAPACITY: usize = 64 * 1024;

pub(crate) struct World {
    me: Weak<World>,
    machine: Weak<Machine>,
    state: Mutex<State>,
}

struct State {
    settings: Settings,
    hosts: Vec<HostState>,
    ways: Ways,
    next_port: u16,
    /// By the host and the address.
    listeners: BTreeMap<(usize, SocketAddr), Arc<Listening>>,
    /// The listeners at paths of a host; each also has an address.
    paths: BTreeMap<(usize, PathBuf), SocketAddr>,
    /// By the host and the address.
    mailboxes: BTreeMap<(usize, SocketAddr), Arc<Mailbox>>,
    links: Vec<Weak<Link>>,
    cut: BTreeSet<SocketAddr>,
}

pub(super) struct Settings {
    pub(super) latency: Duration,
    pub(super) jitter: Duration,
    pub(super) capacity: usize,
}

impl Default for State {
    fn default() -> Self {
        State {
            settings: Settings {
                latency: Duration::ZERO,
                jitter: Duration::ZERO,
                capacity: DEFAULT_CAPACITY,
            },
            hosts: vec![HostState::new("localhost", Ipv4Addr::LOCALHOST.into())],
            ways: Ways::default(),
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

    fn find(&self, name: &str) -> Option<usize> {
        self.hosts.iter().position(|host| host.name == name)
    }

    /// The host that has an address, seen from `here`.
    fn owner(&self, of: IpAddr, here: usize) -> usize {
        if of.is_loopback() {
            return here;
        }
        let named = self.hosts.iter().enumerate().skip(LOCALHOST + 1);
        named.filter(|(_, host)| host.address == of).map(|(number, _)| number).next().unwrap_or(LOCALHOST)
    }

    /// The listener at `to` on the host, or one without a host at its address.
    fn listener(&self, host: usize, to: SocketAddr) -> Option<&Arc<Listening>> {
        at_address(&self.listeners, host, to)
    }

    /// The address of a host, as others see it, when it connects to `to`.
    fn source(&self, host: usize, to: IpAddr) -> IpAddr {
        let own = self.hosts[host].address;
        let is_known = host != LOCALHOST && !to.is_loopback() && own.is_ipv4() == to.is_ipv4();
        if is_known { own } else { loopback(to) }
    }

    /// Whether the host has that address.
    fn has(&self, host: usize, at: IpAddr) -> bool {
        host == LOCALHOST || at.is_unspecified() || at.is_loopback() || at == self.hosts[host].address
    }

    fn links(&mut self) -> Vec<Arc<Link>> {
        self.links.retain(|link| link.strong_count() > 0);
        self.links.iter().filter_map(Weak::upgrade).collect()
    }

    fn is_cut(&self, to: SocketAddr, hosts: [usize; 2]) -> bool {
        self.cut.contains(&to) || self.ways.is_cut(hosts)
    }

    /// The number of a host, which is created if the name is new.
    fn host(&mut self, name: &str) -> usize {
        self.find(name).unwrap_or_else(|| {
            let address =
                (1..).map(next_address).find(|one| self.hosts.iter().all(|host| host.address != *one));
            self.hosts.push(HostState::new(name, address.expect("there are 65,536 addresses")));
            self.hosts.len() - 1
        })
    }
}

/// The addresses of new hosts: 10.0.0.1, 10.0.0.2, ...
fn next_address(number: u16) -> IpAddr {
    let [high, low] = number.to_be_bytes();
    [10, 0, high, low].into()
}

fn unspecified(like: SocketAddr) -> IpAddr {
    if like.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() }
}

/// The value at an address of a host, or at all its addresses; or that of no host, at the same address.
fn at_address<T>(all: &BTreeMap<(usize, SocketAddr), T>, host: usize, to: SocketAddr) -> Option<&T> {
    let any = (unspecified(to), to.port()).into();
    let on_host = [to, any].into_iter().find_map(|at| all.get(&(host, at)));
    on_host.or_else(|| all.get(&(LOCALHOST, to)))
}

/// The address of listeners at paths.
const AT_PATHS: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);

fn loopback(like: IpAddr) -> IpAddr {
    if like.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() }
}

impl World {
    pub(crate) fn new(machine: Weak<Machine>) -> Arc<Self> {
        Arc::new_cyclic(|me| World { me: me.clone(), machine, state: Mutex::default() })
    }

    /// Resets the network, for another run.
    pub(crate) fn restart(&self) {
        // Dropped without the lock.
        let before = std::mem::take(&mut *self.state.lock());
        drop(before);
    }

    pub(super) fn machine(&self) -> &Weak<Machine> {
        &self.machine
    }

    /// Adds a fault to the trace of the run.
    pub(super) fn note(&self, text: impl FnOnce() -> String) {
        if let Some(machine) = self.machine.upgrade() {
            machine.fault(text);
        }
    }

    pub(super) fn settings(&self) -> MappedMutexGuard<'_, Settings> {
        MutexGuard::map(self.state.lock(), |state| &mut state.settings)
    }

    pub(super) fn ways<T>(&self, change: impl FnOnce(&mut Ways) -> T) -> T {
        change(&mut self.state.lock().ways)
    }

    /// The arrival time of a packet of this size that is sent now from one host to another.
    pub(super) fn arrival(&self, hosts: [usize; 2], bytes: usize) -> Instant {
        let now = self.machine.upgrade().map_or(Instant::EPOCH, |machine| machine.now());
        let (time, jitter) = {
            let State { settings, ways, .. } = &mut *self.state.lock();
            (ways.time(hosts, bytes, now, settings.latency), settings.jitter)
        };
        delivery::arrival(&self.machine, time, jitter)
    }

    pub(super) fn listener(&self, host: usize, to: SocketAddr) -> Option<Arc<Listening>> {
        self.state.lock().listener(host, to).cloned()
    }

    pub(super) fn forget(&self, listening: &Arc<Listening>) {
        let mut state = self.state.lock();
        let found = state.listeners.iter().find(|(_, one)| Arc::ptr_eq(one, listening)).map(|(key, _)| *key);
        let forgotten = found.and_then(|key| state.listeners.remove(&key));
        if let Some((host, at)) = found {
            state.paths.retain(|(of, _), address| (*of, *address) != (host, at));
        }
        drop(state);
        drop(forgotten);
    }

    /// The receiver of datagrams to an address, if they can get there, with the source address and the two hosts.
    pub(super) fn mailbox(
        &self,
        host: usize,
        from: SocketAddr,
        to: SocketAddr,
    ) -> Option<(Arc<Mailbox>, SocketAddr, [usize; 2])> {
        let state = self.state.lock();
        let hosts = [host, state.owner(to.ip(), host)];
        let mailbox = at_address(&state.mailboxes, hosts[1], to)?;
        let source = if from.ip().is_unspecified() { state.source(host, to.ip()) } else { from.ip() };
        let is_cut = state.is_cut(to, hosts) || state.cut.contains(&from);
        (!is_cut).then(|| (mailbox.clone(), (source, from.port()).into(), hosts))
    }

    pub(super) fn forget_mailbox(&self, mailbox: &Arc<Mailbox>) {
        let mut state = self.state.lock();
        let found = state.mailboxes.iter().find(|(_, one)| Arc::ptr_eq(one, mailbox)).map(|(key, _)| *key);
        let forgotten = found.and_then(|key| state.mailboxes.remove(&key));
        drop(state);
        drop(forgotten);
    }

    pub(super) fn mailboxes(&self) -> Vec<Arc<Mailbox>> {
        self.state.lock().mailboxes.values().cloned().collect()
    }

    pub(super) fn links(&self) -> Vec<Arc<Link>> {
        self.state.lock().links()
    }

    fn links_to(&self, listener: SocketAddr) -> impl Iterator<Item = Arc<Link>> {
        self.links().into_iter().filter(move |link| link.to == listener)
    }

    pub(super) fn links_between(&self, [one, other]: [usize; 2]) -> impl Iterator<Item = Arc<Link>> {
        self.links().into_iter().filter(move |link| link.hosts == [one, other] || link.hosts == [other, one])
    }

    /// Cuts or heals each connection, according to the state of its way.
    pub(super) fn update_links(&self) {
        let mut state = self.state.lock();
        let links = state.links();
        let links = links.into_iter().map(|link| (state.is_cut(link.to, link.hosts), link));
        let links: Vec<(bool, Arc<Link>)> = links.collect();
        drop(state);
        links.into_iter().for_each(|(is_cut, link)| link.set_cut(is_cut));
    }

    pub(super) fn cut(&self, listener: SocketAddr) {
        self.note(|| format!("cuts the way to {listener}"));
        self.state.lock().cut.insert(listener);
        self.update_links();
    }

    pub(super) fn heal(&self, listener: SocketAddr) {
        self.note(|| format!("heals the way to {listener}"));
        self.state.lock().cut.remove(&listener);
        self.update_links();
    }

    pub(super) fn heal_all(&self) {
        self.note(|| "heals all ways".to_owned());
        {
            let State { cut, ways, .. } = &mut *self.state.lock();
            cut.clear();
            ways.heal_all();
        }
        self.update_links();
    }

    pub(super) fn reset(&self, listener: SocketAddr) {
        self.note(|| format!("resets the connections to {listener}"));
        self.links_to(listener).for_each(|link| link.break_off());
    }

    pub(super) fn connections(&self) -> usize {
        self.links().into_iter().filter(|link| link.has_open_end()).count()
    }
}

/// Hosts.
impl World {
    /// The number of a host, which is created if the name is new.
    ///
    /// # Panics
    /// If the name is invalid.
    #[track_caller]
    pub(super) fn host(&self, name: &str) -> usize {
        assert!(
            is_host_name(name),
            "no host can be called {name:?}: letters, digits, `-`, `_` and `.` make a name"
        );
        self.state.lock().host(name)
    }

    #[track_caller]
    pub(super) fn set_address(&self, name: &str, address: IpAddr) {
        let host = self.host(name);
        self.state.lock().hosts[host].address = address;
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.state.lock().find(name)
    }

    pub(super) fn hosts(&self) -> usize {
        self.state.lock().hosts.len()
    }

    fn look<T>(&self, host: usize, look: impl FnOnce(&HostState) -> T) -> T {
        // A host from before a restart of the whole network is nowhere.
        let state = self.state.lock();
        look(state.hosts.get(host).unwrap_or(&state.hosts[LOCALHOST]))
    }

    pub(super) fn name(&self, host: usize) -> String {
        self.look(host, |host| host.name.clone())
    }

    pub(super) fn address(&self, host: usize) -> IpAddr {
        self.look(host, |host| host.address)
    }

    pub(super) fn power(&self, host: usize) -> Watch<Power> {
        self.look(host, |host| host.power.clone())
    }

    /// The host of the fiber whose turn it is.
    fn here(&self) -> io::Result<usize> {
        let place = self.machine.upgrade().map(|machine| machine.here()).unwrap_or_default();
        let host = usize::from(place.host);
        let power = self.power(host).get();
        let is_there = power.is_up && power.crashes == place.crashes;
        if is_there { Ok(host) } else { Err(ErrorKind::NetworkDown.into()) }
    }

    /// Crashes a host. Returns the number of its crashes. `None`: it was down.
    pub(super) fn crash(&self, host: usize) -> Option<u32> {
        let power = self.power(host);
        let Power { is_up: true, crashes } = power.get() else { return None };
        self.note(|| format!("crashes host {}", self.name(host)));
        power.set(Power { is_up: false, crashes: crashes + 1 });
        let gone = {
            let mut state = self.state.lock();
            let here: Vec<_> = state.listeners.keys().filter(|(of, _)| *of == host).copied().collect();
            here.into_iter().filter_map(|key| state.listeners.remove(&key)).collect::<Vec<_>>()
        };
        gone.iter().for_each(|listening| listening.fails());
        let gone = {
            let mut state = self.state.lock();
            state.paths.retain(|(of, _), _| *of != host);
            let here: Vec<_> = state.mailboxes.keys().filter(|(of, _)| *of == host).copied().collect();
            here.into_iter().filter_map(|key| state.mailboxes.remove(&key)).collect::<Vec<_>>()
        };
        gone.iter().for_each(|mailbox| mailbox.fails());
        self.links().into_iter().for_each(|link| link.crashes(host));
        let fibers = self.machine.upgrade().map_or_else(Vec::new, |machine| machine.fibers_at(host));
        fibers.iter().for_each(Context::cancel);
        Some(crashes + 1)
    }

    pub(super) fn restart_host(&self, host: usize) {
        let power = self.power(host);
        let before = power.get();
        if !before.is_up {
            self.note(|| format!("restarts host {}", self.name(host)));
            power.set(Power { is_up: true, ..before });
        }
    }

    /// The state of the network, for the report of a stuck program.
    pub(crate) fn condition(&self) -> Vec<String> {
        let state = self.state.lock();
        let name = |host: &usize| state.hosts[*host].name.as_str();
        let hosts = state.hosts.iter().skip(LOCALHOST + 1).map(|host| {
            let down = if host.power.get().is_up { "" } else { " (down)" };
            format!("{} at {}{down}", host.name, host.address)
        });
        let hosts: Vec<String> = hosts.collect();
        let mut lines = Vec::new();
        if !hosts.is_empty() {
            lines.push(format!("hosts: {}", hosts.join(", ")));
        }
        let (ways, splits) = state.ways.cuts();
        lines.extend(state.cut.iter().map(|to| format!("nothing passes to and from {to}")));
        lines.extend(
            ways.iter()
                .map(|[one, other]| format!("nothing passes between {} and {}", name(one), name(other))),
        );
        lines.extend(splits.iter().map(|off| {
            let names: Vec<&str> = off.iter().map(name).collect();
            format!("nothing passes between {} and all other hosts", names.join(", "))
        }));
        lines
    }
}

impl World {
    fn listen_on(&self, host: usize, mut at: SocketAddr) -> io::Result<SimulatedListener> {
        let mut state = self.state.lock();
        if at.port() == 0 {
            at.set_port(state.port());
        }
        if state.listeners.contains_key(&(host, at)) {
            return Err(ErrorKind::AddrInUse.into());
        }
        let listening = Listening::new(at);
        state.listeners.insert((host, at), listening.clone());
        Ok(SimulatedListener { listening, world: self.me.clone() })
    }

    /// `to` is an address of `hosts[1]`.
    fn connect_from(&self, from: IpAddr, to: SocketAddr, hosts: [usize; 2]) -> io::Result<SimulatedStream> {
        let world = self.me.upgrade().ok_or(ErrorKind::Unsupported)?;
        let mut state = self.state.lock();
        let from = (from, state.port()).into();
        let is_cut = state.is_cut(to, hosts);
        let link = Link::new(&world, to, [from, to], hosts, state.settings.capacity, is_cut);
        state.links.push(Arc::downgrade(&link));
        drop(state);
        link.send(Packet::Hello);
        Ok(SimulatedStream::new(link, End::Client))
    }
}

impl Net for World {
    fn listen(&self, at: SocketAddr) -> io::Result<Box<dyn ListenerSocket>> {
        let host = self.here()?;
        if !self.state.lock().has(host, at.ip()) {
            return Err(ErrorKind::AddrNotAvailable.into());
        }
        Ok(Box::new(self.listen_on(host, at)?))
    }

    fn connect(&self, to: SocketAddr) -> io::Result<Box<dyn StreamSocket>> {
        let host = self.here()?;
        let (from, owner) = {
            let state = self.state.lock();
            (state.source(host, to.ip()), state.owner(to.ip(), host))
        };
        Ok(Box::new(self.connect_from(from, to, [host, owner])?))
    }

    fn bind_datagrams(&self, mut at: SocketAddr) -> io::Result<Box<dyn DatagramSocket>> {
        let world = self.me.upgrade().ok_or(ErrorKind::Unsupported)?;
        let host = self.here()?;
        let mut state = self.state.lock();
        if !state.has(host, at.ip()) {
            return Err(ErrorKind::AddrNotAvailable.into());
        }
        if at.port() == 0 {
            at.set_port(state.port());
        }
        if state.mailboxes.contains_key(&(host, at)) {
            return Err(ErrorKind::AddrInUse.into());
        }
        let mailbox = Mailbox::new(host, at, self.machine.clone());
        state.mailboxes.insert((host, at), mailbox.clone());
        Ok(Box::new(SimulatedDatagrams::new(mailbox, &world)))
    }

    /// A path is free again when its listener is closed.
    fn listen_at_path(&self, at: &Path) -> io::Result<Box<dyn PathListenerSocket>> {
        let path = (self.here()?, at.to_owned());
        if self.state.lock().paths.contains_key(&path) {
            return Err(ErrorKind::AddrInUse.into());
        }
        let listener = self.listen_on(path.0, (AT_PATHS, 0).into())?;
        self.state.lock().paths.insert(path, listener.address());
        Ok(Box::new(listener))
    }

    fn connect_to_path(&self, to: &Path) -> io::Result<Box<dyn StreamSocket>> {
        let host = self.here()?;
        let at = self.state.lock().paths.get(&(host, to.to_owned())).copied().ok_or(ErrorKind::NotFound)?;
        Ok(Box::new(self.connect_from(AT_PATHS.into(), at, [host, host])?))
    }

    fn pair(&self) -> io::Result<[Box<dyn StreamSocket>; 2]> {
        let world = self.me.upgrade().ok_or(ErrorKind::Unsupported)?;
        let host = self.here()?;
        let mut state = self.state.lock();
        let mut address = || (AT_PATHS, state.port()).into();
        let (one, other): (SocketAddr, SocketAddr) = (address(), address());
        let link = Link::new(&world, other, [one, other], [host, host], state.settings.capacity, false);
        link.join();
        state.links.push(Arc::downgrade(&link));
        Ok([End::Client, End::Server].map(|end| {
            let end: Box<dyn StreamSocket> = Box::new(SimulatedStream::new(link.clone(), end));
            end
        }))
    }

    fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let address = self.find(host).map(|host| self.address(host));
        let unknown = || io::Error::new(ErrorKind::NotFound, format!("no host is called {host}"));
        Ok(vec![(address.ok_or_else(unknown)?, port).into()])
    }
}
