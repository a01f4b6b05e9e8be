//! What went wrong in a set of branches: the first of it, with the rest suppressed into it.

use std::mem::replace;

use crate::engine::suppress::HasContext;
use crate::outcome::Outcome;

/// `Success` stands for: nothing so far.
#[derive(Debug)]
pub(crate) struct Failures(Outcome<()>);

impl Default for Failures {
    fn default() -> Self {
        Failures(Outcome::Success(()))
    }
}

impl Failures {
    /// Adds how the branch `fiber` ended. A genuine error counts more than a cancellation.
    pub(crate) fn add<T>(&mut self, fiber: &impl HasContext, other: Outcome<T>) {
        let so_far = replace(&mut self.0, Outcome::Success(()));
        self.0 = match (so_far, other) {
            (Outcome::Success(()), Outcome::Cancelled) => Outcome::Cancelled,
            (so_far, other) => so_far.suppress(other, fiber),
        };
    }

    /// The value of a success. Adds anything else.
    #[inline]
    pub(crate) fn sift<T>(&mut self, fiber: &impl HasContext, outcome: Outcome<T>) -> Option<T> {
        match outcome {
            Outcome::Success(value) => Some(value),
            other => {
                self.add(fiber, other);
                None
            }
        }
    }

    /// Everything that went wrong.
    pub(crate) fn take<T>(self) -> Option<Outcome<T>> {
        self.0.split().err()
    }

    /// Everything that went wrong, when something did.
    pub(crate) fn into_outcome<T>(self) -> Outcome<T> {
        self.take().unwrap_or(Outcome::Cancelled)
    }
}
