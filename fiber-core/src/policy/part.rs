//! The decision of a policy after a round. A decision changes the [`Part`]s, because they count rounds.

use std::mem::replace;
use std::ops::Range;
use std::time::Duration;

use super::condition::Condition;
use crate::engine::scheduler::Scheduler;

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// One step of a [`Rule`](super::rule::Rule); `C` is a condition on the result of a round.
#[derive(Clone, Default)]
pub(super) enum Part<C> {
    /// An unused place.
    #[default]
    Nothing,
    // Rules of their own.
    Forever,
    /// This many more rounds.
    Recurs(u64),
    Spaced(Duration),
    FixedRate(Duration),
    Exponential {
        next: Duration,
        factor: f64,
    },
    Fibonacci(NextTwo),
    // What modifies the rule before it.
    Capped(Duration),
    Jittered(Range<f64>),
    UpTo(Duration),
    WhileInput(C),
    UntilInput(C),
    // What combines the two rules before it.
    Union {
        left_is_over: bool,
        right_is_over: bool,
    },
    Intersection,
    AndThen {
        first_is_over: bool,
    },
}

/// The next pause, and the one after it. Their seconds and nanoseconds are apart: two durations side by side would make every part of every
/// policy larger by their padding.
#[derive(Clone)]
pub(super) struct NextTwo {
    seconds: [u64; 2],
    nanos: [u32; 2],
}

impl NextTwo {
    #[inline]
    pub(super) fn new(next: Duration, after: Duration) -> Self {
        let both = [next, after];
        NextTwo { seconds: both.map(|pause| pause.as_secs()), nanos: both.map(|pause| pause.subsec_nanos()) }
    }

    pub(super) fn get(&self) -> [Duration; 2] {
        [0, 1].map(|n| Duration::new(self.seconds[n], self.nanos[n]))
    }
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

impl<C> Part<C> {
    /// Whether it depends on the times of a round.
    #[inline]
    pub(super) fn is_timed(&self) -> bool {
        matches!(self, Part::FixedRate(_) | Part::UpTo(_))
    }

    /// The number of rules before this part that it modifies or combines.
    fn arity(&self) -> usize {
        match self {
            Part::Union { .. } | Part::Intersection | Part::AndThen { .. } => 2,
            Part::Capped(_) | Part::Jittered(_) | Part::UpTo(_) => 1,
            Part::WhileInput(_) | Part::UntilInput(_) => 1,
            _ => 0,
        }
    }
}

/// The place between the last two rules of these.
pub(super) fn between<C>(rules: &[Part<C>]) -> usize {
    let (mut wanted, mut at) = (1, rules.len());
    while wanted > 0 {
        at -= 1;
        wanted += rules[at].arity();
        wanted -= 1;
    }
    at
}

/// The pause before the next round, by the rule of all these parts. `None`: the rule is over, and must not be asked again.
pub(super) fn next<I>(rule: &mut [Part<Condition<I>>], moment: &Moment<'_, I>) -> Option<Duration> {
    let (part, inner) = rule.split_last_mut()?;
    match part {
        Part::Nothing => None,
        Part::Forever => Some(Duration::ZERO),
        Part::Recurs(left) => {
            *left = left.checked_sub(1)?;
            Some(Duration::ZERO)
        }
        Part::Spaced(pause) => Some(*pause),
        Part::FixedRate(interval) => Some(moment.until_multiple_of(*interval)),
        Part::Exponential { next, factor } => Some(replace(next, scaled(*next, *factor))),
        Part::Fibonacci(two) => {
            let [next, after] = two.get();
            *two = NextTwo::new(after, next.saturating_add(after));
            Some(next)
        }
        Part::Capped(longest) => Some(next(inner, moment)?.min(*longest)),
        Part::Jittered(factors) => Some(moment.jittered(next(inner, moment)?, factors)),
        Part::UpTo(total) => {
            next(inner, moment).filter(|pause| moment.ended.saturating_add(*pause) <= *total)
        }
        Part::WhileInput(condition) if !moment.satisfies(condition, true) => None,
        Part::UntilInput(condition) if !moment.satisfies(condition, false) => None,
        Part::WhileInput(_) | Part::UntilInput(_) => next(inner, moment),
        Part::Union { left_is_over, right_is_over } => {
            let (left, right) = split(inner);
            let left = next_unless(left_is_over, left, moment);
            let right = next_unless(right_is_over, right, moment);
            left.into_iter().chain(right).min()
        }
        Part::Intersection => {
            let (left, right) = split(inner);
            Some(next(left, moment)?.max(next(right, moment)?))
        }
        Part::AndThen { first_is_over } => {
            let (first, second) = split(inner);
            next_unless(first_is_over, first, moment).or_else(|| next(second, moment))
        }
    }
}

/// The last two rules of these.
fn split<C>(rules: &mut [Part<C>]) -> (&mut [Part<C>], &mut [Part<C>]) {
    let at = between(rules);
    rules.split_at_mut(at)
}

/// Asks a rule that may already be over.
fn next_unless<I>(
    is_over: &mut bool,
    rule: &mut [Part<Condition<I>>],
    moment: &Moment<'_, I>,
) -> Option<Duration> {
    if *is_over {
        return None;
    }
    let pause = next(rule, moment);
    *is_over = pause.is_none();
    pause
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

    /// Whether the condition gives `expected`. In a preview, each does.
    fn satisfies(&self, condition: &Condition<I>, expected: bool) -> bool {
        self.seen.as_ref().is_none_or(|seen| condition.holds(seen.input) == expected)
    }
}

/// A number in `0.0..1.0` from the top 53 bits, the precision of an `f64`.
fn unit_fraction(random: u64) -> f64 {
    const BITS: u32 = f64::MANTISSA_DIGITS;
    (random >> (u64::BITS - BITS)) as f64 / (1u64 << BITS) as f64
}
