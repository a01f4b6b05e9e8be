use std::panic::Location;

use super::pair::{Ended, Joint, Pair};
use crate::combine::sequence::Either;
use crate::engine::context::Cx;
use crate::engine::step::Run;
use crate::error::Frame;
use crate::fiber::Fiber;
use crate::outcome::Outcome;

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Like [`race`](Fiber::race), but gives the outcomes of both sides. Use it if the value of the loser must not be
    /// dropped: the loser may succeed while it is being cancelled.
    ///
    /// ```
    /// use fiber_core::{Either, Fiber};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let second = Duration::from_secs(1);
    /// let connect = |after: u32| Fiber::delay(after * second).map(move |()| after).uncancelable();
    /// let raced = TestScheduler::new().run(connect(1).race_with(connect(2))).unwrap();
    /// assert_eq!(raced.first.unwrap(), Either::Left(1));
    /// assert_eq!(raced.second.unwrap(), Either::Right(2)); // a second connection: to be closed
    /// ```
    ///
    /// # Errors
    /// None: failures of the sides are part of the value.
    ///
    /// # Cancellation
    /// Both sides are cancelled and awaited. If both end as cancelled, so does the fiber; otherwise it gives both outcomes, so no value is
    /// lost.
    #[track_caller]
    pub fn race_with<U, S>(self, other: Fiber<U, S>) -> Fiber<Raced<T, U>, RaceWith<R, S>>
    where
        U: Send + 'static,
        S: Run<Out = U>,
    {
        Fiber::new(Pair::new(self, other, InOrder, Location::caller()))
    }
}

/// How both sides of a [`Fiber::race_with`] ended.
#[derive(Debug)]
pub struct Raced<A, B> {
    /// The winner, which ended first.
    pub first: Outcome<Either<A, B>>,
    /// The loser, which was cancelled; usually [`Outcome::Cancelled`].
    pub second: Outcome<Either<A, B>>,
}

/// The description of [`Fiber::race_with`].
pub(crate) type RaceWith<R, S> = Pair<R, S, InOrder>;

/// Gives both outcomes.
#[derive(Clone, Copy, Debug)]
pub struct InOrder;

impl<A: Send + 'static, B: Send + 'static> Joint<A, B> for InOrder {
    const NAME: &'static str = "race_with";
    const NAMES_LAST: bool = false;
    type Out = Raced<A, B>;

    fn decides<T>(_: &Outcome<T>) -> bool {
        true
    }

    fn conclude(self, _: &Cx<'_>, ended: Ended<A, B>, _: Frame) -> Outcome<Raced<A, B>> {
        match ended.in_order() {
            (Outcome::Cancelled, Outcome::Cancelled) => Outcome::Cancelled,
            (first, second) => Outcome::Success(Raced { first, second }),
        }
    }
}
