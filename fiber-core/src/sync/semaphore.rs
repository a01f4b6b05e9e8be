use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::operation::{Attempt, Operation};
use super::permits::Permits;
use super::waiters::Waiter;
use crate::engine::context::{Cx, Seat, WaitsFor};
use crate::engine::holder::Holder;
use crate::engine::step::Run;
use crate::engine::subject::Subject;
use crate::error::{Error, Frame, counted};
use crate::fiber::Fiber;
use crate::local::LocalKey;
use crate::outcome::Outcome;
use crate::resource::Resource;

/// Permits that fibers share, which limit how many of them do something at a time.
///
/// ```
/// use fiber_core::{Fiber, sync::Semaphore};
/// use fiber_test::TestScheduler;
/// use std::time::Duration;
///
/// let connections = Semaphore::new(2);
/// let query = move |_| connections.with_permits(1, Fiber::delay(Duration::from_secs(1)));
/// let test = TestScheduler::new();
/// assert!(test.run(Fiber::parallel((0..6).map(query))).is_success());
/// // Six queries, two at a time.
/// assert_eq!(test.now().as_nanos(), 3_000_000_000);
/// ```
///
/// Requests are served first come, first served, even if a later request is smaller. Clones share the permits.
#[derive(Clone)]
pub struct Semaphore(Arc<Shared>);

struct Shared {
    permits: Permits,
    total: usize,
    subject: Subject,
}

impl Semaphore {
    /// The largest number of permits.
    ///
    /// ```
    /// use fiber_core::sync::Semaphore;
    /// assert_eq!(Semaphore::new(usize::MAX.min(Semaphore::MAX_PERMITS)).available(), usize::MAX / 2);
    /// ```
    pub const MAX_PERMITS: usize = Permits::MAX;

    /// A semaphore with this many permits.
    ///
    /// # Panics
    /// If `permits` is greater than [`MAX_PERMITS`](Semaphore::MAX_PERMITS).
    #[track_caller]
    pub fn new(permits: usize) -> Self {
        assert!(permits <= Self::MAX_PERMITS, "a semaphore has at most {} permits", Self::MAX_PERMITS);
        Semaphore::of_most(Location::caller(), permits)
    }

    /// Names the semaphore in reports. An existing name is kept.
    ///
    /// ```
    /// let connections = fiber_core::sync::Semaphore::new(4).named("connections");
    /// assert!(format!("{connections:?}").contains("connections"));
    /// ```
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        self.0.subject.set_name(name);
        self
    }

    /// Takes `count` permits, first come, first served. Dropping the [`Permit`] releases them.
    ///
    /// A `Permit` can be moved into a closure of [`Fiber::blocking`], which then holds it until the closure has returned.
    ///
    /// ```
    /// use fiber_core::{Fiber, fiber, sync::Semaphore};
    ///
    /// let semaphore = Semaphore::new(3);
    /// let seen = semaphore.clone();
    /// let fiber = fiber! {
    ///     let! permit = semaphore.acquire(2);
    ///     let during = seen.available();
    ///     drop(permit);
    ///     (during, seen.available())
    /// };
    /// assert_eq!(fiber_sched::run(fiber).unwrap(), (1, 3));
    /// ```
    ///
    /// # Errors
    /// [`TooManyPermits`], if the semaphore has fewer than `count`: the wait would never end.
    ///
    /// # Cancellation
    /// The fiber leaves the queue at once. Permits that were already passed to it go to the next waiter.
    #[track_caller]
    pub fn acquire(&self, count: usize) -> Fiber<Permit, impl Run<Out = Permit> + Clone + use<>> {
        self.acquire_at(Location::caller(), count)
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    pub(crate) fn acquire_at(
        &self,
        site: &'static Location<'static>,
        count: usize,
    ) -> Fiber<Permit, impl Run<Out = Permit> + Clone + use<>> {
        Operation::fiber(self.attempt(count, site), site)
    }

    /// As [`new`](Semaphore::new), for combinators built on this one: `site` is the place where the user calls them. More permits than
    /// there can be count as the most.
    pub(crate) fn of_most(site: &'static Location<'static>, permits: usize) -> Self {
        let permits = permits.min(Self::MAX_PERMITS);
        Self::of(Subject::new("Semaphore", site).with_permits(permits), permits)
    }

    /// One permit, for a primitive that reports call by its own name.
    pub(crate) fn single(subject: Subject) -> Self {
        Self::of(subject, 1)
    }

    fn of(subject: Subject, permits: usize) -> Self {
        Semaphore(Arc::new(Shared { permits: Permits::new(permits), total: permits, subject }))
    }

    /// Like [`acquire`](Semaphore::acquire), for a thread that runs no fibers.
    ///
    /// ```
    /// use fiber_core::sync::Semaphore;
    ///
    /// let semaphore = Semaphore::new(3);
    /// let permit = semaphore.blocking_acquire(2).unwrap();
    /// assert_eq!(semaphore.available(), 1);
    /// drop(permit);
    /// assert!(semaphore.blocking_acquire(4).is_err());
    /// ```
    ///
    /// # Errors
    /// As in `acquire`.
    ///
    /// # Blocking
    /// Blocks the thread until it has the permits.
    #[track_caller]
    pub fn blocking_acquire(&self, count: usize) -> Result<Permit, Error> {
        Operation::block(self.attempt(count, Location::caller())).into_result()
    }

    /// Takes `count` permits, if they are free and the queue is empty.
    ///
    /// ```
    /// use fiber_core::sync::Semaphore;
    ///
    /// let semaphore = Semaphore::new(1);
    /// let permit = semaphore.try_acquire(1);
    /// assert!(permit.is_some() && semaphore.try_acquire(1).is_none());
    /// ```
    pub fn try_acquire(&self, count: usize) -> Option<Permit> {
        let is_taken = self.0.permits.try_take(count);
        is_taken.then(|| self.clone().into_permit(None, count, self.0.subject.site()))
    }

    /// Runs `fiber` while it holds `count` permits. They are released when the fiber has ended, finalizers included.
    ///
    /// Everything that the fiber starts holds them too: its forks, and closures on blocking threads, which may outlive a
    /// cancelled fiber. The permits are released when the last of these has ended, so no more of them than the
    /// semaphore allows ever run at the same time. A fork on another thread may hold them for a moment after its outcome was joined.
    ///
    /// # Errors
    /// [`TooManyPermits`], if the semaphore has fewer than `count`.
    ///
    /// # Cancellation
    /// While it waits, the fiber leaves the queue at once. Later, `fiber` is cancelled, and then the permits are
    /// released.
    #[track_caller]
    pub fn with_permits<T: Send + 'static, R: Run<Out = T>>(
        &self,
        count: usize,
        fiber: Fiber<T, R>,
    ) -> Fiber<T, impl Run<Out = T> + use<T, R>> {
        let site = Location::caller();
        let acquire = Operation::fiber(self.attempt(count, site), site);
        acquire.bind_at(site, |permit| fiber.with_local(&HELD, Some(Arc::new(permit))))
    }

    /// Permits as a resource. Dropping the [`Permit`] releases them. The wait for them can be cancelled.
    ///
    /// ```
    /// use fiber_core::{Fiber, sync::Semaphore};
    ///
    /// let semaphore = Semaphore::new(3);
    /// let count = semaphore.acquire_resource(2).using(|permit| Fiber::lazy(move || permit.count()));
    /// assert_eq!(fiber_sched::run(count).unwrap(), 2);
    /// assert_eq!(semaphore.available(), 3);
    /// ```
    ///
    /// # Errors
    /// Those of [`acquire`](Semaphore::acquire).
    #[track_caller]
    pub fn acquire_resource(&self, count: usize) -> Resource<Permit> {
        Resource::from_guard(self.acquire(count))
    }

    /// The number of free permits.
    pub fn available(&self) -> usize {
        self.0.permits.free()
    }

    /// The number of all permits, free or not.
    pub fn total(&self) -> usize {
        self.0.total
    }

    fn attempt(&self, count: usize, site: &'static Location<'static>) -> Acquire {
        Acquire { semaphore: Some(self.clone()), count, site }
    }

    #[inline]
    fn into_permit(self, cx: Option<&Cx<'_>>, count: usize, site: &'static Location<'static>) -> Permit {
        let holder = Holder::new(cx, &self.0.subject, count, site);
        Permit { semaphore: self, count, holder }
    }
}

/// The permits of a fiber that holds them until it ends. They are among its locals, so everything that it starts holds
/// them too.
static HELD: LocalKey<Option<Arc<Permit>>> = LocalKey::new(|| None);

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = counted(self.0.total, "permit");
        write!(f, "{} ({} of {total} free)", self.0.subject, self.available())
    }
}

/// Permits of a [`Semaphore`]. Dropping this releases them.
#[must_use = "the permits are given back at once"]
pub struct Permit {
    semaphore: Semaphore,
    count: usize,
    holder: Holder,
}

impl Permit {
    /// The number of these permits.
    pub fn count(&self) -> usize {
        self.count
    }
}

impl Drop for Permit {
    #[inline]
    fn drop(&mut self) {
        let Shared { permits, subject, .. } = &*self.semaphore.0;
        self.holder.release(subject, self.count);
        permits.give_back(self.count);
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", counted(self.count, "permit"), self.semaphore.0.subject)
    }
}

/// The wait of [`Semaphore::acquire`].
#[derive(Debug)]
pub(crate) struct Acquire {
    /// `None` once the permit that was taken holds it.
    semaphore: Option<Semaphore>,
    count: usize,
    site: &'static Location<'static>,
}

impl Clone for Acquire {
    /// Clones the description, which is not in the queue.
    fn clone(&self) -> Self {
        self.semaphore().attempt(self.count, self.site)
    }
}

impl Acquire {
    #[inline]
    fn semaphore(&self) -> &Semaphore {
        self.semaphore.as_ref().expect("the permits have not been taken")
    }

    #[cold]
    fn too_many(&self) -> Outcome<Permit> {
        let error = Error::new(TooManyPermits { asked: self.count, total: self.semaphore().total() });
        Outcome::Failure(error).passed(Frame::new("acquire", self.site))
    }
}

impl Acquire {
    #[inline]
    fn taken(&mut self, cx: Option<&Cx<'_>>) -> Option<Outcome<Permit>> {
        let semaphore = self.semaphore.take()?;
        Some(Outcome::Success(semaphore.into_permit(cx, self.count, self.site)))
    }
}

impl Attempt for Acquire {
    type Out = Permit;
    type Place = Waiter<usize>;
    const WAITS_FOR: WaitsFor = WaitsFor::Permits;

    #[inline]
    fn attempt(&mut self, cx: Option<&Cx<'_>>) -> Option<Outcome<Permit>> {
        let (count, shared) = (self.count, &*self.semaphore().0);
        if shared.permits.try_take(count) {
            return self.taken(cx);
        }
        (count > shared.total).then(|| self.too_many())
    }

    fn join(
        &mut self,
        place: &mut Waiter<usize>,
        cx: Option<&Cx<'_>>,
        seat: Seat,
    ) -> Option<Outcome<Permit>> {
        if self.count > self.semaphore().total() {
            // A side of a race that another side held is not asked before. Nothing can serve it, so it must not stand before others.
            return seat.claim().then(|| self.too_many());
        }
        let is_taken = self.semaphore().0.permits.take_or_join(self.count, place, seat);
        if is_taken { self.taken(cx) } else { None }
    }

    fn woken(&mut self, place: &mut Waiter<usize>, cx: Option<&Cx<'_>>) -> Option<Outcome<Permit>> {
        if Permits::was_served(place) { self.taken(cx) } else { self.attempt(cx) }
    }

    fn leave(&mut self, place: &mut Waiter<usize>) {
        if let Some(semaphore) = &self.semaphore {
            semaphore.0.permits.leave(place);
        }
    }

    fn subject(&self) -> &Subject {
        &self.semaphore().0.subject
    }

    fn asks(&self) -> usize {
        self.count
    }
}

/// More permits were asked for than the [`Semaphore`] has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TooManyPermits {
    /// The number of permits asked for.
    pub asked: usize,
    /// The number of permits of the semaphore.
    pub total: usize,
}

impl fmt::Display for TooManyPermits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TooManyPermits { asked, total } = self;
        let were = if *asked == 1 { "was" } else { "were" };
        write!(f, "{} {were} asked for, but the semaphore has only {total}", counted(*asked, "permit"))
    }
}

impl std::error::Error for TooManyPermits {}
