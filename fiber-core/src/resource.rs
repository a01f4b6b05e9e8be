//! Resources that compose: acquired in order, released in reverse.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::step::Run;

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
    value: T,
    release: Release,
}

type Release = Box<dyn FnOnce() -> Fiber<()> + Send>;

impl<T: Send + 'static> Resource<T> {
    /// What `acquire` gives, to be released by the fiber that `release` makes of it.
    ///
    /// The value goes to both the user and the release, so it has to be [`Clone`]: an `Arc`, say.
    pub fn new<R, S, F>(acquire: Fiber<T, R>, release: F) -> Self
    where
        T: Clone,
        R: Run<Out = T>,
        S: Run<Out = ()>,
        F: FnOnce(T) -> Fiber<(), S> + Send + 'static,
    {
        let acquire = acquire.map(move |value| {
            let released = value.clone();
            Acquired { value, release: Box::new(move || release(released).boxed()) }
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
    pub fn from_fiber<R: Run<Out = T>>(fiber: Fiber<T, R>) -> Self {
        let nothing = |value| Acquired { value, release: Box::new(|| Fiber::success(()).boxed()) };
        Resource { acquire: fiber.map(nothing).boxed() }
    }

    /// Applies `f` to the value; what is released stays the same.
    pub fn map<U, F>(self, f: F) -> Resource<U>
    where
        U: Send + 'static,
        F: FnOnce(T) -> U + Send + 'static,
    {
        self.and_then(|value| Resource::from_fiber(Fiber::lazy(move || f(value))))
    }

    /// Goes on with the resource that `f` makes of the value. Both are held, and released in reverse.
    ///
    /// # Errors
    /// When the second cannot be acquired, the first is released.
    pub fn and_then<U, F>(self, f: F) -> Resource<U>
    where
        U: Send + 'static,
        F: FnOnce(T) -> Resource<U> + Send + 'static,
    {
        let acquire = self.acquire.bind(move |first| {
            let Acquired { value, release } = first;
            // Whoever comes first: the failure of the second, or the pair.
            let release = Arc::new(Mutex::new(Some(release)));
            let kept = release.clone();
            Fiber::defer(move || f(value).acquire)
                .on_outcome(move |outcome: &Outcome<Acquired<U>>| {
                    let release = if outcome.is_success() { None } else { release.lock().take() };
                    Fiber::defer(|| release.map_or_else(|| Fiber::success(()).boxed(), |release| release()))
                })
                .map(move |second| second.before(kept.lock().take()))
        });
        Resource { acquire: acquire.boxed() }
    }

    /// Both, acquired in order.
    pub fn zip<U: Send + 'static>(self, other: Resource<U>) -> Resource<(T, U)> {
        self.and_then(|first| other.map(|second| (first, second)))
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
        let used =
            move |Acquired { value, release }| Fiber::defer(move || f(value)).ensure(Fiber::defer(release));
        self.acquire.uncancelable().bind(used).boxed()
    }
}

impl<T> Acquired<T> {
    /// Adds a release that comes after this one's.
    fn before(self, later: Option<Release>) -> Self {
        let Acquired { value, release: own } = self;
        let Some(later) = later else { return Acquired { value, release: own } };
        Acquired { value, release: Box::new(move || Fiber::defer(own).ensure(Fiber::defer(later)).boxed()) }
    }
}

impl<T> fmt::Debug for Resource<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Resource<{}>", std::any::type_name::<T>())
    }
}
