//! `retry` and `repeat`: rounds and the pauses between them are laps of the same loop.

use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::time::Duration;

use super::iterate::{Loop, Rounds};
use crate::combine::sequence::fibers::Fibers;
use crate::combine::sequence::{Either, OneOf};
use crate::engine::context::Cx;
use crate::engine::step::Run;
use crate::error::Site;
use crate::fiber::Fiber;
use crate::leaf::{Leaf, Sleep};
use crate::outcome::Outcome;
use crate::panic::{Panic, discard_part};
use crate::policy::{Policy, Recurrence};

/// Every round is a clone.
#[derive(Clone, Debug)]
pub struct Cloned<R>(pub(crate) R);

impl<R: Run + Clone> Fibers for Cloned<R> {
    type Run = R;

    #[inline]
    fn pull(&mut self) -> Option<R> {
        Some(self.0.clone())
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.0.discard(torn);
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

/// The loop of `retry` or `repeat`.
// Inlined, so that the policy, which is large, is not moved from function to function.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn again<S, I: 'static, K>(
    site: Site,
    source: S,
    policy: Policy<I>,
) -> Loop<Again<S, Recurrence<I>, K>> {
    Loop::at(site, Again { source, recurrence: Recurrence::new(policy), kind: PhantomData, site })
}

impl<R: Run, S: Fibers<Run = R>, K: Kind<R::Out>> Rounds for Again<S, Recurrence<K::Seen>, K> {
    type Carry = After<K::Seen>;
    type Out = R::Out;
    /// A pause, or a round.
    type Round = OneOf<Leaf<Sleep>, R>;
    const NAME: &'static str = K::NAME;

    #[inline]
    fn carry(outcome: Outcome<Either<(), R::Out>>) -> Result<Self::Carry, Outcome<R::Out>> {
        let outcome = match outcome.split() {
            Ok(Either::Left(())) => return Ok(After::Pause),
            Ok(Either::Right(value)) => Outcome::Success(value),
            Err(other) => other,
        };
        K::see(outcome).map(After::Round)
    }

    #[inline]
    fn next(&mut self, cx: &Cx<'_>, last: Option<Self::Carry>) -> ControlFlow<Outcome<R::Out>, Self::Round> {
        let Some(After::Round(seen)) = last else {
            self.recurrence.start_round(cx.scheduler());
            let round = self.source.pull().expect("rounds do not run out");
            return ControlFlow::Continue(OneOf::Other(round));
        };
        match self.recurrence.next_pause(cx.scheduler(), &seen) {
            Some(pause) if K::is_in_time(cx, pause) => {
                ControlFlow::Continue(OneOf::First(Fiber::delay_at(self.site, pause).into_run()))
            }
            _ => ControlFlow::Break(K::end(seen, self.recurrence.rounds())),
        }
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.source.discard(torn);
        discard_part(self.recurrence, torn);
    }
}

/// The state that a lap leaves for the next one.
#[derive(Debug)]
pub enum After<I> {
    /// A pause has ended.
    Pause,
    /// A round gave this value or error, for the policy.
    Round(I),
}
