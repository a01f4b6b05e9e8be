//! The parts that `retry` and `repeat` share: the source of rounds, and the pauses, which are laps of the same loop.

use std::fmt;
use std::time::Duration;

use crate::engine::context::{Context, Cx};
use crate::engine::step::{Callback, Run, Step, Suspension};
use crate::error::Site;
use crate::fiber::Fiber;
use crate::leaf::{Leaf, Sleep};
use crate::outcome::{Outcome, Panic, discard_part};

/// Where rounds come from.
pub trait Source: Send + 'static + Sized {
    /// One round.
    type Round: Run;

    /// The next round. May panic.
    fn round(&mut self) -> Self::Round;

    /// Drops the source; see [`Run::discard`].
    fn discard(self, torn: &mut Vec<Panic>);
}

/// Every round is a clone.
#[derive(Clone, Debug)]
pub struct Cloned<R>(pub(crate) R);

impl<R: Run + Clone> Source for Cloned<R> {
    type Round = R;

    fn round(&mut self) -> R {
        self.0.clone()
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.0.discard(torn);
    }
}

/// A closure makes every round.
#[derive(Clone, Debug)]
pub struct Made<F>(pub(crate) F);

impl<T, R, F> Source for Made<F>
where
    R: Run<Out = T>,
    F: FnMut() -> Fiber<T, R> + Send + 'static,
{
    type Round = R;

    fn round(&mut self) -> R {
        (self.0)().into_run()
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        discard_part(self.0, torn);
    }
}

/// One lap of the loop: a round, or a pause, which gives `None`.
#[derive(Debug)]
pub enum Lap<R> {
    /// Between two rounds.
    Pause(Leaf<Sleep>),
    /// A round.
    Round(R),
}

/// What a lap leaves for the next one.
#[derive(Debug)]
pub enum After<I> {
    /// A pause has ended.
    Pause,
    /// A round gave this value or error, for the policy.
    Round(I),
}

impl<R> Lap<R> {
    /// A pause notices a cancellation even if it has no length. `site`: the place of the operator that pauses.
    pub(crate) fn pause(site: Site, length: Duration) -> Self {
        Lap::Pause(Fiber::delay_at(site, length).into_run())
    }
}

impl<R: Run> Run for Lap<R> {
    type Out = Option<R::Out>;
    type Suspension = LapSuspension<R>;

    #[inline]
    fn run(self, cx: &Cx<'_>) -> Step<Self::Out, LapSuspension<R>> {
        match self {
            Lap::Pause(sleep) => match sleep.run(cx) {
                Step::Done(outcome) => Step::Done(outcome.map(|()| None)),
                Step::Suspend(rest) => Step::Suspend(LapSuspension::Pause(rest)),
            },
            Lap::Round(round) => match round.run(cx) {
                Step::Done(outcome) => Step::Done(outcome.map(Some)),
                Step::Suspend(rest) => Step::Suspend(LapSuspension::Round(rest)),
            },
        }
    }
}

/// A lap that has to wait.
pub enum LapSuspension<R: Run> {
    /// In a pause.
    Pause(Leaf<Sleep>),
    /// In a round.
    Round(R::Suspension),
}

impl<R: Run> Suspension for LapSuspension<R> {
    type Out = Option<R::Out>;

    fn attach<C: Callback<Self::Out>>(self, cx: &Cx<'_>, callback: C) {
        match self {
            LapSuspension::Pause(rest) => rest.attach(cx, then_map(|()| None, callback)),
            LapSuspension::Round(rest) => rest.attach(cx, then_map(Some, callback)),
        }
    }

    fn parts(&self, found: &mut Vec<Context>) {
        if let LapSuspension::Round(rest) = self {
            rest.parts(found);
        }
    }
}

impl<R: Run> fmt::Debug for LapSuspension<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LapSuspension::Pause(_) => "Pause",
            LapSuspension::Round(_) => "Round",
        })
    }
}

fn then_map<T, U>(f: impl FnOnce(T) -> U + Send + 'static, callback: impl Callback<U>) -> impl Callback<T> {
    move |cx: &Cx<'_>, outcome: Outcome<T>| callback.resume(cx, outcome.map(f))
}
