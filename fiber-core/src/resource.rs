//! Resources that compose: acquired in order, released in reverse.

use std::fmt;
use std::panic::{Location, resume_unwind};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::combine::Interruptible;
use crate::engine::step::Run;
use crate::error::Site;
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::panic::{Panic, guard};

/// A value that is acquired before its use and released after it, whatever happens in between.
///
/// Like a fiber, a resource is a description: nothing is acquired before [`using`](Resource::using) runs. Several
/// resources are acquired in order and released in reverse. If one of them cannot be acquired, the earlier ones are
/// released.
///
/// ```
/// use fiber_core::{Fiber, Resource};
/// use std::sync::{Arc, Mutex};
///
/// let log = Arc::new(Mutex::new(Vec::new()));
/// let resource = |name: &'static str| {
///     let (opened, closed) = (log.clone(), log.clone());
///     let acquire = Fiber::lazy(move || { opened.lock().unwrap().push(format!("open {name}")); name });
///     Resource::new(acquire, move |name| Fiber::lazy(move || closed.lock().unwrap().push(format!("close {name}"))))
/// };
/// let both = resource("pool").zip(resource("connection"));
/// let fiber = both.using(|(pool, connection)| Fiber::success(format!("{connection} of {pool}")));
/// assert_eq!(fiber_sched::run(fiber).unwrap(), "connection of pool");
/// assert_eq!(*log.lock().unwrap(), ["open pool", "open connection", "close connection", "close pool"]);
/// ```
#[must_use = "a resource does nothing until it is used"]
pub struct Resource<T> {
    /// Runs in an uncancelable region.
    acquire: Fiber<Acquired<T>>,
}

struct Acquired<T> {
    /// A value that could not be cloned for its use is still released.
    value: Result<T, Panic>,
    release: Release,
}

type Release = Box<dyn FnOnce() -> Fiber<()> + Send>;

impl<T: Send + 'static> Resource<T> {
    /// A resource whose value `acquire` gives; the fiber that `release` makes of the value releases it.
    ///
    /// Both the use and the release receive the value, so it has to be [`Clone`]: an `Arc`, for example.
    ///
    /// # Panics
    /// A panic of `clone` becomes the outcome of the fiber that uses the resource, after the release.
    #[track_caller]
    pub fn new<R, S, F>(acquire: Fiber<T, R>, release: F) -> Self
    where
        T: Clone,
        R: Run<Out = T>,
        S: Run<Out = ()>,
        F: FnOnce(T) -> Fiber<(), S> + Send + 'static,
    {
        let acquire = acquire.map(move |value| {
            let cloned = guard(|| value.clone());
            Acquired { value: cloned, release: Box::new(move || release(value).boxed()) }
        });
        Resource { acquire: acquire.boxed() }
    }

    /// A resource whose value `fiber` gives, with nothing to release.
    ///
    /// ```
    /// use fiber_core::{Fiber, Resource};
    /// let plain = Resource::from_fiber(Fiber::success(2)).using(Fiber::success);
    /// assert_eq!(fiber_sched::run(plain).unwrap(), 2);
    /// ```
    #[track_caller]
    pub fn from_fiber<R: Run<Out = T>>(fiber: Fiber<T, R>) -> Self {
        Resource::from_fiber_at(Location::caller(), fiber)
    }

    /// A resource that `fiber` acquires, and that is released when the value is dropped: a lock, permits, a file.
    ///
    /// ```
    /// use fiber_core::{Fiber, Resource, sync::Mutex};
    ///
    /// let mutex = Mutex::new(1);
    /// let guard = Resource::from_guard(mutex.lock());
    /// assert_eq!(fiber_sched::run(guard.using(|guard| Fiber::lazy(move || *guard))).unwrap(), 1);
    /// assert!(!mutex.is_locked());
    /// ```
    ///
    /// The value belongs to the fiber that uses it, which may drop it before its end.
    ///
    /// # Cancellation
    /// Unlike any other acquisition, this one can be cancelled while it waits. A value that `fiber` succeeds with is never
    /// lost.
    #[track_caller]
    pub fn from_guard<R: Run<Out = T>>(fiber: Fiber<T, R>) -> Self {
        let fiber = Fiber::new(Interruptible(fiber.into_run()));
        Resource::from_fiber_at(Location::caller(), fiber)
    }

    /// `site`, here and below: the place where the user calls the public function.
    fn from_fiber_at<R: Run<Out = T>>(site: Site, fiber: Fiber<T, R>) -> Self {
        let nothing = |value| Acquired { value: Ok(value), release: Box::new(|| Fiber::success(()).boxed()) };
        Resource { acquire: fiber.map_at(site, nothing).boxed() }
    }

    /// Applies `f` to the value. The release stays the same.
    ///
    /// ```
    /// use fiber_core::{Fiber, Resource};
    ///
    /// let length = Resource::from_fiber(Fiber::success("seven")).map(str::len).using(Fiber::success);
    /// assert_eq!(fiber_sched::run(length).unwrap(), 5);
    /// ```
    #[track_caller]
    pub fn map<U, F>(self, f: F) -> Resource<U>
    where
        U: Send + 'static,
        F: FnOnce(T) -> U + Send + 'static,
    {
        self.map_at(Location::caller(), f)
    }

    fn map_at<U, F>(self, site: Site, f: F) -> Resource<U>
    where
        U: Send + 'static,
        F: FnOnce(T) -> U + Send + 'static,
    {
        self.and_then_at(site, move |value| {
            Resource::from_fiber_at(site, Fiber::lazy_at(site, move || f(value)))
        })
    }

    /// Continues with the resource that `f` makes of the value. Both resources are held, and released in reverse.
    ///
    /// ```
    /// use fiber_core::{Fiber, Resource};
    ///
    /// let pool = Resource::from_fiber(Fiber::success("pool"));
    /// let connection = |pool| Resource::from_fiber(Fiber::success(format!("connection of the {pool}")));
    /// let name = pool.and_then(connection).using(Fiber::success);
    /// assert_eq!(fiber_sched::run(name).unwrap(), "connection of the pool");
    /// ```
    ///
    /// # Errors
    /// If the second resource cannot be acquired, the first is released.
    #[track_caller]
    pub fn and_then<U, F>(self, f: F) -> Resource<U>
    where
        U: Send + 'static,
        F: FnOnce(T) -> Resource<U> + Send + 'static,
    {
        self.and_then_at(Location::caller(), f)
    }

    fn and_then_at<U, F>(self, site: Site, f: F) -> Resource<U>
    where
        U: Send + 'static,
        F: FnOnce(T) -> Resource<U> + Send + 'static,
    {
        let acquire = self.acquire.bind_at(site, move |first| {
            let Acquired { value, release } = first;
            // Taken by the failure of the second acquisition, or by the pair.
            let release = Arc::new(Mutex::new(Some(release)));
            let kept = release.clone();
            Fiber::defer_at(site, move || f(or_panic(value)).acquire)
                .on_outcome_at(site, move |outcome: &Outcome<Acquired<U>>| {
                    let release = if outcome.is_success() { None } else { release.lock().take() };
                    Fiber::defer_at(site, || {
                        release.map_or_else(|| Fiber::success(()).boxed(), |release| release())
                    })
                })
                .map_at(site, move |second| second.before(kept.lock().take(), site))
        });
        Resource { acquire: acquire.boxed() }
    }

    /// Acquires both, in order.
    #[track_caller]
    pub fn zip<U: Send + 'static>(self, other: Resource<U>) -> Resource<(T, U)> {
        let site = Location::caller();
        self.and_then_at(site, move |first| other.map_at(site, |second| (first, second)))
    }

    /// Acquires, runs the fiber that `f` makes of the value, and releases.
    ///
    /// # Errors
    /// Errors of the acquisition and of the use. A failure of the release is suppressed, as in
    /// [`ensure`](Fiber::ensure).
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome, after the release.
    ///
    /// # Cancellation
    /// The acquisition is not interrupted, except that of [`from_guard`](Resource::from_guard). The use is cancelled at
    /// once; then the value is released.
    #[track_caller]
    pub fn using<U, S, F>(self, f: F) -> Fiber<U>
    where
        U: Send + 'static,
        S: Run<Out = U>,
        F: FnOnce(T) -> Fiber<U, S> + Send + 'static,
    {
        let site = Location::caller();
        let used = move |Acquired { value, release }| {
            // A cancellation discards a value, but not a panic of the clone.
            let value = value.map_or_else(Outcome::Panicked, Outcome::Success);
            Fiber::from_outcome(value).bind_at(site, f).ensure_at(site, Fiber::defer_at(site, release))
        };
        self.acquire.uncancelable().bind_at(site, used).boxed()
    }
}

/// The acquired value. Call it under a guard, which recognises the rethrown panic.
fn or_panic<T>(value: Result<T, Panic>) -> T {
    value.unwrap_or_else(|panic| resume_unwind(Box::new(panic)))
}

impl<T> Acquired<T> {
    /// Adds a release that runs after this one's.
    fn before(self, later: Option<Release>, site: Site) -> Self {
        let Acquired { value, release: own } = self;
        let Some(later) = later else { return Acquired { value, release: own } };
        let later = Fiber::defer_at(site, later);
        let release = move || Fiber::defer_at(site, own).ensure_at(site, later).boxed();
        Acquired { value, release: Box::new(release) }
    }
}

impl<T> fmt::Debug for Resource<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Resource<{}>", std::any::type_name::<T>())
    }
}
