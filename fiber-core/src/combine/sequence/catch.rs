use std::panic::Location;

use super::then::Then;
use crate::engine::context::Cx;
use crate::engine::step::{Follow, Run, Step};
use crate::error::{Error, Frame, Site};
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::panic::Panic;

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Handles a failure with another fiber. A success, a panic and a cancellation skip `f`.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let fiber = Fiber::fail("offline").catch(|error| Fiber::success(format!("cached, as we are {error}")));
    /// assert_eq!(fiber_sched::run(fiber).unwrap(), "cached, as we are offline");
    /// ```
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome.
    #[doc(alias("map_err", "recover", "catch_all"))]
    #[inline]
    #[track_caller]
    pub fn catch<S, F>(self, f: F) -> Fiber<T, Then<R, Catch<F>>>
    where
        S: Run<Out = T>,
        F: FnOnce(Error) -> Fiber<T, S> + Send + 'static,
    {
        self.catch_at(Location::caller(), f)
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    #[inline]
    pub(crate) fn catch_at<S, F>(self, site: Site, f: F) -> Fiber<T, Then<R, Catch<F>>>
    where
        S: Run<Out = T>,
        F: FnOnce(Error) -> Fiber<T, S> + Send + 'static,
    {
        Fiber::new(Then::new(self.into_run(), Catch { f, site }))
    }

    /// Handles a panic with another fiber. Use it where a defect in one part must not end the whole program, such as at
    /// the boundary of a request.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// # std::panic::set_hook(Box::new(|_| {}));
    /// let fiber = Fiber::lazy(|| -> usize { panic!("bug") }).catch_panic(|panic| Fiber::success(panic.message().len()));
    /// assert_eq!(fiber_sched::run(fiber).unwrap(), 3);
    /// ```
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome.
    #[inline]
    #[track_caller]
    pub fn catch_panic<S, F>(self, f: F) -> Fiber<T, Then<R, CatchPanic<F>>>
    where
        S: Run<Out = T>,
        F: FnOnce(Panic) -> Fiber<T, S> + Send + 'static,
    {
        Fiber::new(Then::new(self.into_run(), CatchPanic { f, site: Location::caller() }))
    }
}

/// The [`Follow`] step of [`Fiber::catch`].
#[derive(Clone, Debug)]
pub struct Catch<F> {
    f: F,
    site: Site,
}

impl<T, S, F> Follow<T> for Catch<F>
where
    T: Send + 'static,
    S: Run<Out = T>,
    F: FnOnce(Error) -> Fiber<T, S> + Send + 'static,
{
    type Out = T;
    const ROOM: usize = <S as Run>::ROOM;

    #[inline]
    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, T> {
        let frame = Frame::new("catch", self.site);
        match outcome {
            Outcome::Failure(error) => Step::run_guarded(cx, frame, || (self.f)(error)),
            other => Step::pass(other, self.f, frame, cx),
        }
    }

    #[inline]
    fn as_bind(&self, outcome: &Outcome<T>) -> Option<Frame> {
        outcome.is_failure().then(|| Frame::new("catch", self.site))
    }
}

/// The [`Follow`] step of [`Fiber::catch_panic`].
#[derive(Clone, Debug)]
pub struct CatchPanic<F> {
    f: F,
    site: Site,
}

impl<T, S, F> Follow<T> for CatchPanic<F>
where
    T: Send + 'static,
    S: Run<Out = T>,
    F: FnOnce(Panic) -> Fiber<T, S> + Send + 'static,
{
    type Out = T;
    const ROOM: usize = <S as Run>::ROOM;

    #[inline]
    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, T> {
        let frame = Frame::new("catch_panic", self.site);
        match outcome {
            Outcome::Panicked(panic) => Step::run_guarded(cx, frame, || (self.f)(panic)),
            other => Step::pass(other, self.f, frame, cx),
        }
    }

    #[inline]
    fn as_bind(&self, outcome: &Outcome<T>) -> Option<Frame> {
        outcome.is_panicked().then(|| Frame::new("catch_panic", self.site))
    }
}
