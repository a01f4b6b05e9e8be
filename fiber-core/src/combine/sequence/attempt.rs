use std::error::Error as StdError;
use std::fmt::Display;
use std::marker::PhantomData;
use std::panic::Location;

use super::then::Then;
use crate::engine::context::Cx;
use crate::engine::step::{Follow, Run, Step};
use crate::error::{Error, Frame, Site};
use crate::fiber::Fiber;
use crate::outcome::Outcome;

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Gives a failure as a value. Panics and cancellations pass unchanged.
    ///
    /// ```
    /// use fiber_core::{Fiber, fiber};
    ///
    /// let fiber = fiber! {
    ///     let! answer = Fiber::<u32>::fail("offline").attempt();
    ///     match answer {
    ///         Ok(number) => format!("answer {number}"),
    ///         Err(error) => format!("sorry, we are {error}"),
    ///     }
    /// };
    /// assert_eq!(fiber_sched::run(fiber).unwrap(), "sorry, we are offline");
    /// ```
    #[doc(alias = "either")]
    #[inline]
    #[track_caller]
    pub fn attempt(self) -> Fiber<Result<T, Error>, Then<R, Attempt>> {
        Fiber::new(Then::new(self.into_run(), Attempt { site: Location::caller() }))
    }

    /// Handles a failure whose source is an `E` with another fiber. Every other outcome passes unchanged.
    ///
    /// The handler receives only the source. To see the context and the trace too, or to handle an error that several
    /// fibers share, which passes because no fiber can have it by value, use [`catch`](Fiber::catch) with
    /// [`Error::downcast_ref`].
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use std::num::ParseIntError;
    ///
    /// let port = |text: &'static str| Fiber::try_lazy(move || text.parse::<u16>());
    /// let or_default = port("http").catch_err(|_: ParseIntError| Fiber::success(80));
    /// assert_eq!(fiber_sched::run(or_default).unwrap(), 80);
    ///
    /// let other_error = port("http").catch_err(|_: std::io::Error| Fiber::success(80));
    /// assert!(fiber_sched::run(other_error).failure().unwrap().is::<ParseIntError>());
    /// ```
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome.
    #[inline]
    #[track_caller]
    pub fn catch_err<E, S, F>(self, f: F) -> Fiber<T, Then<R, CatchErr<E, F>>>
    where
        E: StdError + Send + Sync + 'static,
        S: Run<Out = T>,
        F: FnOnce(E) -> Fiber<T, S> + Send + 'static,
    {
        let next = CatchErr { f, site: Location::caller(), source: PhantomData };
        Fiber::new(Then::new(self.into_run(), next))
    }

    /// Adds context to a failure: a description of what the program was doing, see [`Error::context`]. It is formatted
    /// on a failure only.
    ///
    /// ```
    /// use fiber_core::Fiber;
    ///
    /// let port = Fiber::try_lazy(|| "http".parse::<u16>()).context("reading the port");
    /// let error = fiber_sched::run(port).failure().unwrap();
    /// assert_eq!(error.to_string(), "reading the port: invalid digit found in string");
    /// ```
    ///
    /// # Panics
    /// A panic of the formatting becomes the fiber's outcome.
    #[inline]
    #[track_caller]
    pub fn context<C>(self, context: C) -> Fiber<T, Then<R, WithContext<C>>>
    where
        C: Display + Send + 'static,
    {
        Fiber::new(Then::new(self.into_run(), WithContext { context, site: Location::caller() }))
    }
}

/// The [`Follow`] step of [`Fiber::attempt`].
#[derive(Clone, Debug)]
pub struct Attempt {
    site: Site,
}

impl<T: Send + 'static> Follow<T> for Attempt {
    type Out = Result<T, Error>;
    const NEVER_WAITS: bool = true;

    #[inline]
    fn follow<'s>(self, _: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, Self::Out> {
        let frame = Frame::new("attempt", self.site);
        Step::Done(match outcome {
            Outcome::Success(value) => Outcome::Success(Ok(value)),
            Outcome::Failure(error) => Outcome::Success(Err(error.passed(frame))),
            Outcome::Panicked(panic) => Outcome::Panicked(panic).passed(frame),
            Outcome::Cancelled => Outcome::Cancelled,
        })
    }
}

/// The [`Follow`] step of [`Fiber::catch_err`].
#[derive(Debug)]
pub struct CatchErr<E, F> {
    f: F,
    site: Site,
    source: PhantomData<fn(E)>,
}

impl<E, F: Clone> Clone for CatchErr<E, F> {
    fn clone(&self) -> Self {
        CatchErr { f: self.f.clone(), site: self.site, source: PhantomData }
    }
}

impl<T, E, S, F> Follow<T> for CatchErr<E, F>
where
    T: Send + 'static,
    E: StdError + Send + Sync + 'static,
    S: Run<Out = T>,
    F: FnOnce(E) -> Fiber<T, S> + Send + 'static,
{
    type Out = T;
    const ROOM: usize = <S as Run>::ROOM;

    #[inline]
    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, T> {
        let frame = Frame::new("catch_err", self.site);
        let outcome = match outcome {
            Outcome::Failure(error) => match error.downcast::<E>() {
                Ok(source) => return Step::run_guarded(cx, frame, || (self.f)(source)),
                Err(error) => Outcome::Failure(error),
            },
            other => other,
        };
        Step::pass(outcome, self.f, frame, cx)
    }

    #[inline]
    fn as_bind(&self, outcome: &Outcome<T>) -> Option<Frame> {
        let is_caught = matches!(outcome, Outcome::Failure(error) if error.owns::<E>());
        is_caught.then(|| Frame::new("catch_err", self.site))
    }
}

/// The [`Follow`] step of [`Fiber::context`].
#[derive(Clone, Debug)]
pub struct WithContext<C> {
    context: C,
    site: Site,
}

impl<T: Send + 'static, C: Display + Send + 'static> Follow<T> for WithContext<C> {
    type Out = T;
    const NEVER_WAITS: bool = true;

    #[inline]
    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, T> {
        let frame = Frame::new("context", self.site);
        match outcome {
            Outcome::Failure(error) => {
                Step::done_guarded(frame, || Outcome::Failure(error.context(self.context).passed(frame)))
            }
            other => Step::pass(other, self.context, frame, cx),
        }
    }
}
