use std::panic::Location;
use std::sync::Arc;

use super::branch::{Branch, Sink};
use super::group::{self, Conclusion, Group};
use super::winner::Winner;
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
    /// The fiber itself starts with the right side, while any worker may take the left one; when the right side waits or has
    /// ended, the fiber starts the left one, if it has not been taken. So in `slow.race(ready)` the left side may never start,
    /// and in `ready.race(slow)` both do. A side that never started has no effect.
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
        let context = group::open(cx, "race", self.site);
        let winner = Arc::new(Winner::new(context.clone()));
        let left = Branch::new(&context, self.left, Left(winner.clone()), self.site);
        let right = Branch::new(&context, self.right, Right(winner.clone()), self.site);
        left.offer(cx);
        if right.run_last(cx) {
            left.start_inline(cx);
        }
        let frame = Frame::new("race", self.site);
        Group::settle(cx, context, Won { winner, frame })
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.left.discard(torn);
        self.right.discard(torn);
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
