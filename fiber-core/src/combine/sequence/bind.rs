use std::panic::Location;

use super::then::Then;
use crate::engine::context::Cx;
use crate::engine::step::{Follow, Run, Step};
use crate::error::{Frame, Site};
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::panic::guard;

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Continues with the fiber that `f` makes of the value. Every outcome but a success skips `f`.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let fiber = Fiber::success(20).bind(|n| Fiber::success(n + 1)).bind(|n| Fiber::success(n * 2));
    /// assert_eq!(fiber_sched::run(fiber).unwrap(), 42);
    /// ```
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// A cancellation never intervenes between a success and `f`: the value always reaches the function that takes it.
    /// The fiber that `f` returns notices the cancellation when it starts.
    #[doc(alias("flat_map", "and_then"))]
    #[inline]
    #[track_caller]
    pub fn bind<U, S, F>(self, f: F) -> Fiber<U, Then<R, Bind<F>>>
    where
        S: Run<Out = U>,
        F: FnOnce(T) -> Fiber<U, S> + Send + 'static,
    {
        self.bind_at(Location::caller(), f)
    }

    /// For combinators built on this one, here and in fiber-test: `site` is the place where the user calls them.
    #[doc(hidden)]
    #[inline]
    pub fn bind_at<U, S, F>(self, site: Site, f: F) -> Fiber<U, Then<R, Bind<F>>>
    where
        S: Run<Out = U>,
        F: FnOnce(T) -> Fiber<U, S> + Send + 'static,
    {
        Fiber::new(Then::new(self.into_run(), Bind { f, site }))
    }
}

/// The [`Follow`] step of [`Fiber::bind`].
#[derive(Clone, Debug)]
pub struct Bind<F> {
    f: F,
    site: Site,
}

impl<T, S, F> Follow<T> for Bind<F>
where
    S: Run,
    F: FnOnce(T) -> Fiber<S::Out, S> + Send + 'static,
{
    type Out = S::Out;
    const ROOM: usize = <S as Run>::ROOM;

    #[inline]
    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, S::Out> {
        let frame = Frame::new("bind", self.site);
        match outcome.split() {
            Ok(value) => Step::run_guarded(cx, frame, || (self.f)(value)),
            Err(other) => Step::pass(other, self.f, frame, cx),
        }
    }

    #[inline]
    fn as_bind(&self, outcome: &Outcome<T>) -> Option<Frame> {
        outcome.is_success().then(|| Frame::new("bind", self.site))
    }
}

impl<'s, T: Send + 'static> Step<'s, T> {
    /// Runs the fiber that a user closure makes.
    #[inline]
    pub(crate) fn run_guarded<R: Run<Out = T>>(
        cx: &'s Cx<'_>,
        frame: Frame,
        f: impl FnOnce() -> Fiber<T, R>,
    ) -> Self {
        match guard(f) {
            Ok(fiber) => fiber.into_run().run(cx),
            Err(panic) => Step::Done(Outcome::Panicked(panic).passed(frame)),
        }
    }
}
