use std::panic::Location;

use super::then::Then;
use crate::engine::context::Cx;
use crate::engine::step::{Follow, Run, Step};
use crate::error::{Frame, Site};
use crate::fiber::Fiber;
use crate::outcome::Outcome;

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
    /// use fiber_core::{Fiber, Outcome};
    /// let fiber = Fiber::<u32>::fail("no").map_outcome(|outcome| Outcome::Success(outcome.is_failure()));
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

    /// For combinators built on this one, here and in fiber-test: `site` is the place where the user calls them.
    #[doc(hidden)]
    #[inline]
    pub fn map_outcome_at<U, F>(self, site: Site, f: F) -> Fiber<U, Then<R, MapOutcome<F>>>
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
    const NEVER_WAITS: bool = true;

    const IS_PLAIN: bool = true;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, U> {
        let frame = Frame::new("map", self.site);
        match outcome.split() {
            Ok(value) => Step::done_guarded(frame, || Outcome::Success((self.f)(value))),
            Err(other) => Step::pass(other, self.f, frame, cx),
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
    const NEVER_WAITS: bool = true;

    #[inline]
    fn follow<'s>(self, _: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, U> {
        let frame = Frame::new("map_outcome", self.site);
        Step::done_guarded(frame, || (self.f)(outcome.passed(frame)))
    }
}

/// Applies a function of the library to the value. It does not panic, and leaves no frame in the trace of an error.
pub(crate) struct Mapped<T, U>(pub(crate) fn(T) -> U);

impl<T: Send + 'static, U: Send + 'static> Follow<T> for Mapped<T, U> {
    type Out = U;
    const NEVER_WAITS: bool = true;

    #[inline]
    fn follow<'s>(self, _: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, U> {
        Step::Done(outcome.map(self.0))
    }
}
