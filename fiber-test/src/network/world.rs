//! The listeners of all hosts, and the latencies between them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Weak};
use std::time::Duration;

use fiber_core::scheduler::Scheduler;
use fiber_core::scheduler::fs::Files;
use fiber_core::scheduler::net::Net;
use fiber_core::sync::Watch;
use fiber_core::{Context, Instant};
use parking_lot::{MappedMutexGuard, Mutex, MutexGuard};

use super::addresses::{self, Sockets, canonical, is_heard, key, loopback};
use super::datagrams::Mailbox;
use super::delivery;
use super::hosts::{HostState, LOCALHOST, Power};
use super::link::Link;
use super::net::FIRST_PORT;
use super::paths::Paths;
use super::socket::Listening;
use super::ways::Ways;
use crate::disk::Disk;
use crate::fault::{Fault, FaultKind, is_host_name};
use crate::machine::{Aim, Machine, Surroundings};

const DEFAULT_CAPACITY: usize = 64 * 1024;

pub(crate) struct World {
    pub(super) me: Weak<World>,
    pub(super) machine: Weak<Machine>,
    pub(super) state: Mutex<State>,
}

pub(super) struct State {
    pub(super) settings: Settings,
    pub(super) hosts: Vec<HostState>,
    ways: Ways,
    pub(super) next_port: u16,
    /// By the host and the address.
    pub(super) listeners: Sockets<Listening>,
    pub(super) paths: Paths,
    /// By the host and the address.
    pub(super) mailboxes: Sockets<Mailbox>,
    /// The connections, and some that have gone.
    links: Vec<Weak<Link>>,
    /// The last connection from each port of each host.
    pub(super) clients: BTreeMap<(usize, u16), Weak<Link>>,
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
            listeners: Sockets::new(),
            paths: Paths::default(),
            mailboxes: Sockets::new(),
            links: Vec::new(),
            clients: BTreeMap::new(),
            cut: BTreeSet::new(),
        }
    }
}

impl State {
    fn find(&self, name: &str) -> Option<usize> {
        self.hosts.iter().position(|host| host.name.eq_ignore_ascii_case(name))
    }

    /// The host that has an address, seen from `here`.
    pub(super) fn owner(&self, of: IpAddr, here: usize) -> usize {
        if of.is_loopback() {
            return here;
        }
        let named = self.hosts.iter().enumerate().skip(LOCALHOST + 1);
        named.filter(|(_, host)| host.address == of).map(|(number, _)| number).next().unwrap_or(LOCALHOST)
    }

    /// The address of a host, as others see it, when it connects to `to`.
    pub(super) fn source(&self, host: usize, to: IpAddr) -> IpAddr {
        let own = self.hosts[host].address;
        let is_known = host != LOCALHOST && !to.is_loopback() && own.is_ipv4() == to.is_ipv4();
        if is_known { own } else { loopback(to) }
    }

    /// Whether the host has that address.
    pub(super) fn has(&self, host: usize, at: IpAddr) -> bool {
        host == LOCALHOST || at.is_unspecified() || at.is_loopback() || at == self.hosts[host].address
    }

    /// Adds a connection. Now and then, this forgets those that have gone, so there are never many more of them than others.
    pub(super) fn add_link(&mut self, link: &Arc<Link>) {
        if self.links.len() == self.links.capacity() {
            self.forget_links();
            self.links.reserve(self.links.len().max(1));
        }
        self.links.push(Arc::downgrade(link));
    }

    fn forget_links(&mut self) {
        self.links.retain(|link| link.strong_count() > 0);
    }

    pub(super) fn links(&mut self) -> Vec<Arc<Link>> {
        self.forget_links();
        self.links.iter().filter_map(Weak::upgrade).collect()
    }

    pub(super) fn is_cut(&self, to: SocketAddr, hosts: [usize; 2]) -> bool {
        self.is_cut_at(to) || self.ways.is_cut(hosts)
    }

    /// Whether the way to the socket at this address is cut.
    fn is_cut_at(&self, at: SocketAddr) -> bool {
        self.cut.iter().any(|cut| is_heard(*cut, at))
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

/// The socket of a host that hears what is sent to an address, or that of no host at this very address.
fn at_address<T>(all: &Sockets<T>, host: usize, to: SocketAddr) -> Option<&Arc<T>> {
    addresses::hears(all, host, to).or_else(|| all.get(&key(LOCALHOST, to)))
}

impl World {
    pub(crate) fn new(machine: Weak<Machine>) -> Arc<Self> {
        Arc::new_cyclic(|me| World { me: me.clone(), machine, state: Mutex::default() })
    }

    pub(super) fn weak(&self) -> Weak<World> {
        self.me.clone()
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
        at_address(&self.state.lock().listeners, host, to).cloned()
    }

    pub(super) fn forget(&self, listening: &Arc<Listening>) {
        let mut state = self.state.lock();
        let forgotten = match listening.at {
            Some((host, at)) => addresses::take(&mut state.listeners, key(host, at), listening),
            None => state.paths.forget(listening),
        };
        drop(state);
        drop(forgotten);
    }

    /// What becomes of a datagram that is sent from an address of a host now.
    pub(super) fn route(&self, host: usize, from: SocketAddr, to: SocketAddr) -> Route {
        let state = self.state.lock();
        let hosts = [host, state.owner(to.ip(), host)];
        let ip = if from.ip().is_unspecified() { state.source(host, to.ip()) } else { from.ip() };
        let source = (ip, from.port()).into();
        let is_up = state.hosts.get(hosts[1]).is_some_and(|host| host.power.get().is_up);
        match at_address(&state.mailboxes, hosts[1], to) {
            _ if state.is_cut(to, hosts) || state.is_cut_at(source) || !is_up => Route::Lost,
            Some(mailbox) => Route::To(mailbox.clone(), source, hosts),
            None => Route::Refused(hosts),
        }
    }

    /// The address of a host, as the one at `to` sees it.
    pub(super) fn source(&self, host: usize, to: IpAddr) -> IpAddr {
        self.state.lock().source(host, to)
    }

    pub(super) fn forget_mailbox(&self, mailbox: &Arc<Mailbox>) {
        let mut state = self.state.lock();
        let forgotten = addresses::take(&mut state.mailboxes, mailbox.key(), mailbox);
        drop(state);
        drop(forgotten);
    }

    /// A change of the address of a socket.
    pub(super) fn move_mailbox(&self, mailbox: &Arc<Mailbox>, change: impl FnOnce()) {
        let mut state = self.state.lock();
        let moved = addresses::take(&mut state.mailboxes, mailbox.key(), mailbox);
        change();
        if let Some(moved) = moved {
            state.mailboxes.insert(mailbox.key(), moved);
        }
    }

    pub(super) fn mailboxes(&self) -> Vec<Arc<Mailbox>> {
        self.state.lock().mailboxes.values().cloned().collect()
    }

    pub(super) fn links(&self) -> Vec<Arc<Link>> {
        self.state.lock().links()
    }

    fn links_to(&self, listener: SocketAddr) -> impl Iterator<Item = Arc<Link>> {
        let at = canonical(listener);
        self.links().into_iter().filter(move |link| link.addresses.is_some_and(|it| is_heard(at, it.server)))
    }

    pub(super) fn links_between(&self, [one, other]: [usize; 2]) -> impl Iterator<Item = Arc<Link>> {
        let are_ends = move |link: &Arc<Link>| [[one, other], [other, one]].contains(&link.hosts);
        self.links().into_iter().filter(|link| link.addresses.is_some()).filter(are_ends)
    }

    /// Cuts or heals each connection, according to the state of its way.
    pub(super) fn update_links(&self) {
        let mut state = self.state.lock();
        let links = state.links();
        let links = links
            .into_iter()
            .filter_map(|link| Some((state.is_cut(link.addresses?.server, link.hosts), link)));
        let links: Vec<(bool, Arc<Link>)> = links.collect();
        drop(state);
        links.into_iter().for_each(|(is_cut, link)| link.set_cut(is_cut));
    }

    pub(super) fn cut(&self, listener: SocketAddr) {
        self.note(|| format!("cuts the way to {listener}"));
        self.state.lock().cut.insert(canonical(listener));
        self.update_links();
    }

    pub(super) fn heal(&self, listener: SocketAddr) {
        self.note(|| format!("heals the way to {listener}"));
        self.state.lock().cut.remove(&canonical(listener));
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

    pub(super) fn disk(&self, host: usize) -> Disk {
        self.look(host, |host| host.disk.clone())
    }

    /// The host of the fiber whose turn it is.
    pub(super) fn here(&self) -> io::Result<usize> {
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
        let (listeners, mailboxes) = {
            let State { listeners, paths, mailboxes, .. } = &mut *self.state.lock();
            let mut gone = addresses::take_all(listeners, host);
            gone.extend(paths.crash(host));
            (gone, addresses::take_all(mailboxes, host))
        };
        // Before its sockets fail: a fiber that waits there is cancelled. Its failure would be one that nobody observes, since the fiber that
        // waits for it is cancelled, too.
        let fibers = self.machine.upgrade().map_or_else(Vec::new, |machine| machine.fibers_at(host));
        fibers.iter().for_each(Context::cancel);
        listeners.iter().for_each(|listening| listening.fails());
        mailboxes.iter().for_each(|mailbox| mailbox.fails());
        self.links().into_iter().for_each(|link| link.crashes(host));
        self.disk(host).crash(|most| self.machine.upgrade().map_or(0, |machine| machine.choose_loss(most)));
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
}

impl Surroundings for World {
    fn net(&self) -> &dyn Net {
        self
    }

    fn files(&self) -> Option<Arc<dyn Files>> {
        let place = self.machine.upgrade()?.here();
        let host = usize::from(place.host);
        let is_named = host != LOCALHOST;
        is_named.then(|| self.look(host, |host| host.disk.files(place.crashes)))
    }

    fn restart(&self) {
        // Dropped without the lock.
        let before = std::mem::take(&mut *self.state.lock());
        drop(before);
    }

    fn possible(&self, kinds: &[FaultKind]) -> Vec<(FaultKind, Vec<String>)> {
        self.possible_faults(kinds)
    }

    fn inflict(&self, turn: u32, aim: Aim) -> Option<Fault> {
        self.me.upgrade()?.fail(turn, aim)
    }

    fn condition(&self) -> Vec<String> {
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

/// What becomes of a datagram.
pub(super) enum Route {
    /// It arrives, from this address, between these hosts.
    To(Arc<Mailbox>, SocketAddr, [usize; 2]),
    /// There is no socket, and the host says so.
    Refused([usize; 2]),
    Lost,
}
