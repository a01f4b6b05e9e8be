use std::panic::Location;
use std::sync::Arc;

use super::branch::{Branch, Sink};
use super::group::{self, Group};
use super::race::Won;
use super::winner::Winner;
use crate::context::{Context, Cx};
use crate::error::{Error, Frame};
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::step::{Run, Step};

impl<T: Send + 'static> Fiber<T> {
    /// Runs all; the first to end wins, whatever its outcome. The others are cancelled, and awaited.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let runners = (1..=3).map(|n| Fiber::delay(Duration::from_secs(n)).map(move |()| n));
    /// assert_eq!(TestScheduler::new().run(Fiber::race_all(runners)).unwrap(), 1);
    /// ```
    ///
    /// # Errors
    /// The winner's, as for [`race`](Fiber::race). A race of nothing fails.
    ///
    /// # Cancellation
    /// Cancels and awaits all.
    #[track_caller]
    pub fn race_all<I, R>(fibers: I) -> Fiber<T, RaceAll<R>>
    where
        I: IntoIterator<Item = Fiber<T, R>>,
        R: Run<Out = T>,
    {
        let fibers = fibers.into_iter().map(Fiber::into_run).collect();
        Fiber::new(RaceAll { fibers, site: Location::caller() })
    }
}

/// The description of [`Fiber::race_all`].
#[derive(Clone, Debug)]
pub struct RaceAll<R> {
    fibers: Vec<R>,
    site: &'static Location<'static>,
}

impl<R: Run> Run for RaceAll<R> {
    type Out = R::Out;
    type Suspension = Group<Won<R::Out>>;

    fn run(self, cx: &Cx<'_>) -> Step<R::Out, Self::Suspension> {
        let frame = Frame::new("race_all", self.site);
        if cx.is_interrupted() {
            let refused = |outcome: Outcome<_>, fiber| outcome.without(fiber, cx.context());
            return Step::Done(self.fibers.into_iter().fold(Outcome::Cancelled, refused));
        }
        if self.fibers.is_empty() {
            let error = Error::msg("race_all of no fibers: nobody can win");
            return Step::Done(Outcome::Failure(error).passed(frame));
        }
        let context = group::open(cx, "race_all", self.site);
        let winner = Arc::new(Winner::new(context.clone()));
        let branches =
            self.fibers.into_iter().map(|run| Branch::new(&context, run, Runner(winner.clone()), self.site));
        Branch::run_all(branches.collect(), cx);
        Group::settle(cx, context, Won { winner, frame })
    }
}

struct Runner<T>(Arc<Winner<T>>);

impl<T: Send + 'static> Sink<T> for Runner<T> {
    fn deliver(&self, context: &Context, outcome: Outcome<T>) {
        self.0.arrive(context, outcome);
    }
}
