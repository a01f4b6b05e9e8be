//! What went wrong in a set of branches: the first of it, with the rest suppressed into it.

use std::mem;

use parking_lot::Mutex;

use crate::outcome::Outcome;
use crate::suppress::HasContext;

/// `Success` stands for: nothing so far.
#[derive(Debug)]
pub(super) struct FirstFailure(Mutex<Outcome<()>>);

impl FirstFailure {
    pub(super) fn new() -> Self {
        FirstFailure(Mutex::new(Outcome::Success(())))
    }

    /// Adds how the branch `fiber` ended. A genuine error counts more than a cancellation.
    pub(super) fn add<T>(&self, fiber: &impl HasContext, other: Outcome<T>) {
        let mut first = self.0.lock();
        let so_far = mem::replace(&mut *first, Outcome::Success(()));
        *first = match (so_far, other) {
            (Outcome::Success(()), Outcome::Cancelled) => Outcome::Cancelled,
            (so_far, other) => so_far.suppress(other, fiber),
        };
    }

    /// The value of a success. Adds anything else.
    pub(super) fn sift<T>(&self, fiber: &impl HasContext, outcome: Outcome<T>) -> Option<T> {
        match outcome {
            Outcome::Success(value) => Some(value),
            other => {
                self.add(fiber, other);
                None
            }
        }
    }

    /// Everything that went wrong, or `Ok`.
    pub(super) fn take<T>(&self) -> Result<(), Outcome<T>> {
        mem::replace(&mut *self.0.lock(), Outcome::Success(())).split()
    }
}
