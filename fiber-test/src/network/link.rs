//! A connection: its two ends, and the packets in transit.
//!
//! Packets of one direction arrive in order, whatever their latencies: a late one delays those behind it. Within a host, nothing is in
//! transit: a packet arrives when it is sent.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::{Shutdown, SocketAddr};
use std::sync::{Arc, Weak};

use fiber_core::Instant;
use fiber_core::scheduler::net::Readiness;
use fiber_core::scheduler::{Scheduler, TimerKey};
use parking_lot::{Mutex, MutexGuard};

use super::addresses::seen;
use super::delivery::{self, End, Packet};
use super::ends::{Effect, Ends, Kind};
use super::socket::Listening;
use super::world::World;
use crate::machine::Machine;

pub(crate) struct Link {
    world: Weak<World>,
    machine: Weak<Machine>,
    /// Those of a TCP connection.
    pub(super) addresses: Option<Addresses>,
    /// The hosts of the two ends.
    pub(super) hosts: [usize; 2],
    readable: [Readiness; 2],
    writable: [Readiness; 2],
    state: Mutex<State>,
}

/// The addresses of a TCP connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addresses {
    pub(super) client: SocketAddr,
    /// That of the listener. It identifies the way.
    pub(super) server: SocketAddr,
    /// Whether the client was given an address of version 6.
    pub(super) is_client_v6: bool,
}

struct State {
    progress: Progress,
    ends: Ends,
    /// The listener has addresses of version 6.
    is_server_v6: bool,
    /// Nothing arrives for now; packets, with their sizes, are kept.
    is_cut: bool,
    /// Nothing arrives any more.
    is_lost: bool,
    kept: Vec<(Packet, usize)>,
    /// The packets in transit, which are removed if no end is left to receive them.
    on_its_way: VecDeque<(Packet, TimerKey)>,
    /// The arrival time of the last part to each end.
    last: [Instant; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Connecting,
    Connected,
    Refused,
}

impl Link {
    fn new(
        world: &Arc<World>,
        addresses: Option<Addresses>,
        hosts: [usize; 2],
        capacity: usize,
        is_cut: bool,
    ) -> Arc<Self> {
        let kind = if addresses.is_some() { Kind::Tcp } else { Kind::Unix };
        let state = State {
            progress: Progress::Connecting,
            ends: Ends::new(kind, capacity),
            is_server_v6: false,
            is_cut,
            is_lost: false,
            kept: Vec::new(),
            on_its_way: VecDeque::new(),
            last: [Instant::EPOCH; 2],
        };
        Arc::new(Link {
            world: Arc::downgrade(world),
            machine: world.machine().clone(),
            addresses,
            hosts,
            readable: Default::default(),
            writable: Default::default(),
            state: Mutex::new(state),
        })
    }

    /// A TCP connection, which is yet to be made.
    pub(super) fn tcp(
        world: &Arc<World>,
        addresses: Addresses,
        hosts: [usize; 2],
        capacity: usize,
        is_cut: bool,
    ) -> Arc<Self> {
        Link::new(world, Some(addresses), hosts, capacity, is_cut)
    }

    /// A connection within a host, with both ends.
    pub(super) fn unix(world: &Arc<World>, host: usize, capacity: usize) -> Arc<Self> {
        let link = Link::new(world, None, [host, host], capacity, false);
        link.join(&mut link.state.lock());
        link
    }

    fn join(&self, state: &mut State) {
        state.progress = Progress::Connected;
        state.ends.open(End::Server);
    }

    pub(super) fn readable(&self, end: End) -> &Readiness {
        &self.readable[end.index()]
    }

    pub(super) fn writable(&self, end: End) -> &Readiness {
        &self.writable[end.index()]
    }

    pub(super) fn has_open_end(&self) -> bool {
        let state = self.state.lock();
        End::BOTH.into_iter().any(|end| state.ends.is_open(end))
    }

    /// The port of the client, while it is in use. A client that was reset has none any more.
    pub(super) fn port_in_use(&self) -> Option<SocketAddr> {
        let is_reset = self.state.lock().ends.is_reset(End::Client);
        self.addresses.filter(|_| !is_reset && self.has_open_end()).map(|addresses| addresses.client)
    }

    /// Changes the state, and does what follows from that.
    fn change<T>(self: &Arc<Self>, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state.lock();
        let result = change(&mut state);
        let effects = state.ends.take_effects();
        drop(state);
        effects.into_iter().for_each(|effect| self.follow(effect));
        result
    }

    fn follow(self: &Arc<Self>, effect: Effect) {
        match effect {
            Effect::Send(packet, bytes) => self.send(packet, bytes),
            Effect::Readable(end, stays) => self.readable(end).event(stays).fire(),
            Effect::Writable(end, stays) => self.writable(end).event(stays).fire(),
        }
    }

    /// Sends a packet with this many bytes.
    fn send(self: &Arc<Self>, packet: Packet, bytes: usize) {
        match self.addresses {
            Some(_) => self.post(self.state.lock(), packet, bytes),
            None => self.arrives(packet),
        }
    }

    /// Starts to connect.
    pub(super) fn greet(self: &Arc<Self>) {
        self.send(Packet::Hello, 0);
    }

    fn post(self: &Arc<Self>, mut state: MutexGuard<'_, State>, packet: Packet, bytes: usize) {
        if state.is_lost {
            return;
        }
        if state.is_cut {
            return state.kept.push((packet, bytes));
        }
        let Some(world) = self.world.upgrade() else { return };
        let to = packet.to();
        let mut arrives = world.arrival([to.other(), to].map(|end| self.hosts[end.index()]), bytes);
        if let Packet::Data(end) = packet {
            let last = &mut state.last[end.index()];
            arrives = arrives.max(*last);
            *last = arrives;
        }
        if let Some(timer) = delivery::send(self.clone(), packet, &self.machine, arrives) {
            state.on_its_way.push_back((packet, timer));
        }
    }

    pub(super) fn arrives(self: &Arc<Self>, packet: Packet) {
        let mut state = self.state.lock();
        // Packets of one kind arrive in order.
        if let Some(place) = state.on_its_way.iter().position(|(one, _)| *one == packet) {
            state.on_its_way.remove(place);
        }
        if state.is_lost {
            return;
        }
        if state.is_cut {
            // It has taken its time already.
            return state.kept.push((packet, 0));
        }
        match packet {
            Packet::Hello => self.greeted(state),
            Packet::Answer => {
                drop(state);
                self.writable(End::Client).event(false).fire();
            }
            Packet::Data(end) => {
                drop(state);
                self.change(|state| state.ends.arrives(end));
            }
        }
    }

    /// The host has a listener, or not.
    fn greeted(self: &Arc<Self>, mut state: MutexGuard<'_, State>) {
        if !state.ends.is_open(End::Client) {
            // It has given up, and nobody waits for an answer.
            return;
        }
        let world = self.world.upgrade();
        let to = self.addresses.map(|addresses| addresses.server);
        let listener: Option<Arc<Listening>> = world
            .and_then(|world| world.listener(self.hosts[1], to?))
            .filter(|_| state.ends.error(End::Client).is_none());
        match &listener {
            Some(listener) => {
                self.join(&mut state);
                state.is_server_v6 = listener.is_v6;
            }
            None => state.progress = Progress::Refused,
        }
        self.post(state, Packet::Answer, 0);
        if let Some(listener) = listener {
            listener.arrives(self.clone());
        }
    }

    /// Both ends are reset now. What is in transit is lost.
    pub(super) fn break_off(self: &Arc<Self>) {
        self.change(|state| {
            for end in End::BOTH {
                state.ends.forget_coming(end);
                state.ends.reset(end);
            }
        });
    }

    /// The host has crashed, and its ends send no other packet than a reset.
    pub(super) fn crashes(self: &Arc<Self>, host: usize) {
        let here = End::BOTH.into_iter().filter(|end| self.hosts[end.index()] == host);
        self.change(|state| here.for_each(|end| state.ends.crashes(end)));
    }

    /// Nothing arrives any more.
    pub(super) fn lose(&self) {
        let mut state = self.state.lock();
        state.is_lost = true;
        state.kept.clear();
        let left = std::mem::take(&mut state.on_its_way);
        drop(state);
        self.take_back(left);
    }

    pub(super) fn set_cut(self: &Arc<Self>, is_cut: bool) {
        let mut state = self.state.lock();
        state.is_cut = is_cut;
        if is_cut {
            return;
        }
        let kept = std::mem::take(&mut state.kept);
        drop(state);
        kept.into_iter().for_each(|(packet, bytes)| self.send(packet, bytes));
    }

    pub(super) fn connected(&self) -> io::Result<()> {
        let state = self.state.lock();
        let has_answer = !state.on_its_way.iter().any(|(packet, _)| *packet == Packet::Answer)
            && !state.kept.iter().any(|(packet, _)| *packet == Packet::Answer);
        match (state.progress, state.ends.error(End::Client)) {
            (_, Some(error)) => Err(error.into()),
            (Progress::Connected, None) if has_answer => Ok(()),
            (Progress::Refused, None) if has_answer => Err(ErrorKind::ConnectionRefused.into()),
            _ => Err(ErrorKind::WouldBlock.into()),
        }
    }

    /// The address of an end, as another one, or itself, sees it.
    pub(super) fn address(&self, of: End, from: End) -> io::Result<SocketAddr> {
        let addresses = self.addresses.ok_or(ErrorKind::Unsupported)?;
        let is_v6 = match from {
            End::Client => addresses.is_client_v6,
            End::Server => self.state.lock().is_server_v6,
        };
        let address = if of == End::Client { addresses.client } else { addresses.server };
        Ok(seen(address, is_v6))
    }

    pub(super) fn peer_addr(&self, end: End) -> io::Result<SocketAddr> {
        self.state.lock().ends.has_peer(end)?;
        self.address(end.other(), end)
    }

    pub(super) fn read(self: &Arc<Self>, end: End, into: &mut [u8]) -> io::Result<usize> {
        self.change(|state| {
            let cut = self.cut(into.len().min(state.ends.readable(end)));
            let length = cut.unwrap_or(into.len());
            state.ends.read(end, &mut into[..length], cut.is_some())
        })
    }

    pub(super) fn peek(&self, end: End) -> io::Result<()> {
        self.state.lock().ends.peek(end)
    }

    /// The number of bytes that have arrived.
    pub(super) fn unread(&self, end: End) -> usize {
        self.state.lock().ends.unread(end)
    }

    pub(super) fn write(self: &Arc<Self>, end: End, from: &[u8]) -> io::Result<usize> {
        self.change(|state| {
            if state.progress != Progress::Connected {
                return Err(ErrorKind::WouldBlock.into());
            }
            let cut = self.cut(from.len().min(state.ends.writable(end)));
            state.ends.write(end, &from[..cut.unwrap_or(from.len())], cut.is_some())
        })
    }

    /// Where the schedule cuts a transfer of this many bytes short, if anywhere.
    fn cut(&self, bytes: usize) -> Option<usize> {
        self.machine.upgrade()?.choose_cut(bytes)
    }

    pub(super) fn shutdown(self: &Arc<Self>, end: End, how: Shutdown) -> io::Result<()> {
        self.change(|state| state.ends.shutdown(end, how))
    }

    /// The end was dropped. `is_hard`: the other end is reset, which also happens if something is unread.
    pub(super) fn close(self: &Arc<Self>, end: End, is_hard: bool) {
        self.change(|state| state.ends.close(end, is_hard));
        let mut state = self.state.lock();
        if state.ends.is_open(end.other()) {
            return;
        }
        // No end is left to receive anything, or to be connected.
        state.kept.clear();
        let left = std::mem::take(&mut state.on_its_way);
        drop(state);
        self.take_back(left);
    }

    fn take_back(&self, packets: VecDeque<(Packet, TimerKey)>) {
        if let Some(machine) = self.machine.upgrade() {
            packets.into_iter().for_each(|(_, timer)| _ = machine.cancel_timer(timer));
        }
    }
}
