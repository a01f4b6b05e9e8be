//! Erasure: [`Boxed`] hides the type of a description behind one allocation.

use std::any::Any;
use std::fmt;
use std::mem;
use std::sync::Arc;

use crate::drop_queue::drop_nested;
use crate::engine::context::Cx;
use crate::engine::side::{HiddenSide, Side, Single};
use crate::engine::step::{Follow, Run, Step};
use crate::outcome::Outcome;
use crate::panic::Panic;

/// A description with its type hidden: the `R` of a plain `Fiber<T>`.
pub struct Boxed<T> {
    /// `None` only while it is run or dropped.
    fiber: Option<Box<dyn Erased<T>>>,
}

pub(crate) trait Erased<T>: Any + Send {
    fn run_boxed<'s>(self: Box<Self>, cx: &'s Cx<'_>) -> Step<'s, T>;
    /// As [`Run::end_unstarted`].
    fn end_unstarted(self: Box<Self>, cx: &Cx<'_>) -> Outcome<T> {
        Outcome::Cancelled.without(self, cx)
    }
    fn name(&self) -> Option<Arc<str>> {
        None
    }
    /// As [`Run::is_program`].
    fn is_program(&self) -> bool {
        false
    }
    /// As [`Run::single`].
    fn single(&self) -> Single {
        Single::NO
    }
    /// As [`Run::into_side`].
    fn into_side(self: Box<Self>) -> HiddenSide<T> {
        unreachable!("a description that is no wait is no side")
    }
}

/// A description until it runs. If it is dropped before that, its parts are dropped one by one.
struct Unrun<R: Run>(Option<R>);

impl<R: Run> Drop for Unrun<R> {
    #[inline]
    fn drop(&mut self) {
        if const { mem::needs_drop::<R>() }
            && let Some(run) = self.0.take()
        {
            let mut torn = Vec::new();
            run.discard(&mut torn);
            Panic::rethrow(torn);
        }
    }
}

impl<R: Run> Unrun<R> {
    /// A constant, so that the compiler looks into the sides of waits only.
    const INTO_SIDE: Option<fn(R) -> HiddenSide<R::Out>> = if matches!(R::SINGLE, Some(Single::NO)) {
        None
    } else {
        Some(|run| HiddenSide::new(run.into_side()))
    };
}

impl<R: Run> Erased<R::Out> for Unrun<R> {
    fn run_boxed<'s>(mut self: Box<Self>, cx: &'s Cx<'_>) -> Step<'s, R::Out> {
        let run = self.0.take().expect("a fiber is started once");
        drop(self);
        run.run(cx)
    }

    fn end_unstarted(mut self: Box<Self>, cx: &Cx<'_>) -> Outcome<R::Out> {
        self.0.take().expect("a fiber is started once").end_unstarted(cx)
    }

    fn name(&self) -> Option<Arc<str>> {
        self.0.as_ref()?.name()
    }

    fn is_program(&self) -> bool {
        self.0.as_ref().is_some_and(R::is_program)
    }

    fn single(&self) -> Single {
        self.0.as_ref().map_or(Single::NO, R::single)
    }

    fn into_side(mut self: Box<Self>) -> HiddenSide<R::Out> {
        let run = self.0.take().expect("a fiber is started once");
        Self::INTO_SIDE.expect("a description that is no wait is no side")(run)
    }
}

impl<T: Send + 'static> Boxed<T> {
    #[inline]
    pub(crate) fn new<R: Run<Out = T>>(run: R) -> Self {
        Boxed::erased(Box::new(Unrun(Some(run))))
    }

    /// Wraps an existing box.
    #[inline]
    pub(crate) fn erased(fiber: Box<dyn Erased<T>>) -> Self {
        Boxed { fiber: Some(fiber) }
    }

    /// Runs the fiber, at any depth of the stack.
    fn run_here<'s>(mut self, cx: &'s Cx<'_>) -> Step<'s, T> {
        self.fiber.take().expect("a fiber is run once").run_boxed(cx)
    }

    /// Runs the fiber in a turn of its own.
    pub(crate) fn run_later<'s>(self, cx: &'s Cx<'_>) -> Step<'s, T> {
        Step::Wait(cx.yields().then(cx, Start(self)))
    }
}

impl<T: Send + 'static> Run for Boxed<T> {
    type Out = T;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, T> {
        if cx.is_deep() {
            Step::Wait(cx.give_later(Outcome::Success(())).then(cx, Start(self)))
        } else {
            self.run_here(cx)
        }
    }

    fn boxed(self) -> Boxed<T> {
        self
    }

    fn name(&self) -> Option<Arc<str>> {
        self.fiber.as_ref()?.name()
    }

    fn is_program(&self) -> bool {
        self.fiber.as_ref().is_some_and(|fiber| fiber.is_program())
    }

    const SINGLE: Option<Single> = None;

    fn single(&self) -> Single {
        self.fiber.as_ref().map_or(Single::NO, |fiber| fiber.single())
    }

    fn into_side(mut self) -> impl Side<Out = T> {
        self.fiber.take().expect("a fiber is started once").into_side()
    }

    fn end_unstarted(mut self, cx: &Cx<'_>) -> Outcome<T> {
        self.fiber.take().expect("a fiber is run once").end_unstarted(cx)
    }
}

/// Starts an erased fiber. It does not check the depth again, because a turn that starts at the bottom has to progress.
struct Start<T>(Boxed<T>);

impl<T: Send + 'static> Follow<()> for Start<T> {
    type Out = T;

    fn follow<'s>(self, cx: &'s Cx<'_>, _: Outcome<()>) -> Step<'s, T> {
        self.0.run_here(cx)
    }
}

impl<T> Drop for Boxed<T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(fiber) = self.fiber.take() {
            drop_nested(fiber);
        }
    }
}

impl<T> fmt::Debug for Boxed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Boxed")
    }
}
