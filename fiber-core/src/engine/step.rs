//! The traits by which a description runs, waits and continues.
//!
//! A plain call runs a description ([`Run`]). If it can end now, it returns [`Step::Done`]. If it has to wait, it pushes
//! [frames](super::frames): the leaf first, then, on the way out, the step ([`Follow`]) that every operator around it has left. Only then
//! does it return [`Step::Wait`]. A wake-up runs the frames in this order, however deep the leaf is nested.

use std::sync::Arc;

use crate::engine::boxed::Boxed;
use crate::engine::context::Cx;
use crate::engine::frames::{Pushed, Waiting, frame_size};
use crate::engine::scheduler::SwitchPoint;
use crate::engine::side::{NoSide, Side, Single};
use crate::error::Frame;
use crate::outcome::Outcome;
use crate::panic::{Panic, discard_part, guard};

/// A lazy description of work. A [`Fiber`](crate::Fiber) wraps one.
///
/// Implemented by the library's leaves and combinators. For a leaf of your own, implement [`Wait`](crate::scheduler::Wait). A `Run` of your own
/// returns the step of the description that it runs; it must not begin a second wait, and panics if it does.
///
/// ```
/// use fiber_core::scheduler::{Cx, Step};
/// use fiber_core::{Fiber, Run};
///
/// /// Runs a fiber, and says so.
/// struct Loud<R>(R);
///
/// impl<R: Run> Run for Loud<R> {
///     type Out = R::Out;
///
///     fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, R::Out> {
///         println!("it starts");
///         self.0.run(cx)
///     }
/// }
///
/// let loud = Fiber::new(Loud(Fiber::yield_now().map(|()| 7).into_run()));
/// assert_eq!(fiber_sched::run(loud).unwrap(), 7);
/// ```
pub trait Run: Send + 'static + Sized {
    /// The value of a success.
    type Out: Send + 'static;

    /// About as many bytes as the frames of its first wait need; 0 if it never waits. A fiber's cell has room for them.
    #[doc(hidden)]
    const ROOM: usize = 64 + size_of::<Self>();

    /// Runs until it ends or has to wait. Never unwinds.
    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Self::Out>;

    /// Runs, and then takes a step that never waits. If this has to wait, that step needs no frame of its own.
    #[doc(hidden)]
    #[inline]
    fn run_then<'s, P: Follow<Self::Out>>(self, cx: &'s Cx<'_>, plain: P) -> Step<'s, P::Out> {
        match self.run(cx) {
            Step::Done(outcome) => plain.follow(cx, outcome),
            Step::Wait(waiting) => Step::Wait(waiting.then(cx, plain)),
        }
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

    /// Whether this is a single wait, optionally followed by plain closures, that a fiber can combine with another wait. `None`: the type does
    /// not say.
    #[doc(hidden)]
    const SINGLE: Option<Single> = Some(Single::NO);

    /// The same of this description.
    #[doc(hidden)]
    #[inline]
    fn single(&self) -> Single {
        const { if let Some(single) = Self::SINGLE { single } else { Single::NO } }
    }

    /// Whether this is known to be more than a single wait: a step behind a wait may wait again. Of a block, nothing is known before it runs.
    #[doc(hidden)]
    #[inline]
    fn is_program(&self) -> bool {
        false
    }

    /// That wait. Called only if it [is one](Run::single).
    #[doc(hidden)]
    fn into_side(self) -> impl Side<Out = Self::Out> {
        NoSide::<Self::Out>::unreachable()
    }
}

/// A description of which each run can be a clone.
#[diagnostic::on_unimplemented(
    message = "this fiber runs only once, because `{Self}` is not `Clone`",
    label = "an erased `Fiber<T>`, or a captured value that is not `Clone`",
    note = "`Fiber::retry_with` and `Fiber::repeat_with` call a closure that makes the fiber of each round",
    note = "`Fiber::defer(closure)` can run again if the closure, which makes the fiber, is `Clone`",
    note = "a function that returns `Fiber<T, impl Run<Out = T> + Clone>` gives one that can run again"
)]
pub trait RunAgain: Run + Clone {}

#[diagnostic::do_not_recommend]
impl<R: Run + Clone> RunAgain for R {}

/// The result of running a description: an outcome, or the evidence that it waits.
#[derive(Debug)]
pub enum Step<'s, T> {
    /// The description has ended.
    Done(Outcome<T>),
    /// The description has to wait. What is left of it is in the frames of its fiber.
    Wait(Waiting<'s, T>),
}

/// The step after an outcome. Sequential combinators differ only in this step. [`Fiber::follow_with`](crate::Fiber::follow_with) adds
/// one of your own to a fiber.
pub trait Follow<T>: Send + 'static + Sized {
    /// The value of a success of the step.
    type Out: Send + 'static;

    /// Whether the step always gives an outcome at once. If such a step begins to wait, its fiber panics.
    const NEVER_WAITS: bool = false;

    /// Whether this is a closure that gives an outcome directly, and is called for a success only.
    const IS_PLAIN: bool = false;

    /// As [`Run::ROOM`], for a wait that begins in this step.
    #[doc(hidden)]
    const ROOM: usize = 64;

    /// Handles the outcome. Never unwinds: user closures are called, and unused values are dropped, under a guard.
    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, Self::Out>;

    /// Drops a step that is not taken; see [`Run::discard`].
    #[inline]
    fn discard(self, torn: &mut Vec<Panic>) {
        discard_part(self, torn);
    }

    /// The name of this step if it counts as a bind in the budget, because it continues with another fiber of the user.
    #[inline]
    fn as_bind(&self, outcome: &Outcome<T>) -> Option<Frame> {
        let _ = outcome;
        None
    }

    /// The name of this step if it is a finalizer that runs whatever the outcome is.
    #[inline]
    fn as_finalizer(&self) -> Option<Frame> {
        None
    }
}

/// Takes the step, in this turn or in the next one.
#[inline]
pub(crate) fn follow<'s, T: Send + 'static, N: Follow<T>>(
    next: N,
    cx: &'s Cx<'_>,
    outcome: Outcome<T>,
) -> Step<'s, N::Out> {
    if const { !N::NEVER_WAITS } && must_pause(&next, cx, &outcome) {
        return Step::Wait(cx.pause(outcome).then(cx, next));
    }
    next.follow(cx, outcome)
}

/// Whether the fiber has to yield to the scheduler before it handles the outcome.
#[inline]
fn must_pause<T, N: Follow<T>>(next: &N, cx: &Cx<'_>, outcome: &Outcome<T>) -> bool {
    match next.as_bind(outcome) {
        Some(frame) => !(cx.spend() || cx.ask(SwitchPoint::Bind(frame))),
        None => false,
    }
}

/// The room for the frames of `R`, and of a step after it.
pub(crate) const fn room_with<N>(room: usize) -> usize {
    if room == 0 { 0 } else { room + frame_size::<N>() }
}

pub(crate) const fn larger(one: usize, other: usize) -> usize {
    if one > other { one } else { other }
}

impl<'s, T: Send + 'static> Step<'s, T> {
    /// Gives up the borrow of the [`Cx`], to continue with another one of the same fiber.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn detach(self, cx: &Cx<'_>) -> Result<Outcome<T>, Pushed<T>> {
        match self {
            Step::Done(outcome) => Ok(outcome),
            Step::Wait(waiting) => Err(waiting.detach(cx)),
        }
    }

    /// Passes the outcome on, and drops the unused closure.
    #[inline]
    pub(crate) fn pass<D>(outcome: Outcome<T>, unused: D, frame: Frame, cx: &Cx<'_>) -> Self {
        Step::Done(outcome.without(unused, cx).passed(frame))
    }

    /// Ends with the outcome that a user closure makes.
    #[inline]
    pub(crate) fn done_guarded(frame: Frame, f: impl FnOnce() -> Outcome<T>) -> Self {
        Step::Done(guard(f).unwrap_or_else(|panic| Outcome::Panicked(panic).passed(frame)))
    }
}
