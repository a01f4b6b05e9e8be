//! A connection: two pipes, and the packets in transit.
//!
//! A pipe leads from one end to the other. Written data is first in transit, in parts, which arrive in order, whatever
//! their latencies: a late part delays those behind it.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::{Shutdown, SocketAddr};
use std::sync::{Arc, Weak};

use fiber_core::net::{Readiness, Waking};
use fiber_core::{Instant, Scheduler, TimerKey};
use parking_lot::{Mutex, MutexGuard};

use super::delivery::{Delivery, End, Packet};
use super::socket::Listening;
use super::world::World;
use crate::machine::Machine;

pub(crate) struct Link {
    world: Weak<World>,
    machine: Weak<Machine>,
    /// The listener that it was made to. It identifies the way.
    pub(super) to: SocketAddr,
    pub(super) addresses: [SocketAddr; 2],
    /// The hosts of the two ends.
    pub(super) hosts: [usize; 2],
    readable: [Readiness; 2],
    writable: [Readiness; 2],
    state: Mutex<State>,
}

struct State {
    progress: Progress,
    /// The pipe that leads to each end.
    pipes: [Pipe; 2],
    is_open: [bool; 2],
    /// The ends for which the connection was reset.
    has_failed: [bool; 2],
    /// Nothing arrives for now; packets are kept.
    is_cut: bool,
    /// Nothing arrives any more.
    is_lost: bool,
    kept: Vec<Packet>,
    /// The packets in transit, which are removed if no end is left to receive them.
    on_its_way: Vec<(Packet, TimerKey)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Connecting,
    Connected,
    Refused,
}

/// The data that one end writes and the other one reads.
struct Pipe {
    arrived: VecDeque<u8>,
    /// `None`: the end of the data.
    on_its_way: VecDeque<Option<Vec<u8>>>,
    capacity: usize,
    /// The writer has ended.
    is_finished: bool,
    /// The reader knows that.
    has_end: bool,
    /// The reader has stopped reading.
    is_deaf: bool,
    /// The arrival time of the last part.
    last: Instant,
}

impl State {
    /// The size in bytes of a packet that is sent now.
    fn size(&self, packet: Packet) -> usize {
        match packet {
            Packet::Data(end) => {
                let sent = self.on_its_way.iter().filter(|(one, _)| *one == packet).count();
                self.pipes[at(end)].on_its_way.get(sent).and_then(Option::as_ref).map_or(0, Vec::len)
            }
            _ => 0,
        }
    }
}

impl Pipe {
    fn new(capacity: usize) -> Self {
        Pipe {
            arrived: VecDeque::new(),
            on_its_way: VecDeque::new(),
            capacity,
            is_finished: false,
            has_end: false,
            is_deaf: false,
            last: Instant::EPOCH,
        }
    }

    fn room(&self) -> usize {
        let on_its_way: usize = self.on_its_way.iter().flatten().map(Vec::len).sum();
        self.capacity.saturating_sub(self.arrived.len() + on_its_way)
    }

    fn clear(&mut self) {
        self.arrived.clear();
        self.on_its_way.clear();
    }
}

fn at(end: End) -> usize {
    match end {
        End::Client => 0,
        End::Server => 1,
    }
}

impl Link {
    pub(super) fn new(
        world: &Arc<World>,
        to: SocketAddr,
        addresses: [SocketAddr; 2],
        hosts: [usize; 2],
        capacity: usize,
        is_cut: bool,
    ) -> Arc<Self> {
        let state = State {
            progress: Progress::Connecting,
            pipes: [Pipe::new(capacity), Pipe::new(capacity)],
            is_open: [true, false],
            has_failed: [false, false],
            is_cut,
            is_lost: false,
            kept: Vec::new(),
            on_its_way: Vec::new(),
        };
        Arc::new(Link {
            world: Arc::downgrade(world),
            machine: world.machine().clone(),
            to,
            addresses,
            hosts,
            readable: Default::default(),
            writable: Default::default(),
            state: Mutex::new(state),
        })
    }

    /// Connects both ends at once.
    pub(super) fn join(&self) {
        let mut state = self.state.lock();
        state.progress = Progress::Connected;
        state.is_open = [true, true];
    }

    pub(super) fn readable(&self, end: End) -> &Readiness {
        &self.readable[at(end)]
    }

    pub(super) fn writable(&self, end: End) -> &Readiness {
        &self.writable[at(end)]
    }

    pub(super) fn has_open_end(&self) -> bool {
        self.state.lock().is_open != [false, false]
    }

    /// Sends a packet.
    pub(super) fn send(self: &Arc<Self>, packet: Packet) {
        self.post(self.state.lock(), packet);
    }

    fn post(self: &Arc<Self>, mut state: MutexGuard<'_, State>, packet: Packet) {
        if state.is_lost {
            return;
        }
        if state.is_cut {
            return state.kept.push(packet);
        }
        let Some(world) = self.world.upgrade() else { return };
        let to = packet.to();
        let mut arrives = world.arrival([to.other(), to].map(|end| self.hosts[at(end)]), state.size(packet));
        if let Packet::Data(end) = packet {
            let pipe = &mut state.pipes[at(end)];
            arrives = arrives.max(pipe.last);
            pipe.last = arrives;
        }
        let delivery = Delivery { link: self.clone(), packet };
        if let Some(timer) = delivery.send(&self.machine, arrives) {
            state.on_its_way.push((packet, timer));
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
            return state.kept.push(packet);
        }
        match packet {
            Packet::Hello => self.greeted(state),
            Packet::Answer => {
                drop(state);
                self.writable(End::Client).event(false).fire();
            }
            Packet::Data(end) => self.data_arrives(state, end),
            Packet::Reset(end) => self.fails(state, end).into_iter().for_each(Waking::fire),
        }
    }

    /// The host has a listener, or not.
    fn greeted(self: &Arc<Self>, mut state: MutexGuard<'_, State>) {
        let listener: Option<Arc<Listening>> =
            self.world.upgrade().and_then(|world| world.listener(self.hosts[1], self.to));
        let is_heard =
            listener.is_some() && state.is_open[at(End::Client)] && !state.has_failed[at(End::Client)];
        state.progress = if is_heard { Progress::Connected } else { Progress::Refused };
        state.is_open[at(End::Server)] = is_heard;
        self.post(state, Packet::Answer);
        if let Some(listener) = listener.filter(|_| is_heard) {
            listener.arrives(self.clone());
        }
    }

    fn data_arrives(self: &Arc<Self>, mut state: MutexGuard<'_, State>, end: End) {
        let pipe = &mut state.pipes[at(end)];
        let Some(part) = pipe.on_its_way.pop_front() else { return };
        let is_end = part.is_none();
        match part {
            // No reader is left: the other end is notified.
            Some(_) if pipe.is_deaf => return self.post(state, Packet::Reset(end.other())),
            Some(bytes) => pipe.arrived.extend(bytes),
            None => pipe.has_end = true,
        }
        drop(state);
        self.readable(end).event(is_end).fire();
    }

    /// Fails both directions of this end.
    fn fails(&self, mut state: MutexGuard<'_, State>, end: End) -> [Waking; 2] {
        state.has_failed[at(end)] = true;
        state.pipes[at(end)].clear();
        drop(state);
        [self.readable(end).event(true), self.writable(end).event(true)]
    }

    /// Both ends fail now.
    pub(super) fn break_off(&self) {
        for end in [End::Client, End::Server] {
            self.fails(self.state.lock(), end).into_iter().for_each(Waking::fire);
        }
    }

    /// The host has crashed, and its ends send no other packet: the other ends are notified.
    pub(super) fn crashes(self: &Arc<Self>, host: usize) {
        for end in [End::Client, End::Server].into_iter().filter(|end| self.hosts[at(*end)] == host) {
            let state = self.state.lock();
            let is_told = state.is_open[at(end)] && !state.has_failed[at(end)];
            let is_heard = state.is_open[at(end.other())];
            self.fails(state, end).into_iter().for_each(Waking::fire);
            if is_told && is_heard {
                self.send(Packet::Reset(end.other()));
            }
        }
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
        kept.into_iter().for_each(|packet| self.send(packet));
    }

    pub(super) fn connected(&self) -> io::Result<()> {
        let state = self.state.lock();
        let has_answer = !state.on_its_way.iter().any(|(packet, _)| *packet == Packet::Answer)
            && !state.kept.contains(&Packet::Answer);
        match state.progress {
            _ if state.has_failed[at(End::Client)] => Err(ErrorKind::ConnectionReset.into()),
            Progress::Connected if has_answer => Ok(()),
            Progress::Refused if has_answer => Err(ErrorKind::ConnectionRefused.into()),
            _ => Err(ErrorKind::WouldBlock.into()),
        }
    }

    /// `is_taken`: whether the bytes are removed, or only peeked at.
    pub(super) fn read(&self, end: End, into: &mut [u8], is_taken: bool) -> io::Result<usize> {
        let mut state = self.state.lock();
        if state.has_failed[at(end)] {
            return Err(ErrorKind::ConnectionReset.into());
        }
        let pipe = &mut state.pipes[at(end)];
        let n = into.len().min(pipe.arrived.len());
        if n == 0 && !into.is_empty() {
            let is_over = pipe.has_end || pipe.is_deaf;
            return if is_over { Ok(0) } else { Err(ErrorKind::WouldBlock.into()) };
        }
        into.iter_mut().zip(&pipe.arrived).for_each(|(to, from)| *to = *from);
        if !is_taken {
            return Ok(n);
        }
        let was_full = pipe.room() == 0;
        pipe.arrived.drain(..n);
        drop(state);
        if was_full && n > 0 {
            self.writable(end.other()).event(false).fire();
        }
        Ok(n)
    }

    pub(super) fn write(self: &Arc<Self>, end: End, from: &[u8]) -> io::Result<usize> {
        let mut state = self.state.lock();
        let (is_connected, has_failed) = (state.progress == Progress::Connected, state.has_failed[at(end)]);
        let pipe = &mut state.pipes[at(end.other())];
        if has_failed || pipe.is_finished {
            return Err(
                if pipe.is_finished { ErrorKind::BrokenPipe } else { ErrorKind::ConnectionReset }.into()
            );
        }
        let n = from.len().min(pipe.room());
        if !is_connected || n == 0 && !from.is_empty() {
            return Err(ErrorKind::WouldBlock.into());
        }
        // In two parts: a fiber that runs between their arrivals reads less than was written.
        let (first, second) = from[..n].split_at(n / 2);
        let parts = [first, second].into_iter().filter(|part| !part.is_empty());
        let parts: Vec<Option<Vec<u8>>> = parts.map(|part| Some(part.to_vec())).collect();
        let count = parts.len();
        pipe.on_its_way.extend(parts);
        drop(state);
        (0..count).for_each(|_| self.send(Packet::Data(end.other())));
        Ok(n)
    }

    pub(super) fn shutdown(self: &Arc<Self>, end: End, how: Shutdown) -> io::Result<()> {
        let mut state = self.state.lock();
        if state.has_failed[at(end)] || state.progress != Progress::Connected {
            return Err(ErrorKind::NotConnected.into());
        }
        if how != Shutdown::Write {
            state.pipes[at(end)].is_deaf = true;
        }
        let is_new_end = how != Shutdown::Read && Self::finish(&mut state, end);
        drop(state);
        if is_new_end {
            self.send(Packet::Data(end.other()));
        }
        if how != Shutdown::Write {
            self.readable(end).event(true).fire();
        }
        Ok(())
    }

    /// This end sends no more data. `false`: it had already ended.
    fn finish(state: &mut State, end: End) -> bool {
        let has_failed = state.has_failed[at(end)];
        let pipe = &mut state.pipes[at(end.other())];
        let is_new = !pipe.is_finished && !has_failed;
        if is_new {
            pipe.is_finished = true;
            pipe.on_its_way.push_back(None);
        }
        is_new
    }

    /// The end was dropped. `is_hard`: the other end fails, which also happens if something is unread.
    pub(super) fn close(self: &Arc<Self>, end: End, is_hard: bool) {
        let mut state = self.state.lock();
        state.is_open[at(end)] = false;
        let inward = &mut state.pipes[at(end)];
        inward.is_deaf = true;
        let is_hard = (is_hard || !inward.arrived.is_empty()) && !state.has_failed[at(end)];
        if !state.is_open[at(end.other())] {
            let left = std::mem::take(&mut state.on_its_way);
            state.kept.clear();
            drop(state);
            // No end is left to receive it.
            self.take_back(left);
            return;
        }
        let packet = if is_hard {
            Some(Packet::Reset(end.other()))
        } else {
            Self::finish(&mut state, end).then_some(Packet::Data(end.other()))
        };
        drop(state);
        packet.into_iter().for_each(|packet| self.send(packet));
    }

    fn take_back(&self, packets: Vec<(Packet, TimerKey)>) {
        if let Some(machine) = self.machine.upgrade() {
            packets.into_iter().for_each(|(_, timer)| _ = machine.cancel_timer(timer));
        }
    }
}
