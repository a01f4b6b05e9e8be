use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

use super::errors::{Closed, TryRecvError};
use super::state::{CAN_TAKE, Taken};
use super::{Channel, Locked};
use crate::engine::context::{Cx, Seat, WaitsFor};
use crate::engine::fate::{ITEM, taken};
use crate::engine::step::Run;
use crate::engine::subject::Subject;
use crate::error::{Error, Frame};
use crate::fiber::Fiber;
use crate::footprint::{Counted, Handles, Object, is_listening};
use crate::leaf::unless_cancelled;
use crate::outcome::Outcome;
use crate::sync::operation::{Attempt, Operation, claim_if};
use crate::sync::waiters::{Waiter, Wakes, wake_after};

/// The receiving end of a [`Channel`]. Cheap to clone: each item is received by one of the clones. The
/// channel closes when the last one is dropped, which also drops the items in it.
///
/// A [`recv`](Receiver::recv) that waits, or has not started yet, holds a clone.
pub struct Receiver<T>(Counted<ReceivingEnd<T>>);

/// Closes the channel when the last receiver is dropped.
///
/// On cache lines of its own, as the other end.
#[repr(align(128))]
pub(super) struct ReceivingEnd<T>(pub(super) Arc<Channel<T>>);

impl<T> Handles for ReceivingEnd<T> {
    fn handles(&self) -> Option<Object> {
        // The last one drops the items, even if the channel is already closed.
        Some(self.0.state.object().third())
    }
}

impl<T> Drop for ReceivingEnd<T> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

impl<T> Receiver<T> {
    pub(super) fn new(end: ReceivingEnd<T>) -> Self {
        Receiver(Counted::new(end))
    }

    pub(super) fn channel(&self) -> &Channel<T> {
        &self.0.0
    }

    /// Names the channel in reports. An existing name is kept.
    ///
    /// ```
    /// let (_sender, receiver) = fiber_core::sync::Channel::<u32>::unbounded();
    /// assert!(format!("{:?}", receiver.named("orders")).contains("orders"));
    /// ```
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        self.channel().subject.set_name(name);
        self
    }

    /// Closes the channel: no further item can be sent, and waiting senders fail. Items in the channel can still be received.
    /// `true` if it was open.
    pub fn close(&self) -> bool {
        self.channel().close()
    }

    /// Whether the channel is closed. It may still contain items.
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

impl<T> Channel<T> {
    /// The oldest item, if there is one.
    #[inline]
    pub(super) fn take_now(&self) -> Option<T> {
        if is_listening() {
            return self.take_now_noted();
        }
        if !self.has_seen(CAN_TAKE) {
            return None;
        }
        let mut state = self.lock_unnoted();
        let Taken::Item(item, committed) = state.take_in_place() else { return None };
        wake_after(committed, state, None);
        Some(item)
    }

    #[cold]
    fn take_now_noted(&self) -> Option<T> {
        let mut state = self.lock();
        let Taken::Item(item, committed) = state.take() else { return None };
        wake_after(committed, state, None);
        taken(&self.subject, 1, ITEM, None);
        Some(item)
    }
}

impl<T: Send + 'static> Receiver<T> {
    /// Takes the oldest item, and waits if there is none. Waiting receivers are served in order of arrival.
    ///
    /// ```
    /// use fiber_core::{Fiber, sync::Channel};
    ///
    /// let (sender, receiver) = Channel::bounded(8);
    /// let greet = sender.send("hello").zip(receiver.recv()).map(|((), greeting)| greeting);
    /// assert_eq!(fiber_sched::run(greet).unwrap(), "hello");
    /// ```
    ///
    /// # Errors
    /// [`Closed`], if the channel is closed and empty.
    ///
    /// # Cancellation
    /// The fiber leaves the queue at once. An item that was already passed to it goes to the next receiver, or to
    /// the front of the channel. (If several items come back, their order may change.)
    #[track_caller]
    pub fn recv(&self) -> Fiber<T, impl Run<Out = T> + Clone + use<T>> {
        let site = Location::caller();
        Operation::fiber(Receiving::new(self.clone(), "recv", site), site)
    }

    /// Like [`recv`](Receiver::recv), but gives `None` when the channel is closed and empty: for loops.
    ///
    /// ```
    /// use fiber_core::{Fiber, fiber, sync::Channel};
    ///
    /// let (sender, receiver) = Channel::bounded(8);
    /// let sum = fiber! {
    ///     let mut sum = 0;
    ///     while let Some(n) = do! receiver.next() {
    ///         sum += n;
    ///     }
    ///     sum
    /// };
    /// let send = Fiber::for_each(1..=3, move |n| sender.send(n));
    /// assert_eq!(fiber_sched::run(send.zip(sum)).unwrap(), ((), 6));
    /// ```
    ///
    /// # Cancellation
    /// As in `recv`.
    #[track_caller]
    pub fn next(&self) -> Fiber<Option<T>, impl Run<Out = Option<T>> + Clone + use<T>> {
        let site = Location::caller();
        Operation::fiber(ReceivingNext(Receiving::new(self.clone(), "next", site)), site)
    }

    /// Like [`recv`](Receiver::recv), for a thread that runs no fibers.
    ///
    /// ```
    /// use fiber_core::sync::Channel;
    ///
    /// let (sender, receiver) = Channel::rendezvous();
    /// let thread = std::thread::spawn(move || receiver.blocking_recv());
    /// sender.blocking_send(1).unwrap();
    /// assert_eq!(thread.join().unwrap().unwrap(), 1);
    /// ```
    ///
    /// # Errors
    /// As in `recv`.
    ///
    /// # Blocking
    /// Blocks the thread while the channel is empty.
    #[track_caller]
    pub fn blocking_recv(&self) -> Result<T, Error> {
        Operation::block(Receiving::new(self.clone(), "recv", Location::caller())).into_result()
    }

    /// Takes the oldest item, if there is one.
    ///
    /// # Errors
    /// Says whether the channel is empty now, or closed.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let mut state = self.channel().lock();
        match state.take() {
            Taken::Item(item, committed) => {
                wake_after(committed, state, None);
                if is_listening() {
                    taken(&self.channel().subject, 1, ITEM, None);
                }
                Ok(item)
            }
            Taken::Empty => Err(TryRecvError::Empty),
            Taken::Closed => Err(TryRecvError::Closed),
        }
    }

    /// Takes all items in the channel, and those of waiting senders, but at most `limit`. Waits until there is at least one.
    ///
    /// ```
    /// use fiber_core::{Fiber, sync::Channel};
    ///
    /// let (sender, receiver) = Channel::unbounded();
    /// (1..=5).for_each(|n| sender.try_send(n).unwrap());
    /// let twice = receiver.recv_many(3).bind(move |first| receiver.recv_many(3).map(|second| (first, second)));
    /// assert_eq!(fiber_sched::run(twice).unwrap(), (vec![1, 2, 3], vec![4, 5]));
    /// ```
    ///
    /// # Errors
    /// [`Closed`], if the channel is closed and empty.
    ///
    /// # Panics
    /// If `limit` is 0.
    ///
    /// # Cancellation
    /// As in [`recv`](Receiver::recv).
    #[track_caller]
    pub fn recv_many(&self, limit: usize) -> Fiber<Vec<T>, impl Run<Out = Vec<T>> + Clone + use<T>> {
        assert!(limit > 0, "a limit of 0 lets no item out; it has to be at least 1");
        let site = Location::caller();
        let one = Receiving::new(self.clone(), "recv_many", site);
        Operation::fiber(ReceivingMany { one, limit }, site)
    }
}

impl<T> Clone for Receiver<T> {
    #[inline]
    fn clone(&self) -> Self {
        Receiver(self.0.clone())
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "receiver of {:?}", self.channel())
    }
}

/// What leads a receive to its channel: a [`Receiver`], or one that is lent.
pub(crate) trait Leads<T>: Send + 'static {
    #[doc(hidden)]
    fn channel(&self) -> &Channel<T>;
}

impl<T: Send + 'static> Leads<T> for Receiver<T> {
    #[inline]
    fn channel(&self) -> &Channel<T> {
        Receiver::channel(self)
    }
}

/// The wait of [`Receiver::recv`].
pub(crate) struct Receiving<T, R = Receiver<T>> {
    receiver: R,
    operation: &'static str,
    site: &'static Location<'static>,
    receives: PhantomData<fn() -> T>,
}

impl<T: Send + 'static, R: Leads<T>> Receiving<T, R> {
    #[inline]
    pub(super) fn new(receiver: R, operation: &'static str, site: &'static Location<'static>) -> Self {
        Receiving { receiver, operation, site, receives: PhantomData }
    }

    /// Leaves the queue. An item passed to this receiver goes to the next one.
    fn desert(&self, place: &mut Waiter<Option<T>>) {
        let mut state = self.receiver.channel().lock();
        let (too_old, wakes) = state.desert(place);
        wakes.wake_after(state);
        drop(too_old);
    }

    /// The item passed to this receiver, which was served. `None`: the channel was closed.
    #[inline]
    pub(super) fn take_handed(&self, place: &mut Waiter<Option<T>>) -> Option<T> {
        let channel = self.receiver.channel();
        if is_listening() {
            return self.take_handed_noted(place);
        }
        let Some(item) = place.take_answer() else {
            return self.take_handed_locked(place, channel.lock_unnoted());
        };
        if item.is_some() && channel.passed.take() {
            tell_if_exhausted(channel.lock_unnoted());
        }
        item
    }

    #[cold]
    fn take_handed_noted(&self, place: &mut Waiter<Option<T>>) -> Option<T> {
        let item = self.take_handed_locked(place, self.receiver.channel().lock());
        self.note(item.is_some());
        item
    }

    /// The same under the lock: for a receiver that goes on before its answer is in the node, or while an explorer listens.
    #[cold]
    fn take_handed_locked(&self, place: &mut Waiter<Option<T>>, mut state: Locked<'_, T>) -> Option<T> {
        let item = state.leave_receivers(place);
        if state.is_closed() {
            tell_if_exhausted(state);
        }
        item
    }

    /// Tells who has taken the item, if there is one.
    #[cold]
    fn note(&self, is_taken: bool) {
        if is_taken {
            taken(&self.receiver.channel().subject, 1, ITEM, Some(self.site));
        }
    }

    /// The result of a look.
    #[inline]
    fn received(&self, taken: Taken<T>, state: Locked<'_, T>, cx: Option<&Cx<'_>>) -> Option<Outcome<T>> {
        match taken {
            Taken::Item(item, committed) => {
                wake_after(committed, state, cx);
                Some(Outcome::Success(item))
            }
            Taken::Empty => None,
            Taken::Closed => {
                drop(state);
                Some(self.closed(cx))
            }
        }
    }

    #[cold]
    fn attempt_noted(&self, cx: Option<&Cx<'_>>) -> Option<Outcome<T>> {
        let mut state = self.receiver.channel().lock();
        let item = self.received(state.take(), state, cx);
        self.note(item.as_ref().is_some_and(Outcome::is_success));
        item
    }

    #[cold]
    fn closed<O>(&self, cx: Option<&Cx<'_>>) -> Outcome<O> {
        let closed = || Outcome::Failure(Error::new(Closed)).passed(Frame::new(self.operation, self.site));
        unless_cancelled(cx, closed)
    }
}

/// Wakes the receivers that wait for an item that might have come back.
#[cold]
fn tell_if_exhausted<T>(mut state: Locked<'_, T>) {
    state.tell_if_exhausted().wake_after(state);
}

impl<T: Send + 'static> Clone for Receiving<T> {
    fn clone(&self) -> Self {
        Receiving::new(self.receiver.clone(), self.operation, self.site)
    }
}

impl<T: Send + 'static, R: Leads<T>> Attempt for Receiving<T, R> {
    type Out = T;
    type Place = Waiter<Option<T>>;
    const WAITS_FOR: WaitsFor = WaitsFor::Item;

    #[inline]
    fn attempt(&mut self, cx: Option<&Cx<'_>>) -> Option<Outcome<T>> {
        if is_listening() {
            return self.attempt_noted(cx);
        }
        let channel = self.receiver.channel();
        if !channel.has_seen(CAN_TAKE) {
            return None;
        }
        let mut state = channel.lock_unnoted();
        self.received(state.take_in_place(), state, cx)
    }

    #[inline]
    fn join(&mut self, place: &mut Waiter<Option<T>>, cx: Option<&Cx<'_>>, seat: Seat) -> Option<Outcome<T>> {
        let mut seat = Some(seat);
        let mut state = self.receiver.channel().lock();
        let may_take = claim_if(&mut seat, |seat| state.can_take(seat));
        match if may_take { state.take() } else { Taken::Empty } {
            Taken::Empty => {
                if let Some(seat) = seat {
                    state.join_receivers(place, seat);
                }
                None
            }
            taken => {
                if is_listening() {
                    self.note(matches!(taken, Taken::Item(..)));
                }
                self.received(taken, state, cx)
            }
        }
    }

    /// The end of the wait: an item, or the close. A fiber that was cancelled while the item was passed to it passes it
    /// on, because the rest of the fiber would only drop it.
    #[inline]
    fn woken(&mut self, place: &mut Waiter<Option<T>>, cx: Option<&Cx<'_>>) -> Option<Outcome<T>> {
        if !place.has_joined() {
            return self.attempt(cx);
        }
        if cx.is_some_and(Cx::is_interrupted) {
            self.desert(place);
            return Some(Outcome::Cancelled);
        }
        Some(self.take_handed(place).map_or_else(|| self.closed(cx), Outcome::Success))
    }

    fn leave(&mut self, place: &mut Waiter<Option<T>>) {
        if place.has_joined() {
            self.desert(place);
        }
    }

    fn subject(&self) -> &Subject {
        &self.receiver.channel().subject
    }
}

impl<T: Send + 'static, R: Leads<T>> fmt::Debug for Receiving<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by the receiver of {:?}", self.operation, self.receiver.channel())
    }
}

/// The wait of [`Receiver::next`].
pub(crate) struct ReceivingNext<T, R = Receiver<T>>(pub(super) Receiving<T, R>);

impl<T: Send + 'static> Clone for ReceivingNext<T> {
    fn clone(&self) -> Self {
        ReceivingNext(self.0.clone())
    }
}

impl<T: Send + 'static, R: Leads<T>> fmt::Debug for ReceivingNext<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Send + 'static, R: Leads<T>> ReceivingNext<T, R> {
    #[inline]
    fn next(received: Option<Outcome<T>>) -> Option<Outcome<Option<T>>> {
        Some(match received? {
            Outcome::Failure(error) if error.is::<Closed>() => Outcome::Success(None),
            other => other.map(Some),
        })
    }
}

impl<T: Send + 'static, R: Leads<T>> Attempt for ReceivingNext<T, R> {
    type Out = Option<T>;
    type Place = Waiter<Option<T>>;
    const WAITS_FOR: WaitsFor = WaitsFor::Item;

    #[inline]
    fn attempt(&mut self, cx: Option<&Cx<'_>>) -> Option<Outcome<Option<T>>> {
        Self::next(self.0.attempt(cx))
    }

    fn join(
        &mut self,
        place: &mut Self::Place,
        cx: Option<&Cx<'_>>,
        seat: Seat,
    ) -> Option<Outcome<Option<T>>> {
        Self::next(self.0.join(place, cx, seat))
    }

    fn woken(&mut self, place: &mut Self::Place, cx: Option<&Cx<'_>>) -> Option<Outcome<Option<T>>> {
        Self::next(self.0.woken(place, cx))
    }

    fn leave(&mut self, place: &mut Self::Place) {
        self.0.leave(place);
    }

    fn subject(&self) -> &Subject {
        self.0.subject()
    }
}

/// The wait of [`Receiver::recv_many`].
#[derive(Debug)]
pub(crate) struct ReceivingMany<T: Send + 'static> {
    /// The wait for the first item. The others are those in the channel after it.
    one: Receiving<T>,
    limit: usize,
}

// By hand, because a `T` need not be `Clone`.
impl<T: Send + 'static> Clone for ReceivingMany<T> {
    fn clone(&self) -> Self {
        ReceivingMany { one: self.one.clone(), limit: self.limit }
    }
}

impl<T: Send + 'static> ReceivingMany<T> {
    /// The first item, and the others in the channel.
    fn with_others(&self, first: T) -> Vec<T> {
        let mut items = vec![first];
        let mut wakes = Wakes::default();
        let mut state = self.one.receiver.channel().lock();
        items.reserve_exact(state.items().len().min(self.limit - 1));
        while items.len() < self.limit {
            let Taken::Item(item, committed) = state.take() else { break };
            items.push(item);
            committed.into_iter().for_each(|committed| wakes.push(committed));
        }
        wakes.wake_after(state);
        if is_listening() && items.len() > 1 {
            taken(self.subject(), items.len() - 1, ITEM, Some(self.one.site));
        }
        items
    }
}

impl<T: Send + 'static> Attempt for ReceivingMany<T> {
    type Out = Vec<T>;
    type Place = Waiter<Option<T>>;
    const WAITS_FOR: WaitsFor = WaitsFor::Item;

    fn attempt(&mut self, cx: Option<&Cx<'_>>) -> Option<Outcome<Vec<T>>> {
        let first = self.one.attempt(cx)?;
        Some(first.map(|first| self.with_others(first)))
    }

    fn join(&mut self, place: &mut Self::Place, cx: Option<&Cx<'_>>, seat: Seat) -> Option<Outcome<Vec<T>>> {
        let first = self.one.join(place, cx, seat)?;
        Some(first.map(|first| self.with_others(first)))
    }

    fn woken(&mut self, place: &mut Self::Place, cx: Option<&Cx<'_>>) -> Option<Outcome<Vec<T>>> {
        let first = self.one.woken(place, cx)?;
        Some(first.map(|first| self.with_others(first)))
    }

    fn leave(&mut self, place: &mut Self::Place) {
        self.one.leave(place);
    }

    fn subject(&self) -> &Subject {
        self.one.subject()
    }
}
