use std::panic::Location;

use crate::engine::context::Cx;
use crate::engine::step::{Run, Step};
use crate::error::{Frame, IntoError};
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::panic::guard;

impl<T: Send + 'static> Fiber<T> {
    /// Calls `f` when the fiber is run. `f` must not block its thread; use [`blocking`](Fiber::blocking) if it does.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// assert_eq!(fiber_sched::run(Fiber::lazy(|| 2 + 2)).unwrap(), 4);
    /// ```
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome.
    #[inline]
    #[track_caller]
    pub fn lazy<F: FnOnce() -> T + Send + 'static>(f: F) -> Fiber<T, Lazy<F>> {
        Fiber::lazy_at(Location::caller(), f)
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    #[inline]
    pub(crate) fn lazy_at<F>(site: &'static Location<'static>, f: F) -> Fiber<T, Lazy<F>>
    where
        F: FnOnce() -> T + Send + 'static,
    {
        Fiber::new(Lazy(Site { f, at: site }))
    }

    /// Calls `f`, which may fail, when the fiber is run.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// assert!(fiber_sched::run(Fiber::try_lazy(|| "x".parse::<u8>())).is_failure());
    /// ```
    ///
    /// # Errors
    /// The error of `f`, converted.
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome.
    #[inline]
    #[track_caller]
    pub fn try_lazy<E, F>(f: F) -> Fiber<T, TryLazy<F>>
    where
        E: IntoError,
        F: FnOnce() -> Result<T, E> + Send + 'static,
    {
        Fiber::new(TryLazy(Site { f, at: Location::caller() }))
    }

    /// Calls `f` when the fiber is run, and continues with the fiber that `f` makes.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// assert_eq!(fiber_sched::run(Fiber::defer(|| Fiber::success(1))).unwrap(), 1);
    /// ```
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome.
    #[doc(alias = "suspend")]
    #[inline]
    #[track_caller]
    pub fn defer<R, F>(f: F) -> Fiber<T, Defer<F>>
    where
        R: Run<Out = T>,
        F: FnOnce() -> Fiber<T, R> + Send + 'static,
    {
        Fiber::defer_at(Location::caller(), f)
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    #[inline]
    pub(crate) fn defer_at<R, F>(site: &'static Location<'static>, f: F) -> Fiber<T, Defer<F>>
    where
        R: Run<Out = T>,
        F: FnOnce() -> Fiber<T, R> + Send + 'static,
    {
        Fiber::new(Defer(Site { f, at: site }))
    }
}

/// A closure, and its place in the program.
#[derive(Clone, Debug)]
struct Site<F> {
    f: F,
    at: &'static Location<'static>,
}

impl<F> Site<F> {
    /// Calls the closure, unless the fiber was cancelled. The trace of a panic names `operator`.
    #[inline]
    fn call<T, U>(self, cx: &Cx<'_>, operator: &'static str) -> Result<T, Outcome<U>>
    where
        F: FnOnce() -> T,
    {
        if cx.is_interrupted() {
            return Err(Outcome::Cancelled.without(self.f, cx));
        }
        guard(self.f).map_err(|panic| Outcome::Panicked(panic).passed(Frame::new(operator, self.at)))
    }
}

/// The description of [`Fiber::lazy`].
#[derive(Clone, Debug)]
pub struct Lazy<F>(Site<F>);

impl<T, F> Run for Lazy<F>
where
    T: Send + 'static,
    F: FnOnce() -> T + Send + 'static,
{
    type Out = T;
    const ROOM: usize = 0;

    #[inline]
    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, T> {
        Step::Done(self.0.call(cx, "lazy").map_or_else(|other| other, Outcome::Success))
    }
}

/// The description of [`Fiber::try_lazy`].
#[derive(Clone, Debug)]
pub struct TryLazy<F>(Site<F>);

impl<T, E, F> Run for TryLazy<F>
where
    T: Send + 'static,
    E: IntoError,
    F: FnOnce() -> Result<T, E> + Send + 'static,
{
    type Out = T;
    const ROOM: usize = 0;

    #[inline]
    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, T> {
        let frame = Frame::new("try_lazy", self.0.at);
        // The conversion of the error is user code too.
        let converting = Site { f: || Outcome::from((self.0.f)()).passed(frame), at: self.0.at };
        Step::Done(converting.call(cx, frame.operator()).unwrap_or_else(|other| other))
    }
}

/// The description of [`Fiber::defer`].
#[derive(Clone, Debug)]
pub struct Defer<F>(Site<F>);

impl<T, R, F> Run for Defer<F>
where
    T: Send + 'static,
    R: Run<Out = T>,
    F: FnOnce() -> Fiber<T, R> + Send + 'static,
{
    type Out = T;
    const ROOM: usize = R::ROOM;

    #[inline]
    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, T> {
        match self.0.call(cx, "defer") {
            Ok(fiber) => fiber.into_run().run(cx),
            Err(other) => Step::Done(other),
        }
    }
}
