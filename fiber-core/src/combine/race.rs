use std::panic::Location;
use std::sync::Arc;

use super::branch::Sink;
use super::group::{Conclusion, Group};
use super::pair::{Joint, run_pair};
use super::winner::{Winner, lose};
use crate::context::{Context, Cx};
use crate::error::Frame;
use crate::fiber::Fiber;
use crate::outcome::{Outcome, Panic};
use crate::step::{Run, Step};

/// The value of one of two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Either<A, B> {
    /// From the left side: the fiber that `race` was called on.
    Left(A),
    /// From the right side.
    Right(B),
}

impl<T> Either<T, T> {
    /// The value, whichever side it is from.
    ///
    /// ```
    /// use fiber_core::Either;
    /// assert_eq!(Either::<i32, i32>::Right(2).into_inner(), 2);
    /// ```
    pub fn into_inner(self) -> T {
        match self {
            Either::Left(value) | Either::Right(value) => value,
        }
    }
}

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Runs both; the first to end wins, whatever its outcome. The other one is cancelled, and awaited.
    ///
    /// The fiber itself starts the left side, while any worker may take the right one. When the left side waits, the fiber starts
    /// the right one, if nobody has taken it. So in `ready.race(slow)` the right side may never start, and in
    /// `slow.race(ready)` both do. A side that never started has no effect.
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
    /// The winner's. A failure of the loser is suppressed into that of the winner; if the winner succeeded, it goes to
    /// [`Scheduler::unobserved`](crate::Scheduler::unobserved).
    ///
    /// # Cancellation
    /// Cancels and awaits both.
    #[track_caller]
    pub fn race<U, S>(self, other: Fiber<U, S>) -> Fiber<Either<T, U>, Race<R, S>>
    where
        U: Send + 'static,
        S: Run<Out = U>,
    {
        let site = Location::caller();
        Fiber::new(Race { left: self.into_run(), right: other.into_run(), site })
    }
}

/// The description of [`Fiber::race`].
#[derive(Clone, Debug)]
pub struct Race<R, S> {
    left: R,
    right: S,
    site: &'static Location<'static>,
}

impl<R: Run, S: Run> Run for Race<R, S> {
    type Out = Either<R::Out, S::Out>;
    type Suspension = Group<Won<Self::Out>>;

    fn run(self, cx: &Cx<'_>) -> Step<Self::Out, Self::Suspension> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        run_pair(cx, self.left, self.right, RaceJoint(self.site), self.site)
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.left.discard(torn);
        self.right.discard(torn);
    }
}

#[derive(Clone, Copy)]
struct RaceJoint(&'static Location<'static>);

impl<A: Send + 'static, B: Send + 'static> Joint<A, B> for RaceJoint {
    const NAME: &'static str = "race";
    type Out = Either<A, B>;
    type Left = Left<A, B>;
    type Right = Right<A, B>;
    type End = Won<Either<A, B>>;

    fn open(self, group: &Context) -> (Self::Left, Self::Right, Self::End) {
        let winner = Arc::new(Winner::new(group.clone()));
        let frame = Frame::new("race", self.0);
        (Left(winner.clone()), Right(winner.clone()), Won { winner, frame })
    }

    fn wants_right(_: &Outcome<A>) -> bool {
        false
    }

    fn conclude(self, cx: &Cx<'_>, left: Outcome<A>, right: Outcome<B>) -> Outcome<Either<A, B>> {
        let loser = right.map(Either::Right);
        lose(left.map(Either::Left), loser, cx).passed(Frame::new("race", self.0))
    }
}

struct Left<A, B>(Arc<Winner<Either<A, B>>>);
struct Right<A, B>(Arc<Winner<Either<A, B>>>);

impl<A: Send + 'static, B: Send + 'static> Sink<A> for Left<A, B> {
    fn deliver(&self, context: &Context, outcome: Outcome<A>) {
        self.0.arrive(context, outcome.map(Either::Left));
    }
}

impl<A: Send + 'static, B: Send + 'static> Sink<B> for Right<A, B> {
    fn deliver(&self, context: &Context, outcome: Outcome<B>) {
        self.0.arrive(context, outcome.map(Either::Right));
    }
}

/// Gives the outcome of the winner.
pub struct Won<T> {
    pub(super) winner: Arc<Winner<T>>,
    pub(super) frame: Frame,
}

impl<T> std::fmt::Debug for Won<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.frame)
    }
}

impl<T: Send + 'static> Conclusion for Won<T> {
    type Out = T;

    fn conclude(self, _: &Cx<'_>) -> Outcome<T> {
        self.winner.take().passed(self.frame)
    }
}
