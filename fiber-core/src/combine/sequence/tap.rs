use std::panic::Location;

use super::then::{Follow, Next, Then};
use crate::engine::context::Cx;
use crate::engine::step::Run;
use crate::error::{Frame, Site};
use crate::fiber::Fiber;
use crate::leaf::FromOutcome;
use crate::outcome::{Outcome, guard};

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
    type Run = Then<S, Keep<T>>;

    #[inline]
    fn follow(self, cx: &Cx<'_>, outcome: Outcome<T>) -> Next<T, Self::Run> {
        let frame = Frame::new("tap", self.site);
        match outcome.split() {
            Ok(value) => match guard(|| (self.f)(&value)) {
                Ok(fiber) => Next::Run(Then::new(fiber.into_run(), Keep { value, frame })),
                Err(panic) => Next::pass(Outcome::Panicked(panic), value, frame, cx),
            },
            Err(other) => Next::pass(other, self.f, frame, cx),
        }
    }

    #[inline]
    fn as_bind(&self, outcome: &Outcome<T>) -> Option<Frame> {
        outcome.is_success().then(|| Frame::new("tap", self.site))
    }
}

/// Keeps the value while the fiber of `f` runs.
#[derive(Debug)]
pub struct Keep<T> {
    value: T,
    frame: Frame,
}

impl<T: Send + 'static, U: Send + 'static> Follow<U> for Keep<T> {
    type Out = T;
    type Run = FromOutcome<T>;

    #[inline]
    fn follow(self, cx: &Cx<'_>, outcome: Outcome<U>) -> Next<T, FromOutcome<T>> {
        match outcome.split() {
            Ok(seen) => Next::pass(Outcome::Success(self.value), seen, self.frame, cx),
            Err(other) => Next::pass(other, self.value, self.frame, cx),
        }
    }
}
