//! What the driver knows of a leaf.

use super::pair::Pair;
use crate::cell::Signal;
use crate::engine::context::Cx;
use crate::engine::task::Task;
use crate::outcome::Outcome;

/// The functions of a leaf.
pub(super) struct LeafTable {
    /// Begins the wait.
    pub(super) begin: Begin,
    /// Whether it waits for the next turn only.
    pub(super) yields: bool,
    /// Whether races count it as a wait.
    pub(super) counts: bool,
}

/// Why a leaf is resumed. Without the address, it is the same for all types.
#[repr(u64)]
pub(super) enum Why<E> {
    /// Its wait is over.
    Woken(Signal),
    /// Its event happened while it registered: the outcome is taken from here.
    Ready(*mut Option<Outcome<E>>),
    /// The same, in a box.
    Kept(Box<Outcome<E>>),
}

impl Why<()> {
    /// Resumes a leaf, of any type, whose wait has ended so.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn woken(signal: Signal) -> Pair {
        Pair::of(Self::Woken(signal))
    }
}

/// Begins a wait. If the event has happened already, the leaf is resumed, and what it gives goes into the pair; without one, the leaf is
/// resumed from the bottom of the stack.
///
/// # Safety
/// The leaf is the first frame.
pub(crate) type Begin = unsafe fn(&Cx<'_>, Option<&mut Pair>) -> Park;

/// Where a fiber waits.
pub(crate) enum Park {
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
