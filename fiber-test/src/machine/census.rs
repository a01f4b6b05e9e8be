//! Who had which turn of a run.

use fiber_core::Context;

use super::lane::Lane;

#[derive(Debug, Default)]
pub(crate) struct Census {
    /// The ids of the fibers, by lane.
    ids: Vec<String>,
    turns: Vec<Lane>,
}

impl Census {
    pub(crate) fn created(&mut self, context: &Context, lane: Lane) {
        debug_assert_eq!(lane.index(), Some(self.ids.len()), "lanes are numbered in their order");
        self.ids.push(context.id());
    }

    pub(crate) fn turn(&mut self, lane: Lane) {
        self.turns.push(lane);
    }

    /// The id of the fiber of every turn. `None`: no fiber had it.
    pub(crate) fn turns(&self) -> impl Iterator<Item = Option<&str>> {
        self.turns.iter().map(|lane| Some(&*self.ids[lane.index()?]))
    }
}
