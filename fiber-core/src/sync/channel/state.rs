//! The state of a channel, behind its lock.
//!
//! Between two operations, the state has two invariants:
//!
//! * If the channel contains an item, no receiver waits.
//! * If there is room, no sender waits.
//!
//! (Cancelled waiters do not count; they are skipped when they would be served.) So no operation overtakes a waiter: an
//! operation that finds an item or room is next in order.
//!
//! A waiter in either list holds an `Option<T>`, which tells its owner the result of the wait:
//!
//! | queue | while waiting | served, `Some` | served, `None` |
//! |---|---|---|---|
//! | senders | `Some`: its item | the channel was closed: the item is still the sender's | the item is in the channel |
//! | receivers | `None` | an item | the channel was closed and is empty |
//!
//! No item is dropped here: an item that is no longer wanted is returned, to be dropped without the lock.

use std::collections::VecDeque;

use crate::engine::context::{Committed, Seat};
use crate::sync::locked::Shows;
use crate::sync::waiters::{Waiter, Waiters, Wakes};

/// Channels up to this capacity are allocated in full, so that they never grow.
const ALLOCATED: usize = 32;

/// A receive need not wait.
pub(super) const CAN_TAKE: u64 = 1;
/// A send need not wait.
pub(super) const CAN_PUT: u64 = 2;

/// The policy for an item without room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overflow {
    /// Its sender waits.
    Wait,
    /// It replaces the oldest item.
    DropOldest,
    /// It is dropped.
    DropNewest,
}

pub(super) struct State<T> {
    items: VecDeque<T>,
    senders: Waiters<Option<T>>,
    receivers: Waiters<Option<T>>,
    /// The number of items passed to receivers, without those that came back. It wraps around.
    handed: usize,
    /// How many of them were [taken](super::passed::Passed), in a closed channel. The others may come back.
    taken: usize,
    is_closed: bool,
    /// Operations that never wait: all if the channel is closed, and a send that drops an item instead.
    always: u64,
    capacity: usize,
    overflow: Overflow,
}

/// The fate of a sent item.
pub(super) enum Put {
    /// It is in the channel, or was passed to a receiver, which has to be woken.
    In(Option<Committed>),
    /// It is in the channel, and the sender has the one that it has displaced.
    Instead,
    /// There is no room. The sender still has it.
    Full,
    /// The channel is closed. The sender still has it.
    Closed,
}

/// The result of a receive.
pub(super) enum Taken<T> {
    /// An item, and the sender whose item took its place.
    Item(T, Option<Committed>),
    /// No item now.
    Empty,
    /// No item any more: the channel is closed.
    Closed,
}

impl<T> Shows for State<T> {
    /// Which operations of other fibers need not wait.
    #[inline]
    fn shown(&self) -> u64 {
        // Without branches: each release of the lock computes it.
        let can_take = !self.items.is_empty() | !self.senders.is_empty();
        let can_put = self.has_room() | !self.receivers.is_empty();
        self.always | (u64::from(can_take) * CAN_TAKE) | (u64::from(can_put) * CAN_PUT)
    }
}

impl<T> State<T> {
    pub(super) fn new(capacity: usize, overflow: Overflow) -> Self {
        State {
            items: VecDeque::with_capacity(capacity.min(ALLOCATED)),
            senders: Waiters::new(),
            receivers: Waiters::new(),
            handed: 0,
            taken: 0,
            is_closed: false,
            always: if overflow == Overflow::Wait { 0 } else { CAN_PUT },
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

    /// The number of items that fit now.
    pub(super) fn room(&self) -> usize {
        match self.overflow {
            Overflow::Wait => self.capacity.saturating_sub(self.items.len()),
            Overflow::DropOldest | Overflow::DropNewest => usize::MAX,
        }
    }

    /// Whether an operation of `seat` can put an item now, or never.
    pub(super) fn can_put(&self, seat: &Seat) -> bool {
        let waits = self.overflow == Overflow::Wait && !self.has_room() && !self.is_closed;
        !waits || self.receivers.others(seat).next().is_some()
    }

    /// Whether an operation of `seat` can take an item now, or never.
    pub(super) fn can_take(&self, seat: &Seat) -> bool {
        !self.items.is_empty() || self.is_exhausted() || self.senders.others(seat).next().is_some()
    }

    /// Appends the item, if there is one.
    #[inline]
    pub(super) fn put(&mut self, item: &mut Option<T>) -> Put {
        if self.is_closed {
            return Put::Closed;
        }
        if let Some(committed) = self.hand(item) {
            return Put::In(Some(committed));
        }
        if !self.has_room() {
            return self.put_without_room(item);
        }
        if let Some(item) = item.take() {
            self.items.push_back(item);
        }
        Put::In(None)
    }

    fn put_without_room(&mut self, item: &mut Option<T>) -> Put {
        if self.overflow != Overflow::DropOldest {
            return Put::Full;
        }
        self.items.extend(item.take());
        *item = self.items.pop_front();
        Put::Instead
    }

    /// Passes an item to the receiver that has waited longest.
    #[inline]
    fn hand(&mut self, item: &mut Option<T>) -> Option<Committed> {
        let committed = self.receivers.serve(|answer| *answer = item.take())?;
        self.handed = self.handed.wrapping_add(1);
        Some(committed)
    }

    /// Takes the oldest item.
    #[inline]
    pub(super) fn take(&mut self) -> Taken<T> {
        self.take_in_place()
    }

    /// The same for a caller that uses the item at once: by force, because it would wait for the result to get through memory
    /// (docs/decisions/stalls.md).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn take_in_place(&mut self) -> Taken<T> {
        if let Some(item) = self.items.pop_front() {
            return Taken::Item(item, self.admit());
        }
        if self.senders.is_empty() {
            return if self.is_exhausted() { Taken::Closed } else { Taken::Empty };
        }
        // A rendezvous: takes the item directly from the sender.
        let mut item = None;
        let committed = self.senders.serve(|sent| item = sent.take());
        match item {
            Some(item) => Taken::Item(item, committed),
            None if self.is_exhausted() => Taken::Closed,
            None => Taken::Empty,
        }
    }

    /// Admits the item of the sender that has waited longest, if there is room.
    fn admit(&mut self) -> Option<Committed> {
        if !self.has_room() {
            return None;
        }
        let items = &mut self.items;
        self.senders.serve(|sent| items.extend(sent.take()))
    }

    pub(super) fn set_taken(&mut self, taken: usize) {
        self.taken = taken;
    }

    /// Whether no item will ever be received again.
    fn is_exhausted(&self) -> bool {
        self.is_closed && self.items.is_empty() && self.handed == self.taken
    }

    /// Enqueues a sender with its item, for which there was no room.
    pub(super) fn join_senders(&mut self, waiter: &mut Waiter<Option<T>>, seat: Seat, item: T) {
        waiter.join(&mut self.senders, seat, Some(item));
    }

    /// Removes a sender from the queue. Gives its item, unless it is already in the channel.
    pub(super) fn leave_senders(&mut self, waiter: &mut Waiter<Option<T>>) -> Option<T> {
        waiter.leave(&mut self.senders)?.0
    }

    /// Enqueues a receiver.
    pub(super) fn join_receivers(&mut self, waiter: &mut Waiter<Option<T>>, seat: Seat) {
        waiter.join(&mut self.receivers, seat, None);
    }

    /// Removes a receiver from the queue, with the item that was passed to it. `None`: the channel was closed, or the
    /// receiver was not served.
    pub(super) fn leave_receivers(&mut self, waiter: &mut Waiter<Option<T>>) -> Option<T> {
        let (item, _) = waiter.leave(&mut self.receivers)?;
        self.handed = self.handed.wrapping_sub(item.is_some().into());
        item
    }

    /// Removes a receiver that no longer wants an item: an item passed to it goes to the next receiver, or to the front, even
    /// if there is no room. A full sliding channel would have dropped it by now, and returns it for that.
    pub(super) fn desert(&mut self, waiter: &mut Waiter<Option<T>>) -> (Option<T>, Wakes) {
        let mut item = self.leave_receivers(waiter);
        if item.is_none() {
            return (None, Wakes::default());
        }
        match self.hand(&mut item) {
            None if self.overflow == Overflow::DropOldest && !self.has_room() => {
                (item, self.tell_if_exhausted())
            }
            None => {
                item.into_iter().for_each(|item| self.items.push_front(item));
                (None, Wakes::default())
            }
            committed => (None, Wakes::from(committed)),
        }
    }

    /// Closes the channel to further items. Waiting senders fail, and so do waiting receivers, unless an item may still
    /// come back for them.
    pub(super) fn close(&mut self) -> Wakes {
        self.is_closed = true;
        self.always = CAN_TAKE | CAN_PUT;
        let mut wakes = self.tell_if_exhausted();
        self.senders.serve_all(|_| {}, &mut wakes);
        wakes
    }

    /// Wakes the waiting receivers, if no item can come any more.
    #[cold]
    pub(super) fn tell_if_exhausted(&mut self) -> Wakes {
        let mut wakes = Wakes::default();
        if self.is_exhausted() {
            self.receivers.serve_all(|_| {}, &mut wakes);
        }
        wakes
    }
}
