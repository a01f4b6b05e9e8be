//! What begins a wait, and the loop that runs the frames of a fiber after it.
//!
//! | the newest group | `waits` in its front | the frames belong to |
//! |---|---|---|
//! | is being pushed | set | the slot of the call that runs the fiber |
//! | begins to wait | clear | the same |
//! | waits | clear | the parking slot of the fiber, or a task, or the list of a turn |
//! | is run | clear | the slot of the driver |

use std::mem::{ManuallyDrop, forget};
use std::ptr;

use super::Frames;
use super::buffer::{Buffer, Next, Slot, Table};
use super::leaf_table::{LeafTable, Park, Why};
use super::pair::Pair;
use crate::cell::{Signal, Unparked};
use crate::engine::context::{Context, Cx, NodeGuard, Resumed, TurnView, Watch};
use crate::engine::task::Task;

impl Table {
    fn leaf(&self) -> &'static LeafTable {
        self.leaf.expect("a group begins with a leaf")
    }
}

impl Cx<'_> {
    /// Waits as the newest group demands. The fiber continues in a task, or from the bottom of the stack.
    pub(crate) fn settle(&self) {
        settle_alone(self.slot(), self.context().clone(), self.view());
    }
}

/// Begins the wait of the newest group, in the fiber of `node`.
#[inline(never)]
pub(super) fn settle_alone(slot: &Slot<'_>, node: Context, view: TurnView<'_>) {
    settle(slot, node, view, None);
}

/// Begins the wait of the newest group, and leaves the frames where its event finds them. Gives the context back if the fiber
/// continues at once, with an outcome in `value`.
fn settle(slot: &Slot<'_>, node: Context, view: TurnView<'_>, value: Option<&mut Pair>) -> Option<Context> {
    let mut frames = slot.buffer()?;
    let leaf = frames.table().leaf();
    if leaf.yields {
        yields(slot, node, view);
        return None;
    }
    frames.set_waits(false);
    let node = frames.front().node.take().unwrap_or(node);
    let put_back = PutBack(slot, &node);
    let cx = &Cx::new(&node, view, slot);
    let park = {
        let _current = node.set_current();
        begin(cx, leaf, value)
    };
    forget(put_back);
    park_at(slot, node, view, park)
}

/// Begins the wait of the newest group, which belongs to the fiber of `cx`.
#[cfg_attr(not(debug_assertions), inline(always))]
fn begin(cx: &Cx<'_>, leaf: &LeafTable, value: Option<&mut Pair>) -> Park {
    let waits_in_race = leaf.counts && cx.context().is_raced();
    if waits_in_race {
        cx.context().release_race();
    }
    // SAFETY: the table is that of the first frame.
    let park = unsafe { (leaf.begin)(cx, value) };
    if waits_in_race && let Park::InSlot | Park::InShieldedSlot = park {
        cx.context().wait_in_race(matches!(park, Park::InShieldedSlot));
    }
    park
}

/// Leaves the frames where the event finds them. Gives the context back if the fiber continues at once.
#[cfg_attr(not(debug_assertions), inline(always))]
fn park_at(slot: &Slot<'_>, node: Context, view: TurnView<'_>, park: Park) -> Option<Context> {
    if let Park::Not = park {
        return Some(node);
    }
    let mut frames = slot.take()?;
    // The context goes along with the frames, and is used by `park` until its compare-and-swap.
    // SAFETY: the original is in the frames meanwhile, and this copy is not dropped.
    let alias = ManuallyDrop::new(unsafe { ptr::read(&node) });
    frames.leave_node(node);
    let is_shielded = match park {
        Park::InSlot => false,
        Park::InShieldedSlot => true,
        elsewhere => return go_elsewhere(frames, view, elsewhere),
    };
    if let Err(Unparked(frames, signal)) = alias.park(frames, is_shielded) {
        view.wake_from_bottom(frames, signal);
    }
    None
}

#[cold]
#[inline(never)]
fn go_elsewhere(frames: Frames, view: TurnView<'_>, park: Park) -> Option<Context> {
    match park {
        Park::Elsewhere(submit) => submit(Task::resume(frames)),
        _ => view.wake_from_bottom(frames, Signal::Fired),
    }
    None
}

/// Leaves the frames in the queue of the scheduler.
#[cfg_attr(not(debug_assertions), inline(always))]
fn yields(slot: &Slot<'_>, node: Context, view: TurnView<'_>) {
    let Some(mut frames) = slot.buffer() else { return };
    frames.set_waits(false);
    let node = frames.front().node.get_or_insert(node);
    if node.is_raced() {
        let cx = &Cx::new(node, view, slot);
        cx.pause_in_race();
    }
    if node.host().is_some() {
        return yields_in_host(slot);
    }
    let scheduler = ptr::from_ref(&**node.scheduler());
    if let Some(frames) = slot.take() {
        view.schedule_again(scheduler, Task::resume(frames));
    }
}

/// Leaves the host, or passes the frames to the scheduler.
#[cold]
fn yields_in_host(slot: &Slot<'_>) {
    if let Some(frames) = slot.take() {
        let fiber = frames.fiber().clone();
        fiber.schedule(Task::resume(frames));
    }
}

impl Frames {
    /// Begins the first wait of the fiber of `node`.
    pub(crate) fn settle(self, node: Context, view: TurnView<'_>) {
        settle_alone(&Slot::holding(self), node, view);
    }

    /// Continues a fiber that has waited.
    // The frame of this call is that of the driver.
    #[inline(never)]
    pub(crate) fn wake(self, view: TurnView<'_>, signal: Signal) {
        self.wake_inlined(view, signal);
    }

    /// The same, for the loop that runs most turns.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn wake_inlined(mut self, view: TurnView<'_>, signal: Signal) {
        if signal == Signal::Abandoned {
            // The drop ends the fiber as abandoned.
            return;
        }
        let node = self.take_node();
        node.runs_again();
        drive(node, self, view, Why::woken(signal));
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn drive(node: Context, frames: Frames, view: TurnView<'_>, woken: Pair) {
    let mut node = node;
    // Dropped before the node, which keeps the cell with the frames alive.
    let slot = Slot::holding(frames);
    let mut value = woken;
    loop {
        let put_back = PutBack(&slot, &node);
        let park = 'run: {
            let _current = node.set_current();
            if node.is_in_limit() {
                value = run_in_limit(&node, view, &slot, value);
                if !slot.buffer().is_some_and(Buffer::has_left_limit) {
                    break 'run Park::Undecided;
                }
            }
            let cx = &Cx::new(&node, view, &slot);
            value = run_frames(cx, value);
            // SAFETY: the driver holds frames.
            let frames = unsafe { cx.pushed() };
            if !frames.begins_here() {
                break 'run Park::Undecided;
            }
            let leaf = frames.table().leaf();
            if leaf.yields { Park::InQueue } else { begin(cx, leaf, Some(&mut value)) }
        };
        forget(put_back);
        let goes_on = match park {
            Park::InQueue => return yields(&slot, node, view),
            Park::Undecided => {
                let Some(frames) = slot.buffer() else { return };
                match frames.next() {
                    Next::Waits => settle(&slot, node, view, Some(&mut value)),
                    Next::Switches(outside) => Some(outside),
                    // The frames are dropped before the node.
                    Next::Ends => return,
                }
            }
            park => park_at(&slot, node, view, park),
        };
        match goes_on {
            Some(here) => node = here,
            None => return,
        }
    }
}

/// Runs frames of a fiber that has waited in a limit without a node. If the limit gets one, the fiber goes on in that.
#[inline(never)]
fn run_in_limit(node: &Context, view: TurnView<'_>, slot: &Slot<'_>, value: Pair) -> Pair {
    let mut limit = Resumed::new(node, view);
    let value = {
        let watch = Watch::resumed(&limit, view);
        let cx = &Cx::resumed(&limit, &watch, view, slot);
        limit.look();
        run_frames(cx, value)
    };
    if let Some(inside) = limit.leave() {
        move_in(node, slot, inside);
    }
    value
}

/// The limit has got this node.
#[cold]
fn move_in(node: &Context, slot: &Slot<'_>, inside: NodeGuard) {
    if let Some(mut frames) = slot.buffer() {
        // A part inside may wait.
        frames.front().node.get_or_insert_with(|| Context::clone(&inside));
    }
    inside.set_masks(node.set_masks(0));
    node.move_limit(inside);
}

/// Puts the context back if a frame unwinds: the others are dropped, and the last one ends the fiber.
struct PutBack<'a>(&'a Slot<'a>, &'a Context);

impl Drop for PutBack<'_> {
    fn drop(&mut self) {
        if let Some(mut frames) = self.0.buffer() {
            frames.front().node = Some(self.1.clone());
        }
    }
}

/// Runs frames until one waits or switches, or none is left. The first one may be a leaf, whose wait is over.
#[cfg_attr(not(debug_assertions), inline(always))]
fn run_frames(cx: &Cx<'_>, value: Pair) -> Pair {
    let mut value = value;
    loop {
        // SAFETY: the driver holds frames.
        let frames = unsafe { cx.pushed() };
        if !frames.goes_on() {
            return value;
        }
        let table = frames.table();
        // SAFETY: the table is that of the first frame, and the frame before has left the outcome.
        value = unsafe { (table.resume)(cx, value) };
    }
}
