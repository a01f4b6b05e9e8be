//! The decision of a policy after a round. A decision changes a [`Rule`], because it counts rounds.

use std::mem;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::scheduler::Scheduler;

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// A tree of rules; `C` is a condition on the result of a round. Every run has its own copy, but shares it with others until
/// its first round has ended, because most retries never need a decision.
#[derive(Clone)]
pub(super) enum Rule<C> {
    Forever,
    /// This many more rounds.
    Recurs(u64),
    Spaced(Duration),
    FixedRate(Duration),
    Exponential {
        next: Duration,
        factor: f64,
    },
    Fibonacci {
        next: Duration,
        after: Duration,
    },
    Capped(Arc<Rule<C>>, Duration),
    Jittered(Arc<Rule<C>>, Range<f64>),
    UpTo(Arc<Rule<C>>, Duration),
    OnInput(Arc<Rule<C>>, C),
    /// `None` when that side is over.
    Union(Option<Arc<Rule<C>>>, Option<Arc<Rule<C>>>),
    Intersection(Arc<Rule<C>>, Arc<Rule<C>>),
    /// `None` when the first is over.
    AndThen(Option<Arc<Rule<C>>>, Arc<Rule<C>>),
}

/// The end of a round.
pub(super) struct Moment<'a, I> {
    /// When the round started, since the start of the first one.
    pub(super) started: Duration,
    /// When it ended, since the start of the first one.
    pub(super) ended: Duration,
    /// `None` in a preview, which has no round.
    pub(super) seen: Option<Seen<'a, I>>,
}

/// The facts that only a real round has.
pub(super) struct Seen<'a, I> {
    /// The error or value.
    pub(super) input: &'a I,
    pub(super) scheduler: &'a dyn Scheduler,
}

impl<C> Rule<C> {
    /// Whether the rule depends on the times of a round.
    pub(super) fn is_timed(&self) -> bool {
        let is_timed = |side: &Option<Arc<Self>>| side.as_ref().is_some_and(|rule| rule.is_timed());
        match self {
            Rule::FixedRate(_) | Rule::UpTo(..) => true,
            Rule::Forever | Rule::Recurs(_) | Rule::Spaced(_) => false,
            Rule::Exponential { .. } | Rule::Fibonacci { .. } => false,
            Rule::Capped(rule, _) | Rule::Jittered(rule, _) | Rule::OnInput(rule, _) => rule.is_timed(),
            Rule::Union(left, right) => is_timed(left) || is_timed(right),
            Rule::Intersection(left, right) => left.is_timed() || right.is_timed(),
            Rule::AndThen(first, second) => is_timed(first) || second.is_timed(),
        }
    }
}

impl<I> Rule<Condition<I>> {
    /// The pause before the next round. `None`: the rule is over, and must not be asked again.
    pub(super) fn next(&mut self, moment: &Moment<'_, I>) -> Option<Duration> {
        match self {
            Rule::Forever => Some(Duration::ZERO),
            Rule::Recurs(left) => {
                *left = left.checked_sub(1)?;
                Some(Duration::ZERO)
            }
            Rule::Spaced(pause) => Some(*pause),
            Rule::FixedRate(interval) => Some(moment.until_multiple_of(*interval)),
            Rule::Exponential { next, factor } => Some(mem::replace(next, scaled(*next, *factor))),
            Rule::Fibonacci { next, after } => {
                let sum = next.saturating_add(*after);
                Some(mem::replace(next, mem::replace(after, sum)))
            }
            Rule::Capped(rule, longest) => Some(own(rule).next(moment)?.min(*longest)),
            Rule::Jittered(rule, factors) => Some(moment.jittered(own(rule).next(moment)?, factors)),
            Rule::UpTo(rule, total) => {
                own(rule).next(moment).filter(|pause| moment.ended.saturating_add(*pause) <= *total)
            }
            Rule::OnInput(rule, condition) if moment.passes(condition) => own(rule).next(moment),
            Rule::OnInput(..) => None,
            Rule::Union(left, right) => shorter(ask(left, moment), ask(right, moment)),
            Rule::Intersection(left, right) => Some(own(left).next(moment)?.max(own(right).next(moment)?)),
            Rule::AndThen(first, second) => ask(first, moment).or_else(|| own(second).next(moment)),
        }
    }
}

/// A copy that belongs to this run.
fn own<I>(rule: &mut Arc<Rule<Condition<I>>>) -> &mut Rule<Condition<I>> {
    Arc::make_mut(rule)
}

/// Asks a rule that may already be over.
fn ask<I>(slot: &mut Option<Arc<Rule<Condition<I>>>>, moment: &Moment<'_, I>) -> Option<Duration> {
    let pause = own(slot.as_mut()?).next(moment);
    if pause.is_none() {
        *slot = None;
    }
    pause
}

fn shorter(left: Option<Duration>, right: Option<Duration>) -> Option<Duration> {
    left.into_iter().chain(right).min()
}

/// Saturates at the longest duration.
fn scaled(duration: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(duration.as_secs_f64() * factor).unwrap_or(Duration::MAX)
}

impl<I> Moment<'_, I> {
    /// The time from the end of this round to the first multiple of `interval` after its start; zero if that has
    /// passed.
    fn until_multiple_of(&self, interval: Duration) -> Duration {
        let interval = interval.as_nanos();
        let Some(into) = self.started.as_nanos().checked_rem(interval) else { return Duration::ZERO };
        let took = self.ended.saturating_sub(self.started).as_nanos();
        let left = (interval - into).saturating_sub(took);
        // At most the interval, so both parts fit.
        Duration::new((left / NANOS_PER_SECOND) as u64, (left % NANOS_PER_SECOND) as u32)
    }

    fn jittered(&self, pause: Duration, factors: &Range<f64>) -> Duration {
        match &self.seen {
            Some(seen) => {
                let fraction = unit_fraction(seen.scheduler.random_u64());
                scaled(pause, factors.start + (factors.end - factors.start) * fraction)
            }
            None => pause,
        }
    }

    fn passes(&self, condition: &Condition<I>) -> bool {
        self.seen.as_ref().is_none_or(|seen| (condition.holds)(seen.input))
    }
}

/// A number in `0.0..1.0` from the top 53 bits, the precision of an `f64`.
fn unit_fraction(random: u64) -> f64 {
    const BITS: u32 = f64::MANTISSA_DIGITS;
    (random >> (u64::BITS - BITS)) as f64 / (1u64 << BITS) as f64
}

/// A condition on the error or value of a round.
pub(super) struct Condition<I> {
    pub(super) name: &'static str,
    holds: Arc<dyn Fn(&I) -> bool + Send + Sync>,
}

impl<I> Condition<I> {
    pub(super) fn new(name: &'static str, holds: impl Fn(&I) -> bool + Send + Sync + 'static) -> Self {
        Condition { name, holds: Arc::new(holds) }
    }
}

impl<I> Clone for Condition<I> {
    fn clone(&self) -> Self {
        Condition { name: self.name, holds: self.holds.clone() }
    }
}
