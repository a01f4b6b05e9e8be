use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::guarded::{self, Claim, Exclusive, Guard, Guarded};
use crate::engine::step::Run;
use crate::engine::subject::Subject;
use crate::fiber::Fiber;
use crate::resource::Resource;

/// A value that one fiber at a time can use.
///
/// ```
/// use fiber_core::{Fiber, fiber, sync::Mutex};
///
/// let accounts = Mutex::new([100, 0]).named("accounts");
/// let transfers = (0..10).map({
///     let accounts = accounts.clone();
///     move |_| accounts.with(|mut accounts| fiber! {
///         let before = *accounts;
///         do! Fiber::yield_now();
///         *accounts = [before[0] - 1, before[1] + 1];
///     })
/// });
/// let all = Fiber::parallel(transfers).bind(move |_| accounts.lock()).map(|accounts| *accounts);
/// assert_eq!(fiber_sched::run(all).unwrap(), [90, 10]);
/// ```
///
/// The lock is fair, even across waits. Clones share the value, which is dropped with the last of the clones and
/// guards.
///
/// A holder that panics releases the lock. The next one can
/// [ask](Guard::previous_holder_panicked) whether it did.
///
/// A fiber that locks a mutex which it already holds deadlocks.
pub struct Mutex<T: 'static>(Arc<Guarded<T>>);

/// A [`Mutex`] that is held, and its value.
pub type MutexGuard<T> = Guard<T, Exclusive>;

impl<T: Send + 'static> Mutex<T> {
    /// An unlocked mutex around `value`.
    #[track_caller]
    pub fn new(value: T) -> Self {
        let subject = Subject::new("Mutex", Location::caller());
        Mutex(Arc::new(Guarded::new(value, subject)))
    }

    /// Names the mutex in reports. An existing name is kept.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        self.0.subject().set_name(name);
        self
    }

    /// Waits for the lock. Dropping the guard releases it.
    ///
    /// Use [`with`](Mutex::with) to hold the lock until a fiber has ended.
    ///
    /// ```
    /// use fiber_core::{fiber, sync::Mutex};
    ///
    /// let count = Mutex::new(1);
    /// let fiber = fiber! {
    ///     let! mut count = count.lock();
    ///     *count += 1;
    ///     *count
    /// };
    /// assert_eq!(fiber_sched::run(fiber).unwrap(), 2);
    /// ```
    ///
    /// # Cancellation
    /// The fiber leaves the queue at once. If the lock was already passed to it, it goes to the next waiter.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> Fiber<MutexGuard<T>, impl Run<Out = MutexGuard<T>> + Clone + use<T>> {
        self.claim().fiber()
    }

    /// Like [`lock`](Mutex::lock), for a thread that runs no fibers.
    ///
    /// # Blocking
    /// Blocks the thread until it has the lock.
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<T> {
        self.claim().block()
    }

    /// Takes the lock, if it is free and no fiber or thread waits for it.
    ///
    /// ```
    /// use fiber_core::sync::Mutex;
    ///
    /// let mutex = Mutex::new('x');
    /// let guard = mutex.try_lock().unwrap();
    /// assert!(mutex.try_lock().is_none());
    /// drop(guard);
    /// assert_eq!(*mutex.try_lock().unwrap(), 'x');
    /// ```
    #[inline]
    #[track_caller]
    pub fn try_lock(&self) -> Option<MutexGuard<T>> {
        self.claim().now()
    }

    /// Runs the fiber that `f` makes of the guard. The lock is held until that fiber has ended, finalizers included,
    /// even if the guard is dropped earlier.
    ///
    /// If the guard lives longer than the fiber, in a closure on a blocking thread for example, the lock is held until
    /// the guard is dropped.
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome. The lock is released.
    ///
    /// # Cancellation
    /// While it waits, the fiber leaves the queue at once. Later, the fiber of `f` is cancelled, and then the lock is
    /// released.
    #[track_caller]
    pub fn with<U, R, F>(&self, f: F) -> Fiber<U, impl Run<Out = U> + use<T, U, R, F>>
    where
        U: Send + 'static,
        R: Run<Out = U>,
        F: FnOnce(MutexGuard<T>) -> Fiber<U, R> + Send + 'static,
    {
        guarded::with(self.claim(), f)
    }

    /// The lock as a resource. Dropping the guard releases it. The wait for it can be cancelled.
    ///
    /// ```
    /// use fiber_core::{Fiber, sync::{Mutex, Semaphore}};
    ///
    /// let (total, workers) = (Mutex::new(0), Semaphore::new(4));
    /// let both = workers.acquire_resource(1).zip(total.lock_resource());
    /// let add = both.using(|(_permit, mut total)| Fiber::lazy(move || { *total += 1; *total }));
    /// assert_eq!(fiber_sched::run(add).unwrap(), 1);
    /// ```
    #[track_caller]
    pub fn lock_resource(&self) -> Resource<MutexGuard<T>> {
        Resource::from_guard(self.lock())
    }

    /// Whether the lock is held. The answer may be stale by the time it is read.
    pub fn is_locked(&self) -> bool {
        self.0.is_locked()
    }

    #[inline]
    #[track_caller]
    fn claim(&self) -> Claim<T, Exclusive> {
        Claim::exclusive(self.0.clone(), Location::caller())
    }
}

impl<T: Default + Send + 'static> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

impl<T> Clone for Mutex<T> {
    fn clone(&self) -> Self {
        Mutex(self.0.clone())
    }
}

impl<T> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.0.is_locked() { "locked" } else { "free" };
        write!(f, "{} ({state})", self.0.subject())
    }
}
