use std::panic::Location;

use super::gather::{Arrived, Gather, RaceOf};
use super::race::lose;
use crate::engine::context::{Context, Cx};
use crate::engine::step::Run;
use crate::engine::suppress::{HasContext, discard};
use crate::error::Frame;
use crate::fiber::Fiber;
use crate::outcome::Outcome;

impl<T: Send + 'static> Fiber<T> {
    /// Runs all fibers; the first to end wins, whatever its outcome. The others are cancelled, and awaited.
    ///
    /// The iterator is read to its end when the fiber runs, before the first branch starts. The winner in time is that of
    /// `race_all(..).timeout_option(limit)`.
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
    /// The failure of the winner, as in [`race`](Fiber::race). An empty iterator is a failure too.
    ///
    /// # Panics
    /// A panic of the iterator becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// All branches are cancelled and awaited.
    #[doc(alias = "select_all")]
    #[track_caller]
    pub fn race_all<I, R>(fibers: I) -> Fiber<T, RaceOf<I::IntoIter, fn(Frame) -> First<T>>>
    where
        I: IntoIterator<Item = Fiber<T, R>>,
        I::IntoIter: Send + 'static,
        R: Run<Out = T>,
    {
        let frame = Frame::new("race_all", Location::caller());
        Fiber::new(RaceOf { fibers: fibers.into_iter(), gather: First::new, frame })
    }
}

/// The outcome of the first to end.
#[derive(Debug)]
pub struct First<T> {
    winner: Option<Outcome<T>>,
    frame: Frame,
}

impl<T> First<T> {
    pub(super) fn new(frame: Frame) -> Self {
        First { winner: None, frame }
    }
}

impl<T: Send + 'static> Gather<T> for First<T> {
    type Out = T;
    const RACES: bool = true;

    fn arrive(&mut self, _: usize, outcome: Outcome<T>, fiber: &dyn HasContext) -> Arrived<T> {
        match self.winner.take() {
            None => {
                self.winner = Some(outcome);
                Arrived::Decided
            }
            Some(winner) if winner.is_wrong() && outcome.is_wrong() => {
                self.winner = Some(lose(winner, outcome, fiber));
                Arrived::Kept
            }
            Some(winner) => {
                self.winner = Some(winner);
                Arrived::Unused(outcome)
            }
        }
    }

    fn conclude(self, _: &Cx<'_>) -> Outcome<T> {
        // There is a winner, because an empty iterator is refused before.
        self.winner.unwrap_or(Outcome::Cancelled).passed(self.frame)
    }

    fn discard(self, fiber: &Context) {
        discard(self.winner, fiber);
    }
}
