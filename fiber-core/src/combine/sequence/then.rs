//! The sequential primitive: run a description, then pass its outcome to the next step.

use std::fmt;

use crate::engine::context::{Context, Cx, WaitsFor, Wakeup};
use crate::engine::event::Event;
use crate::engine::scheduler::SwitchPoint;
use crate::engine::step::{Callback, Run, Step, Suspension};
use crate::engine::subject::Subject;
use crate::error::Frame;
use crate::outcome::{Outcome, Panic, discard_part};

/// Runs `R`, then `N` with its outcome. Every sequential combinator is a `Then`.
#[derive(Clone, Debug)]
pub struct Then<R, N> {
    first: R,
    next: N,
}

impl<R, N> Then<R, N> {
    #[inline]
    pub(crate) fn new(first: R, next: N) -> Self {
        Then { first, next }
    }
}

/// The step after an outcome. Sequential combinators differ only in this step.
pub trait Follow<T>: Send + 'static + Sized {
    /// The value of a success of the step.
    type Out: Send + 'static;
    /// The description that may run as the step.
    type Run: Run<Out = Self::Out>;

    /// Handles the outcome. Never unwinds: user closures are called, and unused values are dropped, under a guard.
    fn follow(self, cx: &Cx<'_>, outcome: Outcome<T>) -> Next<Self::Out, Self::Run>;

    /// Drops a step that is not taken; see [`Run::discard`].
    #[inline]
    fn discard(self, torn: &mut Vec<Panic>) {
        discard_part(self, torn);
    }

    /// Whether this is a closure that gives an outcome directly, and is called for a success only.
    const IS_PLAIN: bool = false;

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

/// The decision of a step after an outcome.
#[derive(Debug)]
pub enum Next<T, R> {
    /// The chain ends with this outcome.
    Done(Outcome<T>),
    /// The program continues with another description.
    Run(R),
}

impl<T, R> Next<T, R> {
    /// Passes the outcome on, and drops the unused closure.
    #[inline]
    pub(crate) fn pass<D>(outcome: Outcome<T>, unused: D, frame: Frame, cx: &Cx<'_>) -> Self {
        Next::Done(outcome.without(unused, cx).passed(frame))
    }
}

/// Shorthand for the step that `N` takes after a `T`.
type AfterStep<T, N> = Step<<N as Follow<T>>::Out, <<N as Follow<T>>::Run as Run>::Suspension>;

impl<R: Run, N: Follow<R::Out>> Run for Then<R, N> {
    type Out = N::Out;
    type Suspension = ThenSuspension<R, N>;

    #[inline]
    fn run(self, cx: &Cx<'_>) -> Step<N::Out, ThenSuspension<R, N>> {
        match self.first.run(cx) {
            Step::Done(outcome) => follow(self.next, cx, outcome, N::Run::run),
            Step::Suspend(first) => Step::Suspend(ThenSuspension::First(first, self.next)),
        }
    }

    #[inline]
    fn run_tail(self, cx: &Cx<'_>) -> Step<N::Out, ThenSuspension<R, N>> {
        match self.first.run(cx) {
            Step::Done(outcome) => follow(self.next, cx, outcome, N::Run::run_tail),
            Step::Suspend(first) => Step::Suspend(ThenSuspension::First(first, self.next)),
        }
    }

    #[inline]
    fn discard(self, torn: &mut Vec<Panic>) {
        self.first.discard(torn);
        self.next.discard(torn);
    }

    const IS_WAIT: bool = R::IS_WAIT && N::IS_PLAIN;

    fn poll_wait(self, cx: &Cx<'_>) -> Result<Outcome<N::Out>, Self> {
        let Then { first, next } = self;
        end(first.poll_wait(cx), next, cx)
    }

    fn register_wait(self, cx: &Cx<'_>, wakeup: Wakeup) -> Result<Outcome<N::Out>, Self> {
        let Then { first, next } = self;
        end(first.register_wait(cx, wakeup), next, cx)
    }

    fn deregister_wait(&mut self, cx: &Cx<'_>) {
        self.first.deregister_wait(cx);
    }

    fn awaited(&self) -> Option<(WaitsFor, Option<&Subject>)> {
        self.first.awaited()
    }
}

/// The outcome of a plain closure, if the wait before it is over.
fn end<R: Run, N: Follow<R::Out>>(
    first: Result<Outcome<R::Out>, R>,
    next: N,
    cx: &Cx<'_>,
) -> Result<Outcome<N::Out>, Then<R, N>> {
    match first {
        Ok(outcome) => match next.follow(cx, outcome) {
            Next::Done(outcome) => Ok(outcome),
            Next::Run(_) => unreachable!("a plain closure gives an outcome"),
        },
        Err(first) => Err(Then { first, next }),
    }
}

#[inline]
fn follow<R: Run, N: Follow<R::Out>>(
    next: N,
    cx: &Cx<'_>,
    outcome: Outcome<R::Out>,
    run: impl FnOnce(N::Run, &Cx<'_>) -> AfterStep<R::Out, N>,
) -> Step<N::Out, ThenSuspension<R, N>> {
    if must_pause(&next, cx, &outcome) {
        return Step::Suspend(ThenSuspension::Paused(outcome, next));
    }
    match next.follow(cx, outcome) {
        Next::Done(outcome) => Step::Done(outcome),
        Next::Run(second) => match run(second, cx) {
            Step::Done(outcome) => Step::Done(outcome),
            Step::Suspend(second) => Step::Suspend(ThenSuspension::Second(second)),
        },
    }
}

/// Whether the fiber has to yield to the scheduler before it handles the outcome.
#[inline]
fn must_pause<T, N: Follow<T>>(next: &N, cx: &Cx<'_>, outcome: &Outcome<T>) -> bool {
    // The name is computed only on demand.
    let name = || next.as_bind(outcome);
    name().is_some() && !cx.spend(|| name().map_or(SwitchPoint::Branch, SwitchPoint::Bind))
}

/// Where a [`Then`] had to wait.
pub enum ThenSuspension<R: Run, N: Follow<R::Out>> {
    /// In the first part.
    First(R::Suspension, N),
    /// Between the two parts, because the budget is used up.
    Paused(Outcome<R::Out>, N),
    /// In the second part.
    Second(<N::Run as Run>::Suspension),
}

impl<R: Run, N: Follow<R::Out>> Suspension for ThenSuspension<R, N> {
    type Out = N::Out;

    fn attach<C: Callback<N::Out>>(self, cx: &Cx<'_>, callback: C) {
        match self {
            ThenSuspension::First(first, next) => {
                if let Some(frame) = next.as_finalizer() {
                    cx.observe(Event::Guarded(frame));
                }
                first.attach(cx, ThenCallback { next, callback });
            }
            ThenSuspension::Paused(outcome, next) => pause(cx, outcome, next, callback),
            ThenSuspension::Second(second) => second.attach(cx, callback),
        }
    }

    fn parts(&self, found: &mut Vec<Context>) {
        match self {
            ThenSuspension::First(first, _) => first.parts(found),
            ThenSuspension::Paused(..) => {}
            ThenSuspension::Second(second) => second.parts(found),
        }
    }

    #[inline]
    fn into_tail(self) -> Result<crate::engine::boxed::Boxed<N::Out>, Self> {
        match self {
            ThenSuspension::Second(second) => second.into_tail().map_err(ThenSuspension::Second),
            other => Err(other),
        }
    }
}

impl<R: Run, N: Follow<R::Out>> fmt::Debug for ThenSuspension<R, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ThenSuspension::First(..) => "First",
            ThenSuspension::Paused(..) => "Paused",
            ThenSuspension::Second(_) => "Second",
        })
    }
}

/// The callback of a first part that had to wait.
struct ThenCallback<N, C> {
    next: N,
    callback: C,
}

impl<T: Send + 'static, N: Follow<T>, C: Callback<N::Out>> Callback<T> for ThenCallback<N, C> {
    fn resume(self, cx: &Cx<'_>, outcome: Outcome<T>) {
        if must_pause(&self.next, cx, &outcome) {
            pause(cx, outcome, self.next, self.callback);
        } else {
            proceed(cx, outcome, self.next, self.callback);
        }
    }
}

fn proceed<T, N: Follow<T>, C: Callback<N::Out>>(cx: &Cx<'_>, outcome: Outcome<T>, next: N, callback: C) {
    match next.follow(cx, outcome) {
        Next::Done(outcome) => callback.resume(cx, outcome),
        Next::Run(second) => second.run(cx).resume(cx, callback),
    }
}

/// Yields to the scheduler, and follows the outcome in the next turn.
fn pause<T: Send + 'static, N: Follow<T>, C: Callback<N::Out>>(
    cx: &Cx<'_>,
    outcome: Outcome<T>,
    next: N,
    callback: C,
) {
    cx.go_on_later(|cx| proceed(cx, outcome, next, callback));
}
