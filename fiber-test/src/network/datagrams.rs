//! Sockets for datagrams. Each datagram has its own latency, so they may overtake each other. A datagram that finds no
//! room is lost. One that finds no socket is lost as well, and a sender that is connected to that address hears of it: the next
//! call fails with `ConnectionRefused`.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};

use fiber_core::scheduler::net::{DatagramSocket, Readiness, Socket};
use fiber_core::scheduler::{Scheduler, Task, TimerKey, Wakeup};
use parking_lot::Mutex;

use super::addresses::{Key, destination, key, seen};
use super::errors::{no_destination, other_family, too_long};
use super::world::{Route, World};
use crate::machine::Machine;

/// The maximum length of a datagram: with IPv4, the headers count.
const LONGEST: usize = 65_507;
const LONGEST_V6: usize = 65_527;

/// The maximum number of unread bytes; later datagrams are lost.
const MOST_UNREAD: usize = 208 * 1024;

/// The receiving side of a socket.
pub(super) struct Mailbox {
    host: usize,
    at: SocketAddr,
    is_v6: bool,
    machine: Weak<Machine>,
    state: Mutex<State>,
    readable: Readiness,
    writable: Readiness,
}

#[derive(Default)]
struct State {
    arrived: VecDeque<(SocketAddr, Vec<u8>)>,
    /// The address that it is connected to.
    peer: Option<SocketAddr>,
    /// The address that it has got by that, instead of all.
    connected_from: Option<IpAddr>,
    /// A refusal, reported once.
    error: Option<ErrorKind>,
    /// Removed if no socket is left to receive them.
    on_their_way: Vec<Underway>,
    next: u64,
    /// The host has crashed.
    has_failed: bool,
}

/// A datagram, or a refusal, that has not arrived.
struct Underway {
    number: u64,
    timer: TimerKey,
    hosts: [usize; 2],
}

impl State {
    fn is_there(&self) -> io::Result<()> {
        if self.has_failed { Err(ErrorKind::NetworkDown.into()) } else { Ok(()) }
    }

    fn take_error(&mut self) -> io::Result<()> {
        self.is_there()?;
        self.error.take().map_or(Ok(()), |error| Err(error.into()))
    }
}

impl Mailbox {
    pub(super) fn new(host: usize, at: SocketAddr, is_v6: bool, machine: Weak<Machine>) -> Arc<Self> {
        let (readable, writable) = Default::default();
        Arc::new(Mailbox { host, at, is_v6, machine, state: Mutex::default(), readable, writable })
    }

    /// Its address. All of the host, until it is connected.
    fn own(&self) -> SocketAddr {
        let connected_from = self.state.lock().connected_from;
        (connected_from.unwrap_or(self.at.ip()), self.at.port()).into()
    }

    pub(super) fn key(&self) -> Key {
        key(self.host, self.own())
    }

    /// Adds something in transit.
    fn expect(self: &Arc<Self>, world: &World, hosts: [usize; 2], what: What) {
        let Some(machine) = self.machine.upgrade() else { return };
        let at = world.arrival(hosts, what.size());
        let mut state = self.state.lock();
        state.next += 1;
        let number = state.next;
        let arrival = Arrival { mailbox: self.clone(), world: world.weak(), number, hosts, what };
        let timer = machine.schedule_at(at, Task::fire(Wakeup::from(Waker::from(Arc::new(arrival)))));
        state.on_their_way.push(Underway { number, timer, hosts });
    }

    /// The pairs of hosts between which datagrams to it are in transit.
    pub(super) fn ways(&self) -> Vec<[usize; 2]> {
        self.state.lock().on_their_way.iter().map(|one| one.hosts).collect()
    }

    /// Loses the datagrams in transit to it between these hosts.
    pub(super) fn lose(&self, [one, other]: [usize; 2]) {
        let is_lost = |on_its_way: &mut Underway| [[one, other], [other, one]].contains(&on_its_way.hosts);
        let lost: Vec<Underway> = self.state.lock().on_their_way.extract_if(.., is_lost).collect();
        self.take_back(lost);
    }

    fn take_back(&self, datagrams: Vec<Underway>) {
        if let Some(machine) = self.machine.upgrade() {
            datagrams.into_iter().for_each(|one| _ = machine.cancel_timer(one.timer));
        }
    }

    fn arrives(&self, arrival: &Arrival) {
        let mut state = self.state.lock();
        state.on_their_way.retain(|one| one.number != arrival.number);
        match &arrival.what {
            What::Datagram { from, bytes, sender } => {
                if state.peer.is_some_and(|peer| peer != *from) {
                    drop(state);
                    return arrival.is_refused(self.own(), sender);
                }
                let unread: usize = state.arrived.iter().map(|(_, bytes)| bytes.len()).sum();
                if unread + bytes.len() > MOST_UNREAD {
                    return;
                }
                state.arrived.push_back((*from, bytes.clone()));
            }
            What::Refusal { to } if state.peer == Some(*to) => {
                state.error = Some(ErrorKind::ConnectionRefused)
            }
            What::Refusal { .. } => return,
        }
        drop(state);
        self.readable.event(false).fire();
    }

    /// The host has crashed: the unread datagrams and the socket are gone.
    pub(super) fn fails(&self) {
        let mut state = self.state.lock();
        state.has_failed = true;
        state.arrived.clear();
        drop(state);
        self.close();
        self.readable.event(true).fire();
    }

    fn close(&self) {
        let left = std::mem::take(&mut self.state.lock().on_their_way);
        self.take_back(left);
    }
}

/// Something that arrives.
struct Arrival {
    mailbox: Arc<Mailbox>,
    world: Weak<World>,
    number: u64,
    hosts: [usize; 2],
    what: What,
}

enum What {
    Datagram {
        from: SocketAddr,
        bytes: Vec<u8>,
        sender: Weak<Mailbox>,
    },
    /// There is no socket at this address that would receive a datagram.
    Refusal {
        to: SocketAddr,
    },
}

impl What {
    fn size(&self) -> usize {
        match self {
            What::Datagram { bytes, .. } => bytes.len(),
            What::Refusal { .. } => 0,
        }
    }
}

impl Arrival {
    /// The socket receives datagrams of its peer only.
    fn is_refused(&self, at: SocketAddr, sender: &Weak<Mailbox>) {
        if let (Some(sender), Some(world)) = (sender.upgrade(), self.world.upgrade()) {
            let [from, to] = self.hosts;
            sender.expect(&world, [to, from], What::Refusal { to: at });
        }
    }
}

impl Wake for Arrival {
    fn wake(self: Arc<Self>) {
        self.mailbox.arrives(&self);
    }
}

/// The socket as a fiber sees it.
pub(super) struct SimulatedDatagrams {
    mailbox: Arc<Mailbox>,
    world: Weak<World>,
}

impl SimulatedDatagrams {
    pub(super) fn new(mailbox: Arc<Mailbox>, world: &Arc<World>) -> Self {
        SimulatedDatagrams { mailbox, world: Arc::downgrade(world) }
    }
}

impl Socket for SimulatedDatagrams {
    fn readable(&self) -> &Readiness {
        &self.mailbox.readable
    }

    fn writable(&self) -> &Readiness {
        &self.mailbox.writable
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.seen(self.mailbox.own()))
    }
}

impl SimulatedDatagrams {
    /// The address to which something is sent, if that is possible. `is_connect`: the socket is connected to it.
    fn destination(&self, to: SocketAddr, is_connect: bool) -> io::Result<SocketAddr> {
        if to.is_ipv6() && !self.mailbox.is_v6 {
            return Err(other_family());
        }
        let (at, own) = (self.mailbox.at.ip(), self.mailbox.own().ip());
        let ip = match to.ip().to_canonical() {
            // It has an address of version 4 that is written as one of version 6.
            IpAddr::V6(to) if own.is_ipv4() => match to.is_unspecified() {
                true => Ipv4Addr::LOCALHOST.into(),
                false => return Err(other_family()),
            },
            // It is bound to one address of version 6, and has no other.
            IpAddr::V4(_) if at.is_ipv6() && !at.is_unspecified() => {
                let is_refused = is_connect && to.is_ipv4();
                return Err(if is_refused { other_family() } else { ErrorKind::NetworkUnreachable.into() });
            }
            IpAddr::V4(Ipv4Addr::BROADCAST) => return Err(ErrorKind::PermissionDenied.into()),
            IpAddr::V4(Ipv4Addr::UNSPECIFIED) if own.is_ipv4() => own,
            ip => ip,
        };
        Ok(destination((ip, to.port()).into()))
    }

    fn seen(&self, address: SocketAddr) -> SocketAddr {
        seen(address, self.mailbox.is_v6)
    }
}

impl DatagramSocket for SimulatedDatagrams {
    fn connect(&self, to: SocketAddr) -> io::Result<()> {
        let to = self.destination(to, true)?;
        self.mailbox.state.lock().peer = Some(to);
        let is_everywhere = self.mailbox.own().ip().is_unspecified();
        if let Some(world) = self.world.upgrade().filter(|_| is_everywhere) {
            let source = world.source(self.mailbox.host, to.ip());
            world.move_mailbox(&self.mailbox, || self.mailbox.state.lock().connected_from = Some(source));
        }
        Ok(())
    }

    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.seen(self.mailbox.state.lock().peer.ok_or(ErrorKind::NotConnected)?))
    }

    fn try_send(&self, datagram: &[u8], to: Option<SocketAddr>) -> io::Result<()> {
        let peer = self.mailbox.state.lock().peer;
        let to = to.map(|to| self.destination(to, false)).transpose()?.or(peer).ok_or_else(no_destination)?;
        if to.port() == 0 {
            return Err(ErrorKind::InvalidInput.into());
        }
        if datagram.len() > if to.is_ipv4() { LONGEST } else { LONGEST_V6 } {
            return Err(too_long());
        }
        self.mailbox.state.lock().take_error()?;
        let Some(world) = self.world.upgrade() else { return Ok(()) };
        match world.route(self.mailbox.host, self.mailbox.own(), to) {
            Route::To(mailbox, from, hosts) => {
                let sender = Arc::downgrade(&self.mailbox);
                mailbox.expect(&world, hosts, What::Datagram { from, bytes: datagram.to_vec(), sender });
            }
            Route::Refused(hosts) if peer == Some(to) => {
                self.mailbox.expect(&world, hosts, What::Refusal { to });
            }
            Route::Refused(_) | Route::Lost => {}
        }
        Ok(())
    }

    fn try_receive(&self, into: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let mut state = self.mailbox.state.lock();
        state.take_error()?;
        let (from, bytes) = state.arrived.pop_front().ok_or(ErrorKind::WouldBlock)?;
        let n = into.len().min(bytes.len());
        into[..n].copy_from_slice(&bytes[..n]);
        Ok((n, self.seen(from)))
    }

    fn try_peek(&self) -> io::Result<()> {
        let state = self.mailbox.state.lock();
        state.is_there()?;
        let has_nothing = state.arrived.is_empty() && state.error.is_none();
        if has_nothing { Err(ErrorKind::WouldBlock.into()) } else { Ok(()) }
    }
}

impl Drop for SimulatedDatagrams {
    fn drop(&mut self) {
        if let Some(world) = self.world.upgrade() {
            world.forget_mailbox(&self.mailbox);
        }
        self.mailbox.close();
    }
}
