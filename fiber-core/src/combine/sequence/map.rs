use std::panic::Location;

use super::then::{Follow, Next, Then};
use crate::engine::context::Cx;
use crate::engine::step::Run;
use crate::error::{Frame, Site};
use crate::fiber::Fiber;
use crate::leaf::FromOutcome;
use crate::outcome::{Outcome, guard};

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Applies `f` to the value.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// assert_eq!(fiber_sched::run(Fiber::success("4").map(str::len)).unwrap(), 1);
    /// ```
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome.
    #[inline]
    #[track_caller]
    pub fn map<U, F>(self, f: F) -> Fiber<U, Then<R, Map<F>>>
    where
        U: Send + 'static,
        F: FnOnce(T) -> U + Send + 'static,
    {
        self.map_at(Location::caller(), f)
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    #[inline]
    pub(crate) fn map_at<U, F>(self, site: Site, f: F) -> Fiber<U, Then<R, Map<F>>>
    where
        U: Send + 'static,
        F: FnOnce(T) -> U + Send + 'static,
    {
        Fiber::new(Then::new(self.into_run(), Map { f, site }))
    }

    /// Applies `f` to the outcome, whatever it is.
    ///
    /// ```
    /// use fiber_core::{Error, Fiber, Outcome};
    /// let fiber = Fiber::<u32>::fail(Error::msg("no")).map_outcome(|outcome| Outcome::Success(outcome.is_failure()));
    /// assert!(fiber_sched::run(fiber).unwrap());
    /// ```
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// `f` sees `Cancelled`, and may return another outcome. The fiber still stays cancelled: the next operation
    /// ends as soon as it starts.
    #[inline]
    #[track_caller]
    pub fn map_outcome<U, F>(self, f: F) -> Fiber<U, Then<R, MapOutcome<F>>>
    where
        U: Send + 'static,
        F: FnOnce(Outcome<T>) -> Outcome<U> + Send + 'static,
    {
        self.map_outcome_at(Location::caller(), f)
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    #[inline]
    pub(crate) fn map_outcome_at<U, F>(self, site: Site, f: F) -> Fiber<U, Then<R, MapOutcome<F>>>
    where
        U: Send + 'static,
        F: FnOnce(Outcome<T>) -> Outcome<U> + Send + 'static,
    {
        Fiber::new(Then::new(self.into_run(), MapOutcome { f, site }))
    }
}

/// The [`Follow`] step of [`Fiber::map`].
#[derive(Clone, Debug)]
pub struct Map<F> {
    f: F,
    site: Site,
}

impl<T, U, F> Follow<T> for Map<F>
where
    U: Send + 'static,
    F: FnOnce(T) -> U + Send + 'static,
{
    type Out = U;
    type Run = FromOutcome<U>;

    const IS_PLAIN: bool = true;

    #[inline]
    fn follow(self, cx: &Cx<'_>, outcome: Outcome<T>) -> Next<U, FromOutcome<U>> {
        let frame = Frame::new("map", self.site);
        match outcome.split() {
            Ok(value) => Next::done_guarded(frame, || Outcome::Success((self.f)(value))),
            Err(other) => Next::pass(other, self.f, frame, cx),
        }
    }
}

/// The [`Follow`] step of [`Fiber::map_outcome`].
#[derive(Clone, Debug)]
pub struct MapOutcome<F> {
    f: F,
    site: Site,
}

impl<T, U, F> Follow<T> for MapOutcome<F>
where
    U: Send + 'static,
    F: FnOnce(Outcome<T>) -> Outcome<U> + Send + 'static,
{
    type Out = U;
    type Run = FromOutcome<U>;

    #[inline]
    fn follow(self, _: &Cx<'_>, outcome: Outcome<T>) -> Next<U, FromOutcome<U>> {
        let frame = Frame::new("map_outcome", self.site);
        Next::done_guarded(frame, || (self.f)(outcome.passed(frame)))
    }
}

impl<T, R> Next<T, R> {
    /// Ends with the outcome that a user closure makes.
    #[inline]
    pub(crate) fn done_guarded(frame: Frame, f: impl FnOnce() -> Outcome<T>) -> Self {
        Next::Done(guard(f).unwrap_or_else(|panic| Outcome::Panicked(panic).passed(frame)))
    }
}
