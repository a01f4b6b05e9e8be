//! What the driver knows of a leaf.

use super::buffer::Pair;
use crate::engine::context::Cx;
use crate::engine::task::Task;

/// The functions of a leaf.
pub(super) struct LeafTable {
    /// Begins the wait. If the event has happened already, its outcome goes into the pair; without one, it becomes a leaf
    /// that is woken from the bottom of the stack.
    ///
    /// # Safety
    /// The leaf is the first frame.
    pub(super) begin: unsafe fn(&Cx<'_>, Option<&mut Pair>) -> Park,
    /// Ends the wait because the fiber was cancelled, and takes the leaf.
    ///
    /// # Safety
    /// The leaf is the first frame.
    pub(super) cancel: unsafe fn(&Cx<'_>) -> Pair,
    /// Whether it waits for the next turn only.
    pub(super) yields: bool,
    /// Whether races count it as a wait.
    pub(super) counts: bool,
}

/// Where a fiber waits.
pub(super) enum Park {
    /// In the parking slot of its context.
    InSlot,
    /// The same, and a cancellation does not end the wait.
    InShieldedSlot,
    /// In the list of its turn, for the bottom of the stack.
    FromBottom,
    /// Wherever this leaves the task.
    Elsewhere(Submit),
    /// Nowhere: it has an outcome.
    Not,
    /// In the queue of the scheduler. Said by the driver, not by a leaf.
    InQueue,
    /// Nothing begins to wait here: the buffer says what comes next. Said by the driver, too.
    Undecided,
}

/// Passes a task on.
// In a second box, so that a `Park` is passed in registers.
pub(crate) type Submit = Box<Box<dyn FnOnce(Task) + Send>>;
