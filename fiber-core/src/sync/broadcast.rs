use std::collections::VecDeque;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::channel::{Closed, SendError, TrySendError};
use super::locked::{Locked, Seen, Shows};
use super::operation::{Attempt, Operation, claim_if};
use super::waiters::{Waiter, Waiters, Wakes};
use crate::engine::context::{Cx, Seat, WaitsFor};
use crate::engine::fate::{ITEM, dropped, taken};
use crate::engine::side::Single;
use crate::engine::step::Run;
use crate::engine::subject::Subject;
use crate::error::{Error, Frame, counted};
use crate::fiber::Fiber;
use crate::footprint::{Counted, Handles, Noted, Object, is_listening};
use crate::leaf::unless_cancelled;
use crate::outcome::Outcome;
use crate::primitive::{AtomicU64, Ordering};

/// Sends each value to all subscribers: each [`Subscriber`] receives the values that were sent after it had subscribed,
/// in order.
///
/// A value is kept until all subscribers have received it, but never more than `capacity` values. The constructor
/// chooses what happens to a slower subscriber: it [misses](Broadcast::lossy) values and receives their number, or the
/// senders [wait](Broadcast::lossless) for it.
///
/// ```
/// use fiber_core::sync::Broadcast;
/// use fiber_test::TestScheduler;
///
/// let news = Broadcast::lossless(8);
/// let (ann, bob) = (news.subscribe(), news.subscribe());
/// let test = TestScheduler::new();
/// assert!(test.run(news.send("rain")).is_success());
/// assert_eq!(test.run(ann.recv().zip(bob.recv())).unwrap(), ("rain", "rain"));
/// ```
///
/// Clones send to the same subscribers. When the last one is dropped, the subscribers receive the remaining values, and then
/// [`Closed`](super::Closed). Each value is shared and cloned for its receivers, except for the last one.
#[doc(alias("hub", "topic"))]
pub struct Broadcast<T>(Counted<SendingEnd<T>>);

/// Closes the broadcast when the last sender is dropped.
struct SendingEnd<T>(Arc<Shared<T>>);

struct Shared<T> {
    state: Noted<State<T>>,
    /// The number of the next value, or `u64::MAX` if no value comes any more.
    seen: Seen,
    subject: Subject,
}

struct State<T> {
    /// The values that some subscriber has not received, the oldest first. A value has never been received by more
    /// subscribers than an older one.
    values: VecDeque<Entry<T>>,
    /// The number of the oldest value. All values are numbered from 0.
    first: u64,
    subscribers: usize,
    capacity: usize,
    is_lossy: bool,
    is_closed: bool,
    receivers: Waiters<()>,
    /// The waiting senders, each with its value: `None` when that has been admitted.
    senders: Waiters<Option<Arc<T>>>,
}

struct Entry<T> {
    /// Shared, so that it is cloned and dropped without the lock: both are user code.
    value: Arc<T>,
    /// The number of subscribers that have not received it.
    unread: usize,
}

/// Why a lossy broadcast drops a value.
const MISSED: &str = "because a newer one took its place, before all subscribers had received it";

/// The fate of a sent value.
enum Put<T> {
    /// It was admitted. A value that is no longer needed comes back: the oldest, or this one if there is no subscriber.
    In(Option<Arc<T>>),
    /// There is no room.
    Full(Arc<T>),
    /// It is closed.
    Closed(Arc<T>),
}

/// The result of a receive.
enum Next<T> {
    Value(Arc<T>),
    Missed(u64),
    Nothing,
    Closed,
}

impl<T> Shows for State<T> {
    fn shown(&self) -> u64 {
        if self.is_closed { u64::MAX } else { self.end() }
    }
}

impl<T> State<T> {
    /// Whether a value can be sent now, or never.
    fn can_put(&self) -> bool {
        self.is_closed || self.subscribers == 0 || self.is_lossy || self.values.len() < self.capacity
    }

    /// Whether a subscriber can receive number `next` now, or never.
    fn can_take(&self, next: u64) -> bool {
        next < self.shown()
    }

    /// Admits a value, and wakes the subscribers.
    fn put(&mut self, value: Arc<T>, wakes: &mut Wakes) -> Put<T> {
        if self.is_closed {
            return Put::Closed(value);
        }
        let mut unneeded = None;
        if self.subscribers == 0 {
            return Put::In(Some(value));
        }
        if self.values.len() >= self.capacity {
            if !self.is_lossy {
                return Put::Full(value);
            }
            unneeded = self.pop();
        }
        self.push(value, wakes);
        Put::In(unneeded)
    }

    fn push(&mut self, value: Arc<T>, wakes: &mut Wakes) {
        self.values.push_back(Entry { value, unread: self.subscribers });
        self.receivers.serve_all(|()| {}, wakes);
    }

    fn pop(&mut self) -> Option<Arc<T>> {
        let oldest = self.values.pop_front()?;
        self.first += 1;
        Some(oldest.value)
    }

    /// The number of the next value.
    fn end(&self) -> u64 {
        self.first + self.values.len() as u64
    }

    /// Takes the next value for the subscriber that has to receive number `next`.
    fn take(&mut self, next: &AtomicU64, wakes: &mut Wakes) -> Next<T> {
        // Relaxed, here and below: the lock orders all accesses.
        let number = next.load(Ordering::Relaxed);
        if number < self.first {
            next.store(self.first, Ordering::Relaxed);
            return Next::Missed(self.first - number);
        }
        let Some(entry) = self.values.get_mut((number - self.first) as usize) else {
            return if self.is_closed { Next::Closed } else { Next::Nothing };
        };
        next.store(number + 1, Ordering::Relaxed);
        entry.unread -= 1;
        if entry.unread > 0 {
            return Next::Value(entry.value.clone());
        }
        // The oldest value: every subscriber that has not received an older one receives it.
        let value = self.pop().expect("it is there");
        self.admit(wakes);
        Next::Value(value)
    }

    /// Admits the values of senders for which there is room.
    fn admit(&mut self, wakes: &mut Wakes) {
        while self.values.len() < self.capacity {
            let mut admitted = None;
            let Some(committed) = self.senders.serve(|value| admitted = value.take()) else { return };
            wakes.push(committed);
            self.push(admitted.expect("a sender waits with its value"), wakes);
        }
    }

    /// Removes a subscriber. Gives the values that only this one had not received.
    fn unsubscribe(&mut self, next: u64, wakes: &mut Wakes) -> Vec<Arc<T>> {
        self.subscribers -= 1;
        let received = next.saturating_sub(self.first) as usize;
        self.values.iter_mut().skip(received).for_each(|entry| entry.unread -= 1);
        let mut unneeded = Vec::new();
        while self.values.front().is_some_and(|oldest| oldest.unread == 0) {
            unneeded.extend(self.pop());
        }
        if self.subscribers > 0 {
            self.admit(wakes);
        } else {
            // The values of the waiting senders have no receiver.
            self.senders.serve_all(|value| unneeded.extend(value.take()), wakes);
        }
        unneeded
    }

    fn close(&mut self) -> Wakes {
        self.is_closed = true;
        let mut wakes = Wakes::default();
        self.receivers.serve_all(|()| {}, &mut wakes);
        self.senders.serve_all(|_| {}, &mut wakes);
        wakes
    }
}

impl<T> Shared<T> {
    fn lock(&self) -> Locked<'_, State<T>> {
        Locked::new(self.state.lock(), &self.seen)
    }

    fn close(&self) {
        let mut state = self.lock();
        state.close().wake_after(state);
    }

    /// Admits a value. `false`: it waits in the place, if there is one. The value of a side of a race that has lost comes
    /// back as if there were no room.
    fn put(
        &self,
        value: Arc<T>,
        place: Option<(&mut Waiter<Option<Arc<T>>>, Seat)>,
        cx: Option<&Cx<'_>>,
    ) -> Result<bool, TrySendError<Arc<T>>> {
        let (waiter, mut seat) = place.unzip();
        let mut state = self.lock();
        let mut wakes = Wakes::default();
        let may_put = claim_if(&mut seat, |_| state.can_put());
        match if may_put { state.put(value, &mut wakes) } else { Put::Full(value) } {
            Put::In(unneeded) => {
                let why = if state.subscribers == 0 { "because there was no subscriber" } else { MISSED };
                wakes.wake_after_in(cx, state);
                dropped(&self.subject, usize::from(unneeded.is_some()), ITEM, why);
                drop(unneeded);
                Ok(true)
            }
            Put::Full(value) => match waiter.zip(seat) {
                Some((waiter, seat)) => {
                    waiter.join(&mut state.senders, seat, Some(value));
                    Ok(false)
                }
                None => Err(TrySendError::Full(value)),
            },
            Put::Closed(value) => Err(TrySendError::Closed(value)),
        }
    }

    fn take(&self, next: &AtomicU64, cx: Option<&Cx<'_>>) -> Next<T> {
        if is_listening() {
            return self.take_noted(next, cx);
        }
        Shared::take_from(next, Locked::new(self.state.lock_unnoted(), &self.seen), cx)
    }

    #[cold]
    fn take_noted(&self, next: &AtomicU64, cx: Option<&Cx<'_>>) -> Next<T> {
        let value = Shared::take_from(next, self.lock(), cx);
        if matches!(value, Next::Value(_)) {
            taken(&self.subject, 1, ITEM, None);
        }
        value
    }

    #[inline]
    fn take_from(next: &AtomicU64, mut state: Locked<'_, State<T>>, cx: Option<&Cx<'_>>) -> Next<T> {
        let mut wakes = Wakes::default();
        let taken = state.take(next, &mut wakes);
        wakes.wake_after_in(cx, state);
        taken
    }
}

impl<T> Handles for SendingEnd<T> {
    fn handles(&self) -> Option<Object> {
        Some(self.0.state.object().second())
    }
}

impl<T> Drop for SendingEnd<T> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<T: Clone + Send + Sync + 'static> Broadcast<T> {
    /// A subscriber that is more than `capacity` values behind misses the oldest ones: its next receive fails with
    /// [`Missed`]. No sender waits.
    ///
    /// ```
    /// use fiber_core::sync::{Broadcast, Missed};
    ///
    /// let prices = Broadcast::lossy(2);
    /// let slow = prices.subscribe();
    /// (1..=5).for_each(|price| prices.try_send(price).unwrap());
    /// let error = fiber_sched::run(slow.recv()).failure().unwrap();
    /// assert_eq!(error.downcast_ref::<Missed>().unwrap().count, 3);
    /// assert_eq!(fiber_sched::run(slow.recv()).unwrap(), 4);
    /// ```
    ///
    /// # Panics
    /// If `capacity` is 0.
    #[track_caller]
    pub fn lossy(capacity: usize) -> Self {
        Broadcast::new(capacity, true)
    }

    /// Senders wait for room while a subscriber is `capacity` values behind.
    ///
    /// # Panics
    /// If `capacity` is 0.
    #[track_caller]
    pub fn lossless(capacity: usize) -> Self {
        Broadcast::new(capacity, false)
    }

    #[track_caller]
    fn new(capacity: usize, is_lossy: bool) -> Self {
        assert!(capacity > 0, "a broadcast keeps at least 1 value");
        let state = State {
            values: VecDeque::new(),
            first: 0,
            subscribers: 0,
            capacity,
            is_lossy,
            is_closed: false,
            receivers: Waiters::new(),
            senders: Waiters::new(),
        };
        let (seen, subject) = (Seen::of(&state), Subject::new("Broadcast", Location::caller()));
        Broadcast(Counted::new(SendingEnd(Arc::new(Shared { state: Noted::new(state), seen, subject }))))
    }

    /// Names the broadcast in reports. An existing name is kept.
    ///
    /// ```
    /// let prices = fiber_core::sync::Broadcast::<u32>::lossy(8).named("prices");
    /// assert!(format!("{prices:?}").contains("prices"));
    /// ```
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        self.0.0.subject.set_name(name);
        self
    }

    /// A subscriber of all values that are sent from now on.
    pub fn subscribe(&self) -> Subscriber<T> {
        let shared = self.0.0.clone();
        let mut state = shared.lock();
        state.subscribers += 1;
        let next = AtomicU64::new(state.end());
        drop(state);
        Subscriber(Counted::new(Subscription { shared, next }))
    }

    /// The number of subscribers.
    pub fn subscribers(&self) -> usize {
        self.0.0.lock().subscribers
    }

    /// Sends a value to all subscribers. If there are none, the value is dropped.
    ///
    /// # Errors
    /// [`SendError`], which contains the value, if the broadcast was closed.
    ///
    /// # Cancellation
    /// The value of a sender that waits for room is dropped, and is never received. An admitted value is received.
    #[track_caller]
    pub fn send(&self, value: T) -> Fiber<(), impl Run<Out = ()> + Clone + use<T>> {
        let site = Location::caller();
        Operation::fiber(Publish::new(self.clone(), Arc::new(value), site), site)
    }

    /// Like [`send`](Broadcast::send), for a thread that runs no fibers.
    ///
    /// ```
    /// use fiber_core::sync::Broadcast;
    ///
    /// let news = Broadcast::lossless(1);
    /// let reader = news.subscribe();
    /// let thread = std::thread::spawn(move || (1..=3).try_for_each(|n| news.blocking_send(n)));
    /// let read = (1..=3).map(|_| fiber_sched::run(reader.recv()).unwrap());
    /// assert!(read.eq(1..=3));
    /// assert!(thread.join().unwrap().is_ok());
    /// ```
    ///
    /// # Errors
    /// As in `send`.
    ///
    /// # Blocking
    /// Blocks the thread while there is no room.
    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<(), Error> {
        Operation::block(Publish::new(self.clone(), Arc::new(value), Location::caller())).into_result()
    }

    /// Sends a value, if there is room.
    ///
    /// # Errors
    /// The error contains the value, and says whether there is no room, or the broadcast was closed.
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        match self.0.0.put(Arc::new(value), None, None) {
            Ok(_) => Ok(()),
            Err(TrySendError::Full(value)) => Err(TrySendError::Full(owned(value))),
            Err(TrySendError::Closed(value)) => Err(TrySendError::Closed(owned(value))),
        }
    }

    /// Closes the broadcast to further values. The subscribers receive the remaining ones.
    ///
    /// ```
    /// use fiber_core::sync::Broadcast;
    ///
    /// let news = Broadcast::lossy(8);
    /// let reader = news.subscribe();
    /// news.try_send("the last").unwrap();
    /// news.close();
    /// assert!(news.try_send("too late").is_err());
    /// assert_eq!(fiber_sched::run(reader.recv()).unwrap(), "the last");
    /// assert!(fiber_sched::run(reader.recv()).is_failure());
    /// ```
    pub fn close(&self) {
        self.0.0.close();
    }
}

impl<T> Clone for Broadcast<T> {
    fn clone(&self) -> Self {
        Broadcast(self.0.clone())
    }
}

impl<T> fmt::Debug for Broadcast<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.0.subject)
    }
}

/// The value itself for its last holder, a clone for all others.
fn owned<T: Clone>(value: Arc<T>) -> T {
    // The look at the count saves a locked instruction for all but the last.
    if Arc::strong_count(&value) > 1 {
        return T::clone(&value);
    }
    Arc::try_unwrap(value).unwrap_or_else(|shared| T::clone(&shared))
}

/// Receives all values of a [`Broadcast`] that are sent while it lives.
pub struct Subscriber<T>(Counted<Subscription<T>>);

struct Subscription<T> {
    shared: Arc<Shared<T>>,
    /// The number of the value that it receives next. Written under the lock only.
    next: AtomicU64,
}

impl<T> Handles for Subscription<T> {
    fn handles(&self) -> Option<Object> {
        Some(self.shared.state.object().third())
    }
}

impl<T> Drop for Subscription<T> {
    fn drop(&mut self) {
        let mut wakes = Wakes::default();
        let mut state = self.shared.lock();
        // Relaxed: the lock orders all accesses.
        let unneeded = state.unsubscribe(self.next.load(Ordering::Relaxed), &mut wakes);
        wakes.wake_after(state);
        let why = "with the last subscriber that had not received them";
        dropped(&self.shared.subject, unneeded.len(), ITEM, why);
        drop(unneeded);
    }
}

impl<T: Clone + Send + Sync + 'static> Subscriber<T> {
    /// Receives the next value, and waits for it.
    ///
    /// # Errors
    /// * [`Missed`], once, if the subscriber was too slow; the next receive gives the oldest value that is kept.
    /// * [`Closed`](super::Closed), if the last sender is gone and no value remains.
    ///
    /// # Cancellation
    /// The fiber leaves the queue at once. A value that was passed to it is received next.
    #[track_caller]
    pub fn recv(&self) -> Fiber<T, impl Run<Out = T> + Clone + use<T>> {
        let site = Location::caller();
        Operation::fiber(Hear::new(self.0.clone(), site), site)
    }

    /// Like [`recv`](Subscriber::recv), for a thread that runs no fibers.
    ///
    /// # Errors
    /// As in `recv`.
    ///
    /// # Blocking
    /// Blocks the thread until there is a value.
    #[track_caller]
    pub fn blocking_recv(&self) -> Result<T, Error> {
        Operation::block(Hear::new(self.0.clone(), Location::caller())).into_result()
    }

    /// Receives the next value, if there is one. `None`: there is none now.
    ///
    /// ```
    /// use fiber_core::sync::{Broadcast, Closed};
    ///
    /// let broadcast = Broadcast::lossy(4);
    /// let subscriber = broadcast.subscribe();
    /// assert!(subscriber.try_recv().is_none());
    /// broadcast.try_send(1).unwrap();
    /// drop(broadcast);
    /// assert_eq!(subscriber.try_recv().unwrap().unwrap(), 1);
    /// assert!(subscriber.try_recv().unwrap().unwrap_err().is::<Closed>());
    /// ```
    #[track_caller]
    pub fn try_recv(&self) -> Option<Result<T, Error>> {
        let Subscription { shared, next } = &*self.0;
        received(shared.take(next, None), Location::caller(), None).map(Outcome::into_result)
    }
}

impl<T> fmt::Debug for Subscriber<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "subscriber of {}", self.0.shared.subject)
    }
}

fn received<T: Clone>(
    next: Next<T>,
    site: &'static Location<'static>,
    cx: Option<&Cx<'_>>,
) -> Option<Outcome<T>> {
    let failure = |error| Outcome::Failure(error).passed(Frame::new("recv", site));
    match next {
        Next::Value(value) => Some(Outcome::Success(owned(value))),
        Next::Nothing => None,
        Next::Missed(count) => Some(failure(Error::new(Missed { count }))),
        Next::Closed => Some(unless_cancelled(cx, || failure(Error::new(Closed)))),
    }
}

/// The subscriber was too slow for a [lossy](Broadcast::lossy) broadcast.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Missed {
    /// The number of values missed since the last one that it received.
    pub count: u64,
}

impl fmt::Display for Missed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the subscriber was too slow and has missed {}", counted(self.count, "value"))
    }
}

impl std::error::Error for Missed {}

/// The wait of [`Broadcast::send`].
pub(crate) struct Publish<T> {
    broadcast: Broadcast<T>,
    /// `None`: the value was admitted, or is in the queue.
    value: Option<Arc<T>>,
    site: &'static Location<'static>,
}

impl<T> Publish<T> {
    fn new(broadcast: Broadcast<T>, value: Arc<T>, site: &'static Location<'static>) -> Self {
        Publish { broadcast, value: Some(value), site }
    }

    fn shared(&self) -> &Shared<T> {
        &self.broadcast.0.0
    }

    /// Leaves the queue, with the value, unless it was admitted.
    fn unsent(&self, place: &mut Waiter<Option<Arc<T>>>) -> Option<Arc<T>> {
        place.leave(&mut self.shared().lock().senders)?.0
    }
}

impl<T: Clone + Send + Sync + 'static> Publish<T> {
    #[cold]
    fn refused(&self, value: Arc<T>, cx: Option<&Cx<'_>>) -> Outcome<()> {
        unless_cancelled(cx, || {
            let error = Error::new(SendError::new(owned(value)));
            Outcome::Failure(error).passed(Frame::new("send", self.site))
        })
    }
}

impl<T> Clone for Publish<T> {
    /// Clones the description, which is not in the queue.
    fn clone(&self) -> Self {
        let value = self.value.clone();
        Publish { broadcast: self.broadcast.clone(), value, site: self.site }
    }
}

impl<T: Clone + Send + Sync + 'static> Publish<T> {
    /// Sends the value, which waits in the place if there is one and no room.
    fn send(
        &mut self,
        place: Option<(&mut Waiter<Option<Arc<T>>>, Seat)>,
        cx: Option<&Cx<'_>>,
    ) -> Option<Outcome<()>> {
        let value = self.value.take().expect("a value is sent once");
        match self.shared().put(value, place, cx) {
            Ok(is_in) => is_in.then_some(Outcome::Success(())),
            Err(TrySendError::Full(value)) => {
                self.value = Some(value);
                None
            }
            Err(TrySendError::Closed(value)) => Some(self.refused(value, cx)),
        }
    }
}

impl<T: Clone + Send + Sync + 'static> Attempt for Publish<T> {
    type Out = ();
    type Place = Waiter<Option<Arc<T>>>;
    const WAITS_FOR: WaitsFor = WaitsFor::Room;

    fn attempt(&mut self, cx: Option<&Cx<'_>>) -> Option<Outcome<()>> {
        self.send(None, cx)
    }

    fn join(&mut self, place: &mut Self::Place, cx: Option<&Cx<'_>>, seat: Seat) -> Option<Outcome<()>> {
        self.send(Some((place, seat)), cx)
    }

    fn woken(&mut self, place: &mut Self::Place, cx: Option<&Cx<'_>>) -> Option<Outcome<()>> {
        if !place.has_joined() {
            return self.attempt(cx);
        }
        Some(match self.unsent(place) {
            None => Outcome::Success(()),
            Some(value) => self.refused(value, cx),
        })
    }

    fn leave(&mut self, place: &mut Self::Place) {
        if place.has_joined() {
            self.value = self.unsent(place);
        }
    }

    fn subject(&self) -> &Subject {
        &self.shared().subject
    }
}

impl<T> fmt::Debug for Publish<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "send of {}", self.shared().subject)
    }
}

/// The wait of [`Subscriber::recv`].
pub(crate) struct Hear<T> {
    subscription: Counted<Subscription<T>>,
    site: &'static Location<'static>,
}

impl<T> Hear<T> {
    fn new(subscription: Counted<Subscription<T>>, site: &'static Location<'static>) -> Self {
        Hear { subscription, site }
    }
}

impl<T> Clone for Hear<T> {
    /// Clones the description, which is not in the queue. Both receive for the same subscriber.
    fn clone(&self) -> Self {
        Hear::new(self.subscription.clone(), self.site)
    }
}

impl<T: Clone + Send + Sync + 'static> Attempt for Hear<T> {
    type Out = T;
    type Place = Waiter<()>;
    const SINGLE: Single = Single::AGAIN;
    const WAITS_FOR: WaitsFor = WaitsFor::Item;

    fn attempt(&mut self, cx: Option<&Cx<'_>>) -> Option<Outcome<T>> {
        let Subscription { shared, next } = &*self.subscription;
        // An explorer has to know of the look. Relaxed: a hint.
        if !is_listening() && next.load(Ordering::Relaxed) >= shared.seen.get() {
            return None;
        }
        received(shared.take(next, cx), self.site, cx)
    }

    fn join(&mut self, place: &mut Waiter<()>, cx: Option<&Cx<'_>>, seat: Seat) -> Option<Outcome<T>> {
        let Subscription { shared, next } = &*self.subscription;
        let mut seat = Some(seat);
        let mut state = shared.lock();
        // Relaxed: the lock orders all accesses.
        let may_take = claim_if(&mut seat, |_| state.can_take(next.load(Ordering::Relaxed)));
        let mut wakes = Wakes::default();
        let taken = if may_take { state.take(next, &mut wakes) } else { Next::Nothing };
        if let (Next::Nothing, Some(seat)) = (&taken, seat) {
            place.join(&mut state.receivers, seat, ());
        }
        wakes.wake_after_in(cx, state);
        received(taken, self.site, cx)
    }

    fn woken(&mut self, place: &mut Waiter<()>, cx: Option<&Cx<'_>>) -> Option<Outcome<T>> {
        if place.has_joined() {
            self.leave(place);
            if cx.is_some_and(Cx::is_interrupted) {
                return Some(Outcome::Cancelled);
            }
        }
        self.attempt(cx)
    }

    fn leave(&mut self, place: &mut Waiter<()>) {
        if place.needs_lock() {
            place.leave(&mut self.subscription.shared.lock().receivers);
        }
    }

    fn subject(&self) -> &Subject {
        &self.subscription.shared.subject
    }
}

impl<T> fmt::Debug for Hear<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "recv of {}", self.subscription.shared.subject)
    }
}

#[cfg(all(test, not(fiber_loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_without_the_lock_is_what_a_receive_would_find() {
        let news = Broadcast::lossy(2);
        let reader = news.subscribe();
        let seen = || reader.0.shared.seen.get();
        assert_eq!(seen(), 0, "nothing");
        (1..=3).for_each(|n| news.try_send(n).unwrap());
        assert_eq!(seen(), 3, "the oldest was missed");
        while reader.try_recv().is_some() {}
        assert_eq!(seen(), 3, "all were received");
        news.close();
        assert_eq!(seen(), u64::MAX, "a receive would find that it is closed");
    }
}
