use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::mem;
use std::panic::{Location, resume_unwind};
use std::sync::Arc;
use std::thread::panicking;
use std::time::Duration;

use super::promise::Promise;
use super::recency::Recency;
use crate::combine::detach_here;
use crate::engine::context::{Context, Cx};
use crate::engine::scheduler::Unobserved;
use crate::engine::step::{Run, Step};
use crate::error::{Abandoned, Error, Frame, Site, counted};
use crate::fiber::Fiber;
use crate::footprint::Noted;
use crate::instant::Instant;
use crate::outcome::Outcome;
use crate::panic::{Panic, discard_part, guard};

/// Values by key. Each is computed once for all fibers that ask at the same time, and then kept for a while.
///
/// ```
/// use fiber_core::{Fiber, sync::Cache};
/// use fiber_test::TestScheduler;
/// use std::sync::{Arc, atomic::{AtomicU32, Ordering}};
/// use std::time::Duration;
///
/// let cache = Cache::new(1000).expires_after(Duration::from_secs(60));
/// let queries = Arc::new(AtomicU32::new(0));
/// let ask = move |_| {
///     let counted = queries.clone();
///     let query = Fiber::delay(Duration::from_secs(1)).map(move |()| counted.fetch_add(1, Ordering::Relaxed));
///     cache.get("rate", move || query)
/// };
/// // A thousand ask. One query answers them all.
/// let answers = TestScheduler::new().run(Fiber::parallel((0..1000).map(ask))).unwrap();
/// assert!(answers.iter().all(|answer| **answer == 0));
/// ```
///
/// A detached fiber computes a value. It is cancelled when no fiber waits for the value any more. A failure is given to
/// all waiters, and is not kept. A computation that asks for its own key deadlocks.
///
/// The capacity limits the number of values. The least recently used one makes room.
/// Clones share the values. Use a cache on one scheduler only, because another one has another clock. `Hash`, `Eq` and
/// `Clone` of the keys are called under the lock of the cache, so they must not use the cache.
pub struct Cache<K, V: 'static>(Arc<Noted<State<K, V>>>);

struct State<K, V: 'static> {
    capacity: usize,
    lifetime: Option<Duration>,
    entries: HashMap<K, Entry<V>>,
    /// The keys of the values that are kept.
    by_use: Recency<K>,
    kept: usize,
}

enum Entry<V: 'static> {
    Kept(Kept<V>),
    Computed(Arc<Computation<V>>),
}

struct Kept<V> {
    value: Arc<V>,
    expires: Instant,
    /// The place of its key in `by_use`.
    place: usize,
}

/// A value that is being computed. It may already have been removed from the cache.
struct Computation<V: 'static> {
    /// The value. Or the message of a panic of the key, when the value was to be kept.
    promise: Promise<Result<Arc<V>, Arc<str>>>,
    /// Locked while the lock of the cache is held, or on its own.
    askers: Noted<Askers>,
}

/// The waiters for a value, and the fiber that computes it.
#[derive(Default)]
struct Askers {
    count: usize,
    /// Whether one of them has seen the failure of the computation.
    has_seen_failure: bool,
    /// The fiber that computes the value. Not its handle, whose drop has an effect, while all who ask drop the last reference to
    /// this in any order.
    computing: Option<Context>,
}

/// The parts removed from a cache, to be dropped without its lock: the key of the entry, the key in the order of use, and
/// the entry.
type Removed<K, V> = Option<(Option<K>, Option<K>, Entry<V>)>;

impl<K, V> Cache<K, V>
where
    K: Eq + Hash + Clone + Send + 'static,
    V: Send + Sync + 'static,
{
    /// A cache for at most `capacity` values.
    pub fn new(capacity: usize) -> Self {
        let (entries, by_use) = (HashMap::new(), Recency::default());
        Cache(Arc::new(Noted::new(State { capacity, lifetime: None, entries, by_use, kept: 0 })))
    }

    /// Values computed from now on are kept for `lifetime`.
    #[must_use]
    pub fn expires_after(self, lifetime: Duration) -> Self {
        self.0.lock().lifetime = Some(lifetime);
        self
    }

    /// Gives the value of `key`. If there is none, the fiber that `compute` makes computes it, unless a computation is
    /// already running.
    ///
    /// # Errors
    /// The error of the computation, which all its waiters share: `is`, `downcast_ref` and `source` of the [`Error`] see what
    /// they would see without the cache, but it cannot be taken out by value, see
    /// [`PromiseFailed`](super::PromiseFailed). A panic of `compute` or of its fiber is an error with its message,
    /// [`Panicked`](crate::error::Panicked).
    ///
    /// # Panics
    /// A panic of `Hash`, `Eq` or `Clone` of a key becomes the outcome of the fibers that wait for the value.
    ///
    /// # Cancellation
    /// The wait ends at once. The computation continues if other fibers wait for it, and is cancelled otherwise; no
    /// fiber waits for its finalizers. If it fails or panics, and all waiting fibers were cancelled before they have seen that, it goes to
    /// [`Scheduler::unobserved`](crate::scheduler::Scheduler::unobserved).
    #[track_caller]
    pub fn get<R, F>(&self, key: K, compute: F) -> Fiber<Arc<V>, impl Run<Out = Arc<V>> + use<K, V, R, F>>
    where
        R: Run<Out = V>,
        F: FnOnce() -> Fiber<V, R> + Send + 'static,
    {
        Fiber::new(Get { cache: self.clone(), key, compute, site: Location::caller() })
    }

    /// The value of `key`, if it is kept, even if it has expired. This does not count as a use.
    ///
    /// ```
    /// use fiber_core::{Fiber, sync::Cache};
    ///
    /// let squares = Cache::new(10);
    /// fiber_sched::run(squares.get(3, || Fiber::success(9))).unwrap();
    /// assert_eq!((squares.peek(&3).as_deref(), squares.peek(&4)), (Some(&9), None));
    /// ```
    pub fn peek(&self, key: &K) -> Option<Arc<V>> {
        match self.0.lock().entries.get(key)? {
            Entry::Kept(kept) => Some(kept.value.clone()),
            Entry::Computed(_) => None,
        }
    }

    /// Removes the value of `key`. A value that is being computed is given to its waiters, but is not kept.
    ///
    /// ```
    /// use fiber_core::{Fiber, sync::Cache};
    ///
    /// let squares = Cache::new(10);
    /// fiber_sched::run(squares.get(3, || Fiber::success(9))).unwrap();
    /// squares.remove(&3);
    /// assert!(squares.is_empty());
    /// ```
    pub fn remove(&self, key: &K) {
        let removed = self.0.lock().remove(key);
        drop(removed);
    }

    /// Removes all values, as [`remove`](Cache::remove) does.
    ///
    /// ```
    /// use fiber_core::{Fiber, sync::Cache};
    ///
    /// let squares = Cache::new(10);
    /// let both = squares.get(3, || Fiber::success(9)).zip(squares.get(4, || Fiber::success(16)));
    /// fiber_sched::run(both).unwrap();
    /// squares.clear();
    /// assert_eq!(squares.len(), 0);
    /// ```
    pub fn clear(&self) {
        let mut state = self.0.lock();
        let removed = (mem::take(&mut state.entries), mem::take(&mut state.by_use));
        state.kept = 0;
        drop(state);
        drop(removed);
    }

    /// The number of values kept. Some may have expired.
    pub fn len(&self) -> usize {
        self.0.lock().kept
    }

    /// Whether no value is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn ask(self, key: K, cx: &Cx<'_>, site: Site) -> Answer<K, V, Running<K, V>> {
        let mut state = self.0.lock();
        if let Some(value) = state.used(&key, cx) {
            drop(state);
            // Not at the end of the call: a panic of these drops would leak the value.
            drop((self, key));
            return Answer::Value(value);
        }
        let under_way = match state.entries.get(&key) {
            // One that has ended is still there only if the key panicked when it was to be removed.
            Some(Entry::Computed(computation)) if !computation.promise.is_completed() => {
                Some(computation.clone())
            }
            _ => None,
        };
        let is_first = under_way.is_none();
        let computation = under_way.unwrap_or_else(|| Arc::new(Computation::new(site)));
        computation.askers.lock().count += 1;
        let expired = if is_first { state.replace(&key, Entry::Computed(computation.clone())) } else { None };
        drop(state);
        // Ends the computation if the drop of an expired value panics.
        let asker = Asker { cache: self, key, computation };
        drop(expired);
        if !is_first {
            return Answer::Wait(asker);
        }
        let Asker { cache, key, computation } = &asker;
        let running = Running { cache: cache.clone(), key: key.clone(), computation: computation.clone() };
        Answer::Compute(asker, running)
    }
}

/// The description of [`Cache::get`].
struct Get<K, V: 'static, F> {
    cache: Cache<K, V>,
    key: K,
    compute: F,
    site: Site,
}

impl<K: Key, V: Value, R, F> Run for Get<K, V, F>
where
    R: Run<Out = V>,
    F: FnOnce() -> Fiber<V, R> + Send + 'static,
{
    type Out = Arc<V>;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Arc<V>> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let Get { cache, key, compute, site } = self;
        // It calls code of the key, and drops the closure if that is not needed. Not at the end of the call: a panic of that drop would
        // leak what the call returns.
        let answer = guard(move || match cache.ask(key, cx, site) {
            Answer::Value(value) => {
                drop(compute);
                Answer::Value(value)
            }
            Answer::Wait(asker) => {
                drop(compute);
                Answer::Wait(asker)
            }
            Answer::Compute(asker, running) => Answer::Compute(asker, running.fiber(compute, site)),
        });
        let asker = match answer {
            Err(panic) => return Step::Done(Outcome::Panicked(panic).passed(Frame::new("get", site))),
            Ok(Answer::Value(value)) => return Step::Done(Outcome::Success(value)),
            Ok(Answer::Wait(asker)) => asker,
            Ok(Answer::Compute(asker, fiber)) => {
                let note = |fiber: &Context| asker.computation.askers.lock().computing = Some(fiber.clone());
                drop(detach_here(cx, fiber, site, note));
                asker
            }
        };
        asker.wait(site).into_run().run(cx)
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        discard_part(self.key, torn);
        discard_part(self.compute, torn);
    }
}

/// The requirements on the keys and values of a cache.
trait Key: Eq + Hash + Clone + Send + 'static {}
impl<K: Eq + Hash + Clone + Send + 'static> Key for K {}
trait Value: Send + Sync + 'static {}
impl<V: Send + Sync + 'static> Value for V {}

/// The result of asking for a value.
enum Answer<K: Key, V: Value, C> {
    Value(Arc<V>),
    Wait(Asker<K, V>),
    /// The value has to be computed, for this waiter and those that come meanwhile.
    Compute(Asker<K, V>, C),
}

impl<K: Key, V> State<K, V> {
    /// The value of `key`, unless it has expired. Counts as a use.
    fn used(&mut self, key: &K, cx: &Cx<'_>) -> Option<Arc<V>> {
        let Some(Entry::Kept(kept)) = self.entries.get(key) else { return None };
        if kept.expires < Instant::FAR_FUTURE && kept.expires <= cx.scheduler().now() {
            return None;
        }
        self.by_use.renew(kept.place);
        Some(kept.value.clone())
    }

    fn remove(&mut self, key: &K) -> Removed<K, V> {
        let (key, entry) = self.entries.remove_entry(key)?;
        Some((Some(key), self.forget(&entry), entry))
    }

    fn replace(&mut self, key: &K, entry: Entry<V>) -> Removed<K, V> {
        let Some(present) = self.entries.get_mut(key) else {
            self.entries.insert(key.clone(), entry);
            return None;
        };
        let old = mem::replace(present, entry);
        Some((None, self.forget(&old), old))
    }

    /// Removes an entry that was taken out from the order of use.
    fn forget(&mut self, entry: &Entry<V>) -> Option<K> {
        let Entry::Kept(kept) = entry else { return None };
        self.kept -= 1;
        self.by_use.remove(kept.place)
    }

    fn is_under_way(&self, key: &K, computation: &Arc<Computation<V>>) -> bool {
        matches!(self.entries.get(key), Some(Entry::Computed(other)) if Arc::ptr_eq(other, computation))
    }

    /// Keeps a value. Gives the entry that had to make room.
    fn keep(&mut self, key: &K, value: Arc<V>, now: Instant) -> [Removed<K, V>; 2] {
        let expires = self.lifetime.map_or(Instant::FAR_FUTURE, |lifetime| now + lifetime);
        let place = self.by_use.push(key.clone());
        let kept = Entry::Kept(Kept { value, expires, place });
        // It calls code of the key, which may panic.
        let replaced = guard(|| self.replace(key, kept)).unwrap_or_else(|panic| {
            self.by_use.remove(place);
            resume_unwind(panic.into_thrown())
        });
        self.kept += 1;
        [replaced, if self.kept > self.capacity { self.evict() } else { None }]
    }

    /// Takes out the value that was not used for longest.
    fn evict(&mut self) -> Removed<K, V> {
        // Looked up before it leaves the order of use, because that calls code of the key, which may panic.
        let (place, oldest) = self.by_use.oldest()?;
        let removed = self.entries.remove_entry(oldest);
        let used = self.by_use.remove(place)?;
        self.kept -= 1;
        removed.map(|(key, entry)| (Some(key), Some(used), entry))
    }
}

impl<V: Value> Computation<V> {
    fn new(site: Site) -> Self {
        Computation { promise: Promise::in_place_of("Cache", site), askers: Noted::default() }
    }

    /// A waiter leaves after the computation has failed.
    fn leave_failed(&self) {
        let mut askers = self.askers.lock();
        askers.count -= 1;
        let computing = if askers.have_missed_failure() { askers.computing.take() } else { None };
        drop(askers);
        if let Some(fiber) = computing {
            Unobserved::report(&fiber, &self.failure());
        }
    }

    fn failure(&self) -> Outcome<()> {
        self.promise.try_outcome().map_or(Outcome::Success(()), |outcome| outcome.map(drop))
    }
}

impl Askers {
    /// Whether all were cancelled before one of them has seen the failure. Says so once.
    fn have_missed_failure(&mut self) -> bool {
        self.count == 0 && !mem::replace(&mut self.has_seen_failure, true)
    }
}

/// A waiter for a value. The last one that leaves ends the computation.
struct Asker<K: Key, V: Value> {
    cache: Cache<K, V>,
    key: K,
    computation: Arc<Computation<V>>,
}

impl<K: Key, V: Value> Asker<K, V> {
    fn wait(self, site: Site) -> Fiber<Arc<V>, impl Run<Out = Arc<V>> + use<K, V>> {
        self.computation.promise.wait_at(site).map_outcome_at(site, move |outcome| {
            if outcome.is_failure() {
                self.computation.askers.lock().has_seen_failure = true;
            }
            drop(self);
            outcome
                .map(|value| value.unwrap_or_else(|message| resume_unwind(Box::new(String::from(&*message)))))
        })
    }
}

impl<K: Key, V: Value> Drop for Asker<K, V> {
    fn drop(&mut self) {
        // The usual case. What is complete has no entry that has to go, and no fiber to be cancelled.
        match self.computation.promise.has_failed() {
            Some(true) => return self.computation.leave_failed(),
            Some(false) => return,
            None => {}
        }
        let mut state = self.cache.0.lock();
        let mut askers = self.computation.askers.lock();
        askers.count -= 1;
        if askers.count > 0 {
            return;
        }
        let computing = askers.computing.take();
        drop(askers);
        // Before the cancellation, so that later requests start a new computation.
        let removed = guard(|| {
            let is_there = state.is_under_way(&self.key, &self.computation);
            if is_there { state.remove(&self.key) } else { None }
        });
        drop(state);
        computing.inspect(Context::cancel);
        if let Err(panic) = removed
            && !panicking()
        {
            resume_unwind(panic.into_thrown());
        }
    }
}

/// Owned by the fiber that computes a value, so that its end reaches the waiters, whatever happens to it.
struct Running<K: Key, V: Value> {
    cache: Cache<K, V>,
    key: K,
    computation: Arc<Computation<V>>,
}

impl<K: Key, V: Value> Running<K, V> {
    /// The fiber that computes the value for all waiters.
    fn fiber<R, F>(self, compute: F, site: Site) -> Fiber<(), impl Run<Out = ()> + use<K, V, R, F>>
    where
        R: Run<Out = V>,
        F: FnOnce() -> Fiber<V, R> + Send + 'static,
    {
        Fiber::defer_at(site, compute)
            // The lifetime starts when the value is complete.
            .bind_at(site, move |value| Fiber::now().map_at(site, move |now| (value, now)))
            .map_outcome_at(site, move |outcome| self.settle(outcome))
    }

    /// Gives the outcome to the waiters. Without any, a failure or a panic is that of the fiber, which nobody joins, so that it is reported.
    fn settle(&self, outcome: Outcome<(V, Instant)>) -> Outcome<()> {
        let mut state = self.cache.0.lock();
        if !matches!(outcome, Outcome::Success(_)) && self.computation.askers.lock().count == 0 {
            // The last one has removed the entry.
            drop(state);
            self.computation.promise.cancel();
            return outcome.map(drop);
        }
        let outcome = outcome.map(|(value, now)| (Arc::new(value), now));
        let removed = guard(|| match (&outcome, state.is_under_way(&self.key, &self.computation)) {
            (_, false) => [None, None],
            (Outcome::Success((value, now)), true) => state.keep(&self.key, value.clone(), *now),
            (_, true) => [state.remove(&self.key), None],
        });
        drop(state);
        self.computation.promise.outcome(match &removed {
            Ok(_) => outcome.map(|(value, _)| Ok(value)),
            Err(panic) => Outcome::Success(Err(panic.message().into())),
        });
        // After the completion, so that a panic of the user's drop does not lose the value.
        drop(removed);
        // The last one may have left since the count was read.
        let is_missed = self.computation.promise.has_failed() == Some(true)
            && self.computation.askers.lock().have_missed_failure();
        if is_missed { self.computation.failure() } else { Outcome::Success(()) }
    }
}

impl<K: Key, V: Value> Drop for Running<K, V> {
    /// No effect, unless the fiber was abandoned.
    fn drop(&mut self) {
        if !self.computation.promise.is_completed() {
            let _ = self.settle(Outcome::Failure(Error::new(Abandoned)));
        }
    }
}

impl<K, V> Clone for Cache<K, V> {
    fn clone(&self) -> Self {
        Cache(self.0.clone())
    }
}

impl<K, V> fmt::Debug for Cache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.lock();
        write!(f, "Cache with {} of at most {}", state.kept, counted(state.capacity, "value"))
    }
}
