//! One turn of a fiber: how long it may go on, how deep it may nest, and what it sees.

use std::cell::{Cell, RefCell};
use std::fmt;

use super::Context;
use super::watch::Watch;
use crate::instant::Instant;
use crate::outcome::{contain, guard};
use crate::scheduler::{Checkpoint, Scheduler, SwitchPoint};
use crate::stack;
use crate::task::{Continue, Task};

/// How deep a slice may nest on the host's stack before it goes on from the bottom: well below the 2 MiB of a
/// thread, with room for what the scheduler and the user's closures need, and enough for thousands of frames in release.
const DEEPEST: usize = 256 * 1024;

/// How often a turn goes on from the bottom of the stack before it is the turn of other fibers: a recursion that spends no
/// budget comes to the bottom every 256 KiB, so this is some milliseconds of work.
const MOST_BOUNCES: u32 = 64;

/// One turn of a task: from when the scheduler runs it until nothing is left to do right now.
pub(crate) struct Slice {
    /// The address of the host's stack where the turn began.
    base: usize,
    /// Binds until the scheduler is asked.
    budget: Cell<u32>,
    /// Whether the turn was not given by the scheduler but by a thread that wants to have it over soon.
    is_guest: bool,
    /// What goes on from the bottom of the stack.
    bounced: RefCell<Vec<Box<dyn Continue>>>,
}

impl Slice {
    /// A turn that the scheduler gives to the fiber of `context`.
    pub(crate) fn new(context: &Context) -> Self {
        let scheduler = context.scheduler();
        Slice {
            base: stack::address(),
            budget: Cell::new(guard(|| scheduler.budget()).unwrap_or(1)),
            is_guest: false,
            bounced: RefCell::new(Vec::new()),
        }
    }

    /// A turn on a thread that is the user's: the fiber leaves it when its budget is spent.
    pub(crate) fn guest(context: &Context) -> Self {
        Slice { is_guest: true, ..Slice::new(context) }
    }

    /// Runs `first`, then whatever that puts off to the bottom of the stack. Never unwinds.
    pub(crate) fn run(self, first: impl FnOnce(&Slice)) {
        // Closures of the user's are guarded one by one. What can still unwind is the drop of one of their values; the
        // panic hook has reported it, and the fiber that it tears apart ends as abandoned. Others, whose rests were put
        // off in the same turn, go on.
        contain(|| first(&self));
        for _ in 0..MOST_BOUNCES {
            let Some(rest) = self.next_bounced() else { return };
            contain(|| rest.proceed(&self));
        }
        while let Some(rest) = self.next_bounced() {
            rest.context().clone().schedule(Task::proceed(rest));
        }
    }

    fn next_bounced(&self) -> Option<Box<dyn Continue>> {
        self.bounced.borrow_mut().pop()
    }
}

/// A turn as those who run in it see it.
#[derive(Clone, Copy)]
pub(crate) struct Turn<'a> {
    slice: &'a Slice,
    below: Option<&'a Watch<'a>>,
}

impl<'a> From<&'a Slice> for Turn<'a> {
    /// From the bottom of the stack.
    fn from(slice: &'a Slice) -> Self {
        Turn { slice, below: None }
    }
}

/// What a running fiber sees: its [`Context`], and the turn that it runs in.
///
/// Handed down through [`Run::run`](crate::Run::run); it does not outlive the call.
#[derive(Clone, Copy)]
pub struct Cx<'a> {
    context: &'a Context,
    turn: Turn<'a>,
}

impl<'a> Cx<'a> {
    pub(crate) fn new(context: &'a Context, turn: impl Into<Turn<'a>>) -> Self {
        Cx { context, turn: turn.into() }
    }

    /// The context of the fiber.
    pub fn context(&self) -> &'a Context {
        self.context
    }

    /// The scheduler that runs the fiber.
    pub fn scheduler(&self) -> &'a dyn Scheduler {
        &**self.context.scheduler()
    }

    /// Whether an operation that starts now has to end with `Cancelled` at once: the fiber was cancelled, and is in no
    /// uncancelable region.
    #[inline]
    pub fn is_interrupted(&self) -> bool {
        self.context.is_interrupted()
    }

    pub(crate) fn is_masked(&self) -> bool {
        self.context.is_masked()
    }

    /// The timer for a part of the fiber that has to end at `until`: none, if the fiber is cancelled by then anyhow.
    pub(crate) fn timer(&self, until: Instant) -> Option<Instant> {
        let is_clipped = self.context.deadline().is_some_and(|deadline| deadline <= until);
        (!is_clipped || self.is_masked()).then_some(until)
    }

    pub(crate) fn turn(&self) -> Turn<'a> {
        self.turn
    }

    pub(super) fn below(&self) -> Option<&'a Watch<'a>> {
        self.turn.below
    }

    /// The same turn, seen from another fiber.
    pub(crate) fn enter<'b>(&self, context: &'b Context) -> Cx<'b>
    where
        'a: 'b,
    {
        Cx { context, turn: self.turn }
    }

    /// The same turn, seen from above a frame of this fiber.
    pub(crate) fn above<'b>(&self, watch: &'b Watch<'b>) -> Cx<'b>
    where
        'a: 'b,
    {
        Cx { context: self.context, turn: Turn { slice: self.turn.slice, below: Some(watch) } }
    }

    /// Spends one unit of the budget. `false`: the fiber has to make place for others now.
    #[inline]
    pub(crate) fn spend(&self, at: impl FnOnce() -> SwitchPoint) -> bool {
        match self.turn.slice.budget.get() {
            0 | 1 => {
                let budget = self.ask_scheduler(at());
                self.turn.slice.budget.set(budget);
                budget > 0
            }
            left => {
                self.turn.slice.budget.set(left - 1);
                true
            }
        }
    }

    /// The new budget; 0 when the fiber has to make place for others.
    #[cold]
    fn ask_scheduler(&self, at: SwitchPoint) -> u32 {
        // A guest may start a branch, whose binds ask for themselves.
        let must_leave = self.turn.slice.is_guest && at != SwitchPoint::Branch;
        let answer = guard(|| self.scheduler().checkpoint(self.context, at));
        match answer.unwrap_or(Checkpoint::Yield) {
            Checkpoint::Continue(budget) if !must_leave && self.may_stay() => budget.max(1),
            Checkpoint::Continue(_) | Checkpoint::Yield => 0,
        }
    }

    /// Whether nothing below on the stack needs this fiber to leave it.
    fn may_stay(&self) -> bool {
        self.turn.below.is_none_or(|below| {
            contain(|| below.time_out());
            !below.is_wanted()
        })
    }

    /// Whether the host's stack is used up as far as we dare.
    #[inline]
    pub(crate) fn is_deep(&self) -> bool {
        // Wherever the stack grows to, it is the distance that counts.
        self.turn.slice.base.abs_diff(stack::address()) > DEEPEST
    }

    /// Goes on with `rest` from the bottom of the stack, before this turn ends.
    #[cold]
    pub(crate) fn bounce(&self, rest: Box<dyn Continue>) {
        self.turn.slice.bounced.borrow_mut().push(rest);
    }
}

impl fmt::Debug for Cx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.context, f)
    }
}
