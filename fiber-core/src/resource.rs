//! Resources that compose: acquired in order, released in reverse.

use std::fmt;
use std::panic::{Location, resume_unwind};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::engine::step::Run;
use crate::fiber::Fiber;
use crate::outcome::{Outcome, Panic, guard};

/// Something that is acquired before its use and released after it, whatever happens in between.
///
/// A description, as a fiber is: nothing is acquired before [`using`](Resource::using) runs. Several are acquired in order and
/// released in reverse; when one of them cannot be acquired, those before it are released.
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
    /// It has to be released even if it could not be cloned for its user.
    value: Result<T, Panic>,
    release: Release,
}

type Release = Box<dyn FnOnce() -> Fiber<()> + Send>;

impl<T: Send + 'static> Resource<T> {
    /// What `acquire` gives, to be released by the fiber that `release` makes of it.
    ///
    /// The value goes to both the user and the release, so it has to be [`Clone`]: an `Arc`, say.
    ///
    /// # Panics
    /// A panic of the clone is the outcome of the fiber that uses it, after the release.
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

    /// What `fiber` gives, with nothing to be released.
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

    /// `site`, here and below: where the user calls the function that is built from this.
    fn from_fiber_at<R: Run<Out = T>>(site: &'static Location<'static>, fiber: Fiber<T, R>) -> Self {
        let nothing = |value| Acquired { value: Ok(value), release: Box::new(|| Fiber::success(()).boxed()) };
        Resource { acquire: fiber.map_at(site, nothing).boxed() }
    }

    /// Applies `f` to the value; what is released stays the same.
    #[track_caller]
    pub fn map<U, F>(self, f: F) -> Resource<U>
    where
        U: Send + 'static,
        F: FnOnce(T) -> U + Send + 'static,
    {
        self.map_at(Location::caller(), f)
    }

    fn map_at<U, F>(self, site: &'static Location<'static>, f: F) -> Resource<U>
    where
        U: Send + 'static,
        F: FnOnce(T) -> U + Send + 'static,
    {
        self.and_then_at(site, move |value| {
            Resource::from_fiber_at(site, Fiber::lazy_at(site, move || f(value)))
        })
    }

    /// Goes on with the resource that `f` makes of the value. Both are held, and released in reverse.
    ///
    /// # Errors
    /// When the second cannot be acquired, the first is released.
    #[track_caller]
    pub fn and_then<U, F>(self, f: F) -> Resource<U>
    where
        U: Send + 'static,
        F: FnOnce(T) -> Resource<U> + Send + 'static,
    {
        self.and_then_at(Location::caller(), f)
    }

    fn and_then_at<U, F>(self, site: &'static Location<'static>, f: F) -> Resource<U>
    where
        U: Send + 'static,
        F: FnOnce(T) -> Resource<U> + Send + 'static,
    {
        let acquire = self.acquire.bind_at(site, move |first| {
            let Acquired { value, release } = first;
            // Whoever comes first: the failure of the second, or the pair.
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

    /// Both, acquired in order.
    #[track_caller]
    pub fn zip<U: Send + 'static>(self, other: Resource<U>) -> Resource<(T, U)> {
        let site = Location::caller();
        self.and_then_at(site, move |first| other.map_at(site, |second| (first, second)))
    }

    /// Acquires, runs the fiber that `f` makes of the value, and releases.
    ///
    /// # Errors
    /// Those of acquiring and using. A failure to release is suppressed as in [`ensure`](Fiber::ensure).
    ///
    /// # Panics
    /// A panic of `f` is the fiber's outcome, after the release.
    ///
    /// # Cancellation
    /// While it acquires: afterwards. While it uses: at once, then it releases.
    #[track_caller]
    pub fn using<U, S, F>(self, f: F) -> Fiber<U>
    where
        U: Send + 'static,
        S: Run<Out = U>,
        F: FnOnce(T) -> Fiber<U, S> + Send + 'static,
    {
        let site = Location::caller();
        let used = move |Acquired { value, release }| {
            // A panic of the clone is not lost to a cancellation, as a value is.
            let value = value.map_or_else(Outcome::Panicked, Outcome::Success);
            Fiber::from_outcome(value).bind_at(site, f).ensure_at(site, Fiber::defer_at(site, release))
        };
        self.acquire.uncancelable().bind_at(site, used).boxed()
    }
}

/// What was acquired. To be called under a guard, which takes a panic that is thrown again for what it was.
fn or_panic<T>(value: Result<T, Panic>) -> T {
    value.unwrap_or_else(|panic| resume_unwind(Box::new(panic)))
}

impl<T> Acquired<T> {
    /// Adds a release that comes after this one's.
    fn before(self, later: Option<Release>, site: &'static Location<'static>) -> Self {
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
