use std::panic::Location;

use crate::engine::context::Cx;
use crate::engine::step::{Run, Step};
use crate::error::{Frame, IntoError};
use crate::fiber::{Fiber, IntoFiber};
use crate::outcome::Outcome;

impl<T: Send + 'static> Fiber<T> {
    /// Succeeds with `value`.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// assert_eq!(fiber_sched::run(Fiber::success(1)).unwrap(), 1);
    /// ```
    #[doc(alias("ready", "pure", "succeed"))]
    #[inline]
    pub fn success(value: T) -> Fiber<T, Success<T>> {
        Fiber::new(Success(value))
    }

    /// Fails with `error`: a standard error, a message, a box of an error, or any other [`IntoError`].
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let outcome = fiber_sched::run(Fiber::<()>::fail("no such order"));
    /// assert_eq!(outcome.failure().unwrap().to_string(), "no such order");
    ///
    /// let outcome = fiber_sched::run(Fiber::<()>::fail(std::fmt::Error));
    /// assert!(outcome.failure().unwrap().is::<std::fmt::Error>());
    /// ```
    #[track_caller]
    pub fn fail(error: impl IntoError) -> Fiber<T, FromOutcome<T>> {
        let frame = Frame::new("fail", Location::caller());
        Fiber::from_outcome(Outcome::Failure(error.into_error()).passed(frame))
    }

    /// Succeeds or fails with `result`.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// assert_eq!(fiber_sched::run(Fiber::from_result("12".parse::<u8>())).unwrap(), 12);
    /// ```
    #[inline]
    #[track_caller]
    pub fn from_result<E: IntoError>(result: Result<T, E>) -> Fiber<T, FromOutcome<T>> {
        let frame = Frame::new("from_result", Location::caller());
        Fiber::from_outcome(Outcome::from(result).passed(frame))
    }

    /// Ends with `outcome`.
    ///
    /// ```
    /// use fiber_core::{Fiber, Outcome};
    /// assert_eq!(fiber_sched::run(Fiber::from_outcome(Outcome::Success(1))).unwrap(), 1);
    /// ```
    #[inline]
    pub fn from_outcome(outcome: Outcome<T>) -> Fiber<T, FromOutcome<T>> {
        Fiber::new(FromOutcome(outcome))
    }
}

/// The description of [`Fiber::success`].
#[derive(Clone, Debug)]
pub struct Success<T>(T);

impl<T: Send + 'static> Run for Success<T> {
    type Out = T;
    const ROOM: usize = 0;

    #[inline]
    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, T> {
        if cx.is_interrupted() { cx.refuse(self) } else { Step::Done(Outcome::Success(self.0)) }
    }
}

/// The description of [`Fiber::fail`], [`Fiber::from_result`] and [`Fiber::from_outcome`].
#[derive(Debug)]
pub struct FromOutcome<T>(Outcome<T>);

impl<T: Send + 'static> Run for FromOutcome<T> {
    type Out = T;
    const ROOM: usize = 0;

    /// A cancellation does not replace a failure, because a handler may have passed the failure on.
    #[inline]
    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, T> {
        match self.0 {
            Outcome::Success(value) if cx.is_interrupted() => {
                Step::Done(Outcome::Cancelled.without(value, cx))
            }
            outcome => Step::Done(outcome),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T: Send + 'static, E: IntoError> IntoFiber for Result<T, E> {
    type Out = T;
    type Run = FromOutcome<T>;

    #[inline]
    fn into_fiber(self) -> Fiber<T, FromOutcome<T>> {
        Fiber::from_result(self)
    }
}
