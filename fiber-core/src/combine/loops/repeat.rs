use std::ops::ControlFlow;
use std::panic::Location;

use super::again::{After, Cloned, Lap, Made, Source};
use super::iterate::{Loop, Rounds};
use crate::engine::context::Cx;
use crate::engine::step::Run;
use crate::error::Site;
use crate::fiber::Fiber;
use crate::outcome::{Outcome, Panic, discard_part};
use crate::policy::{Policy, Recurrence};

impl<T: Send + 'static, R: Run<Out = T> + Clone> Fiber<T, R> {
    /// Runs this fiber again when it succeeds, as long as `policy` allows; gives the last value. The policy sees the
    /// values. Each round runs a clone; use [`repeat_with`](Fiber::repeat_with) for fibers that are not `Clone`.
    ///
    /// ```
    /// use fiber_core::{Fiber, Policy};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let test = TestScheduler::new();
    /// let daily = Policy::fixed_rate(Duration::from_secs(24 * 3600));
    /// let week = Fiber::now().repeat(daily & Policy::recurs(6)); // seven times in all
    /// assert_eq!(test.run(week).unwrap().as_nanos(), 6 * 24 * 3600 * 1_000_000_000);
    /// ```
    ///
    /// # Errors
    /// The first failure ends it.
    ///
    /// # Panics
    /// A panic of a round, of its clone or of the policy's conditions becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// A pause ends at once, even one of no length; a round handles the cancellation in its own way. The last value is
    /// dropped.
    #[track_caller]
    pub fn repeat(self, policy: Policy<T>) -> Fiber<T, Repeat<R, T>> {
        Fiber::new(Loop::new(RepeatRounds::new(Cloned(self.into_run()), policy)))
    }
}

impl<T: Send + 'static> Fiber<T> {
    /// Like [`repeat`](Fiber::repeat), but calls `round` to make each round just before it starts.
    ///
    /// ```
    /// use fiber_core::{Fiber, Policy};
    ///
    /// let mut steps = 0;
    /// let step = move || {
    ///     steps += 1;
    ///     Fiber::success(steps).boxed()
    /// };
    /// assert_eq!(fiber_sched::run(Fiber::repeat_with(Policy::recurs(3), step)).unwrap(), 4);
    /// ```
    ///
    /// # Errors
    /// The first failure ends it.
    ///
    /// # Panics
    /// A panic of `round`, of what it makes or of the policy's conditions becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// As in [`repeat`](Fiber::repeat).
    #[track_caller]
    pub fn repeat_with<R, F>(policy: Policy<T>, round: F) -> Fiber<T, RepeatWith<F, T>>
    where
        R: Run<Out = T>,
        F: FnMut() -> Fiber<T, R> + Send + 'static,
    {
        Fiber::new(Loop::new(RepeatRounds::new(Made(round), policy)))
    }
}

/// The description of [`Fiber::repeat`].
pub type Repeat<R, T> = Loop<RepeatRounds<Cloned<R>, Recurrence<T>>>;
/// The description of [`Fiber::repeat_with`].
pub type RepeatWith<F, T> = Loop<RepeatRounds<Made<F>, Recurrence<T>>>;

/// The rounds of a repetition, and the pauses between them.
#[derive(Clone, Debug)]
pub struct RepeatRounds<S, P> {
    source: S,
    recurrence: P,
    site: Site,
}

impl<S, T: 'static> RepeatRounds<S, Recurrence<T>> {
    #[track_caller]
    fn new(source: S, policy: Policy<T>) -> Self {
        RepeatRounds { source, recurrence: Recurrence::new(policy), site: Location::caller() }
    }

    /// The next lap after a round that succeeded.
    fn after<R>(&mut self, cx: &Cx<'_>, value: T) -> ControlFlow<Outcome<T>, Lap<R>> {
        match self.recurrence.next_pause(cx.scheduler(), &value) {
            Some(pause) => ControlFlow::Continue(Lap::pause(self.site, pause)),
            None => ControlFlow::Break(Outcome::Success(value)),
        }
    }
}

impl<T, S> Rounds for RepeatRounds<S, Recurrence<T>>
where
    T: Send + 'static,
    S: Source,
    S::Round: Run<Out = T>,
{
    type Item = Option<T>;
    type Carry = After<T>;
    type Out = T;
    type Round = Lap<S::Round>;
    const NAME: &'static str = "repeat";

    #[inline]
    fn carry(outcome: Outcome<Option<T>>) -> Result<After<T>, Outcome<T>> {
        outcome.split().map(|turn| turn.map_or(After::Pause, After::Round))
    }

    #[inline]
    fn next(&mut self, cx: &Cx<'_>, last: Option<After<T>>) -> ControlFlow<Outcome<T>, Lap<S::Round>> {
        match last {
            Some(After::Round(value)) => self.after(cx, value),
            Some(After::Pause) | None => {
                self.recurrence.start_round(cx.scheduler());
                ControlFlow::Continue(Lap::Round(self.source.round()))
            }
        }
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.source.discard(torn);
        discard_part(self.recurrence, torn);
    }
}
