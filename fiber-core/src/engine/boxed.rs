//! Erasure: [`Boxed`] hides the type of a description behind one allocation, [`BoxedCallback`] the type of a callback.
//!
//! The box of a description also holds its suspension, so erasing costs one allocation, no matter how often the description
//! waits.

use std::fmt;
use std::mem;
use std::sync::Arc;

use crate::drop_queue::{Nested, drop_nested};
use crate::engine::context::{Context, Cx};
use crate::engine::step::{Callback, Run, Step, Suspension};
use crate::outcome::{Outcome, Panic};

/// A description with its type hidden: the `R` of a plain `Fiber<T>`.
pub struct Boxed<T> {
    /// `None` only while it is run or dropped.
    fiber: Option<Box<dyn Erased<T>>>,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Not started.
    New,
    /// Not started: the limit of tail calls was reached, so other fibers run first.
    Late,
    /// Has to wait.
    Waiting,
}

/// The number of erased fibers in tail position that one run may start. Most of them spend the budget by a bind each; this
/// limits the others, such as an endless recursion of `defer`.
const MOST_TAILS: u32 = 1024;

pub(crate) trait Erased<T>: Nested + Send {
    /// Runs a description that has not started. If the suspension has not started either, it is the fiber in tail
    /// position; the caller continues with it.
    fn step(self: Box<Self>, cx: &Cx<'_>) -> Step<T, Boxed<T>>;
    fn attach(self: Box<Self>, cx: &Cx<'_>, callback: BoxedCallback<T>);
    /// As [`Run::end_unstarted`].
    fn end_unstarted(self: Box<Self>, cx: &Cx<'_>) -> Outcome<T> {
        Outcome::Cancelled.without(self, cx)
    }
    fn name(&self) -> Option<Arc<str>>;
    /// As [`Suspension::parts`].
    fn parts(&self, found: &mut Vec<Context>);
}

/// The contents of the box, which change over time.
enum Slot<R: Run> {
    Description(Unrun<R>),
    Suspension(R::Suspension),
    Empty,
}

/// A description until it runs. If it is dropped before that, its parts are dropped one by one.
struct Unrun<R: Run>(Option<R>);

impl<R: Run> Unrun<R> {
    #[inline]
    fn take(&mut self) -> R {
        self.0.take().expect("a fiber is started once")
    }
}

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

impl<R: Run> Erased<R::Out> for Slot<R> {
    fn step(mut self: Box<Self>, cx: &Cx<'_>) -> Step<R::Out, Boxed<R::Out>> {
        let Slot::Description(unrun) = &mut *self else { unreachable!("a fiber is started once") };
        match unrun.take().run_tail(cx) {
            Step::Done(outcome) => Step::Done(outcome),
            Step::Suspend(suspension) => Step::Suspend(suspension.into_tail().unwrap_or_else(|suspension| {
                *self = Slot::Suspension(suspension);
                Boxed::waiting(self)
            })),
        }
    }

    fn attach(mut self: Box<Self>, cx: &Cx<'_>, callback: BoxedCallback<R::Out>) {
        match mem::replace(&mut *self, Slot::Empty) {
            Slot::Suspension(suspension) => {
                drop(self);
                suspension.attach(cx, callback);
            }
            Slot::Description(_) | Slot::Empty => {
                unreachable!("a description that has not started is bounced instead")
            }
        }
    }

    fn end_unstarted(mut self: Box<Self>, cx: &Cx<'_>) -> Outcome<R::Out> {
        let Slot::Description(unrun) = &mut *self else { unreachable!("a fiber is started once") };
        unrun.take().end_unstarted(cx)
    }

    fn name(&self) -> Option<Arc<str>> {
        match self {
            Slot::Description(Unrun(run)) => run.as_ref()?.name(),
            Slot::Suspension(_) | Slot::Empty => None,
        }
    }

    fn parts(&self, found: &mut Vec<Context>) {
        if let Slot::Suspension(suspension) = self {
            suspension.parts(found);
        }
    }
}

impl<T: Send + 'static> Boxed<T> {
    #[inline]
    pub(crate) fn new<R: Run<Out = T>>(run: R) -> Self {
        Boxed { fiber: Some(Box::new(Slot::Description(Unrun(Some(run))))), stage: Stage::New }
    }

    /// Wraps an existing box.
    #[inline]
    pub(crate) fn erased(fiber: Box<dyn Erased<T>>) -> Self {
        Boxed { fiber: Some(fiber), stage: Stage::New }
    }

    /// A fiber that has started.
    #[inline]
    pub(crate) fn waiting(fiber: Box<dyn Erased<T>>) -> Self {
        Boxed { fiber: Some(fiber), stage: Stage::Waiting }
    }

    #[inline]
    fn take(mut self) -> Box<dyn Erased<T>> {
        self.fiber.take().expect("a fiber is run once")
    }
}

impl<T: Send + 'static> Run for Boxed<T> {
    type Out = T;
    type Suspension = Boxed<T>;

    fn run(self, cx: &Cx<'_>) -> Step<T, Boxed<T>> {
        if cx.is_deep() { Step::Suspend(self) } else { self.run_here(cx) }
    }

    #[inline]
    fn run_tail(self, _: &Cx<'_>) -> Step<T, Boxed<T>> {
        Step::Suspend(self)
    }

    fn boxed(self) -> Boxed<T> {
        self
    }

    fn name(&self) -> Option<Arc<str>> {
        self.fiber.as_ref()?.name()
    }

    fn end_unstarted(self, cx: &Cx<'_>) -> Outcome<T> {
        self.take().end_unstarted(cx)
    }
}

impl<T: Send + 'static> Boxed<T> {
    /// Runs the fiber, at any depth of the stack.
    fn run_here(self, cx: &Cx<'_>) -> Step<T, Boxed<T>> {
        let mut next = self;
        for _ in 0..MOST_TAILS {
            match next.take().step(cx) {
                Step::Suspend(tail) if tail.stage == Stage::New => next = tail,
                step => return step,
            }
        }
        Step::Suspend(next.later())
    }

    /// Starts it from the bottom of the stack. It does not check the depth again, because a turn that starts there has
    /// to progress.
    fn start(self, cx: &Cx<'_>, callback: BoxedCallback<T>) {
        self.run_here(cx).resume(cx, callback);
    }

    /// The same, to be started in the next turn.
    pub(crate) fn later(mut self) -> Self {
        self.stage = Stage::Late;
        self
    }
}

impl<T: Send + 'static> Suspension for Boxed<T> {
    type Out = T;

    fn attach<C: Callback<T>>(self, cx: &Cx<'_>, callback: C) {
        let callback = callback.boxed();
        match self.stage {
            Stage::Waiting if !cx.is_deep() => self.take().attach(cx, callback),
            Stage::Waiting => cx.go_on_from_bottom(|cx| self.take().attach(cx, callback)),
            Stage::New => cx.go_on_from_bottom(|cx| self.start(cx, callback)),
            Stage::Late => cx.go_on_later(|cx| self.start(cx, callback)),
        }
    }

    fn parts(&self, found: &mut Vec<Context>) {
        if let Some(fiber) = &self.fiber {
            fiber.parts(found);
        }
    }

    #[inline]
    fn into_tail(self) -> Result<Boxed<T>, Self> {
        if self.stage == Stage::New { Ok(self) } else { Err(self) }
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

/// A callback whose type is hidden.
pub struct BoxedCallback<T>(Hidden<T>);

enum Hidden<T> {
    Box(Box<dyn ErasedCallback<T>>),
    Block(crate::block::Resume<T>),
    Gone,
}

trait ErasedCallback<T>: Nested + Send {
    fn resume_boxed(self: Box<Self>, cx: &Cx<'_>, outcome: Outcome<T>);
}

impl<T, C: Callback<T>> ErasedCallback<T> for C {
    fn resume_boxed(self: Box<Self>, cx: &Cx<'_>, outcome: Outcome<T>) {
        self.resume(cx, outcome);
    }
}

impl<T> BoxedCallback<T> {
    pub(crate) fn new<C: Callback<T>>(callback: C) -> Self {
        BoxedCallback(Hidden::Box(Box::new(callback)))
    }
}

impl<T: Send + 'static> Callback<T> for BoxedCallback<T> {
    fn resume(self, cx: &Cx<'_>, outcome: Outcome<T>) {
        if cx.is_deep() {
            cx.go_on_from_bottom(|cx| self.resume_here(cx, outcome));
        } else {
            self.resume_here(cx, outcome);
        }
    }

    fn boxed(self) -> BoxedCallback<T> {
        self
    }
}

impl<T> BoxedCallback<T> {
    /// Wraps the rest of a block, which is already in a box.
    #[inline]
    pub(crate) fn of_block(rest: crate::block::Resume<T>) -> Self {
        BoxedCallback(Hidden::Block(rest))
    }
}

impl<T: Send + 'static> BoxedCallback<T> {
    /// Resumes the callback, at any depth of the stack.
    fn resume_here(mut self, cx: &Cx<'_>, outcome: Outcome<T>) {
        match mem::replace(&mut self.0, Hidden::Gone) {
            Hidden::Box(callback) => callback.resume_boxed(cx, outcome),
            Hidden::Block(rest) => rest.resume(cx, outcome),
            Hidden::Gone => unreachable!("a callback is resumed once"),
        }
    }
}

impl<T> Drop for BoxedCallback<T> {
    #[inline]
    fn drop(&mut self) {
        if let Hidden::Box(callback) = mem::replace(&mut self.0, Hidden::Gone) {
            drop_nested(callback);
        }
    }
}

impl<T> fmt::Debug for BoxedCallback<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxedCallback")
    }
}
