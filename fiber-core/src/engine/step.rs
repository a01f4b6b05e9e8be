//! The engine's four traits: how a description runs, waits and goes on.
//!
//! A description ([`Run`]) is run by a plain call. What can end now returns [`Step::Done`]. What has to wait returns
//! [`Step::Suspend`] with a [`Suspension`]; every combinator around it wraps that on the way out, and in the end
//! `attach` hands the whole rest of the program, as one [`Callback`], to the leaf that waits. So only waiting
//! allocates, and a wake-up goes on at the leaf, however deep it lies.

use std::sync::Arc;

use crate::engine::boxed::{Boxed, BoxedCallback};
use crate::engine::context::{Context, Cx};
use crate::outcome::{Outcome, Panic, discard_part};

/// A lazy description of work. A [`Fiber`](crate::Fiber) wraps one.
///
/// Implemented by the library's leaves and combinators. For a leaf of your own, implement [`Wait`](crate::Wait).
pub trait Run: Send + 'static + Sized {
    /// The value of a success.
    type Out: Send + 'static;
    /// What is left when it has to wait.
    type Suspension: Suspension<Out = Self::Out>;

    /// Runs until it ends or has to wait. Never unwinds.
    fn run(self, cx: &Cx<'_>) -> Step<Self::Out, Self::Suspension>;

    /// Like `run`, for a caller that goes on with an erased fiber in tail position itself
    /// ([`Suspension::into_tail`]), so that a loop by recursion needs no stack.
    #[inline]
    fn run_tail(self, cx: &Cx<'_>) -> Step<Self::Out, Self::Suspension> {
        self.run(cx)
    }

    /// Drops it without having run it. What has several parts drops one after the other, and adds their panics to `torn`: two
    /// panics in one drop would abort the process.
    #[inline]
    fn discard(self, torn: &mut Vec<Panic>) {
        discard_part(self, torn);
    }

    /// Erases the type. An erased one is returned as it is.
    #[inline]
    fn boxed(self) -> Boxed<Self::Out> {
        Boxed::new(self)
    }

    /// The name for a fiber that starts with this.
    fn name(&self) -> Option<Arc<str>> {
        None
    }
}

/// What came of running: an outcome, or a rest that has to wait.
#[derive(Debug)]
pub enum Step<T, S> {
    /// It has ended.
    Done(Outcome<T>),
    /// It has to wait: attach what is to happen afterwards.
    Suspend(S),
}

/// The rest of a description that has to wait.
pub trait Suspension: Send + 'static + Sized {
    /// The value of a success.
    type Out: Send + 'static;

    /// Starts to wait. `callback` is resumed exactly once, possibly before `attach` returns.
    fn attach<C: Callback<Self::Out>>(self, cx: &Cx<'_>, callback: C);

    /// Collects the contexts below that of the fiber in which this waits, so that it can be cancelled apart from the fiber.
    fn parts(&self, found: &mut Vec<Context>) {
        let _ = found;
    }

    /// The erased fiber that this is nothing but the start of.
    ///
    /// # Errors
    /// Gives the suspension back when it waits for something else.
    #[inline]
    fn into_tail(self) -> Result<Boxed<Self::Out>, Self> {
        Err(self)
    }
}

/// What happens after an outcome: the rest of the program.
pub trait Callback<T>: Send + 'static + Sized {
    /// Goes on. `cx` is that of the fiber that the callback belongs to. Never unwinds.
    fn resume(self, cx: &Cx<'_>, outcome: Outcome<T>);

    /// Erases the type. An erased one is returned as it is, so that tail calls do not pile up callbacks.
    #[inline]
    fn boxed(self) -> BoxedCallback<T>
    where
        T: Send + 'static,
    {
        BoxedCallback::new(self)
    }
}

/// The suspension of what never waits.
#[derive(Debug)]
pub struct Ready<T>(std::convert::Infallible, std::marker::PhantomData<fn() -> T>);

impl<T: Send + 'static> Suspension for Ready<T> {
    type Out = T;

    fn attach<C: Callback<T>>(self, _: &Cx<'_>, _: C) {
        match self.0 {}
    }
}
