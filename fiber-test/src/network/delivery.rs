//! What arrives, as a task of the machine.

use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};
use std::time::Duration;

use fiber_core::{Instant, Scheduler, Task, TimerKey, Wakeup};

use super::link::Link;
use crate::machine::Machine;

/// What arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packet {
    /// At the listener: somebody connects.
    Hello,
    /// At the client: the connection is there, or was refused.
    Answer,
    /// At this end: the next part of what the other end has written, or its end.
    Data(End),
    /// At this end: the connection has failed.
    Reset(End),
}

impl Packet {
    /// Where it arrives.
    pub(super) fn to(self) -> End {
        match self {
            Packet::Hello => End::Server,
            Packet::Answer => End::Client,
            Packet::Data(end) | Packet::Reset(end) => end,
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
    pub(super) fn other(self) -> End {
        match self {
            End::Client => End::Server,
            End::Server => End::Client,
        }
    }
}

/// A packet on its way.
pub(super) struct Delivery {
    pub(super) link: Arc<Link>,
    pub(super) packet: Packet,
}

impl Wake for Delivery {
    fn wake(self: Arc<Self>) {
        self.link.arrives(self.packet);
    }
}

impl Delivery {
    /// Sends it off, to arrive at that time.
    pub(super) fn send(self, machine: &Weak<Machine>, at: Instant) -> Option<TimerKey> {
        let task = Task::fire(Wakeup::from(Waker::from(Arc::new(self))));
        Some(machine.upgrade()?.schedule_at(at, task))
    }
}

/// When a packet that is sent now arrives.
pub(super) fn arrival(machine: &Weak<Machine>, latency: Duration, jitter: Duration) -> Instant {
    let Some(machine) = machine.upgrade() else { return Instant::EPOCH };
    let more = match jitter.as_nanos() as u64 {
        0 => 0,
        most => machine.random_u64() % (most + 1),
    };
    machine.now() + latency + Duration::from_nanos(more)
}
