//! The traits by which a description runs, waits and continues.
//!
//! A plain call runs a description ([`Run`]). If it can end now, it returns [`Step::Done`]. If it has to wait, it
//! returns [`Step::Suspend`] with a [`Suspension`], which every combinator around it wraps on the way out. Finally,
//! `attach` hands the whole rest of the program, as one [`Callback`], to the leaf that waits. Only waiting allocates,
//! and a wake-up continues directly at the leaf, however deeply it is nested.

use std::sync::Arc;

use crate::engine::boxed::{Boxed, BoxedCallback};
use crate::engine::context::{Context, Cx, WaitsFor, Wakeup};
use crate::engine::subject::Subject;
use crate::outcome::{Outcome, Panic, discard_part};

/// A lazy description of work. A [`Fiber`](crate::Fiber) wraps one.
///
/// Implemented by the library's leaves and combinators. For a leaf of your own, implement [`Wait`](crate::Wait).
pub trait Run: Send + 'static + Sized {
    /// The value of a success.
    type Out: Send + 'static;
    /// The rest of the description when it has to wait.
    type Suspension: Suspension<Out = Self::Out>;

    /// Runs until it ends or has to wait. Never unwinds.
    fn run(self, cx: &Cx<'_>) -> Step<Self::Out, Self::Suspension>;

    /// Like `run`, for a caller that continues with an erased fiber in tail position itself
    /// ([`Suspension::into_tail`]). This lets a recursive loop run in constant stack space.
    #[inline]
    fn run_tail(self, cx: &Cx<'_>) -> Step<Self::Out, Self::Suspension> {
        self.run(cx)
    }

    /// Drops the description without running it. A description with several parts drops one after the other, and adds
    /// their panics to `torn`: two panics in one drop would abort the process.
    #[inline]
    fn discard(self, torn: &mut Vec<Panic>) {
        discard_part(self, torn);
    }

    /// Ends the description in a fiber that was cancelled before this could start: drops it, unless its outcome has already
    /// been sent to it.
    #[doc(hidden)]
    fn end_unstarted(self, cx: &Cx<'_>) -> Outcome<Self::Out> {
        Outcome::Cancelled.without_run(self, cx)
    }

    /// Erases the type. An erased description is returned as it is.
    #[inline]
    fn boxed(self) -> Boxed<Self::Out> {
        Boxed::new(self)
    }

    /// The name for a fiber that starts with this.
    fn name(&self) -> Option<Arc<str>> {
        None
    }

    /// Whether this is a single wait, optionally followed by plain closures, that a fiber can combine with another wait. The
    /// four methods below are called only if it is.
    #[doc(hidden)]
    const IS_WAIT: bool = false;

    /// The outcome, if the event has happened.
    ///
    /// # Errors
    /// Returns the description if the event has not happened.
    #[doc(hidden)]
    fn poll_wait(self, cx: &Cx<'_>) -> Result<Outcome<Self::Out>, Self> {
        let _ = cx;
        Err(self)
    }

    /// Leaves `wakeup` with the event, or gives the outcome if it has happened meanwhile.
    ///
    /// # Errors
    /// Returns the description if the event has not happened.
    #[doc(hidden)]
    fn register_wait(self, cx: &Cx<'_>, wakeup: Wakeup) -> Result<Outcome<Self::Out>, Self> {
        let _ = (cx, wakeup);
        Err(self)
    }

    /// Removes the wake-up, and passes on a value that was already given to it.
    #[doc(hidden)]
    fn deregister_wait(&mut self, cx: &Cx<'_>) {
        let _ = cx;
    }

    /// The kind of event, and the primitive, for reports.
    #[doc(hidden)]
    fn awaited(&self) -> Option<(WaitsFor, Option<&Subject>)> {
        None
    }
}

/// The result of running a description: an outcome, or a rest that has to wait.
#[derive(Debug)]
pub enum Step<T, S> {
    /// The description has ended.
    Done(Outcome<T>),
    /// The description has to wait: attach a callback to this rest.
    Suspend(S),
}

impl<T: Send + 'static, S: Suspension<Out = T>> Step<T, S> {
    /// Resumes `callback` with the outcome, now or when there is one.
    #[inline]
    pub(crate) fn resume<C: Callback<T>>(self, cx: &Cx<'_>, callback: C) {
        match self {
            Step::Done(outcome) => callback.resume(cx, outcome),
            Step::Suspend(suspension) => suspension.attach(cx, callback),
        }
    }
}

/// The rest of a description that has to wait.
pub trait Suspension: Send + 'static + Sized {
    /// The value of a success.
    type Out: Send + 'static;

    /// Starts to wait. `callback` is resumed exactly once, possibly before `attach` returns.
    fn attach<C: Callback<Self::Out>>(self, cx: &Cx<'_>, callback: C);

    /// Collects the contexts below the fiber's context in which this waits, so that they can be cancelled without the
    /// fiber itself.
    fn parts(&self, found: &mut Vec<Context>) {
        let _ = found;
    }

    /// The erased fiber, if this suspension is only the start of one.
    ///
    /// # Errors
    /// Returns the suspension if it waits for anything else.
    #[inline]
    fn into_tail(self) -> Result<Boxed<Self::Out>, Self> {
        Err(self)
    }
}

/// The rest of the program after an outcome.
pub trait Callback<T>: Send + 'static + Sized {
    /// Continues the program. `cx` belongs to the fiber of the callback. Never unwinds.
    fn resume(self, cx: &Cx<'_>, outcome: Outcome<T>);

    /// Erases the type. An erased callback is returned as it is, so that tail calls do not pile up callbacks.
    #[inline]
    fn boxed(self) -> BoxedCallback<T>
    where
        T: Send + 'static,
    {
        BoxedCallback::new(self)
    }
}

/// A closure with these arguments is a callback.
impl<T, F: FnOnce(&Cx<'_>, Outcome<T>) + Send + 'static> Callback<T> for F {
    fn resume(self, cx: &Cx<'_>, outcome: Outcome<T>) {
        self(cx, outcome);
    }
}

/// The suspension of a description that never waits.
#[derive(Debug)]
pub struct Ready<T>(std::convert::Infallible, std::marker::PhantomData<fn() -> T>);

impl<T: Send + 'static> Suspension for Ready<T> {
    type Out = T;

    fn attach<C: Callback<T>>(self, _: &Cx<'_>, _: C) {
        match self.0 {}
    }
}
