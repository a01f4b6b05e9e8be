use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::operation::{Attempt, Operation, claim_if};
use super::waiters::{Waiter, Waiters, Wakes, wake_after};
use crate::engine::context::{Committed, Cx, Seat, WaitsFor};
use crate::engine::step::Run;
use crate::engine::subject::Subject;
use crate::fiber::Fiber;
use crate::footprint::{Access, Object};
use crate::outcome::Outcome;
use crate::primitive::{AtomicBool, Mutex, MutexGuard, Ordering};

/// Signals fibers that something has happened, without a value.
///
/// ```
/// use fiber_core::{Fiber, fiber, sync::Notify};
/// use std::sync::{Arc, Mutex};
///
/// let (orders, arrived) = (Arc::new(Mutex::new(Vec::new())), Notify::new());
/// let (kitchen, bell) = (orders.clone(), arrived.clone());
/// let cook = fiber! {
///     loop {
///         let order = kitchen.lock().unwrap().pop();
///         if let Some(order) = order { return order }
///         do! bell.wait();
///     }
/// };
/// let waiter = Fiber::lazy(move || { orders.lock().unwrap().push("soup"); arrived.notify_one(); });
/// assert_eq!(fiber_sched::run(cook.zip(waiter)).unwrap().0, "soup");
/// ```
///
/// [`notify_one`](Notify::notify_one) wakes the fiber that has waited longest. If no fiber waits, it stores a
/// notification for the next one, so a fiber that checks a condition and then waits misses nothing. At most one
/// notification is stored, however often `notify_one` is called: it means "check again", and is not a count.
///
/// [`notify_all`](Notify::notify_all) wakes all current waiters, and stores nothing.
///
/// Writes before a notification are visible to the fiber that takes it. Clones share the state.
#[derive(Clone)]
pub struct Notify(Arc<Shared>);

struct Shared {
    /// Whether a notification is stored. Written under the lock of the queue only.
    is_left: AtomicBool,
    queue: Mutex<Waiters<By>>,
    object: Object,
    subject: Subject,
}

/// Whether and how a waiter was woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// Not woken.
    Nothing,
    One,
    All,
}

impl Notify {
    /// A signal without a stored notification.
    #[track_caller]
    pub fn new() -> Self {
        Notify(Arc::new(Shared {
            is_left: AtomicBool::new(false),
            queue: Mutex::new(Waiters::new()),
            object: Object::new(),
            subject: Subject::new("Notify", Location::caller()),
        }))
    }

    /// Names the signal in reports. An existing name is kept.
    ///
    /// ```
    /// let changed = fiber_core::sync::Notify::new().named("changed");
    /// assert!(format!("{changed:?}").contains("changed"));
    /// ```
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        self.0.subject.set_name(name);
        self
    }

    /// Wakes the fiber that has waited longest, or stores a notification for the next one.
    ///
    /// ```
    /// use fiber_core::sync::Notify;
    /// use fiber_test::TestScheduler;
    ///
    /// let (notify, test) = (Notify::new(), TestScheduler::new());
    /// notify.notify_one();
    /// notify.notify_one();
    /// let (first, second) = (test.spawn(notify.wait()), test.spawn(notify.wait()));
    /// test.run_until_idle();
    /// assert!(!first.is_pending() && second.is_pending());
    /// ```
    pub fn notify_one(&self) {
        let mut queue = self.0.lock();
        wake_after(self.0.notify_one(&mut queue), queue, None);
    }

    /// Wakes all current waiters, in the order in which they came.
    ///
    /// The future of a [`wait`](Notify::wait) that an `async` block polls becomes a waiter when the block itself waits: a call between
    /// that poll and the end of the block's own poll does not wake it.
    ///
    /// ```
    /// use fiber_core::sync::Notify;
    /// use fiber_test::TestScheduler;
    ///
    /// let (notify, test) = (Notify::new(), TestScheduler::new());
    /// let waits = [(); 3].map(|()| test.spawn(notify.wait()));
    /// test.run_until_idle();
    /// notify.notify_all();
    /// let late = test.spawn(notify.wait());
    /// test.run_until_idle();
    /// assert!(waits.iter().all(|wait| !wait.is_pending()) && late.is_pending());
    /// ```
    pub fn notify_all(&self) {
        let mut queue = self.0.lock();
        let mut wakes = Wakes::default();
        queue.tell_all(|by| *by = By::All, &mut wakes);
        wakes.wake_after(queue);
    }

    /// Waits for a notification, or takes the stored one.
    ///
    /// # Cancellation
    /// The fiber leaves the queue at once. A notification by [`notify_one`](Notify::notify_one) that had already woken
    /// it goes to the next one.
    #[inline]
    #[track_caller]
    pub fn wait(&self) -> Fiber<(), impl Run<Out = ()> + Clone + use<>> {
        Operation::fiber(self.attempt(), Location::caller())
    }

    /// Like [`wait`](Notify::wait), for a thread that runs no fibers.
    ///
    /// ```
    /// use fiber_core::sync::Notify;
    ///
    /// let notify = Notify::new();
    /// let notified = notify.clone();
    /// let thread = std::thread::spawn(move || notified.notify_one());
    /// notify.blocking_wait();
    /// assert!(!notify.try_wait(), "the notification is taken");
    /// thread.join().unwrap();
    /// ```
    ///
    /// # Blocking
    /// Blocks the thread until the notification.
    #[track_caller]
    pub fn blocking_wait(&self) {
        drop(Operation::block(self.attempt()));
    }

    /// Takes the stored notification, if there is one.
    pub fn try_wait(&self) -> bool {
        self.0.is_likely_left() && self.0.take_left(&mut self.0.lock())
    }

    pub(super) fn attempt(&self) -> Notified {
        Notified { notify: self.clone() }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiters<By>> {
        self.object.touch(Access::Write);
        self.queue.lock()
    }

    fn notify_one(&self, queue: &mut Waiters<By>) -> Option<Committed> {
        let served = queue.serve(|by| *by = By::One);
        if served.is_none() {
            // Relaxed: the thread that takes it holds the lock.
            self.is_left.store(true, Ordering::Relaxed);
        }
        served
    }

    /// Takes the stored notification. The caller holds the lock, which makes the writes before the notification visible.
    fn take_left(&self, _: &mut Waiters<By>) -> bool {
        // Relaxed: as above. Not a swap, because no other thread changes it meanwhile.
        let is_left = self.is_left.load(Ordering::Relaxed);
        if is_left {
            self.is_left.store(false, Ordering::Relaxed);
        }
        is_left
    }

    /// Whether a notification may be stored, so that taking the lock is worthwhile. A waiter checks again under the lock.
    #[inline]
    fn is_likely_left(&self) -> bool {
        self.object.touch(Access::Read);
        // Relaxed: a hint.
        self.is_left.load(Ordering::Relaxed)
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Self {
        Notify::new()
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.0.is_likely_left() { "a notification is left" } else { "none is left" };
        write!(f, "{} ({state})", self.0.subject)
    }
}

/// The wait of [`Notify::wait`].
#[derive(Debug)]
pub(crate) struct Notified {
    notify: Notify,
}

impl Clone for Notified {
    /// Clones the description, which is not in the queue.
    fn clone(&self) -> Self {
        self.notify.attempt()
    }
}

impl Attempt for Notified {
    type Out = ();
    type Place = Waiter<By>;
    const WAITS_FOR: WaitsFor = WaitsFor::Signal;

    #[inline]
    fn attempt(&mut self, _: Option<&Cx<'_>>) -> Option<Outcome<()>> {
        self.notify.try_wait().then_some(Outcome::Success(()))
    }

    fn join(&mut self, place: &mut Waiter<By>, _: Option<&Cx<'_>>, seat: Seat) -> Option<Outcome<()>> {
        let shared = &*self.notify.0;
        let mut seat = Some(seat);
        let mut queue = shared.lock();
        // Relaxed, because the lock is held.
        let may_take = claim_if(&mut seat, |_| shared.is_left.load(Ordering::Relaxed));
        if may_take && shared.take_left(&mut queue) {
            return Some(Outcome::Success(()));
        }
        if let Some(seat) = seat {
            place.join(&mut queue, seat, By::Nothing);
        }
        None
    }

    fn woken(&mut self, place: &mut Waiter<By>, cx: Option<&Cx<'_>>) -> Option<Outcome<()>> {
        if !place.has_joined() {
            return self.attempt(cx);
        }
        if cx.is_some_and(Cx::is_interrupted) {
            // It was notified, and cancelled before it could check: this fiber would not act on the notification.
            self.leave(place);
            return Some(Outcome::Cancelled);
        }
        if place.needs_lock() {
            place.leave(&mut self.notify.0.lock());
        }
        Some(Outcome::Success(()))
    }

    fn leave(&mut self, place: &mut Waiter<By>) {
        if place.has_joined() {
            let shared = &*self.notify.0;
            let mut queue = shared.lock();
            if let Some((By::One, _)) = place.leave(&mut queue) {
                wake_after(shared.notify_one(&mut queue), queue, None);
            }
        }
    }

    fn missed(&mut self, place: &mut Waiter<By>) -> Option<Outcome<()>> {
        let (by, _) = place.leave(&mut self.notify.0.lock())?;
        (by == By::All).then_some(Outcome::Success(()))
    }

    fn subject(&self) -> &Subject {
        &self.notify.0.subject
    }
}
