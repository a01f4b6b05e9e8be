use std::panic::Location;

use super::choice::{Choice, Sides};
use super::pair::{Ended, Joint, Pair};
use crate::combine::sequence::Either;
use crate::engine::context::Cx;
use crate::engine::fate::unwanted;
use crate::engine::side::Single;
use crate::engine::step::{Run, Step};
use crate::engine::suppress::{HasContext, forget};
use crate::error::{Frame, Site};
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::panic::Panic;

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Runs both fibers; the first to end wins, whatever its outcome. The loser is cancelled, and awaited.
    ///
    /// The current fiber starts the left side; meanwhile, any worker may take the right one. If the left side waits and
    /// no worker has taken the right one, the current fiber starts it. In `ready.race(slow)`, the right side may
    /// therefore never start; in `slow.race(ready)`, both sides do. A side that never started has no effect.
    ///
    /// A side that is a single wait (a delay, an operation of a [primitive](crate::sync) or a [socket](crate::net), a
    /// [cancelled token](crate::CancelToken::cancelled), the [end of a fiber](crate::Handle::ended)) takes and gives nothing unless it wins, whether it is boxed, named, followed by
    /// plain closures, or in a block that does nothing else, and whatever the other side is. So a race with a receive loses no item, and
    /// the item of a send that has lost is never received. A longer program may have taken something before its last wait. A race is such a
    /// program in a race around it if one of its losers waits in a finalizer: while it does, another side of the outer race may win.
    ///
    /// A side whose event has happened holds the race until it waits again, yields or ends. So a side that computes for long after a
    /// wait delays the others, unless it yields ([`Fiber::yield_now`]) or asks `Direct::is_cancelled` now and then.
    ///
    /// ```
    /// use fiber_core::{Either, Fiber};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let hare = Fiber::delay(Duration::from_secs(1)).map(|()| "hare");
    /// let tortoise = Fiber::delay(Duration::from_secs(60)).map(|()| "tortoise");
    /// assert_eq!(TestScheduler::new().run(hare.race(tortoise)).unwrap(), Either::Left("hare"));
    /// ```
    ///
    /// # Errors
    /// The failure of the winner. A failure of the loser is suppressed into it; if the winner succeeded, the loser's
    /// failure goes to [`Scheduler::unobserved`](crate::scheduler::Scheduler::unobserved).
    ///
    /// # Cancellation
    /// Both sides are cancelled and awaited.
    #[doc(alias = "select")]
    #[track_caller]
    pub fn race<U, S>(self, other: Fiber<U, S>) -> Fiber<Either<T, U>, Race<R, S>>
    where
        U: Send + 'static,
        S: Run<Out = U>,
    {
        self.race_at(Location::caller(), other)
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    pub(crate) fn race_at<U, S>(self, site: Site, other: Fiber<U, S>) -> Fiber<Either<T, U>, Race<R, S>>
    where
        U: Send + 'static,
        S: Run<Out = U>,
    {
        Fiber::new(Race(Pair::new(self, other, FirstOfTwo, site)))
    }
}

/// The description of [`Fiber::race`].
#[derive(Clone, Debug)]
pub struct Race<R, S>(Pair<R, S, FirstOfTwo>);

impl<R: Run, S: Run> Race<R, S> {
    /// A constant, so that the compiler looks into one of both only, if the types say which.
    const RUN: for<'s> fn(Self, &'s Cx<'_>) -> Step<'s, Either<R::Out, S::Out>> =
        match Single::and_of_types(R::SINGLE, S::SINGLE) {
            Some(single) if single.is_one() => Self::run_as_choice,
            Some(_) => Self::run_as_pair,
            None => Self::run_as_either,
        };

    fn run_as_either<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Either<R::Out, S::Out>> {
        if self.0.single().is_one() { self.run_as_choice(cx) } else { self.run_as_pair(cx) }
    }

    #[inline]
    fn run_as_choice<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Either<R::Out, S::Out>> {
        let (left, right, site) = self.0.into_parts();
        Choice::leaf(Sides(left.into_side(), right.into_side()), site).run(cx)
    }

    #[inline]
    fn run_as_pair<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Either<R::Out, S::Out>> {
        self.0.run(cx)
    }
}

impl<R: Run, S: Run> Run for Race<R, S> {
    type Out = Either<R::Out, S::Out>;

    #[inline]
    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Self::Out> {
        Self::RUN(self, cx)
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.0.discard(torn);
    }
}

/// Gives the outcome of the first to end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstOfTwo;

impl<A: Send + 'static, B: Send + 'static> Joint<A, B> for FirstOfTwo {
    const NAME: &'static str = "race";
    const RACES: bool = true;
    type Out = Either<A, B>;

    fn decides<T>(_: &Outcome<T>) -> bool {
        true
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn conclude(self, cx: &Cx<'_>, ended: Ended<A, B>, frame: Frame) -> Outcome<Either<A, B>> {
        match ended {
            Ended {
                left: Outcome::Success(value),
                right: Outcome::Cancelled,
                right_was_first: false,
                ..
            } => Outcome::Success(Either::Left(value)),
            ended => first_of_two(cx, ended, frame),
        }
    }
}

#[inline(never)]
fn first_of_two<A, B>(cx: &Cx<'_>, mut ended: Ended<A, B>, frame: Frame) -> Outcome<Either<A, B>> {
    let last = ended.last.take();
    let (winner, loser) = ended.in_order();
    let outcome = match &last {
        Some(fiber) => lose(winner, loser, fiber),
        None => lose(winner, loser, cx),
    };
    outcome.passed(frame)
}

/// Combines the outcomes of the winner and the loser: failures of both are reported together.
pub(crate) fn lose<T>(winner: Outcome<T>, loser: Outcome<T>, fiber: &dyn HasContext) -> Outcome<T> {
    if winner.is_wrong() && loser.is_wrong() {
        return winner.suppress(loser, fiber);
    }
    if loser.is_success() {
        unwanted();
    }
    forget(loser, fiber);
    winner
}
