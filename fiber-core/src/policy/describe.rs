use std::ops::{BitAnd, BitOr, Range};
use std::time::Duration;

use super::condition::Condition;
use super::part::{Moment, NextTwo, Part, next};
use super::rule::Rule;
use crate::error::Error;

/// Decides whether [`retry`](crate::Fiber::retry) or [`repeat`](crate::Fiber::repeat) starts another round, and after
/// which pause.
///
/// A policy is a value that is composed of smaller policies. After every round it examines an `I`: the error in a
/// retry, the value in a repetition. Each run of a fiber has its own counts, even if the policy was cloned. Once a
/// policy, or a part of one, is over, it stays over.
///
/// A policy of up to six parts lies in place, a `&` or `|` among them, and allocates nothing, unless a condition captures a value. It may
/// therefore be built anew for each request. It is asked only after a round that failed (in a repetition, that succeeded).
///
/// ```
/// use fiber_core::{Error, Policy};
/// use std::time::Duration;
///
/// let millis = Duration::from_millis;
/// let policy = Policy::exponential(millis(100)).capped(millis(500)) & Policy::recurs(4);
/// let policy: Policy = policy.while_input(|error: &Error| error.is::<std::io::Error>());
/// assert_eq!(policy.preview(10), [100, 200, 400, 500].map(millis));
/// assert_eq!(format!("{policy:?}"), "(exponential(100ms).capped(500ms) & recurs(4)).while_input(..)");
/// ```
#[doc(alias("schedule", "backoff"))]
#[must_use = "a policy does nothing by itself: hand it to retry or repeat"]
pub struct Policy<I = Error> {
    pub(super) rule: Rule<Condition<I>>,
}

/// The range of the factor of a jittered pause: wide enough that clients that failed together do not retry together,
/// narrow enough that the pauses stay close to the length that the program names.
pub(super) const JITTER: Range<f64> = 0.8..1.2;

/// Basic policies.
impl<I: 'static> Policy<I> {
    /// Repeats `times` times, without a pause. With the first round, there are `times + 1` rounds.
    #[inline]
    pub fn recurs(times: u64) -> Self {
        Policy::of(Part::Recurs(times))
    }

    /// Repeats forever, without a pause.
    #[inline]
    pub fn forever() -> Self {
        Policy::of(Part::Forever)
    }

    /// Repeats forever, with the same pause between the end of a round and the start of the next one.
    #[inline]
    pub fn spaced(pause: Duration) -> Self {
        Policy::of(Part::Spaced(pause))
    }

    /// Repeats forever, at the multiples of `interval` from the start of the first round. If a round overruns, the next
    /// round starts at once, however many multiples were missed, and the one after that at the next multiple.
    ///
    /// ```
    /// use fiber_core::{Fiber, Policy};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let test = TestScheduler::new();
    /// let tick = Fiber::now().bind(|start| Fiber::delay(Duration::from_secs(7)).map(move |()| start));
    /// let last = tick.repeat(Policy::fixed_rate(Duration::from_secs(10)) & Policy::recurs(2));
    /// assert_eq!(test.run(last).unwrap().as_nanos(), 20_000_000_000);
    /// ```
    #[doc(alias = "interval")]
    #[inline]
    pub fn fixed_rate(interval: Duration) -> Self {
        Policy::of(Part::FixedRate(interval))
    }

    /// Repeats forever. The first pause is `base`, each later one twice the one before.
    #[inline]
    pub fn exponential(base: Duration) -> Self {
        Policy::exponential_with(base, 2.0)
    }

    /// Repeats forever. The first pause is `base`, each later one `factor` times the one before.
    ///
    /// ```
    /// use fiber_core::Policy;
    /// use std::time::Duration;
    ///
    /// let policy: Policy = Policy::exponential_with(Duration::from_secs(1), 3.0);
    /// assert_eq!(policy.preview(3), [1, 3, 9].map(Duration::from_secs));
    /// ```
    ///
    /// # Panics
    /// If the factor is negative, infinite or not a number.
    #[track_caller]
    #[inline]
    pub fn exponential_with(base: Duration, factor: f64) -> Self {
        assert!(factor.is_finite() && factor >= 0.0, "a pause cannot become {factor} times as long");
        Policy::of(Part::Exponential { next: base, factor })
    }

    /// Repeats forever. The first two pauses are `base`, each later one the sum of the two before.
    ///
    /// ```
    /// use fiber_core::Policy;
    /// use std::time::Duration;
    ///
    /// let policy: Policy = Policy::fibonacci(Duration::from_secs(1));
    /// assert_eq!(policy.preview(6), [1, 1, 2, 3, 5, 8].map(Duration::from_secs));
    /// ```
    #[inline]
    pub fn fibonacci(base: Duration) -> Self {
        Policy::of(Part::Fibonacci(NextTwo::new(base, base)))
    }
}

/// Policies that modify or combine others.
impl<I: 'static> Policy<I> {
    /// Limits every pause to `longest`.
    #[inline]
    pub fn capped(self, longest: Duration) -> Self {
        self.modified(Part::Capped(longest))
    }

    /// Multiplies every pause by a random number between 0.8 and 1.2, so that clients that failed together do not retry
    /// together. Apply [`capped`](Policy::capped) afterwards if the cap has to hold.
    #[inline]
    pub fn jittered(self) -> Self {
        self.jittered_within(JITTER)
    }

    /// Multiplies every pause by a random number drawn uniformly from `factors`. `0.0..1.0` ("full jitter") spreads
    /// retries best; [`jittered`](Policy::jittered) stays closer to the original pauses.
    ///
    /// ```
    /// use fiber_core::Policy;
    /// use std::time::Duration;
    ///
    /// // A preview draws no numbers.
    /// let policy: Policy = Policy::spaced(Duration::from_secs(1)).jittered_within(0.0..1.0);
    /// assert_eq!(policy.preview(1), [Duration::from_secs(1)]);
    /// ```
    ///
    /// # Panics
    /// If a bound is negative, infinite or not a number, or the upper one is below the lower one.
    #[track_caller]
    #[inline]
    pub fn jittered_within(self, factors: Range<f64>) -> Self {
        let is_sound = factors.start >= 0.0 && factors.start <= factors.end && factors.end.is_finite();
        assert!(is_sound, "a pause cannot become {factors:?} times as long");
        self.modified(Part::Jittered(factors))
    }

    /// Stops when the next pause would end more than `total` after the start of the first round.
    #[inline]
    pub fn up_to(self, total: Duration) -> Self {
        self.modified(Part::UpTo(total))
    }

    /// Stops when the error (in a repetition, the value) does not satisfy `condition`.
    ///
    /// ```
    /// use fiber_core::{Error, Fiber, Policy};
    /// use std::io;
    ///
    /// let is_io = |error: &Error| error.is::<io::Error>();
    /// let port = Fiber::try_lazy(|| "http".parse::<u16>()).retry(Policy::recurs(9).while_input(is_io));
    /// let error = fiber_sched::run(port).failure().unwrap();
    /// assert_eq!(error.to_string(), "invalid digit found in string"); // at the first attempt
    /// ```
    ///
    /// # Panics
    /// A panic of `condition` becomes the outcome of the fiber that uses the policy.
    #[inline]
    pub fn while_input(self, condition: impl Fn(&I) -> bool + Send + Sync + 'static) -> Self {
        self.modified(Part::WhileInput(Condition::new(condition)))
    }

    /// Stops when the error (in a repetition, the value) satisfies `condition`.
    ///
    /// ```
    /// use fiber_core::{Fiber, Policy};
    /// use std::sync::{Arc, atomic::{AtomicU32, Ordering}};
    ///
    /// let counter = Arc::new(AtomicU32::new(0));
    /// let count = Fiber::lazy(move || counter.fetch_add(1, Ordering::Relaxed));
    /// let five = count.repeat(Policy::forever().until_input(|&n| n == 5));
    /// assert_eq!(fiber_sched::run(five).unwrap(), 5);
    /// ```
    ///
    /// # Panics
    /// A panic of `condition` becomes the outcome of the fiber that uses the policy.
    #[inline]
    pub fn until_input(self, condition: impl Fn(&I) -> bool + Send + Sync + 'static) -> Self {
        self.modified(Part::UntilInput(Condition::new(condition)))
    }

    /// Continues as long as at least one of the two policies does, after the shorter pause of those that continue. Also
    /// written `|`.
    ///
    /// ```
    /// use fiber_core::Policy;
    /// use std::time::Duration;
    ///
    /// // Ever more slowly, but once a minute at least.
    /// let policy: Policy = Policy::exponential(Duration::from_secs(20)) | Policy::spaced(Duration::from_secs(60));
    /// assert_eq!(policy.preview(4), [20, 40, 60, 60].map(Duration::from_secs));
    /// ```
    ///
    /// ```
    /// use fiber_core::Policy;
    /// use std::time::Duration;
    ///
    /// let seconds = Duration::from_secs;
    /// let policy: Policy = Policy::spaced(seconds(3)).union(Policy::exponential(seconds(1)));
    /// assert_eq!(policy.preview(4), [1, 2, 3, 3].map(seconds));
    /// ```
    #[inline]
    pub fn union(self, other: Self) -> Self {
        self.combined(other, Part::Union { left_is_over: false, right_is_over: false })
    }

    /// Continues as long as both policies do, after the longer pause. Also written `&`.
    ///
    /// ```
    /// use fiber_core::Policy;
    /// use std::time::Duration;
    ///
    /// let policy: Policy = Policy::spaced(Duration::from_secs(1)) & Policy::recurs(3);
    /// assert_eq!(policy.preview(10), [Duration::from_secs(1); 3]);
    /// ```
    ///
    /// ```
    /// use fiber_core::Policy;
    /// use std::time::Duration;
    ///
    /// let seconds = Duration::from_secs;
    /// let policy: Policy = Policy::spaced(seconds(3)).intersection(Policy::recurs(2));
    /// assert_eq!(policy.preview(9), [3, 3].map(seconds));
    /// ```
    #[inline]
    pub fn intersection(self, other: Self) -> Self {
        self.combined(other, Part::Intersection)
    }

    /// Follows this policy until it is over, then the other.
    ///
    /// ```
    /// use fiber_core::Policy;
    /// use std::time::Duration;
    ///
    /// let policy: Policy = Policy::recurs(2).and_then(Policy::spaced(Duration::from_secs(5)));
    /// assert_eq!(policy.preview(4), [0, 0, 5, 5].map(Duration::from_secs));
    /// ```
    #[inline]
    pub fn and_then(self, other: Self) -> Self {
        self.combined(other, Part::AndThen { first_is_over: false })
    }
}

impl<I: 'static> Policy<I> {
    #[inline]
    fn of(part: Part<Condition<I>>) -> Self {
        Policy { rule: Rule::of(part) }
    }

    #[inline]
    fn modified(mut self, part: Part<Condition<I>>) -> Self {
        self.rule.push(part);
        self
    }

    #[inline]
    fn combined(mut self, other: Self, part: Part<Condition<I>>) -> Self {
        self.rule.combine(other.rule, part);
        self
    }

    /// The first `longest` pauses, or fewer if the policy is over before. The preview assumes that rounds take no time
    /// and satisfy every condition, and leaves out the jitter.
    ///
    /// ```
    /// use fiber_core::Policy;
    /// use std::time::Duration;
    ///
    /// let policy: Policy = Policy::exponential(Duration::from_secs(1)).jittered().up_to(Duration::from_secs(10));
    /// assert_eq!(policy.preview(10), [1, 2, 4].map(Duration::from_secs));
    /// ```
    pub fn preview(&self, longest: usize) -> Vec<Duration> {
        let mut rule = self.rule.clone();
        let mut elapsed = Duration::ZERO;
        let pauses = || {
            let pause = next(rule.own(), &Moment { started: elapsed, ended: elapsed, seen: None })?;
            elapsed = elapsed.saturating_add(pause);
            Some(pause)
        };
        std::iter::from_fn(pauses).take(longest).collect()
    }
}

impl<I> Clone for Policy<I> {
    #[inline]
    fn clone(&self) -> Self {
        Policy { rule: self.rule.clone() }
    }
}

impl<I: 'static> BitOr for Policy<I> {
    type Output = Self;

    /// [`union`](Policy::union).
    #[inline]
    fn bitor(self, other: Self) -> Self {
        self.union(other)
    }
}

impl<I: 'static> BitAnd for Policy<I> {
    type Output = Self;

    /// [`intersection`](Policy::intersection).
    #[inline]
    fn bitand(self, other: Self) -> Self {
        self.intersection(other)
    }
}
