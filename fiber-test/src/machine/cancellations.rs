//! Who is to be cancelled before which turn, and who was.

use std::cmp::Reverse;

use fiber_core::Context;

use super::fibers::Fibers;
use crate::schedule::Cancellation;

/// The id of the fiber that is the whole program: the first one that was spawned.
const PROGRAM: &str = "0";

/// A cancellation to come.
#[derive(Clone, Debug)]
pub(crate) struct PlannedCancellation {
    pub(crate) turn: u32,
    pub(crate) target: Target,
}

#[derive(Clone, Debug)]
pub(crate) enum Target {
    Program,
    /// By its id.
    Fiber(String),
    /// One of those that live then, by this number.
    Any(u64),
}

impl From<&Cancellation> for PlannedCancellation {
    fn from(Cancellation { turn, fiber }: &Cancellation) -> Self {
        let target = fiber.clone().map_or(Target::Program, Target::Fiber);
        PlannedCancellation { turn: *turn, target }
    }
}

#[derive(Default)]
pub(crate) struct Cancellations {
    /// The last one first.
    planned: Vec<PlannedCancellation>,
    happened: Vec<Cancellation>,
}

impl Cancellations {
    pub(crate) fn new(mut planned: Vec<PlannedCancellation>) -> Self {
        // Those before one turn happen in the order in which they are given.
        planned.reverse();
        planned.sort_by_key(|one| Reverse(one.turn));
        Cancellations { planned, happened: Vec::new() }
    }

    /// Whether one is to happen before this turn.
    #[inline]
    pub(crate) fn is_due(&self, turn: u32) -> bool {
        self.planned.last().is_some_and(|next| next.turn <= turn)
    }

    /// The fiber to be cancelled before this turn, if it lives and was not cancelled.
    #[cold]
    pub(crate) fn take(&mut self, turn: u32, fibers: &Fibers) -> Option<Context> {
        let planned = self.planned.pop_if(|next| next.turn <= turn)?;
        let mut live = fibers.contexts();
        live.retain(|context| !context.is_structure() && !context.is_cancelled());
        let found = match planned.target {
            Target::Program => live.into_iter().find(|context| context.id() == PROGRAM),
            Target::Fiber(id) => live.into_iter().find(|context| context.id() == id),
            Target::Any(number) => {
                live.sort_by_cached_key(Context::id);
                let at = number as usize % live.len().max(1);
                live.into_iter().nth(at)
            }
        };
        let context = found?;
        let fiber = Some(context.id()).filter(|id| id != PROGRAM);
        self.happened.push(Cancellation { turn, fiber });
        Some(context)
    }

    /// Those that came to something.
    pub(crate) fn happened(&self) -> &[Cancellation] {
        &self.happened
    }
}
