//! `retry` and `repeat`: rounds and the pauses between them are laps of the same loop.

use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::panic::Location;
use std::time::Duration;

use super::iterate::Rounds;
use crate::engine::context::{Context, Cx};
use crate::engine::step::{Callback, Run, Step, Suspension};
use crate::error::Site;
use crate::fiber::Fiber;
use crate::leaf::{Leaf, Sleep};
use crate::outcome::{Outcome, Panic, discard_part};
use crate::policy::{Policy, Recurrence};

/// The source of rounds.
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

/// A closure makes each round.
#[derive(Clone, Debug)]
pub struct Made<F>(pub(crate) F);

impl<R, F> Source for Made<F>
where
    R: Run,
    F: FnMut() -> Fiber<R::Out, R> + Send + 'static,
{
    type Round = R;

    fn round(&mut self) -> R {
        (self.0)().into_run()
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        discard_part(self.0, torn);
    }
}

/// The rounds of `retry` or `repeat`, and the pauses between them.
#[derive(Clone, Debug)]
pub struct Again<S, P, K> {
    source: S,
    recurrence: P,
    kind: PhantomData<K>,
    site: Site,
}

/// The rule by which another round follows.
pub trait Kind<T>: Send + 'static {
    /// The operator.
    const NAME: &'static str;
    /// The input of the policy after such a round.
    type Seen: Send + 'static;

    /// # Errors
    /// The end of the loop, if no round may follow.
    fn see(outcome: Outcome<T>) -> Result<Self::Seen, Outcome<T>>;

    /// Whether the next round would start in time after this pause.
    fn is_in_time(cx: &Cx<'_>, pause: Duration) -> bool;

    /// The end of the loop after this many rounds.
    fn end(seen: Self::Seen, rounds: u64) -> Outcome<T>;
}

impl<S, I: 'static, K> Again<S, Recurrence<I>, K> {
    #[track_caller]
    pub(super) fn new(source: S, policy: Policy<I>) -> Self {
        let recurrence = Recurrence::new(policy);
        Again { source, recurrence, kind: PhantomData, site: Location::caller() }
    }
}

impl<R: Run, S: Source<Round = R>, K: Kind<R::Out>> Rounds for Again<S, Recurrence<K::Seen>, K> {
    type Item = Option<R::Out>;
    type Carry = After<K::Seen>;
    type Out = R::Out;
    type Round = Lap<R>;
    const NAME: &'static str = K::NAME;

    #[inline]
    fn carry(outcome: Outcome<Self::Item>) -> Result<Self::Carry, Outcome<R::Out>> {
        let outcome = match outcome.split() {
            Ok(None) => return Ok(After::Pause),
            Ok(Some(value)) => Outcome::Success(value),
            Err(other) => other,
        };
        K::see(outcome).map(After::Round)
    }

    #[inline]
    fn next(&mut self, cx: &Cx<'_>, last: Option<Self::Carry>) -> ControlFlow<Outcome<R::Out>, Lap<R>> {
        let Some(After::Round(seen)) = last else {
            self.recurrence.start_round(cx.scheduler());
            return ControlFlow::Continue(Lap::Round(self.source.round()));
        };
        match self.recurrence.next_pause(cx.scheduler(), &seen) {
            Some(pause) if K::is_in_time(cx, pause) => {
                ControlFlow::Continue(Lap::Pause(Fiber::delay_at(self.site, pause).into_run()))
            }
            _ => ControlFlow::Break(K::end(seen, self.recurrence.rounds())),
        }
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.source.discard(torn);
        discard_part(self.recurrence, torn);
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

/// The state that a lap leaves for the next one.
#[derive(Debug)]
pub enum After<I> {
    /// A pause has ended.
    Pause,
    /// A round gave this value or error, for the policy.
    Round(I),
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
#[derive(Debug)]
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

fn then_map<T, U>(f: impl FnOnce(T) -> U + Send + 'static, callback: impl Callback<U>) -> impl Callback<T> {
    move |cx: &Cx<'_>, outcome: Outcome<T>| callback.resume(cx, outcome.map(f))
}
