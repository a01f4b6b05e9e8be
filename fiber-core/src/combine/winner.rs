//! Who was first of a set of branches.

use parking_lot::Mutex;

use crate::context::Context;
use crate::outcome::Outcome;
use crate::scheduler::Unobserved;
use crate::suppress::HasContext;

/// The outcome of the winner, when `loser` has come to light. What both did wrong is told together.
pub(super) fn lose<T>(winner: Outcome<T>, loser: Outcome<T>, fiber: &impl HasContext) -> Outcome<T> {
    if winner.is_wrong() {
        return winner.suppress(loser, fiber);
    }
    Unobserved::report(fiber, &loser);
    winner
}

pub(super) struct Winner<T> {
    first: Mutex<Option<Outcome<T>>>,
    scope: Context,
}

impl<T> Winner<T> {
    pub(super) fn new(scope: Context) -> Self {
        Winner { first: Mutex::new(None), scope }
    }

    /// The branch of `context` has ended. The first one cancels the others.
    pub(super) fn arrive(&self, context: &Context, outcome: Outcome<T>) {
        let mut first = self.first.lock();
        match first.take() {
            None => {
                *first = Some(outcome);
                drop(first);
                self.scope.cancel();
            }
            Some(winner) if winner.is_wrong() && outcome.is_wrong() => {
                *first = Some(lose(winner, outcome, context))
            }
            Some(winner) => {
                *first = Some(winner);
                // The value of a loser is dropped without the lock: that is the user's code.
                drop(first);
                Unobserved::report(context, &outcome);
            }
        }
    }

    /// The outcome of the first, after all have ended.
    pub(super) fn take(&self) -> Outcome<T> {
        // Without any branch nobody can have won; that is refused before.
        self.first.lock().take().unwrap_or(Outcome::Cancelled)
    }
}
