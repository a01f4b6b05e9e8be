use std::panic::Location;

use super::then::Then;
use crate::engine::context::Cx;
use crate::engine::step::{Follow, Run, Step};
use crate::error::{Error, Frame, IntoError, Site};
use crate::fiber::Fiber;
use crate::outcome::Outcome;

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Applies a function that may fail to the value, as `Result::and_then` does.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let port = Fiber::success("8080").try_map(str::parse::<u16>);
    /// assert_eq!(fiber_sched::run(port).unwrap(), 8080);
    /// ```
    ///
    /// # Errors
    /// The error of `f`, converted.
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome.
    #[inline]
    #[track_caller]
    pub fn try_map<U, E, F>(self, f: F) -> Fiber<U, Then<R, TryMap<F>>>
    where
        U: Send + 'static,
        E: IntoError,
        F: FnOnce(T) -> Result<U, E> + Send + 'static,
    {
        Fiber::new(Then::new(self.into_run(), TryMap { f, site: Location::caller() }))
    }

    /// Handles a failure with a function that may itself fail, as `Result::or_else` does.
    ///
    /// ```
    /// use fiber_core::{Error, Fiber};
    /// let port = Fiber::<u16>::fail("not configured").or_else(|_| Ok::<_, Error>(80));
    /// assert_eq!(fiber_sched::run(port).unwrap(), 80);
    /// ```
    ///
    /// # Errors
    /// The error of `f`, converted.
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome.
    #[inline]
    #[track_caller]
    pub fn or_else<E, F>(self, f: F) -> Fiber<T, Then<R, OrElse<F>>>
    where
        E: IntoError,
        F: FnOnce(Error) -> Result<T, E> + Send + 'static,
    {
        Fiber::new(Then::new(self.into_run(), OrElse { f, site: Location::caller() }))
    }
}

/// The [`Follow`] step of [`Fiber::try_map`].
#[derive(Clone, Debug)]
pub struct TryMap<F> {
    f: F,
    site: Site,
}

impl<T, U, E, F> Follow<T> for TryMap<F>
where
    U: Send + 'static,
    E: IntoError,
    F: FnOnce(T) -> Result<U, E> + Send + 'static,
{
    type Out = U;
    const NEVER_WAITS: bool = true;

    const IS_PLAIN: bool = true;

    #[inline]
    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, U> {
        let frame = Frame::new("try_map", self.site);
        match outcome.split() {
            Ok(value) => Step::done_guarded(frame, || Outcome::from((self.f)(value)).passed(frame)),
            Err(other) => Step::pass(other, self.f, frame, cx),
        }
    }
}

/// The [`Follow`] step of [`Fiber::or_else`].
#[derive(Clone, Debug)]
pub struct OrElse<F> {
    f: F,
    site: Site,
}

impl<T, E, F> Follow<T> for OrElse<F>
where
    T: Send + 'static,
    E: IntoError,
    F: FnOnce(Error) -> Result<T, E> + Send + 'static,
{
    type Out = T;
    const NEVER_WAITS: bool = true;

    #[inline]
    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, T> {
        let frame = Frame::new("or_else", self.site);
        match outcome {
            Outcome::Failure(error) => {
                Step::done_guarded(frame, || Outcome::from((self.f)(error)).passed(frame))
            }
            other => Step::pass(other, self.f, frame, cx),
        }
    }
}
