//! A packet in transit, whose arrival is a task of the machine.

use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};
use std::time::Duration;

use fiber_core::Instant;
use fiber_core::scheduler::{Scheduler, Task, TimerKey, Wakeup};

use super::link::Link;
use crate::machine::Machine;

/// The kinds of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packet {
    /// To the listener: a client connects.
    Hello,
    /// To the client: the connection was accepted or refused.
    Answer,
    /// To this end: the next part that the other end has written, the end of its data, or a reset.
    Data(End),
}

impl Packet {
    /// The end that receives it.
    pub(super) fn to(self) -> End {
        match self {
            Packet::Hello => End::Server,
            Packet::Answer => End::Client,
            Packet::Data(end) => end,
        }
    }
}

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Client,
    Server,
}

impl End {
    pub(super) const BOTH: [End; 2] = [End::Client, End::Server];

    pub(super) fn index(self) -> usize {
        match self {
            End::Client => 0,
            End::Server => 1,
        }
    }

    pub(super) fn other(self) -> End {
        match self {
            End::Client => End::Server,
            End::Server => End::Client,
        }
    }
}

/// A packet in transit.
struct Delivery {
    link: Arc<Link>,
    packet: Packet,
    _request: Option<Request>,
}

/// A request to connect, which overtakes no fiber: one that can run may be about to listen.
struct Request {
    arrives: Instant,
    machine: Weak<Machine>,
}

impl Request {
    fn new(machine: &Arc<Machine>, arrives: Instant) -> Self {
        machine.state().mishaps.wait_for_fibers(arrives);
        Request { arrives, machine: Arc::downgrade(machine) }
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if let Some(machine) = self.machine.upgrade() {
            machine.state().mishaps.wait_no_longer(self.arrives);
        }
    }
}

impl Wake for Delivery {
    fn wake(self: Arc<Self>) {
        self.link.arrives(self.packet);
    }
}

/// Sends the packet, to arrive at the time `at`.
pub(super) fn send(
    link: Arc<Link>,
    packet: Packet,
    machine: &Weak<Machine>,
    at: Instant,
) -> Option<TimerKey> {
    let machine = machine.upgrade()?;
    let request = (packet == Packet::Hello).then(|| Request::new(&machine, at));
    let delivery = Delivery { link, packet, _request: request };
    let task = Task::fire(Wakeup::from(Waker::from(Arc::new(delivery))));
    Some(machine.schedule_at(at, task))
}

/// When a packet that is sent now arrives.
pub(super) fn arrival(machine: &Weak<Machine>, latency: Duration, jitter: Duration) -> Instant {
    let Some(machine) = machine.upgrade() else { return Instant::EPOCH };
    let more = match u64::try_from(jitter.as_nanos()).unwrap_or(u64::MAX) {
        0 => 0,
        most => machine.random_u64() % most.saturating_add(1),
    };
    machine.now() + latency + Duration::from_nanos(more)
}
