use std::panic::Location;

use super::then::Then;
use crate::engine::context::Cx;
use crate::engine::step::{Follow, Run, Step};
use crate::error::{Frame, Site};
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::panic::guard;

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Runs the fiber that `f` makes of a reference to the value, then continues with the value.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let fiber = Fiber::success(7).tap(|n| { let n = *n; Fiber::lazy(move || println!("got {n}")) });
    /// assert_eq!(fiber_sched::run(fiber).unwrap(), 7);
    /// ```
    ///
    /// # Errors
    /// A failure of the fiber that `f` makes becomes the outcome.
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// If the fiber is cancelled while the fiber of `f` runs, the value is dropped.
    #[doc(alias = "inspect")]
    #[inline]
    #[track_caller]
    pub fn tap<U, S, F>(self, f: F) -> Fiber<T, Then<R, Tap<F>>>
    where
        S: Run<Out = U>,
        F: FnOnce(&T) -> Fiber<U, S> + Send + 'static,
    {
        Fiber::new(Then::new(self.into_run(), Tap { f, site: Location::caller() }))
    }
}

/// The [`Follow`] step of [`Fiber::tap`].
#[derive(Clone, Debug)]
pub struct Tap<F> {
    f: F,
    site: Site,
}

impl<T, S, F> Follow<T> for Tap<F>
where
    T: Send + 'static,
    S: Run,
    F: FnOnce(&T) -> Fiber<S::Out, S> + Send + 'static,
{
    type Out = T;
    const ROOM: usize = <Then<S, Keep<T>> as Run>::ROOM;

    #[inline]
    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, T> {
        let frame = Frame::new("tap", self.site);
        match outcome.split() {
            Ok(value) => match guard(|| (self.f)(&value)) {
                Ok(fiber) => Then::new(fiber.into_run(), Keep { value, frame }).run(cx),
                Err(panic) => Step::pass(Outcome::Panicked(panic), value, frame, cx),
            },
            Err(other) => Step::pass(other, self.f, frame, cx),
        }
    }

    #[inline]
    fn as_bind(&self, outcome: &Outcome<T>) -> Option<Frame> {
        outcome.is_success().then(|| Frame::new("tap", self.site))
    }
}

/// Keeps the value while the fiber of `f` runs.
#[derive(Debug)]
pub(crate) struct Keep<T> {
    value: T,
    frame: Frame,
}

impl<T: Send + 'static, U: Send + 'static> Follow<U> for Keep<T> {
    type Out = T;
    const NEVER_WAITS: bool = true;

    #[inline]
    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<U>) -> Step<'s, T> {
        match outcome.split() {
            Ok(seen) => Step::pass(Outcome::Success(self.value), seen, self.frame, cx),
            Err(other) => Step::pass(other, self.value, self.frame, cx),
        }
    }
}
