use std::iter;
use std::panic::Location;
use std::time::Duration;

use super::again::{Again, Cloned, Kind, again};
use super::iterate::Loop;
use crate::engine::context::Cx;
use crate::engine::step::{Run, RunAgain};
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::policy::{Policy, Recurrence};

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
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
    /// The first failure ends the loop.
    ///
    /// # Panics
    /// A panic of a round, of its clone or of the policy's conditions becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// A pause ends at once, even one of zero length; a round handles the cancellation in its own way. The last value is
    /// dropped.
    #[track_caller]
    pub fn repeat(self, policy: Policy<T>) -> Fiber<T, Repeat<R, T>>
    where
        R: RunAgain,
    {
        Fiber::new(again(Location::caller(), Cloned(self.into_run()), policy))
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
    /// The first failure ends the loop.
    ///
    /// # Panics
    /// A panic of `round`, of the fiber that it makes or of the policy's conditions becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// As in [`repeat`](Fiber::repeat).
    #[track_caller]
    pub fn repeat_with<R, F>(policy: Policy<T>, round: F) -> Fiber<T, RepeatWith<F, T>>
    where
        R: Run<Out = T>,
        F: FnMut() -> Fiber<T, R> + Send + 'static,
    {
        Fiber::new(again(Location::caller(), iter::repeat_with(round), policy))
    }
}

/// The description of [`Fiber::repeat`].
pub(crate) type Repeat<R, T> = Loop<Again<Cloned<R>, Recurrence<T>, AfterSuccess>>;
/// The description of [`Fiber::repeat_with`].
pub(crate) type RepeatWith<F, T> = Loop<Again<iter::RepeatWith<F>, Recurrence<T>, AfterSuccess>>;

/// Another round follows a success, unless the policy says otherwise.
#[derive(Clone, Copy, Debug)]
pub struct AfterSuccess;

impl<T: Send + 'static> Kind<T> for AfterSuccess {
    const NAME: &'static str = "repeat";
    type Seen = T;

    #[inline]
    fn see(outcome: Outcome<T>) -> Result<T, Outcome<T>> {
        outcome.split()
    }

    fn is_in_time(_: &Cx<'_>, _: Duration) -> bool {
        true
    }

    fn end(last: T, _: u64) -> Outcome<T> {
        Outcome::Success(last)
    }
}
