//! One turn of a fiber: its budget, its depth on the stack, and the [`Cx`] that it passes to the fiber.

#[cfg(feature = "direct")]
mod direct;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::iter::from_fn;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::Context;
use super::limit::Resumed;
use super::part::{Part, Place};
use super::watch::Watch;
use crate::cell::{MadeCount, Signal};
use crate::engine::event::Event;
use crate::engine::frames::Slot;
use crate::engine::lend::{BranchDeque, Latent, Lendable};
use crate::engine::scheduler::{Checkpoint, Scheduler, SwitchPoint, Worker};
use crate::engine::task::{Task, Waiter};
use crate::instant::Instant;
use crate::local::Locals;
use crate::panic::{catch_panic, guard};
use crate::stack;

/// How deep a turn may nest on the host's stack before it continues from the bottom: well below the 2 MiB of a thread,
/// with room for the scheduler and user closures, and enough for thousands of frames in release builds.
const DEEPEST: usize = 256 * 1024;

/// How often a turn may continue from the bottom of the stack before other fibers get a turn. A recursion that spends
/// no budget gets to the bottom every 256 KiB, so this is some milliseconds of work.
const MOST_BOUNCES: u32 = 64;

/// The flag of a worker without one of its own.
static NEVER: AtomicBool = AtomicBool::new(false);

/// One turn of a task: from the moment the scheduler runs it until it has no more work to do now.
pub(crate) struct Turn<'w> {
    worker: &'w dyn Worker,
    /// `None`: the worker is asked when a branch is lent.
    branches: Option<&'w BranchDeque>,
    /// The stack address where the turn began, or where the stack begins of a direct fiber that runs in it.
    base: Cell<usize>,
    /// The largest nesting from there, in bytes.
    deepest: Cell<usize>,
    /// The number of binds left until the scheduler is asked.
    budget: Cell<u32>,
    /// That at the beginning of a turn, for fibers of the tree at this address.
    full_budget: Cell<(*const (), u32)>,
    /// Whether the scheduler is asked at the next bind in any case.
    is_overdue: &'w AtomicBool,
    /// Whether the turn runs on a user thread, which it should leave soon, and not on one of the scheduler's.
    is_guest: bool,
    /// The work that continues from the bottom of the stack.
    put_off: RefCell<Vec<(Waiter, Signal)>>,
    /// The nodes of parts that were made on this thread's turns, by whichever thread.
    nodes_made: MadeCount,
}

impl<'w> Turn<'w> {
    /// Makes a turn that the scheduler gives to the fiber of `context`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new(context: &Context, worker: &'w dyn Worker) -> Self {
        Turn::on(worker, budget_of(context))
    }

    /// Makes a turn on a user thread, which the fiber leaves when its budget is spent.
    pub(crate) fn guest(context: &Context, worker: &'w dyn Worker) -> Self {
        Turn { is_guest: true, ..Turn::new(context, worker) }
    }

    /// Makes the state that all turns on a worker's thread share. Each turn has to [`begin`](Turn::begin).
    pub(crate) fn on_thread_of(worker: &'w dyn Worker) -> Self {
        let branches = guard(|| worker.branches()).unwrap_or(None);
        Turn { branches, ..Turn::on(worker, 1) }
    }

    // Inlined, so that the turn is built in the frame of the caller: it is large, and should not be moved.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn on(worker: &'w dyn Worker, budget: u32) -> Self {
        let is_overdue = guard(|| worker.is_overdue()).unwrap_or(None);
        Turn {
            worker,
            branches: None,
            base: Cell::new(stack::address()),
            deepest: Cell::new(DEEPEST),
            budget: Cell::new(budget),
            full_budget: Cell::new((ptr::null(), 1)),
            is_overdue: is_overdue.unwrap_or(&NEVER),
            is_guest: false,
            put_off: RefCell::new(Vec::new()),
            nodes_made: MadeCount::new(),
        }
    }

    /// Where branches are lent, if they can be lent on this thread.
    #[inline]
    fn branches(&self) -> Option<&'w BranchDeque> {
        self.branches.or_else(|| self.ask_for_branches())
    }

    #[cold]
    fn ask_for_branches(&self) -> Option<&'w BranchDeque> {
        guard(|| self.worker.branches()).unwrap_or(None)
    }

    /// Begins a turn of the fiber of `context`.
    #[inline]
    pub(crate) fn begin(&self, context: &Context) {
        let (tree, mut budget) = self.full_budget.get();
        if tree != context.tree() {
            budget = budget_of(context);
            self.full_budget.set((context.tree(), budget));
        }
        self.budget.set(budget);
    }

    /// Runs `first`, then all work that was deferred to the bottom of the stack. Never unwinds.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn run(&self, first: impl FnOnce(&Turn<'_>)) {
        // User closures are guarded one by one. Only the drop of a user value can still unwind. The panic hook has
        // reported that panic, and the fiber that it interrupts ends as abandoned. Other fibers, whose rests were
        // deferred in the same turn, continue.
        catch_panic(|| first(self));
        if self.has_put_off() {
            self.run_put_off();
        }
    }

    #[inline]
    fn has_put_off(&self) -> bool {
        !self.put_off.borrow().is_empty()
    }

    #[cold]
    fn run_put_off(&self) {
        for _ in 0..MOST_BOUNCES {
            let Some((rest, signal)) = self.next_put_off() else { return };
            catch_panic(|| rest.wake(self.into(), signal));
        }
        self.schedule_put_off();
    }

    /// Turns the work that is deferred to the bottom of the stack into tasks.
    fn schedule_put_off(&self) {
        while let Some((rest, signal)) = self.next_put_off() {
            let fiber = rest.fiber().clone();
            fiber.schedule(match signal {
                Signal::Fired => Task::resume(rest),
                Signal::Cancelled | Signal::Abandoned => Task::wake(rest, signal),
            });
        }
    }

    fn next_put_off(&self) -> Option<(Waiter, Signal)> {
        self.put_off.borrow_mut().pop()
    }
}

/// The number of binds that the fiber may run before it asks the scheduler.
fn budget_of(context: &Context) -> u32 {
    let scheduler = context.scheduler();
    guard(|| scheduler.budget()).unwrap_or(1)
}

/// A turn, as the fibers that run in it use it.
#[derive(Clone, Copy)]
pub(crate) struct TurnView<'a> {
    turn: &'a Turn<'a>,
    below: Option<&'a Watch<'a>>,
}

impl<'a> TurnView<'a> {
    pub(super) fn nodes_made(self) -> &'a MadeCount {
        &self.turn.nodes_made
    }

    pub(super) fn below(self) -> Option<&'a Watch<'a>> {
        self.below
    }
}

impl TurnView<'_> {
    /// Wakes a fiber from the bottom of the stack, before this turn ends.
    #[cold]
    pub(crate) fn wake_from_bottom(self, rest: Waiter, signal: Signal) {
        self.turn.put_off.borrow_mut().push((rest, signal));
    }

    /// Passes the task of a fiber that yields to its scheduler, which is at this address.
    #[inline]
    pub(crate) fn schedule_again(self, scheduler: *const dyn Scheduler, task: Task) {
        let worker = self.turn.worker;
        // A worker that panics has dropped the task, which abandons its fiber.
        if let Ok(Err(task)) = guard(|| worker.schedule_again(scheduler.cast(), task)) {
            self.schedule(task);
        }
    }

    #[cold]
    fn schedule(self, task: Task) {
        // The scheduler is borrowed from the tree, which the task might end before `schedule` returns.
        if let Some(held) = task.context().cloned() {
            catch_panic(|| self.turn.worker.schedule(&**held.scheduler(), task));
        }
    }
}

impl<'a> From<&'a Turn<'_>> for TurnView<'a> {
    /// The view at the bottom of the stack.
    fn from(turn: &'a Turn<'_>) -> Self {
        TurnView { turn, below: None }
    }
}

/// The execution context of a running fiber: its place in the cancel tree, and the turn in which it runs.
///
/// [`Run::run`](crate::Run::run) passes it down; it does not outlive the call.
//
// The order of the fields matters: a processor that reads two words at once stalls if they were written one by one, and the
// two parts of the view, side by side, would be copied so for every part.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Cx<'a> {
    turn: &'a Turn<'a>,
    place: Place<'a>,
    below: Option<&'a Watch<'a>>,
    slot: &'a Slot<'a>,
}

impl<'a> Cx<'a> {
    pub(crate) fn new(context: &'a Context, view: impl Into<TurnView<'a>>, slot: &'a Slot<'a>) -> Self {
        let TurnView { turn, below } = view.into();
        Cx { turn, place: Place::Node(context), below, slot }
    }

    /// In a limit that has waited, with a watch for it.
    #[inline]
    pub(crate) fn resumed(
        limit: &'a Resumed<'a>,
        watch: &'a Watch<'a>,
        view: TurnView<'a>,
        slot: &'a Slot<'a>,
    ) -> Self {
        Cx { turn: view.turn, place: Place::Limit(limit), below: Some(watch), slot }
    }

    /// The frames of the fiber.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn slot(&self) -> &'a Slot<'a> {
        self.slot
    }

    /// The same place, for a fiber with frames of its own.
    #[inline]
    pub(crate) fn on<'b>(&self, slot: &'b Slot<'b>) -> Cx<'b>
    where
        'a: 'b,
    {
        Cx { turn: self.turn, place: self.place, below: self.below, slot }
    }

    /// The context of the fiber. If there is none yet, this function allocates one, so call it only when necessary.
    #[inline]
    pub fn context(&self) -> &'a Context {
        self.place.context()
    }

    /// The scheduler that runs the fiber.
    pub fn scheduler(&self) -> &'a dyn Scheduler {
        &**self.place.in_tree().scheduler()
    }

    /// Whether an operation that starts now has to end with `Cancelled` at once, because the fiber was cancelled and is not
    /// in an uncancelable region.
    #[inline]
    pub fn is_interrupted(&self) -> bool {
        self.place.is_interrupted()
    }

    /// The same, or that will be so: a cancellation, which reaches what is above first, is on its way to the fiber.
    #[cold]
    pub(crate) fn is_about_to_be_interrupted(&self) -> bool {
        self.is_interrupted() || (!self.is_masked() && self.context().is_below_cancelled())
    }

    #[inline]
    pub(crate) fn is_cancelled(&self) -> bool {
        self.place.is_cancelled()
    }

    /// See [`Context::has_missed_race`].
    #[cold]
    pub(crate) fn has_missed_race(&self) -> bool {
        self.place.waited_in().has_missed_race()
    }

    /// The number of the event that ended the last wait of the fiber.
    pub(crate) fn last_event(&self) -> u64 {
        self.place.waited_in().last_event()
    }

    /// The context around the limit that has waited without a node, and goes on here.
    pub(crate) fn resumed_limit(&self) -> Option<&'a Context> {
        self.place.resumed_limit()
    }

    /// Whether the fiber is in a side of a race.
    #[inline]
    pub(crate) fn is_raced(&self) -> bool {
        self.place.is_raced()
    }

    /// See [`Context::release_race`]. For a fiber in a race that is longer than a wait.
    #[cold]
    pub(crate) fn release_race(&self) {
        // A side without a node holds nothing. The races around the nearest node may be held, but by another fiber.
        if let Some(fiber) = self.place.node_of_fiber() {
            fiber.release_race();
        }
    }

    /// Releases the races around this fiber, because others get a turn: those that it holds, and those that are held until it has ended.
    #[cold]
    pub(crate) fn pause_in_race(&self) {
        self.release_race();
        let (nearest, is_sheltered) = self.place.nearest();
        let outlasts = is_sheltered || self.is_masked();
        let place = if outlasts { self.context() } else { nearest };
        place.outlast_race(outlasts);
    }

    #[inline]
    pub(crate) fn is_masked(&self) -> bool {
        self.masks() > self.masks_outside()
    }

    /// The number of uncancelable regions that the fiber is in.
    #[inline]
    pub(crate) fn masks(&self) -> u32 {
        self.place.masks()
    }

    /// The number of those regions that shield the fiber's place in the tree.
    #[inline]
    pub(crate) fn masks_outside(&self) -> u32 {
        self.place.masks_outside()
    }

    /// Sets the number of regions, and returns the previous one.
    #[inline]
    pub(crate) fn set_masks(&self, masks: u32) -> u32 {
        self.place.set_masks(masks)
    }

    /// Enters an uncancelable region. Returns the number of masks before.
    // Not inlined, so that the code of each finalizer is short.
    #[inline(never)]
    pub(crate) fn mask(&self) -> u32 {
        self.set_masks(self.masks() + 1)
    }

    /// The locals of the fiber.
    pub(crate) fn locals(&self) -> Option<Locals> {
        self.nearest().locals()
    }

    /// The deadline of the fiber; [`FAR_FUTURE`](Instant::FAR_FUTURE) if there is none.
    pub(crate) fn deadline(&self) -> Instant {
        self.place.deadline()
    }

    /// Reports an event to the scheduler, if it knows the fiber.
    pub(crate) fn observe(&self, event: Event<'_>) {
        if let Some(fiber) = self.place.node_of_fiber() {
            fiber.observe(event);
        }
    }

    /// Whether the scheduler observes events.
    #[inline]
    pub(crate) fn is_observed(&self) -> bool {
        self.place.in_tree().is_observed()
    }

    /// The instant when this time, from now on, has passed.
    // Not inlined, so that the code of each time limit is short.
    #[inline(never)]
    pub(crate) fn after(&self, duration: Duration) -> Instant {
        self.scheduler().now() + duration
    }

    #[inline]
    pub(crate) fn view(&self) -> TurnView<'a> {
        TurnView { turn: self.turn, below: self.below }
    }

    /// Passes a task to the scheduler of the fiber.
    pub(crate) fn schedule(&self, task: Task) {
        let fiber = self.place.in_tree();
        if fiber.host().is_some() {
            return fiber.schedule(task);
        }
        catch_panic(|| self.turn.worker.schedule(&**fiber.scheduler(), task));
    }

    /// The task that starts the fiber of `context`, if it alone waits on this thread.
    pub(crate) fn take_back(&self, context: &Context) -> Option<Task> {
        guard(|| self.turn.worker.take_back(context)).ok().flatten()
    }

    /// The context of exactly this place, if it has one.
    pub(crate) fn own_node(&self) -> Option<&'a Context> {
        self.place.own_node()
    }

    pub(super) fn place(&self) -> Place<'a> {
        self.place
    }

    /// The innermost existing context around this place, for what all contexts of a fiber have in common: where it runs, and what is above it.
    #[inline]
    pub(crate) fn nearest(&self) -> &'a Context {
        match self.place {
            Place::Node(context) => context,
            place => place.nearest().0,
        }
    }

    pub(super) fn nodes_made(&self) -> &'a MadeCount {
        &self.turn.nodes_made
    }

    pub(super) fn below(&self) -> Option<&'a Watch<'a>> {
        self.below
    }

    /// The same turn, for another fiber.
    pub(crate) fn enter<'b>(&self, context: &'b Context) -> Cx<'b>
    where
        'a: 'b,
    {
        Cx { turn: self.turn, place: Place::Node(context), below: self.below, slot: self.slot }
    }

    /// The same turn, for code inside a part.
    #[inline]
    pub(crate) fn within<'b>(&self, part: &'b Part<'b>) -> Cx<'b>
    where
        'a: 'b,
    {
        Cx { turn: self.turn, place: Place::Part(part), below: self.below, slot: self.slot }
    }

    /// The same turn, for code above a frame of this fiber.
    pub(crate) fn above<'b>(&self, watch: &'b Watch<'b>) -> Cx<'b>
    where
        'a: 'b,
    {
        Cx { turn: self.turn, place: self.place, below: Some(watch), slot: self.slot }
    }

    /// Spends one unit of the budget. `false`: the fiber has to [ask](Cx::ask).
    // Separate from `ask`, so that a `SwitchPoint` is made only where the scheduler is asked.
    #[inline]
    pub(crate) fn spend(&self) -> bool {
        let Turn { budget, is_overdue, .. } = self.turn;
        let left = budget.get();
        // Relaxed: a fiber that sees the flag late asks the scheduler late.
        if left <= 1 || is_overdue.load(Ordering::Relaxed) {
            return false;
        }
        budget.set(left - 1);
        true
    }

    /// Spends one unit, if there is one, for a wait that was over while it began. The fiber asks at its next bind.
    pub(crate) fn spend_on_wait(&self) {
        self.turn.budget.set(self.turn.budget.get().saturating_sub(1));
    }

    /// Asks the scheduler for a new budget. `false`: the fiber has to yield now.
    #[cold]
    pub(crate) fn ask(&self, at: SwitchPoint) -> bool {
        self.turn.budget.set(self.new_budget(at));
        self.turn.budget.get() > 0
    }

    /// Spends one unit, or asks, for the start of a branch.
    #[inline]
    pub(crate) fn spend_on_branch(&self) -> bool {
        self.spend() || self.ask(SwitchPoint::Branch)
    }

    /// Grants one unit to a step that has paused for it: it asks again when it continues.
    pub(crate) fn grant(&self) {
        self.turn.budget.set(self.turn.budget.get().saturating_add(1));
    }

    /// The new budget; 0 if the fiber has to yield to the scheduler.
    fn new_budget(&self, at: SwitchPoint) -> u32 {
        // A guest may start a branch, because the binds of the branch ask the scheduler again.
        let must_leave = self.turn.is_guest && at != SwitchPoint::Branch;
        // The fiber here may never end, so the turn may never reach the bottom of the stack.
        if self.turn.has_put_off() {
            self.turn.schedule_put_off();
        }
        self.promote_overdue();
        if self.is_raced() && at != SwitchPoint::Branch {
            self.pause_in_race();
        }
        let worker = self.turn.worker;
        let answer = guard(|| worker.checkpoint(self.scheduler(), self.nearest(), at));
        match answer.unwrap_or(Checkpoint::Yield) {
            Checkpoint::Continue(budget) if !must_leave && self.may_stay() => budget.max(1),
            Checkpoint::Continue(_) | Checkpoint::Yield => 0,
        }
    }

    /// Turns branches that have been lent since the last checkpoint into tasks, because the work of their owner may
    /// never end.
    fn promote_overdue(&self) {
        if let Some(branches) = self.turn.branches() {
            from_fn(|| branches.promote_overdue()).for_each(|task| self.schedule_promoted(task));
        }
    }

    /// Where branches are lent, if they can be lent on this thread.
    #[inline]
    pub(crate) fn branches(&self) -> Option<&'a BranchDeque> {
        self.turn.branches()
    }

    /// Calls `f` while `lendable` is lent, if there is a deque for it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn lend<L: Latent, T>(
        &self,
        branches: Option<&BranchDeque>,
        lendable: &mut Lendable<L>,
        f: impl FnOnce() -> T,
    ) -> T {
        if let Some(branches) = branches {
            if branches.is_full() {
                self.make_room(branches);
            }
            if branches.is_unwatched() {
                catch_panic(|| self.turn.worker.lent());
            }
        }
        lendable.lend(branches, f)
    }

    #[cold]
    fn make_room(&self, branches: &BranchDeque) {
        // If another thread takes the branch first, that makes room as well.
        if let Some(task) = branches.promote_oldest() {
            self.schedule_promoted(task);
        }
    }

    /// Schedules a branch, which may belong to a fiber of another scheduler that runs this turn inside its own.
    fn schedule_promoted(&self, task: Task) {
        let scheduler = task.context().map(|fiber| fiber.scheduler().clone());
        let scheduler = scheduler.as_deref().unwrap_or_else(|| self.scheduler());
        catch_panic(|| self.turn.worker.schedule(scheduler, task));
    }

    /// Whether no frame below on the stack needs this fiber to return.
    fn may_stay(&self) -> bool {
        self.below.is_none_or(|below| {
            catch_panic(|| below.time_out());
            !below.is_wanted()
        })
    }

    /// Whether the turn has used its share of the host's stack.
    #[inline]
    pub(crate) fn is_deep(&self) -> bool {
        // An absolute distance, because the stack may grow either way.
        self.turn.base.get().abs_diff(stack::address()) > self.turn.deepest.get()
    }

    /// Turns the work for the bottom of the stack into tasks, because this turn may never get there.
    pub(crate) fn schedule_put_off(&self) {
        self.turn.schedule_put_off();
    }
}

impl fmt::Debug for Cx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.nearest(), f)
    }
}
