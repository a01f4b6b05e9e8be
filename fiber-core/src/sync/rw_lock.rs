use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::guarded::{self, Claim, Exclusive, Guard, Guarded, Shared};
use crate::engine::step::Run;
use crate::engine::subject::Subject;
use crate::fiber::Fiber;
use crate::resource::Resource;

/// A value that many fibers can read at the same time, and that one fiber at a time can change.
///
/// ```
/// use fiber_core::{Fiber, sync::RwLock};
/// use fiber_test::TestScheduler;
/// use std::time::Duration;
///
/// let second = Duration::from_secs(1);
/// let prices = RwLock::new(vec![3, 5]).named("prices");
/// let total = |prices: RwLock<Vec<u32>>| {
///     prices.with_read(move |prices| Fiber::delay(second).map(move |()| prices.iter().sum::<u32>()))
/// };
/// let raise = prices.with_write(move |mut prices| Fiber::delay(second).map(move |()| prices[0] += 1));
/// let test = TestScheduler::new();
/// let before = [prices.clone(), prices.clone()].map(|prices| test.spawn(total(prices)));
/// let change = test.spawn(raise);
/// let after = test.spawn(total(prices));
/// test.run_until_idle();
/// // Two readers at the same time, then the writer, then the reader who came after it.
/// assert_eq!(test.now().as_nanos(), 3_000_000_000);
/// assert_eq!(before.map(|total| total.outcome().unwrap()), [8, 8]);
/// assert_eq!(after.outcome().unwrap(), 9);
/// # assert!(change.outcome().is_success());
/// ```
///
/// The lock is fair: a reader that comes after a waiting writer waits for it, so that writers do not
/// starve. Clones share the value, which is dropped with the last of the clones and guards.
///
/// A holder that panics releases the lock. Holders after a writer that panicked can
/// [ask](Guard::previous_holder_panicked) whether it did.
///
/// A fiber that asks for the lock while it already holds it may deadlock, even to read: a writer may have queued up in
/// between.
pub struct RwLock<T: 'static>(Arc<Guarded<T>>);

/// An [`RwLock`] held for reading, and its value.
pub type RwLockReadGuard<T> = Guard<T, Shared>;

/// An [`RwLock`] held for writing, and its value.
pub type RwLockWriteGuard<T> = Guard<T, Exclusive>;

impl<T: Send + Sync + 'static> RwLock<T> {
    /// An unlocked lock around `value`.
    #[track_caller]
    pub fn new(value: T) -> Self {
        let subject = Subject::new("RwLock", Location::caller()).with_readers();
        RwLock(Arc::new(Guarded::new(value, subject)))
    }

    /// Names the lock in reports. An existing name is kept.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        self.0.subject().set_name(name);
        self
    }

    /// Waits until the value can be read. Dropping the guard releases the lock.
    ///
    /// ```
    /// use fiber_core::sync::RwLock;
    ///
    /// let name = RwLock::new("Ann".to_owned());
    /// let both = name.read().zip(name.read()).map(|(a, b)| format!("{} {}", *a, *b));
    /// assert_eq!(fiber_sched::run(both).unwrap(), "Ann Ann");
    /// ```
    ///
    /// # Cancellation
    /// The fiber leaves the queue at once. If the lock was already passed to it, it goes to the next waiter.
    #[inline]
    #[track_caller]
    pub fn read(&self) -> Fiber<RwLockReadGuard<T>, impl Run<Out = RwLockReadGuard<T>> + Clone + use<T>> {
        self.shared().fiber()
    }

    /// Waits until the value can be changed. Dropping the guard releases the lock.
    ///
    /// ```
    /// use fiber_core::sync::RwLock;
    ///
    /// let count = RwLock::new(1);
    /// let change = count.write().map(|mut count| *count += 1);
    /// assert!(fiber_sched::run(change).is_success());
    /// assert_eq!(*count.try_read().unwrap(), 2);
    /// ```
    ///
    /// # Cancellation
    /// As in [`read`](RwLock::read). Readers that waited only behind this writer are served at once.
    #[inline]
    #[track_caller]
    pub fn write(&self) -> Fiber<RwLockWriteGuard<T>, impl Run<Out = RwLockWriteGuard<T>> + Clone + use<T>> {
        self.exclusive().fiber()
    }

    /// Like [`read`](RwLock::read), for a thread that runs no fibers.
    ///
    /// # Blocking
    /// Blocks the thread until the value can be read.
    #[track_caller]
    pub fn blocking_read(&self) -> RwLockReadGuard<T> {
        self.shared().block()
    }

    /// Like [`write`](RwLock::write), for a thread that runs no fibers.
    ///
    /// # Blocking
    /// Blocks the thread until the value can be changed.
    #[track_caller]
    pub fn blocking_write(&self) -> RwLockWriteGuard<T> {
        self.exclusive().block()
    }

    /// Takes the lock for reading, if it has no writer and its queue is empty.
    #[inline]
    #[track_caller]
    pub fn try_read(&self) -> Option<RwLockReadGuard<T>> {
        self.shared().now()
    }

    /// Takes the lock for writing, if it is free and its queue is empty.
    #[inline]
    #[track_caller]
    pub fn try_write(&self) -> Option<RwLockWriteGuard<T>> {
        self.exclusive().now()
    }

    /// Runs the fiber that `f` makes of the guard. The lock is held for reading until that fiber has ended, finalizers
    /// included, even if the guard is dropped earlier.
    ///
    /// If the guard lives longer than the fiber, the lock is held until the guard is dropped.
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome. The lock is released.
    ///
    /// # Cancellation
    /// While it waits, the fiber leaves the queue at once. Later, the fiber of `f` is cancelled, and then the lock is
    /// released.
    #[track_caller]
    pub fn with_read<U, R, F>(&self, f: F) -> Fiber<U, impl Run<Out = U> + use<T, U, R, F>>
    where
        U: Send + 'static,
        R: Run<Out = U>,
        F: FnOnce(RwLockReadGuard<T>) -> Fiber<U, R> + Send + 'static,
    {
        guarded::with(Claim::shared_in_halves(self.0.clone(), Location::caller()), f)
    }

    /// Runs the fiber that `f` makes of the guard. The lock is held for writing until that fiber has ended, finalizers
    /// included, even if the guard is dropped earlier.
    ///
    /// If the guard lives longer than the fiber, the lock is held until the guard is dropped.
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome. The lock is released.
    ///
    /// # Cancellation
    /// As in [`with_read`](RwLock::with_read).
    #[track_caller]
    pub fn with_write<U, R, F>(&self, f: F) -> Fiber<U, impl Run<Out = U> + use<T, U, R, F>>
    where
        U: Send + 'static,
        R: Run<Out = U>,
        F: FnOnce(RwLockWriteGuard<T>) -> Fiber<U, R> + Send + 'static,
    {
        guarded::with(self.exclusive(), f)
    }

    /// The lock for reading, as a resource. Dropping the guard releases it. The wait for it can be cancelled.
    #[track_caller]
    pub fn read_resource(&self) -> Resource<RwLockReadGuard<T>> {
        Resource::from_guard(self.read())
    }

    /// The lock for writing, as a resource. Dropping the guard releases it. The wait for it can be cancelled.
    #[track_caller]
    pub fn write_resource(&self) -> Resource<RwLockWriteGuard<T>> {
        Resource::from_guard(self.write())
    }

    #[inline]
    #[track_caller]
    fn shared(&self) -> Claim<T, Shared> {
        Claim::shared(self.0.clone(), Location::caller())
    }

    #[inline]
    #[track_caller]
    fn exclusive(&self) -> Claim<T, Exclusive> {
        Claim::exclusive(self.0.clone(), Location::caller())
    }
}

impl<T: Default + Send + Sync + 'static> Default for RwLock<T> {
    #[track_caller]
    fn default() -> Self {
        RwLock::new(T::default())
    }
}

impl<T> Clone for RwLock<T> {
    fn clone(&self) -> Self {
        RwLock(self.0.clone())
    }
}

impl<T> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match (self.0.is_locked(), self.0.is_locked_exclusively()) {
            (false, _) => "free",
            (true, false) => "locked to read",
            (true, true) => "locked to write",
        };
        write!(f, "{} ({state})", self.0.subject())
    }
}
