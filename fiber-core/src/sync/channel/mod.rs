//! Channels: many senders, many receivers, each item received once.
//!
//! * [`state`]: the state behind the lock.
//! * [`passed`]: the items that are on their way to receivers.
//! * [`sender`], [`receiver`]: the two ends, and the waits of single items and batches.
//! * [`fold`]: the loops over the items of a receiver.
//! * [`send_all`]: the wait of a sender that sends many items.
//! * `stream`: channels and `Stream`, both ways.
//! * [`errors`]: the reasons why an item was not sent or received.

mod errors;
mod fold;
pub(super) mod passed;
mod receiver;
mod send_all;
mod sender;
mod state;
#[cfg(feature = "stream")]
mod stream;

pub use errors::{Closed, SendError, TryRecvError, TrySendError};
pub use receiver::Receiver;
pub use sender::Sender;
#[cfg(feature = "stream")]
pub use stream::ReceiverStream;

use std::fmt;
use std::mem;
use std::panic::Location;
use std::sync::Arc;

use parking_lot::MutexGuard;

use crate::engine::fate::{ITEM, dropped};
use crate::engine::subject::{Contents, Subject};
use crate::error::{Site, counted};
use crate::footprint::{Noted, is_listening};
use crate::sync::locked::{self, Seen};
use crate::sync::waiters::Wakes;
use passed::Passed;
use receiver::ReceivingEnd;
use sender::SendingEnd;
use state::{Overflow, State};

/// A queue between fibers: each item of a [`Sender`] is received by one [`Receiver`], in the order in which the items
/// came in.
///
/// | channel | `send` into a full channel |
/// |---|---|
/// | [`bounded`](Channel::bounded) | waits for room: backpressure |
/// | [`rendezvous`](Channel::rendezvous) | is always full: the sender waits for a receiver |
/// | [`unbounded`](Channel::unbounded) | is never full |
/// | [`sliding`](Channel::sliding) | drops the oldest item |
/// | [`dropping`](Channel::dropping) | drops its own item |
///
/// Both ends can be cloned. The channel closes when the last sender or the last receiver is dropped, or by
/// [`close`](Sender::close). Items in a closed channel can still be received.
///
/// ```
/// use fiber_core::{Fiber, fiber, sync::Channel};
/// use fiber_test::TestScheduler;
///
/// let (sender, receiver) = Channel::bounded(2);
/// let producer = sender.send_all(1..=5);
/// drop(sender);
/// let consumer = fiber! {
///     let mut sum = 0;
///     while let Ok(number) = receiver.recv().await { sum += number }
///     sum
/// };
/// let ((), sum) = TestScheduler::new().run(producer.zip(consumer)).unwrap();
/// assert_eq!(sum, 15);
/// ```
///
/// # Cancellation
/// No item is lost or received twice, whichever fiber is cancelled when. A sender first ends the wait of a
/// receiver, so that no cancellation can end it any more, and only then moves the item. An item that was passed to a
/// receiver that does not take it goes back to the front.
///
/// In a [`race`](crate::Fiber::race) of two single waits, a `recv` that loses takes no item, and the item of a `send` that loses is
/// never received. A branch of any other race may succeed at the same time as the winner; its outcome is dropped.
/// [`race_with`](crate::Fiber::race_with) gives both.
#[doc(alias("mpsc", "queue"))]
#[repr(align(128))]
pub struct Channel<T> {
    state: Noted<State<T>>,
    /// What an operation would find, seen without the lock: [`CAN_TAKE`](state::CAN_TAKE) and [`CAN_PUT`](state::CAN_PUT).
    seen: Seen,
    /// The items on their way to receivers.
    passed: Passed,
    /// `usize::MAX`: unbounded.
    capacity: usize,
    subject: Subject,
}

impl<T: Send + 'static> Channel<T> {
    /// A channel that holds `capacity` items; further senders wait for room, first come, first served.
    ///
    /// With a capacity of 0 it is a [`rendezvous`](Channel::rendezvous).
    ///
    /// ```
    /// use fiber_core::sync::{Channel, TrySendError};
    ///
    /// let (sender, receiver) = Channel::bounded(1);
    /// assert_eq!(sender.try_send("one"), Ok(()));
    /// assert_eq!(sender.try_send("two"), Err(TrySendError::Full("two")));
    /// assert_eq!(receiver.try_recv(), Ok("one"));
    /// ```
    #[track_caller]
    pub fn bounded(capacity: usize) -> (Sender<T>, Receiver<T>) {
        Channel::open(Location::caller(), capacity, Overflow::Wait)
    }

    /// An unbounded channel. If its receivers are slower than its senders, it grows without limit. It keeps the memory of its longest queue
    /// until it is dropped.
    ///
    /// ```
    /// use fiber_core::sync::Channel;
    ///
    /// let (sender, receiver) = Channel::unbounded();
    /// (0..1000).for_each(|n| sender.try_send(n).unwrap());
    /// assert_eq!((receiver.len(), receiver.capacity()), (1000, None));
    /// ```
    #[track_caller]
    pub fn unbounded() -> (Sender<T>, Receiver<T>) {
        Channel::open(Location::caller(), usize::MAX, Overflow::Wait)
    }

    /// A channel without a buffer: a sender waits for a receiver, and passes its item to it.
    ///
    /// The sender continues when a receiver owns the item, whether or not that receiver has run since.
    ///
    /// ```
    /// use fiber_core::{Fiber, sync::Channel};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let (sender, receiver) = Channel::rendezvous();
    /// let late = Fiber::delay(Duration::from_secs(3)).bind(move |()| receiver.recv());
    /// let test = TestScheduler::new();
    /// let send = sender.send("hello").bind(|()| Fiber::now());
    /// let (sent_at, received) = test.run(send.zip(late)).unwrap();
    /// assert_eq!((sent_at.as_nanos(), received), (3_000_000_000, "hello"));
    /// ```
    #[track_caller]
    pub fn rendezvous() -> (Sender<T>, Receiver<T>) {
        Channel::open(Location::caller(), 0, Overflow::Wait)
    }

    /// A channel that keeps the latest `capacity` items: one more drops the oldest. No sender waits.
    ///
    /// ```
    /// use fiber_core::sync::Channel;
    ///
    /// let (sender, receiver) = Channel::sliding(2);
    /// (1..=4).for_each(|n| sender.try_send(n).unwrap());
    /// assert_eq!([receiver.try_recv(), receiver.try_recv()], [Ok(3), Ok(4)]);
    /// ```
    ///
    /// # Panics
    /// If `capacity` is 0.
    #[track_caller]
    pub fn sliding(capacity: usize) -> (Sender<T>, Receiver<T>) {
        assert!(capacity > 0, "a sliding channel holds at least 1 item");
        Channel::open(Location::caller(), capacity, Overflow::DropOldest)
    }

    /// A channel that holds `capacity` items: when it is full, `send` drops its item. No sender waits.
    ///
    /// [`try_send`](Sender::try_send) returns the item instead.
    ///
    /// ```
    /// use fiber_core::{Fiber, sync::Channel};
    ///
    /// let (sender, receiver) = Channel::dropping(2);
    /// let send = Fiber::for_each(1..=4, move |n| sender.send(n));
    /// assert!(fiber_sched::run(send).is_success());
    /// assert_eq!([receiver.try_recv(), receiver.try_recv()], [Ok(1), Ok(2)]);
    /// ```
    ///
    /// # Panics
    /// If `capacity` is 0.
    #[track_caller]
    pub fn dropping(capacity: usize) -> (Sender<T>, Receiver<T>) {
        assert!(capacity > 0, "a dropping channel holds at least 1 item");
        Channel::open(Location::caller(), capacity, Overflow::DropNewest)
    }

    fn open(site: Site, capacity: usize, overflow: Overflow) -> (Sender<T>, Receiver<T>) {
        let state = State::new(capacity, overflow);
        let seen = Seen::of(&state);
        let state = Noted::new(state);
        let subject = Subject::new("Channel", site);
        let channel = Arc::new(Channel { state, seen, passed: Passed::default(), capacity, subject });
        (Sender::new(SendingEnd(channel.clone())), Receiver::new(ReceivingEnd(channel)))
    }
}

impl<T> Channel<T> {
    #[inline]
    fn lock(&self) -> Locked<'_, T> {
        self.locked(self.state.lock())
    }

    /// The same, where nothing [listens](is_listening).
    #[inline]
    fn lock_unnoted(&self) -> Locked<'_, T> {
        self.locked(self.state.lock_unnoted())
    }

    #[inline]
    fn locked<'a>(&'a self, mut state: MutexGuard<'a, State<T>>) -> Locked<'a, T> {
        if state.is_closed() {
            state.set_taken(self.passed.taken());
        }
        Locked::new(state, &self.seen)
    }

    /// Whether a look under the lock is worthwhile for an operation that needs one of these bits. An operation that waits looks again,
    /// under the lock.
    #[inline]
    fn is_likely(&self, bit: u64) -> bool {
        // An explorer has to know of the look, so it always sees the one under the lock.
        self.has_seen(bit) || is_listening()
    }

    /// The same, where nothing listens.
    #[inline]
    fn has_seen(&self, bit: u64) -> bool {
        self.seen.get() & bit != 0
    }

    /// Closes the channel to further items. `true` if it was open.
    fn close(&self) -> bool {
        let mut state = self.lock();
        let was_open = !state.is_closed();
        self.close_locked(&mut state).wake_after(state);
        was_open
    }

    fn close_locked(&self, state: &mut State<T>) -> Wakes {
        self.passed.close();
        state.set_taken(self.passed.taken());
        state.close()
    }

    /// Closes the channel, and drops its items, because no receiver is left.
    fn abandon(&self) {
        let mut state = self.lock();
        let (wakes, items) = (self.close_locked(&mut state), mem::take(state.items()));
        wakes.wake_after(state);
        dropped(&self.subject, items.len(), ITEM, "with the last receiver");
        drop(items);
    }

    fn len(&self) -> usize {
        self.state.lock_to_read().items().len()
    }

    fn capacity(&self) -> Option<usize> {
        (self.capacity < usize::MAX).then_some(self.capacity)
    }

    fn is_closed(&self) -> bool {
        self.state.lock_to_read().is_closed()
    }
}

/// The state, while its lock is held.
type Locked<'a, T> = locked::Locked<'a, State<T>>;

impl<T: Send> Contents for Channel<T> {
    fn items(&self) -> usize {
        self.len()
    }
}

impl<T> fmt::Debug for Channel<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.subject, counted(self.len(), "item"))
    }
}

#[cfg(all(test, not(fiber_loom)))]
mod tests {
    use std::panic::Location;
    use std::task::Waker;

    use super::receiver::Receiving;
    use super::sender::Sending;
    use super::state::{CAN_PUT, CAN_TAKE};
    use super::{Channel, Receiver, Sender};
    use crate::engine::context::Seat;
    use crate::sync::operation::Attempt;
    use crate::sync::waiters::Waiter;

    /// What is seen without the lock: whether an operation can take, and whether one can put.
    fn seen(sender: &Sender<u32>) -> [bool; 2] {
        let seen = sender.channel().seen.get();
        [CAN_TAKE, CAN_PUT].map(|bit| seen & bit != 0)
    }

    #[test]
    fn what_is_seen_without_the_lock_is_what_an_operation_would_find() {
        let (sender, receiver) = Channel::bounded(2);
        assert_eq!(seen(&sender), [false, true], "empty");
        sender.try_send(1).unwrap();
        assert_eq!(seen(&sender), [true, true]);
        sender.try_send(2).unwrap();
        assert_eq!(seen(&sender), [true, false], "full");
        assert_eq!(receiver.channel().take_now(), Some(1));
        assert_eq!(seen(&sender), [true, true]);
        sender.close();
        assert_eq!(seen(&sender), [true, true], "an operation would find that it is closed");

        let (sender, _receiver) = Channel::sliding(1);
        sender.try_send(1).unwrap();
        assert_eq!(seen(&sender), [true, true], "an item would go");
    }

    #[test]
    fn who_waits_is_seen_without_the_lock() {
        let (sender, receiver): (Sender<u32>, Receiver<u32>) = Channel::rendezvous();
        assert_eq!(seen(&sender), [false, false]);
        let mut receiving = Receiving::new(receiver, "recv", Location::caller());
        let mut place = Waiter::default();
        assert!(receiving.join(&mut place, None, seat()).is_none());
        let waits = seen(&sender);
        receiving.leave(&mut place);
        assert_eq!((waits, seen(&sender)), ([false, true], [false, false]), "a receiver waits, and has left");
        let mut sending = Sending::new(sender.clone(), 1, Location::caller());
        assert!(sending.join(&mut place, None, seat()).is_none());
        let waits = seen(&sender);
        sending.leave(&mut place);
        assert_eq!((waits, seen(&sender)), ([true, false], [false, false]), "a sender waits, and has left");
    }

    #[allow(unsafe_code)]
    fn seat() -> Seat {
        // SAFETY: the places of these tests stay where they are.
        unsafe { Seat::of_waker(Waker::noop().clone()) }
    }
}
