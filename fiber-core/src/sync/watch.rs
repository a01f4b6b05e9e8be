use std::fmt;
use std::mem;
use std::panic::Location;
use std::sync::Arc;

use super::channel::Closed;
use super::locked::{Locked, Seen, Shows};
use super::operation::{Attempt, Operation, claim_if};
use super::waiters::{Waiter, Waiters, Wakes};
use crate::engine::context::{Cx, Seat, WaitsFor};
use crate::engine::side::Single;
use crate::engine::step::Run;
use crate::engine::subject::Subject;
use crate::error::{Error, Frame, Site};
use crate::fiber::Fiber;
use crate::footprint::{Counted, Handles, Noted, Object, is_listening};
use crate::leaf::unless_cancelled;
use crate::outcome::Outcome;
use crate::primitive::{AtomicU64, Ordering};

/// A value that changes, and its observers: a [`Watcher`] waits for a value that it has not seen, and skips the values
/// in between.
///
/// ```
/// use fiber_core::{Fiber, sync::Watch};
/// use fiber_test::TestScheduler;
/// use std::time::Duration;
///
/// let level = Watch::new("info");
/// let watcher = level.watch();
/// let change = Fiber::delay(Duration::from_secs(1)).map(move |()| {
///     level.set("debug");
///     level.set("trace");
/// });
/// let ((), seen) = TestScheduler::new().run(change.zip(watcher.changed())).unwrap();
/// assert_eq!(seen, "trace");
/// ```
///
/// Clones share the value. When the last one is dropped, the watchers see the last value, and then
/// [`Closed`](super::Closed).
#[doc(alias = "SubscriptionRef")]
pub struct Watch<T>(Counted<SettingEnd<T>>);

/// Wakes the watchers when the last handle that could set the value is dropped.
struct SettingEnd<T>(Arc<Shared<T>>);

struct Shared<T> {
    state: Noted<State<T>>,
    /// The version, or `u64::MAX` if no other value comes.
    seen: Seen,
    subject: Subject,
}

struct State<T> {
    /// Shared, so that it is cloned and dropped without the lock: both are user code.
    value: Arc<T>,
    /// The number of times it was set.
    version: u64,
    is_closed: bool,
    waiting: Waiters<()>,
}

impl<T> Handles for SettingEnd<T> {
    fn handles(&self) -> Option<Object> {
        Some(self.0.state.object().second())
    }
}

impl<T> Drop for SettingEnd<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_closed = true;
        state.wake_all().wake_after(state);
    }
}

impl<T> Shows for State<T> {
    fn shown(&self) -> u64 {
        if self.is_closed { u64::MAX } else { self.version }
    }
}

impl<T> State<T> {
    fn wake_all(&mut self) -> Wakes {
        let mut wakes = Wakes::default();
        self.waiting.serve_all(|()| {}, &mut wakes);
        wakes
    }
}

impl<T> Shared<T> {
    fn lock(&self) -> Locked<'_, State<T>> {
        Locked::new(self.state.lock(), &self.seen)
    }

    /// The value, and its version.
    fn current(&self) -> (Arc<T>, u64) {
        let state = self.state.lock_to_read();
        (state.value.clone(), state.version)
    }

    /// Sets the value, unless its version is no longer that of `expected`.
    ///
    /// # Errors
    /// Returns the new value if it was not set.
    fn set(&self, value: Arc<T>, expected: Option<u64>) -> Result<(), Arc<T>> {
        let mut state = self.lock();
        if expected.is_some_and(|expected| expected != state.version) {
            return Err(value);
        }
        state.version += 1;
        let old = mem::replace(&mut state.value, value);
        state.wake_all().wake_after(state);
        drop(old);
        Ok(())
    }
}

impl<T: Clone + Send + Sync + 'static> Watch<T> {
    /// Starts with `value`.
    #[track_caller]
    pub fn new(value: T) -> Self {
        let state = State { value: Arc::new(value), version: 0, is_closed: false, waiting: Waiters::new() };
        let subject = Subject::new("Watch", Location::caller());
        let seen = Seen::of(&state);
        Watch(Counted::new(SettingEnd(Arc::new(Shared { state: Noted::new(state), seen, subject }))))
    }

    /// Names the watch in reports. An existing name is kept.
    ///
    /// ```
    /// let level = fiber_core::sync::Watch::new(0).named("level");
    /// assert!(format!("{level:?}").contains("level"));
    /// ```
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        self.0.0.subject.set_name(name);
        self
    }

    /// The current value.
    pub fn get(&self) -> T {
        T::clone(&self.0.0.current().0)
    }

    /// Replaces the value, and wakes the waiting watchers.
    pub fn set(&self, value: T) {
        // Without an expectation, it succeeds.
        drop(self.0.0.set(Arc::new(value), None));
    }

    /// Replaces the value with the result of `f`. If another value is set meanwhile, `f` is called again.
    ///
    /// ```
    /// use fiber_core::sync::Watch;
    ///
    /// let users = Watch::new(1);
    /// users.update(|users| users + 1);
    /// assert_eq!(users.get(), 2);
    /// ```
    #[doc(alias = "send_modify")]
    pub fn update(&self, mut f: impl FnMut(&T) -> T) {
        loop {
            let (value, version) = self.0.0.current();
            if self.0.0.set(Arc::new(f(&value)), Some(version)).is_ok() {
                return;
            }
        }
    }

    /// A watcher that has seen the current value, and waits for the next.
    #[doc(alias = "subscribe")]
    pub fn watch(&self) -> Watcher<T> {
        let shared = self.0.0.clone();
        let (_, version) = shared.current();
        Watcher::new(shared, version)
    }
}

impl<T: Default + Clone + Send + Sync + 'static> Default for Watch<T> {
    #[track_caller]
    fn default() -> Self {
        Watch::new(T::default())
    }
}

impl<T> Clone for Watch<T> {
    fn clone(&self) -> Self {
        Watch(self.0.clone())
    }
}

impl<T> fmt::Debug for Watch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.0.subject)
    }
}

/// Sees the values of a [`Watch`], always the latest. A clone starts with what the original has seen, and is
/// independent afterwards.
pub struct Watcher<T>(Arc<Watching<T>>);

struct Watching<T> {
    shared: Arc<Shared<T>>,
    /// The latest version that it has seen. Written under the lock only.
    seen: AtomicU64,
}

impl<T> Watching<T> {
    /// Whether there is a value that it has not seen.
    fn is_behind(&self, state: &State<T>) -> bool {
        // Relaxed: the lock orders all accesses.
        self.seen.load(Ordering::Relaxed) < state.version
    }

    /// The value, and whether it is new.
    fn see(&self) -> (Arc<T>, bool) {
        let state = self.shared.lock();
        let is_new = self.is_behind(&state);
        // Relaxed: the lock orders all accesses.
        self.seen.store(state.version, Ordering::Relaxed);
        (state.value.clone(), is_new)
    }
}

impl<T> Watcher<T> {
    fn new(shared: Arc<Shared<T>>, seen: u64) -> Self {
        Watcher(Arc::new(Watching { shared, seen: AtomicU64::new(seen) }))
    }

    /// Whether there is a value that it has not seen.
    pub fn has_changed(&self) -> bool {
        self.0.is_behind(&self.0.shared.lock())
    }

    /// Whether the last [`Watch`] was dropped, so that no other value can be set.
    pub fn is_closed(&self) -> bool {
        self.0.shared.lock().is_closed
    }
}

impl<T: Clone + Send + Sync + 'static> Watcher<T> {
    /// The current value, which counts as seen.
    pub fn get(&self) -> T {
        T::clone(&self.0.see().0)
    }

    /// Waits for a value that this watcher has not seen, and gives the latest.
    ///
    /// ```
    /// use fiber_core::sync::{Closed, Watch};
    ///
    /// let watch = Watch::new(0);
    /// let watcher = watch.watch();
    /// watch.set(1);
    /// drop(watch);
    /// assert_eq!(fiber_sched::run(watcher.changed()).unwrap(), 1);
    /// assert!(fiber_sched::run(watcher.changed()).failure().unwrap().is::<Closed>());
    /// ```
    ///
    /// # Errors
    /// [`Closed`](super::Closed), if it has seen the last value and the last [`Watch`] was dropped.
    ///
    /// # Cancellation
    /// The fiber leaves the queue at once. A value that was about to be taken counts as not seen.
    #[track_caller]
    pub fn changed(&self) -> Fiber<T, impl Run<Out = T> + Clone + use<T>> {
        self.changed_at(Location::caller())
    }

    /// For combinators of fiber-test that are built on this one: `site` is the place where the user calls them.
    #[doc(hidden)]
    pub fn changed_at(&self, site: Site) -> Fiber<T, impl Run<Out = T> + Clone + use<T>> {
        Operation::fiber(Change::new(self.0.clone(), site), site)
    }

    /// Like [`changed`](Watcher::changed), for a thread that runs no fibers.
    ///
    /// # Errors
    /// As in `changed`.
    ///
    /// # Blocking
    /// Blocks the thread until there is a new value.
    #[track_caller]
    pub fn blocking_changed(&self) -> Result<T, Error> {
        Operation::block(Change::new(self.0.clone(), Location::caller())).into_result()
    }
}

impl<T> Clone for Watcher<T> {
    fn clone(&self) -> Self {
        // Relaxed: if the original sees another value during the clone, either version is right.
        Watcher::new(self.0.shared.clone(), self.0.seen.load(Ordering::Relaxed))
    }
}

impl<T> fmt::Debug for Watcher<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "watcher of {}", self.0.shared.subject)
    }
}

/// The wait of [`Watcher::changed`].
pub(crate) struct Change<T> {
    watching: Arc<Watching<T>>,
    site: &'static Location<'static>,
}

impl<T> Change<T> {
    fn new(watching: Arc<Watching<T>>, site: &'static Location<'static>) -> Self {
        Change { watching, site }
    }
}

impl<T: Clone> Change<T> {
    /// The latest value, if it is new, or the end. Otherwise gives the lock back.
    fn look<'a>(
        &self,
        state: Locked<'a, State<T>>,
        cx: Option<&Cx<'_>>,
    ) -> Result<Outcome<T>, Locked<'a, State<T>>> {
        if self.watching.is_behind(&state) {
            // Relaxed: the lock orders all accesses.
            self.watching.seen.store(state.version, Ordering::Relaxed);
            let value = state.value.clone();
            drop(state);
            return Ok(Outcome::Success(T::clone(&value)));
        }
        if state.is_closed {
            drop(state);
            let closed = || Outcome::Failure(Error::new(Closed)).passed(Frame::new("changed", self.site));
            return Ok(unless_cancelled(cx, closed));
        }
        Err(state)
    }
}

impl<T> Clone for Change<T> {
    /// Clones the description, which is not in the queue. Both wait for the same watcher.
    fn clone(&self) -> Self {
        Change::new(self.watching.clone(), self.site)
    }
}

impl<T: Clone + Send + Sync + 'static> Attempt for Change<T> {
    type Out = T;
    type Place = Waiter<()>;
    const SINGLE: Single = Single::AGAIN;
    const WAITS_FOR: WaitsFor = WaitsFor::Signal;

    fn attempt(&mut self, cx: Option<&Cx<'_>>) -> Option<Outcome<T>> {
        let Watching { shared, seen } = &*self.watching;
        // An explorer has to know of the look. Relaxed: a hint.
        if !is_listening() && seen.load(Ordering::Relaxed) >= shared.seen.get() {
            return None;
        }
        self.look(shared.lock(), cx).ok()
    }

    fn join(&mut self, place: &mut Waiter<()>, cx: Option<&Cx<'_>>, seat: Seat) -> Option<Outcome<T>> {
        let mut seat = Some(seat);
        let mut state = self.watching.shared.lock();
        let is_possible = |_: &_| state.is_closed || self.watching.is_behind(&state);
        if claim_if(&mut seat, is_possible) {
            state = match self.look(state, cx) {
                Ok(outcome) => return Some(outcome),
                Err(state) => state,
            };
        }
        if let Some(seat) = seat {
            place.join(&mut state.waiting, seat, ());
        }
        None
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
            place.leave(&mut self.watching.shared.lock().waiting);
        }
    }

    fn subject(&self) -> &Subject {
        &self.watching.shared.subject
    }
}

impl<T> fmt::Debug for Change<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "changed of {}", self.watching.shared.subject)
    }
}

#[cfg(all(test, not(fiber_loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_without_the_lock_is_what_a_wait_would_find() {
        let watch = Watch::new('a');
        let watcher = watch.watch();
        let shown = || watcher.0.shared.seen.get();
        assert_eq!(shown(), 0, "the first value");
        watch.set('b');
        watch.update(|_| 'c');
        assert_eq!(shown(), 2);
        drop(watch);
        assert_eq!(shown(), u64::MAX, "a wait would find that no other value comes");
    }
}
