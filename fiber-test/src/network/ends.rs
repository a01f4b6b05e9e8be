//! The two ends of a connection, without time: what the calls on them give, and what has to happen then.
//!
//! An end hears of the other one by parts that arrive in their order: data, the end of the data, or a reset. These are its
//! states, and what its calls give:
//!
//! | an end | reads, after the data that has arrived | writes | `shutdown` and the peer's address |
//! |---|---|---|---|
//! | connected | wait | succeed | succeed |
//! | that has heard the end | the end | succeed | succeed |
//! | that has ended writing | wait | `BrokenPipe` | succeed |
//! | both, and the peer has heard it | the end | `BrokenPipe` | `NotConnected` |
//! | reset | the error once, then the end | the error once, then `BrokenPipe` | `NotConnected` |
//!
//! The error of a reset is `ConnectionReset`, or `BrokenPipe` if the end was heard before: then only a write reports it. Connections
//! within a host differ: writes take no error and give `BrokenPipe` as soon as the peer does not read, and `shutdown` succeeds always.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::mem;
use std::net::Shutdown;

use super::delivery::{End, Packet};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Tcp,
    /// A Unix socket: each end notices at once what the other one does.
    Unix,
}

/// The consequence of a call, or of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// A packet of this many bytes is sent.
    Send(Packet, usize),
    /// An event of the end. `true`: it stays readable.
    Readable(End, bool),
    Writable(End, bool),
}

pub(super) struct Ends {
    kind: Kind,
    capacity: usize,
    sides: [Side; 2],
    effects: Vec<Effect>,
}

#[derive(Default)]
struct Side {
    is_open: bool,
    arrived: VecDeque<u8>,
    coming: VecDeque<Part>,
    /// The number of bytes that are coming.
    in_transit: usize,
    /// The last read was cut short, so the next one is not.
    is_read_cut: bool,
    is_write_cut: bool,
    /// All that the peer has written has arrived.
    has_end: bool,
    /// It reads nothing more that arrives from now on.
    is_deaf: bool,
    /// It writes nothing more.
    is_finished: bool,
    /// The peer has heard that.
    is_acknowledged: bool,
    is_reset: bool,
    /// Reported once.
    error: Option<ErrorKind>,
    /// Its host has crashed: everything fails.
    is_dead: bool,
}

enum Part {
    Data(Vec<u8>),
    End,
    Reset,
}

impl Side {
    /// Whether nothing of the connection is left, as far as this end knows.
    fn is_over(&self) -> bool {
        self.is_reset || self.has_end && self.is_acknowledged
    }

    fn is_alive(&self) -> io::Result<()> {
        if self.is_dead { Err(ErrorKind::ConnectionReset.into()) } else { Ok(()) }
    }

    fn unread(&self) -> usize {
        self.arrived.len() + self.in_transit
    }
}

impl Ends {
    /// Only the client is open.
    pub(super) fn new(kind: Kind, capacity: usize) -> Self {
        let mut ends = Ends { kind, capacity, sides: Default::default(), effects: Vec::new() };
        ends.open(End::Client);
        ends
    }

    pub(super) fn open(&mut self, end: End) {
        self.sides[end.index()].is_open = true;
    }

    pub(super) fn is_open(&self, end: End) -> bool {
        self.sides[end.index()].is_open
    }

    pub(super) fn is_reset(&self, end: End) -> bool {
        self.sides[end.index()].is_reset
    }

    pub(super) fn take_effects(&mut self) -> Vec<Effect> {
        mem::take(&mut self.effects)
    }

    /// An end, and its peer.
    fn both(&mut self, end: End) -> (&mut Side, &mut Side) {
        let [client, server] = &mut self.sides;
        match end {
            End::Client => (client, server),
            End::Server => (server, client),
        }
    }

    /// How many bytes a read may give, if it may be cut short.
    pub(super) fn readable(&self, end: End) -> usize {
        let side = &self.sides[end.index()];
        if side.is_read_cut { 0 } else { side.arrived.len() }
    }

    /// How many bytes a write may take, if it may be cut short.
    pub(super) fn writable(&self, end: End) -> usize {
        if self.sides[end.index()].is_write_cut { 0 } else { self.room(end.other()) }
    }

    /// How many bytes may be sent to this end.
    fn room(&self, end: End) -> usize {
        self.capacity.saturating_sub(self.sides[end.index()].unread())
    }

    /// `is_cut`: although there may be more.
    pub(super) fn read(&mut self, end: End, into: &mut [u8], is_cut: bool) -> io::Result<usize> {
        let (kind, before) = (self.kind, self.room(end));
        let side = &mut self.sides[end.index()];
        side.is_alive()?;
        side.is_read_cut = is_cut;
        if side.arrived.is_empty() {
            return Self::read_nothing(kind, side);
        }
        let n = into.len().min(side.arrived.len());
        let (front, back) = side.arrived.as_slices();
        let (from_front, from_back) = into[..n].split_at_mut(n.min(front.len()));
        from_front.copy_from_slice(&front[..from_front.len()]);
        from_back.copy_from_slice(&back[..from_back.len()]);
        side.arrived.drain(..n);
        if is_cut {
            self.effects.push(Effect::Readable(end, false));
        }
        self.made_room(end, before);
        Ok(n)
    }

    fn read_nothing(kind: Kind, side: &mut Side) -> io::Result<usize> {
        match side.error {
            _ if side.has_end && kind == Kind::Tcp => Ok(0),
            Some(error) => {
                side.error = None;
                Err(error.into())
            }
            None if side.has_end || side.is_reset || side.is_deaf => Ok(0),
            None => Err(ErrorKind::WouldBlock.into()),
        }
    }

    /// A writer that waits is woken when half of the capacity is free, and not for each byte.
    fn made_room(&mut self, end: End, before: usize) {
        let enough = self.capacity.div_ceil(2);
        if before < enough && self.room(end) >= enough {
            self.effects.push(Effect::Writable(end.other(), false));
        }
    }

    /// The number of bytes that have arrived.
    pub(super) fn unread(&self, end: End) -> usize {
        self.sides[end.index()].arrived.len()
    }

    /// Whether a read would not wait.
    pub(super) fn peek(&self, end: End) -> io::Result<()> {
        let side = &self.sides[end.index()];
        side.is_alive()?;
        let is_over = side.has_end || side.is_reset || side.is_deaf || side.error.is_some();
        if is_over || !side.arrived.is_empty() { Ok(()) } else { Err(ErrorKind::WouldBlock.into()) }
    }

    /// `is_cut`: although there is more room.
    pub(super) fn write(&mut self, end: End, from: &[u8], is_cut: bool) -> io::Result<usize> {
        let (kind, room) = (self.kind, self.room(end.other()));
        let (side, peer) = self.both(end);
        side.is_alive()?;
        side.is_write_cut = is_cut;
        let is_over = side.is_finished || side.is_reset;
        match kind {
            Kind::Tcp if is_over => return Err(side.error.take().unwrap_or(ErrorKind::BrokenPipe).into()),
            Kind::Unix if is_over || peer.is_deaf => return Err(ErrorKind::BrokenPipe.into()),
            _ if room == 0 && !from.is_empty() => return Err(ErrorKind::WouldBlock.into()),
            _ => {}
        }
        let bytes = &from[..from.len().min(room)];
        if !bytes.is_empty() {
            peer.in_transit += bytes.len();
            peer.coming.push_back(Part::Data(bytes.to_vec()));
            self.effects.push(Effect::Send(Packet::Data(end.other()), bytes.len()));
        }
        if is_cut {
            self.effects.push(Effect::Writable(end, false));
        }
        Ok(bytes.len())
    }

    pub(super) fn shutdown(&mut self, end: End, how: Shutdown) -> io::Result<()> {
        let side = &mut self.sides[end.index()];
        side.is_alive()?;
        if self.kind == Kind::Tcp && side.is_over() {
            return Err(ErrorKind::NotConnected.into());
        }
        if how != Shutdown::Write {
            side.is_deaf = true;
            self.effects.push(Effect::Readable(end, true));
            self.peer_is_deaf(end);
        }
        if how != Shutdown::Read {
            self.effects.push(Effect::Writable(end, true));
            self.finish(end);
        }
        Ok(())
    }

    /// Within a host, the writes of the other end fail from now on.
    fn peer_is_deaf(&mut self, end: End) {
        if self.kind == Kind::Unix {
            self.effects.push(Effect::Writable(end.other(), true));
        }
    }

    /// This end writes no more.
    fn finish(&mut self, end: End) {
        if !mem::replace(&mut self.sides[end.index()].is_finished, true) {
            self.send(end.other(), Part::End);
        }
    }

    fn send(&mut self, to: End, part: Part) {
        self.sides[to.index()].coming.push_back(part);
        self.effects.push(Effect::Send(Packet::Data(to), 0));
    }

    /// The end was dropped. `is_hard`: the peer is reset, which also happens if something is unread.
    pub(super) fn close(&mut self, end: End, is_hard: bool) {
        let kind = self.kind;
        let side = &mut self.sides[end.index()];
        side.is_open = false;
        side.is_deaf = true;
        // It stays there: the peer is not to find more room.
        let has_unread = !side.arrived.is_empty();
        let is_over = side.is_dead || side.is_reset || kind == Kind::Tcp && side.is_over();
        let resets = has_unread || is_hard;
        side.is_reset |= resets;
        self.peer_is_deaf(end);
        match () {
            () if is_over => {}
            () if resets => self.send(end.other(), Part::Reset),
            () => self.finish(end),
        }
    }

    /// The next part arrives at this end.
    pub(super) fn arrives(&mut self, end: End) {
        let (side, peer) = self.both(end);
        match side.coming.pop_front() {
            None => {}
            Some(Part::Data(bytes)) => {
                side.in_transit -= bytes.len();
                self.data_arrives(end, bytes);
            }
            Some(Part::End) if side.is_reset => {}
            Some(Part::End) => {
                side.has_end = true;
                peer.is_acknowledged = true;
                self.effects.push(Effect::Readable(end, true));
            }
            Some(Part::Reset) => self.reset(end),
        }
    }

    fn data_arrives(&mut self, end: End, bytes: Vec<u8>) {
        let side = &mut self.sides[end.index()];
        if side.is_reset {
            return;
        }
        if side.is_deaf && side.is_finished {
            // Nobody will ever read it, and nobody has anything to add.
            self.reset(end);
            return self.send(end.other(), Part::Reset);
        }
        side.arrived.extend(bytes);
        self.effects.push(Effect::Readable(end, false));
    }

    /// The connection is reset, as far as this end is concerned.
    pub(super) fn reset(&mut self, end: End) {
        let kind = self.kind;
        let side = &mut self.sides[end.index()];
        if side.is_reset || kind == Kind::Tcp && side.is_over() {
            return;
        }
        let is_half_closed = side.has_end && kind == Kind::Tcp;
        side.error = Some(if is_half_closed { ErrorKind::BrokenPipe } else { ErrorKind::ConnectionReset });
        side.is_reset = true;
        self.effects.extend([Effect::Readable(end, true), Effect::Writable(end, true)]);
    }

    /// Nothing that is in transit to this end will arrive.
    pub(super) fn forget_coming(&mut self, end: End) {
        let side = &mut self.sides[end.index()];
        side.coming.clear();
        side.in_transit = 0;
    }

    /// The host of this end crashes: the calls that are left fail, and the peer is reset.
    pub(super) fn crashes(&mut self, end: End) {
        let (side, peer) = self.both(end);
        let is_told = side.is_open && !side.is_over() && !side.is_dead && peer.is_open;
        side.is_dead = true;
        side.is_reset = true;
        self.effects.extend([Effect::Readable(end, true), Effect::Writable(end, true)]);
        if is_told {
            self.send(end.other(), Part::Reset);
        }
    }

    /// Whether the end has a peer.
    pub(super) fn has_peer(&self, end: End) -> io::Result<()> {
        let is_over = self.kind == Kind::Tcp && self.sides[end.index()].is_over();
        if is_over { Err(ErrorKind::NotConnected.into()) } else { Ok(()) }
    }

    /// The error of a connection that is being made.
    pub(super) fn error(&self, end: End) -> Option<ErrorKind> {
        let side = &self.sides[end.index()];
        if side.is_dead { Some(ErrorKind::ConnectionReset) } else { side.error }
    }
}
