use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Weak};

use super::errors::{SendError, TrySendError};
use super::send_all::SendingAll;
use super::state::{CAN_PUT, Overflow, Put};
use super::{Channel, Locked};
use crate::engine::context::{Cx, Seat, WaitsFor};
use crate::engine::fate::{ITEM, dropped};
use crate::engine::subject::{Contents, Subject};
use crate::error::{Error, Frame, Site};
use crate::fiber::Fiber;
use crate::footprint::{Counted, Handles, Object, is_listening};
use crate::leaf::{Leaf, unless_cancelled};
use crate::outcome::Outcome;
use crate::sync::operation::{Attempt, Operation, claim_if};
use crate::sync::waiters::{Waiter, wake_after};

/// The sending end of a [`Channel`]. Cheap to clone; the channel closes when the last clone is dropped.
///
/// A [`send`](Sender::send) that waits, or has not started yet, holds a clone.
pub struct Sender<T>(Counted<SendingEnd<T>>);

/// Closes the channel when the last sender is dropped.
///
/// On cache lines of its own: each `send` counts its handle, on another worker than each `recv` does.
#[repr(align(128))]
pub(super) struct SendingEnd<T>(pub(super) Arc<Channel<T>>);

impl<T> Handles for SendingEnd<T> {
    fn handles(&self) -> Option<Object> {
        // The last one looks at the state, even if the channel is already closed. The order of the drops decides which one is the last.
        Some(self.0.state.object().second())
    }
}

impl<T> Drop for SendingEnd<T> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<T> Sender<T> {
    pub(super) fn new(end: SendingEnd<T>) -> Self {
        Sender(Counted::new(end))
    }

    pub(super) fn channel(&self) -> &Channel<T> {
        &self.0.0
    }

    pub(super) fn subject(&self) -> &Subject {
        &self.channel().subject
    }

    /// Removes a sender from the queue. Gives its item, unless it is already in the channel.
    pub(super) fn leave(&self, waiter: &mut Waiter<Option<T>>) -> Option<T> {
        if !is_listening()
            && let Some(item) = waiter.take_answer()
        {
            return item;
        }
        self.channel().lock().leave_senders(waiter)
    }

    /// Names the channel in reports. An existing name is kept.
    ///
    /// ```
    /// use fiber_core::sync::Channel;
    ///
    /// let (sender, receiver) = Channel::<u32>::unbounded();
    /// let sender = sender.named("orders");
    /// assert!(format!("{sender:?}").contains("orders") && format!("{receiver:?}").contains("orders"));
    /// ```
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        self.channel().subject.set_name(name);
        self
    }

    /// Closes the channel: no further item can be sent, and waiting senders fail. Items in the channel can still be received.
    /// `true` if it was open.
    ///
    /// ```
    /// use fiber_core::sync::{Channel, Closed};
    ///
    /// let (sender, receiver) = Channel::unbounded();
    /// sender.try_send(1).unwrap();
    /// assert!(sender.close());
    /// assert!(sender.try_send(2).is_err());
    /// assert_eq!(fiber_sched::run(receiver.recv()).unwrap(), 1);
    /// assert!(fiber_sched::run(receiver.recv()).failure().unwrap().is::<Closed>());
    /// ```
    pub fn close(&self) -> bool {
        self.channel().close()
    }

    /// Whether the channel is closed.
    pub fn is_closed(&self) -> bool {
        self.channel().is_closed()
    }

    /// The number of items in the channel, without those of waiting senders.
    pub fn len(&self) -> usize {
        self.channel().len()
    }

    /// Whether the channel contains no item.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The largest number of items in the channel. `None`: unbounded.
    pub fn capacity(&self) -> Option<usize> {
        self.channel().capacity()
    }
}

impl<T: Send + 'static> Sender<T> {
    /// For reports of items that are left.
    pub(super) fn contents(&self) -> Weak<dyn Contents> {
        let contents: Arc<dyn Contents> = self.0.0.clone();
        Arc::downgrade(&contents)
    }

    /// Puts an item into the channel, or passes it to a waiting receiver. [`Channel`] describes the effect on a full
    /// channel.
    ///
    /// ```
    /// use fiber_core::{Fiber, sync::Channel};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let (sender, receiver) = Channel::bounded(1);
    /// let send = Fiber::for_each(0..5, move |n| sender.send(n)).bind(|()| Fiber::now());
    /// let second = Duration::from_secs(1);
    /// let receive = Fiber::for_each(0..5, move |_| receiver.recv().map(drop).zip(Fiber::delay(second)).map(drop));
    /// let (sent_at, ()) = TestScheduler::new().run(send.zip(receive)).unwrap();
    /// assert_eq!(sent_at.as_nanos(), 3_000_000_000); // when there was room for the last
    /// ```
    ///
    /// # Errors
    /// [`SendError`], which contains the item, if the channel is closed, or closes while the fiber waits for room.
    ///
    /// # Cancellation
    /// The item of a sender that waits for room is dropped, and is never received. An item already in the channel stays
    /// there, and `send` succeeds.
    #[track_caller]
    pub fn send(&self, item: T) -> Fiber<(), Leaf<Operation<Sending<T>>>> {
        self.send_at(Location::caller(), item)
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    pub(in crate::sync) fn send_at(&self, site: Site, item: T) -> Fiber<(), Leaf<Operation<Sending<T>>>> {
        Operation::fiber(Sending::new(self.clone(), item, site), site)
    }

    /// Like [`send`](Sender::send), for a thread that runs no fibers.
    ///
    /// ```
    /// use fiber_core::sync::Channel;
    ///
    /// let (sender, receiver) = Channel::bounded(1);
    /// let thread = std::thread::spawn(move || (1..=3).try_for_each(|n| sender.blocking_send(n)));
    /// let received = (1..=3).map(|_| fiber_sched::run(receiver.recv()).unwrap());
    /// assert!(received.eq(1..=3));
    /// assert!(thread.join().unwrap().is_ok());
    /// ```
    ///
    /// # Errors
    /// As in `send`.
    ///
    /// # Blocking
    /// Blocks the thread while the channel is full.
    #[track_caller]
    pub fn blocking_send(&self, item: T) -> Result<(), Error> {
        Operation::block(Sending::new(self.clone(), item, Location::caller())).into_result()
    }

    /// Puts an item into the channel, if there is room or a receiver waits.
    ///
    /// # Errors
    /// The error contains the item, and says whether the channel is full or closed. A sliding channel is never full.
    pub fn try_send(&self, item: T) -> Result<(), TrySendError<T>> {
        let mut state = self.channel().lock();
        let mut item = Some(item);
        let fate = state.put(&mut item);
        match (fate, item) {
            (Put::In(committed), _) => wake_after(committed, state, None),
            (Put::Full, Some(item)) => return Err(TrySendError::Full(item)),
            (Put::Closed, Some(item)) => return Err(TrySendError::Closed(item)),
            (Put::Instead | Put::Full | Put::Closed, displaced) => {
                drop(state);
                dropped(self.subject(), 1, ITEM, DISPLACED);
                drop(displaced);
            }
        }
        Ok(())
    }

    /// Sends all items of an iterator in their order, and waits for room whenever the channel is full. Other senders
    /// may send in between.
    ///
    /// Faster than one `send` after the other: it sends as many items as fit at a time. For that, it reads the iterator
    /// ahead by up to 64 items, if there is room for them.
    ///
    /// ```
    /// use fiber_core::{Fiber, sync::Channel};
    ///
    /// let (sender, receiver) = Channel::bounded(100);
    /// let receive = Fiber::for_each(0..1000, move |n| receiver.recv().map(move |item| assert_eq!(item, n)));
    /// assert!(fiber_sched::run(sender.send_all(0..1000).zip(receive)).is_success());
    /// ```
    ///
    /// # Errors
    /// [`SendError`] with a `Vec` of the items that had been read and were not sent, if the channel is closed or
    /// closes. The rest of the iterator is dropped.
    ///
    /// # Panics
    /// A panic of the iterator becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// Items that were sent stay in the channel. The rest is dropped.
    #[track_caller]
    pub fn send_all<I>(&self, items: I) -> Fiber<(), Leaf<Operation<SendingAll<T, I::IntoIter>>>>
    where
        I: IntoIterator<Item = T>,
        I::IntoIter: Send + 'static,
    {
        let site = Location::caller();
        Operation::fiber(SendingAll::new(self.clone(), items.into_iter(), site), site)
    }
}

impl<T> Clone for Sender<T> {
    #[inline]
    fn clone(&self) -> Self {
        Sender(self.0.clone())
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sender of {:?}", self.channel())
    }
}

/// Why a sliding channel drops an item.
pub(super) const DISPLACED: &str = "because a newer one took its place";
/// Why a dropping one does.
pub(super) const FULL: &str = "because the channel was full";

/// The wait of [`Sender::send`].
pub struct Sending<T> {
    sender: Sender<T>,
    /// `None`: the item is in the channel, or in the queue.
    item: Option<T>,
    site: &'static Location<'static>,
}

impl<T> Sending<T> {
    #[inline]
    pub(super) fn new(sender: Sender<T>, item: T, site: &'static Location<'static>) -> Self {
        Sending { sender, item: Some(item), site }
    }
}

impl<T: Send + 'static> Sending<T> {
    /// Puts the item into the channel of which this is the lock.
    ///
    /// # Errors
    /// Gives back the lock if there is no room.
    #[inline]
    fn put<'a>(
        sender: &Sender<T>,
        item: &mut Option<T>,
        site: &'static Location<'static>,
        mut state: Locked<'a, T>,
        cx: Option<&Cx<'_>>,
    ) -> Result<Outcome<()>, Locked<'a, T>> {
        match state.put(item) {
            Put::In(committed) => wake_after(committed, state, cx),
            Put::Full if state.overflow() != Overflow::DropNewest => return Err(state),
            Put::Full => drop_after(sender, state, item, FULL),
            Put::Instead => drop_after(sender, state, item, DISPLACED),
            Put::Closed => {
                drop(state);
                let item = item.take().expect("an item that is refused stays");
                return Ok(refused("send", item, site, cx));
            }
        }
        Ok(Outcome::Success(()))
    }
}

/// Drops an item without room after releasing the lock.
#[cold]
fn drop_after<T>(sender: &Sender<T>, state: Locked<'_, T>, item: &mut Option<T>, why: &'static str) {
    drop(state);
    dropped(sender.subject(), 1, ITEM, why);
    *item = None;
}

impl<T: Clone> Clone for Sending<T> {
    fn clone(&self) -> Self {
        Sending { sender: self.sender.clone(), item: self.item.clone(), site: self.site }
    }
}

impl<T: Send + 'static> Attempt for Sending<T> {
    type Out = ();
    type Place = Waiter<Option<T>>;
    const WAITS_FOR: WaitsFor = WaitsFor::Room;

    #[inline]
    fn attempt(&mut self, cx: Option<&Cx<'_>>) -> Option<Outcome<()>> {
        let channel = self.sender.channel();
        if !channel.is_likely(CAN_PUT) {
            return None;
        }
        let Sending { sender, item, site } = self;
        Self::put(sender, item, site, sender.channel().lock(), cx).ok()
    }

    #[inline]
    fn join(
        &mut self,
        place: &mut Waiter<Option<T>>,
        cx: Option<&Cx<'_>>,
        seat: Seat,
    ) -> Option<Outcome<()>> {
        let mut seat = Some(seat);
        let Sending { sender, item, site } = self;
        let mut state = sender.channel().lock();
        if claim_if(&mut seat, |seat| state.can_put(seat)) {
            state = match Self::put(sender, item, site, state, cx) {
                Ok(outcome) => return Some(outcome),
                Err(state) => state,
            };
        }
        if let Some(seat) = seat {
            state.join_senders(place, seat, item.take().expect("an item is sent once"));
        }
        None
    }

    /// The end of the wait: the item is in the channel, or the channel was closed. If the fiber was cancelled too, the
    /// failure has no receiver.
    #[inline]
    fn woken(&mut self, place: &mut Waiter<Option<T>>, cx: Option<&Cx<'_>>) -> Option<Outcome<()>> {
        if !place.has_joined() {
            return self.attempt(cx);
        }
        Some(match self.sender.leave(place) {
            None => Outcome::Success(()),
            Some(item) => refused("send", item, self.site, cx),
        })
    }

    fn leave(&mut self, place: &mut Waiter<Option<T>>) {
        if place.has_joined() {
            self.item = self.sender.leave(place);
        }
    }

    fn subject(&self) -> &Subject {
        self.sender.subject()
    }

    const HAS_CONTENTS: bool = true;

    fn contents(&self) -> Option<Weak<dyn Contents>> {
        Some(self.sender.contents())
    }
}

impl<T> fmt::Debug for Sending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "send by the {:?}", self.sender)
    }
}

/// The failure of an operation whose channel is closed.
#[cold]
pub(super) fn refused<U: Send + 'static, O>(
    operation: &'static str,
    unsent: U,
    site: &'static Location<'static>,
    cx: Option<&Cx<'_>>,
) -> Outcome<O> {
    let refused = || Outcome::Failure(Error::new(SendError::new(unsent))).passed(Frame::new(operation, site));
    unless_cancelled(cx, refused)
}
