use std::panic::Location;
use std::sync::Arc;

use super::branch::{Branch, Sink, pull_all};
use super::group::{self, Group};
use super::race::Won;
use super::winner::Winner;
use crate::context::{Context, Cx};
use crate::error::Frame;
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::step::{Run, Step};

impl<T: Send + 'static> Fiber<T> {
    /// Runs all; the first to end wins, whatever its outcome. The others are cancelled, and awaited.
    ///
    /// The iterator is pulled when the fiber runs, to its end, before the first fiber starts.
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
    /// # Panics
    /// A panic of the iterator is the fiber's outcome.
    ///
    /// # Cancellation
    /// Cancels and awaits all.
    #[track_caller]
    pub fn race_all<I, R>(fibers: I) -> Fiber<T, RaceAll<I::IntoIter>>
    where
        I: IntoIterator<Item = Fiber<T, R>>,
        I::IntoIter: Send + 'static,
        R: Run<Out = T>,
    {
        Fiber::new(RaceAll { fibers: fibers.into_iter(), site: Location::caller() })
    }
}

/// The description of [`Fiber::race_all`].
#[derive(Clone, Debug)]
pub struct RaceAll<I> {
    fibers: I,
    site: &'static Location<'static>,
}

impl<T, R, I> Run for RaceAll<I>
where
    T: Send + 'static,
    R: Run<Out = T>,
    I: Iterator<Item = Fiber<T, R>> + Send + 'static,
{
    type Out = T;
    type Suspension = Group<Won<T>>;

    fn run(self, cx: &Cx<'_>) -> Step<T, Self::Suspension> {
        let frame = Frame::new("race_all", self.site);
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let fibers = match pull_all(cx, self.fibers, frame) {
            Ok(fibers) => fibers,
            Err(outcome) => return Step::Done(outcome),
        };
        let context = group::open(cx, "race_all", self.site);
        let winner = Arc::new(Winner::new(context.clone()));
        let branches =
            fibers.into_iter().map(|run| Branch::new(&context, run, Runner(winner.clone()), self.site));
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
