use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use parking_lot::Mutex;

use super::branch::Sink;
use super::group::{Conclusion, Group};
use super::pair::{Joint, run_pair};
use super::race::Either;
use crate::context::{Context, Cx};
use crate::fiber::Fiber;
use crate::outcome::{Outcome, Panic};
use crate::step::{Run, Step};
use crate::suppress::discard;

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Like [`race`](Fiber::race), but gives how both sides ended: for losers whose value must not be dropped, because they
    /// may have succeeded while they were being cancelled.
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
    /// None of its own: failures are in the value.
    ///
    /// # Cancellation
    /// Cancels and awaits both; it ends as cancelled when both have.
    #[track_caller]
    pub fn race_with<U, S>(self, other: Fiber<U, S>) -> Fiber<Raced<T, U>, RaceWith<R, S>>
    where
        U: Send + 'static,
        S: Run<Out = U>,
    {
        let site = Location::caller();
        Fiber::new(RaceWith { left: self.into_run(), right: other.into_run(), site })
    }
}

/// How both sides of a [`Fiber::race_with`] ended.
#[derive(Debug)]
pub struct Raced<A, B> {
    /// The winner: whoever ended first.
    pub first: Outcome<Either<A, B>>,
    /// The loser, which was cancelled: mostly [`Outcome::Cancelled`].
    pub second: Outcome<Either<A, B>>,
}

/// The description of [`Fiber::race_with`].
#[derive(Clone, Debug)]
pub struct RaceWith<R, S> {
    left: R,
    right: S,
    site: &'static Location<'static>,
}

impl<R: Run, S: Run> Run for RaceWith<R, S> {
    type Out = Raced<R::Out, S::Out>;
    type Suspension = Group<BothEnded<R::Out, S::Out>>;

    fn run(self, cx: &Cx<'_>) -> Step<Self::Out, Self::Suspension> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        run_pair(cx, self.left, self.right, RaceWithJoint, self.site)
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.left.discard(torn);
        self.right.discard(torn);
    }
}

#[derive(Clone, Copy)]
struct RaceWithJoint;

impl<A: Send + 'static, B: Send + 'static> Joint<A, B> for RaceWithJoint {
    const NAME: &'static str = "race_with";
    type Out = Raced<A, B>;
    type Left = Left<A, B>;
    type Right = Right<A, B>;
    type End = BothEnded<A, B>;

    fn open(self, group: &Context) -> (Self::Left, Self::Right, Self::End) {
        let finish = Arc::new(Finish { arrived: Mutex::new((None, None)), group: group.clone() });
        (Left(finish.clone()), Right(finish.clone()), BothEnded(finish))
    }

    fn wants_right(_: &Outcome<A>) -> bool {
        false
    }

    fn conclude(self, _: &Cx<'_>, left: Outcome<A>, right: Outcome<B>) -> Outcome<Raced<A, B>> {
        Raced { first: left.map(Either::Left), second: right.map(Either::Right) }.into_outcome()
    }
}

impl<A, B> Raced<A, B> {
    /// Cancelled, if neither side has ended in another way.
    fn into_outcome(self) -> Outcome<Self> {
        match self {
            Raced { first: Outcome::Cancelled, second: Outcome::Cancelled } => Outcome::Cancelled,
            raced => Outcome::Success(raced),
        }
    }
}

type Arrived<T> = (Option<Outcome<T>>, Option<Outcome<T>>);

struct Finish<A, B> {
    arrived: Mutex<Arrived<Either<A, B>>>,
    group: Context,
}

impl<A, B> Finish<A, B> {
    fn arrive(&self, outcome: Outcome<Either<A, B>>) {
        let mut arrived = self.arrived.lock();
        if arrived.0.is_some() {
            arrived.1 = Some(outcome);
        } else {
            arrived.0 = Some(outcome);
            drop(arrived);
            self.group.cancel();
        }
    }
}

impl<A, B> Drop for Finish<A, B> {
    /// The outcomes are still here when the scheduler has thrown the fiber away. Each of them may panic.
    fn drop(&mut self) {
        let (first, second) = std::mem::take(self.arrived.get_mut());
        discard(first, &self.group);
        discard(second, &self.group);
    }
}

struct Left<A, B>(Arc<Finish<A, B>>);
struct Right<A, B>(Arc<Finish<A, B>>);

impl<A: Send + 'static, B: Send + 'static> Sink<A> for Left<A, B> {
    fn deliver(&self, _: &Context, outcome: Outcome<A>) {
        self.0.arrive(outcome.map(Either::Left));
    }
}

impl<A: Send + 'static, B: Send + 'static> Sink<B> for Right<A, B> {
    fn deliver(&self, _: &Context, outcome: Outcome<B>) {
        self.0.arrive(outcome.map(Either::Right));
    }
}

/// Puts the two outcomes together.
pub struct BothEnded<A, B>(Arc<Finish<A, B>>);

impl<A: Send + 'static, B: Send + 'static> Conclusion for BothEnded<A, B> {
    type Out = Raced<A, B>;

    fn conclude(self, _: &Cx<'_>) -> Outcome<Raced<A, B>> {
        let arrived = std::mem::take(&mut *self.0.arrived.lock());
        match arrived {
            (Some(first), Some(second)) => Raced { first, second }.into_outcome(),
            (_, None) | (None, _) => unreachable!("both sides have ended"),
        }
    }
}

impl<A, B> fmt::Debug for BothEnded<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.group, f)
    }
}
