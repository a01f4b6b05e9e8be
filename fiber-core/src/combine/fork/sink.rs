//! Where a branch leaves its outcome.

use crate::engine::context::Context;
use crate::outcome::Outcome;

/// Where a branch leaves its outcome.
pub(crate) trait Sink<T>: Send + Sync + 'static {
    /// The part of the branch's cell for this; `()` if the outcome belongs to the sink.
    type Place: Default + Send + Sync + 'static;
    /// Whether the branch is a side of a race.
    const RACES: bool = false;
    /// Whether the fiber belongs to the scheduler, even if the one above has a [host](crate::engine::host).
    const IS_OUTSIDE: bool = false;
    /// Whether the fiber may have a host itself.
    const IS_CALLED: bool = false;

    /// Receives the outcome. The branch of `context` and all its children have ended; its scope still counts it.
    fn deliver(self, context: &Context, outcome: Outcome<T>);
}
