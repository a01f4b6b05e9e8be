//! The services of a turn for the direct fibers that run in it.

use super::Cx;
use crate::engine::stacks::Stacks;
use crate::panic::guard;

impl<'a> Cx<'a> {
    /// The stacks of this thread, if direct fibers can stay on it.
    pub(crate) fn stacks(&self) -> Option<&'a Stacks> {
        let worker = self.turn.worker;
        guard(|| worker.stacks(self.scheduler())).ok().flatten()
    }

    /// Whether the scheduler has threads with stacks.
    pub(crate) fn are_there_stacks(&self) -> bool {
        guard(|| self.scheduler().has_stacks()).unwrap_or(false)
    }

    /// Calls `f`, which runs a fiber on the stack that begins at `base`, where it may nest down to `deepest`.
    pub(crate) fn on_stack<T>(&self, base: usize, deepest: usize, f: impl FnOnce() -> T) -> T {
        let turn = self.turn;
        let before = (turn.base.replace(base), turn.deepest.replace(deepest));
        let value = f();
        turn.base.set(before.0);
        turn.deepest.set(before.1);
        value
    }
}
