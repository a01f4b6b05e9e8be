//! The failures of a set of branches: the first one, with the others suppressed into it.

use std::mem::replace;

use crate::engine::suppress::{HasContext, Valueless};
use crate::outcome::Outcome;

/// `Success` means that nothing has failed so far.
#[derive(Debug)]
pub(crate) struct Failures(Outcome<()>);

impl Default for Failures {
    fn default() -> Self {
        Failures(Outcome::Success(()))
    }
}

impl Failures {
    /// Adds the outcome of the branch `fiber`. An error takes precedence over a cancellation.
    pub(crate) fn add<T>(&mut self, fiber: &dyn HasContext, other: Outcome<T>) {
        if let Err(other) = other.split() {
            self.add_valueless(fiber, other);
        }
    }

    fn add_valueless(&mut self, fiber: &dyn HasContext, other: Valueless) {
        let so_far = replace(&mut self.0, Outcome::Success(()));
        self.0 = match (so_far, other) {
            (Outcome::Success(()), Outcome::Cancelled) => Outcome::Cancelled,
            (so_far, other) => so_far.suppress(other, fiber),
        };
    }

    /// Returns the value of a success; adds every other outcome.
    #[inline]
    pub(crate) fn sift<T>(&mut self, fiber: &dyn HasContext, outcome: Outcome<T>) -> Option<T> {
        match outcome {
            Outcome::Success(value) => Some(value),
            other => {
                self.add(fiber, other);
                None
            }
        }
    }

    /// All failures, if there are any.
    pub(crate) fn take<T>(self) -> Option<Outcome<T>> {
        self.0.split().err()
    }

    /// All failures. There must be at least one.
    pub(crate) fn into_outcome<T>(self) -> Outcome<T> {
        self.take().unwrap_or(Outcome::Cancelled)
    }
}
