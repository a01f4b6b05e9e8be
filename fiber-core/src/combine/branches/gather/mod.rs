//! Any number of branches of one type: the structure of `parallel`, `race_all` and `first_success`.
//!
//! The fiber runs one branch after the other itself, and meanwhile lends the rest:
//!
//! ```text
//!  alone:     Rest { members, gather } on the stack, lent while a branch runs
//!                 | a branch has to wait, without a limit         | a thread takes it, or a branch has to wait
//!                 v                                               |
//!  outcomes   Remaining { members } on the stack, lent as before; |
//!  shared:    Shared { gather } in the cell of the group          |
//!                 | a thread takes it                             |
//!                 v                                               v
//!  shared:    Shared { members, gather } in the cell of the group; the fiber and each thread that joins are helpers, which pull and
//!             run branches
//! ```
//!
//! If all branches end at once, before another thread takes the rest, no node and no allocation is needed.
//!
//! * [`alone`]: the fiber that runs them one after the other.
//! * [`team`]: what it does when others run some, or when some wait.

mod alone;
mod team;

use crate::engine::context::{Context, Cx};
use crate::engine::suppress::HasContext;
use crate::outcome::Outcome;

pub(crate) use alone::{Plan, RaceOf, run_all, run_pulled};

/// Combines the outcomes of branches.
pub(crate) trait Gather<T>: Send + 'static + Sized {
    /// The value of a success.
    type Out: Send + 'static;
    /// Whether the result depends only on which branches succeed, not on their order.
    const COMMUTES: bool = false;
    /// Whether the branches are the sides of a race: what an event gives to one that is not needed must not be lost.
    const RACES: bool = false;

    /// Branch `index` has ended, or the iterator panicked instead of giving that branch.
    fn arrive(&mut self, index: usize, outcome: Outcome<T>, fiber: &dyn HasContext) -> Arrived<T>;

    /// All branches have ended.
    fn conclude(self, cx: &Cx<'_>) -> Outcome<Self::Out>;

    /// The fiber was abandoned. Drops the values one after the other, because each of them may panic.
    fn discard(self, fiber: &Context);
}

/// The effect of a branch's end on the others.
#[derive(Debug)]
pub(crate) enum Arrived<T> {
    /// The others continue.
    Kept,
    /// The others are no longer needed.
    Decided,
    /// The others continue. This outcome is not needed: a failure is reported, and the outcome is dropped.
    Unused(Outcome<T>),
}
