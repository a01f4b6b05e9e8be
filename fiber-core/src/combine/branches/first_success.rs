use std::panic::Location;

use super::failures::Failures;
use super::gather::{Arrived, Gather, RaceOf};
use crate::engine::context::{Context, Cx};
use crate::engine::scheduler::Unobserved;
use crate::engine::step::Run;
use crate::engine::suppress::{HasContext, discard};
use crate::error::Frame;
use crate::fiber::Fiber;
use crate::outcome::Outcome;

impl<T: Send + 'static> Fiber<T> {
    /// Runs all fibers; the first to succeed wins. The others are then cancelled, and awaited.
    ///
    /// The iterator is read to its end when the fiber runs, before the first branch starts.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// let mirrors = [Fiber::fail("down").boxed(), Fiber::success("the file").boxed()];
    /// assert_eq!(fiber_sched::run(Fiber::first_success(mirrors)).unwrap(), "the file");
    /// ```
    ///
    /// # Errors
    /// If all branches have failed: the first failure, with all others suppressed into it. An empty iterator is a
    /// failure too.
    ///
    /// # Panics
    /// A panic of a branch goes to [`Scheduler::unobserved`](crate::scheduler::Scheduler::unobserved) if another branch succeeds;
    /// otherwise it becomes the outcome. A panic of the iterator becomes the outcome.
    ///
    /// # Cancellation
    /// All branches are cancelled and awaited. If a branch has failed before, the fiber fails with its error, also under a timeout whose limit has
    /// passed.
    #[doc(alias = "select_ok")]
    #[track_caller]
    pub fn first_success<I, R>(fibers: I) -> Fiber<T, RaceOf<I::IntoIter, fn(Frame) -> Successes<T>>>
    where
        I: IntoIterator<Item = Fiber<T, R>>,
        I::IntoIter: Send + 'static,
        R: Run<Out = T>,
    {
        let frame = Frame::new("first_success", Location::caller());
        Fiber::new(RaceOf { fibers: fibers.into_iter(), gather: Successes::new, frame })
    }
}

/// The first success, or all failures.
#[derive(Debug)]
pub struct Successes<T> {
    /// The first success. For a hedge, this may also be an outcome that ends it.
    decisive: Option<Outcome<T>>,
    failures: Failures,
    /// Separate from the failures: a success makes up for failures, but must not hide a panic.
    panics: Failures,
    frame: Frame,
}

impl<T> Successes<T> {
    pub(super) fn new(frame: Frame) -> Self {
        Successes { decisive: None, failures: Failures::default(), panics: Failures::default(), frame }
    }

    pub(super) fn is_decided(&self) -> bool {
        self.decisive.is_some()
    }

    /// Adds the outcome of a branch that has ended after the decision: failures of both are reported together. Gives back any other.
    pub(super) fn lose(&mut self, outcome: Outcome<T>, fiber: &dyn HasContext) -> Option<Outcome<T>> {
        if !outcome.is_wrong() || !self.decisive.as_ref().is_some_and(Outcome::is_wrong) {
            return Some(outcome);
        }
        self.decisive = self.decisive.take().map(|decisive| decisive.suppress(outcome, fiber));
        None
    }

    /// Decides, if nothing has decided yet.
    pub(super) fn decide(&mut self, outcome: Outcome<T>) -> Arrived<T> {
        if self.decisive.is_some() {
            return Arrived::Unused(outcome);
        }
        self.decisive = Some(outcome);
        Arrived::Decided
    }
}

impl<T: Send + 'static> Gather<T> for Successes<T> {
    type Out = T;
    const RACES: bool = true;

    fn arrive(&mut self, _: usize, outcome: Outcome<T>, fiber: &dyn HasContext) -> Arrived<T> {
        match outcome {
            Outcome::Success(_) => return self.decide(outcome),
            outcome if self.decisive.is_some() => return Arrived::Unused(outcome),
            Outcome::Panicked(_) => self.panics.add(fiber, outcome),
            outcome => self.failures.add(fiber, outcome),
        }
        Arrived::Kept
    }

    fn conclude(self, cx: &Cx<'_>) -> Outcome<T> {
        let panicked = self.panics.take();
        let failed = self.failures.take();
        if let Some(Outcome::Success(value)) = self.decisive {
            panicked.iter().for_each(|panicked| Unobserved::report(cx, panicked));
            // The drop of an error may panic, which must not lose the winner's value.
            discard::<Option<Outcome<T>>>(failed, cx);
            return Outcome::Success(value);
        }
        // If there is no decisive outcome, there is at least one other, because there is at least one branch.
        let wrong: Option<Outcome<T>> = [self.decisive, panicked, failed]
            .into_iter()
            .flatten()
            .reduce(|first, other| first.suppress(other, cx));
        wrong.unwrap_or(Outcome::Cancelled).passed(self.frame)
    }

    fn discard(self, fiber: &Context) {
        discard(self.decisive, fiber);
        discard(self.failures, fiber);
        discard(self.panics, fiber);
    }
}
