//! What lies behind the lock of a channel.
//!
//! Between two operations:
//!
//! * If an item is in, no receiver waits.
//! * If there is room, no sender waits.
//!
//! (Those who were cancelled count as waiting no longer; they are found out when they would be served.) So nobody gets
//! past those who wait: whoever finds an item or room has come in its turn.
//!
//! An entry in either queue holds an `Option<T>`, which tells its owner how the wait has ended:
//!
//! | queue | waits | served, `Some` | served, `None` |
//! |---|---|---|---|
//! | senders | `Some`: its item | the channel was closed: the item is still the sender's | the item is in |
//! | receivers | `None` | an item | the channel was closed, and nothing is left |
//!
//! No item is dropped here: an item that is no longer wanted is returned, to be dropped without the lock.

use std::collections::VecDeque;

use crate::engine::context::{Committed, Wakeup};
use crate::sync::wait_queue::{Ticket, WaitQueue, Wakes};

/// Room for so many items is allocated with the channel, so that a small one never grows.
const ALLOCATED: usize = 32;

/// What happens to an item for which there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overflow {
    /// Its sender waits.
    Wait,
    /// It takes the place of the oldest item.
    DropOldest,
    /// It is dropped.
    DropNewest,
}

pub(super) struct State<T> {
    items: VecDeque<T>,
    senders: WaitQueue<Option<T>>,
    receivers: WaitQueue<Option<T>>,
    /// How many items were handed to receivers that have not taken them yet. Each may come back.
    handed: usize,
    is_closed: bool,
    capacity: usize,
    overflow: Overflow,
}

/// What became of an item.
pub(super) enum Put<T> {
    /// It is in, or a receiver's, who is to be woken.
    In(Option<Committed>),
    /// It is in, and this one has lost its place to it.
    Instead(T),
    /// There is no room.
    Full(T),
    /// The channel is closed.
    Closed(T),
}

/// What is there to be received.
pub(super) enum Taken<T> {
    /// An item, and the sender who has got in for it.
    Item(T, Option<Committed>),
    /// Nothing now.
    Empty,
    /// Nothing any more.
    Closed,
}

impl<T> State<T> {
    pub(super) fn new(capacity: usize, overflow: Overflow) -> Self {
        State {
            items: VecDeque::with_capacity(capacity.min(ALLOCATED)),
            senders: WaitQueue::new(),
            receivers: WaitQueue::new(),
            handed: 0,
            is_closed: false,
            capacity,
            overflow,
        }
    }

    pub(super) fn items(&mut self) -> &mut VecDeque<T> {
        &mut self.items
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }

    pub(super) fn overflow(&self) -> Overflow {
        self.overflow
    }

    fn has_room(&self) -> bool {
        self.items.len() < self.capacity
    }

    /// How many items could come in now.
    pub(super) fn room(&self) -> usize {
        match self.overflow {
            Overflow::Wait => self.capacity.saturating_sub(self.items.len()),
            Overflow::DropOldest | Overflow::DropNewest => usize::MAX,
        }
    }

    /// Puts an item in, behind all others.
    #[inline]
    pub(super) fn put(&mut self, item: T) -> Put<T> {
        if self.is_closed {
            return Put::Closed(item);
        }
        let item = match self.hand(item) {
            Ok(committed) => return Put::In(Some(committed)),
            Err(item) => item,
        };
        if self.has_room() {
            self.items.push_back(item);
            return Put::In(None);
        }
        match self.overflow {
            Overflow::Wait | Overflow::DropNewest => Put::Full(item),
            Overflow::DropOldest => {
                self.items.push_back(item);
                self.items.pop_front().map_or(Put::In(None), Put::Instead)
            }
        }
    }

    /// Gives an item to the receiver that has waited longest.
    #[inline]
    fn hand(&mut self, item: T) -> Result<Committed, T> {
        let mut item = Some(item);
        match self.receivers.serve(|answer| *answer = item.take()) {
            Some(committed) => {
                self.handed += 1;
                Ok(committed)
            }
            None => Err(item.expect("nobody has taken it")),
        }
    }

    /// Takes the oldest item.
    #[inline]
    pub(super) fn take(&mut self) -> Taken<T> {
        if let Some(item) = self.items.pop_front() {
            return Taken::Item(item, self.admit());
        }
        // A rendezvous: the item comes from the sender itself.
        let mut item = None;
        let committed = self.senders.serve(|sent| item = sent.take());
        match item {
            Some(item) => Taken::Item(item, committed),
            None if self.is_exhausted() => Taken::Closed,
            None => Taken::Empty,
        }
    }

    /// Lets the item of the sender that has waited longest in, if there is room.
    fn admit(&mut self) -> Option<Committed> {
        if !self.has_room() {
            return None;
        }
        let items = &mut self.items;
        self.senders.serve(|sent| items.extend(sent.take()))
    }

    /// Whether nothing can be received any more.
    fn is_exhausted(&self) -> bool {
        self.is_closed && self.items.is_empty() && self.handed == 0
    }

    /// Lets a sender wait, with its item, for which there was no room.
    pub(super) fn join_senders(&mut self, wakeup: Wakeup, item: T) -> Ticket {
        self.senders.join(wakeup, Some(item))
    }

    /// Takes a sender out of the queue. Gives its item, if that is not in. `true`: the wait was over.
    pub(super) fn leave_senders(&mut self, ticket: Ticket) -> (Option<T>, bool) {
        self.senders.leave(ticket)
    }

    /// Lets a receiver wait, for which nothing was in.
    pub(super) fn join_receivers(&mut self, wakeup: Wakeup) -> Ticket {
        self.receivers.join(wakeup, None)
    }

    /// Takes a receiver out of the queue, with the item that it was handed. `None`: the channel was closed, or the
    /// receiver was not served.
    pub(super) fn leave_receivers(&mut self, ticket: Ticket) -> Option<T> {
        let (item, _) = self.receivers.leave(ticket);
        self.handed -= usize::from(item.is_some());
        item
    }

    /// Takes out a receiver that wants no item any more: what it was handed goes to the next one, or to the front, even
    /// if there is no room. A full sliding channel would have dropped it by now, and gives it back for that.
    pub(super) fn desert(&mut self, ticket: Ticket) -> (Option<T>, Wakes) {
        let Some(item) = self.leave_receivers(ticket) else { return (None, Wakes::default()) };
        match self.hand(item) {
            Ok(committed) => (None, Wakes::from(Some(committed))),
            Err(item) if self.overflow == Overflow::DropOldest && !self.has_room() => {
                (Some(item), self.tell_if_exhausted())
            }
            Err(item) => {
                self.items.push_front(item);
                (None, Wakes::default())
            }
        }
    }

    /// Lets nothing more in. Those who wait to send fail, and so do those who wait to receive, unless an item may still
    /// come back for them.
    pub(super) fn close(&mut self) -> Wakes {
        self.is_closed = true;
        let mut wakes = self.tell_if_exhausted();
        self.senders.serve_all(|_| {}, &mut wakes);
        wakes
    }

    /// Wakes those who wait for items, if none can come any more.
    #[cold]
    pub(super) fn tell_if_exhausted(&mut self) -> Wakes {
        let mut wakes = Wakes::default();
        if self.is_exhausted() {
            self.receivers.serve_all(|_| {}, &mut wakes);
        }
        wakes
    }
}
