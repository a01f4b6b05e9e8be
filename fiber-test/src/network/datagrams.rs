//! Sockets for datagrams. Each datagram has its own latency, so they may overtake each other. A datagram that finds no
//! socket, or no room, is lost.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};

use fiber_core::net::{DatagramSocket, Readiness, Socket};
use fiber_core::{Scheduler, Task, TimerKey, Wakeup};
use parking_lot::Mutex;

use super::world::World;
use crate::machine::Machine;

/// The maximum length of a datagram with IPv4.
const LONGEST: usize = 65_507;

/// The maximum number of unread bytes; later datagrams are lost.
const MOST_UNREAD: usize = 208 * 1024;

/// The receiving side of a socket.
pub(super) struct Mailbox {
    host: usize,
    at: SocketAddr,
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
    /// Removed if no socket is left to receive them.
    on_their_way: Vec<Underway>,
    next: u64,
    /// The host has crashed.
    has_failed: bool,
}

/// A datagram that has not arrived.
struct Underway {
    number: u64,
    timer: TimerKey,
    hosts: [usize; 2],
}

impl State {
    fn is_there(&self) -> io::Result<()> {
        if self.has_failed { Err(ErrorKind::NetworkDown.into()) } else { Ok(()) }
    }
}

impl Mailbox {
    pub(super) fn new(host: usize, at: SocketAddr, machine: Weak<Machine>) -> Arc<Self> {
        let (readable, writable) = Default::default();
        Arc::new(Mailbox { host, at, machine, state: Mutex::default(), readable, writable })
    }

    /// Adds a datagram in transit.
    fn expect(self: &Arc<Self>, world: &World, from: SocketAddr, hosts: [usize; 2], bytes: &[u8]) {
        let Some(machine) = self.machine.upgrade() else { return };
        let at = world.arrival(hosts, bytes.len());
        let mut state = self.state.lock();
        state.next += 1;
        let number = state.next;
        let arrival = Arrival { mailbox: self.clone(), number, from, bytes: bytes.to_vec() };
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
        let is_for_it = state.peer.is_none_or(|peer| peer == arrival.from);
        let unread: usize = state.arrived.iter().map(|(_, bytes)| bytes.len()).sum();
        if !is_for_it || unread + arrival.bytes.len() > MOST_UNREAD {
            return;
        }
        state.arrived.push_back((arrival.from, arrival.bytes.clone()));
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

/// A datagram that arrives.
struct Arrival {
    mailbox: Arc<Mailbox>,
    number: u64,
    from: SocketAddr,
    bytes: Vec<u8>,
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
        Ok(self.mailbox.at)
    }
}

impl DatagramSocket for SimulatedDatagrams {
    fn connect(&self, to: SocketAddr) -> io::Result<()> {
        let mut state = self.mailbox.state.lock();
        state.peer = Some(to);
        state.arrived.retain(|(from, _)| *from == to);
        Ok(())
    }

    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.mailbox.state.lock().peer.ok_or(ErrorKind::NotConnected)?)
    }

    fn try_send(&self, datagram: &[u8], to: Option<SocketAddr>) -> io::Result<()> {
        let to = to.map_or_else(|| self.peer_addr(), Ok)?;
        if datagram.len() > LONGEST {
            return Err(io::Error::new(ErrorKind::InvalidInput, "a datagram is too long"));
        }
        self.mailbox.state.lock().is_there()?;
        let Some(world) = self.world.upgrade() else { return Ok(()) };
        if let Some((mailbox, from, hosts)) = world.mailbox(self.mailbox.host, self.mailbox.at, to) {
            mailbox.expect(&world, from, hosts, datagram);
        }
        Ok(())
    }

    fn try_receive(&self, into: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let mut state = self.mailbox.state.lock();
        state.is_there()?;
        let (from, bytes) = state.arrived.pop_front().ok_or(ErrorKind::WouldBlock)?;
        let n = into.len().min(bytes.len());
        into[..n].copy_from_slice(&bytes[..n]);
        Ok((n, from))
    }

    fn try_peek(&self) -> io::Result<()> {
        let state = self.mailbox.state.lock();
        state.is_there()?;
        if state.arrived.is_empty() { Err(ErrorKind::WouldBlock.into()) } else { Ok(()) }
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
