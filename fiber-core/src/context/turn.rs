//! One turn of a fiber: how long it may go on, how deep it may nest, and what it sees.

use std::cell::{Cell, RefCell};
use std::fmt;

use super::Context;
use crate::instant::Instant;
use crate::scheduler::{Checkpoint, Scheduler, SwitchPoint};
use crate::stack;
use crate::task::Continue;

/// How deep a slice may nest on the host's stack before it goes on from the bottom: well below the 2 MiB of a
/// thread, with room for what the scheduler and the user's closures need, and enough for thousands of frames in release.
const DEEPEST: usize = 256 * 1024;

/// One turn of a task: from when the scheduler runs it until nothing is left to do right now.
pub(crate) struct Slice {
    /// The address of the host's stack where the turn began.
    base: usize,
    /// Binds until the scheduler is asked.
    budget: Cell<u32>,
    /// What goes on from the bottom of the stack.
    bounced: RefCell<Vec<Box<dyn Continue>>>,
}

impl Slice {
    pub(crate) fn new(context: &Context) -> Self {
        Slice {
            base: stack::address(),
            budget: Cell::new(context.scheduler().budget()),
            bounced: RefCell::new(Vec::new()),
        }
    }

    /// Runs what was put off to the bottom of the stack.
    pub(crate) fn finish(self) {
        loop {
            // The borrow must end before `proceed`, which may bounce again.
            let next = self.bounced.borrow_mut().pop();
            match next {
                Some(rest) => rest.proceed(&self),
                None => return,
            }
        }
    }
}

/// What a running fiber sees: its [`Context`], and the turn that it runs in.
///
/// Handed down through [`Run::run`](crate::Run::run); it does not outlive the call.
#[derive(Clone, Copy)]
pub struct Cx<'a> {
    context: &'a Context,
    slice: &'a Slice,
}

impl<'a> Cx<'a> {
    pub(crate) fn new(context: &'a Context, slice: &'a Slice) -> Self {
        Cx { context, slice }
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
        self.context.is_cancelled() && !self.context.is_masked()
    }

    pub(crate) fn is_masked(&self) -> bool {
        self.context.is_masked()
    }

    /// The timer for a part of the fiber that has to end at `until`: none, if the fiber is cancelled by then anyhow.
    pub(crate) fn timer(&self, until: Instant) -> Option<Instant> {
        let is_clipped = self.context.deadline().is_some_and(|deadline| deadline <= until);
        (!is_clipped || self.is_masked()).then_some(until)
    }

    pub(crate) fn slice(&self) -> &'a Slice {
        self.slice
    }

    /// The same turn, seen from another fiber.
    pub(crate) fn enter<'b>(&self, context: &'b Context) -> Cx<'b>
    where
        'a: 'b,
    {
        Cx { context, slice: self.slice }
    }

    /// Spends one unit of the budget. `false`: the fiber has to make place for others now.
    #[inline]
    pub(crate) fn spend(&self, at: impl FnOnce() -> SwitchPoint) -> bool {
        match self.slice.budget.get() {
            0 | 1 => self.ask_scheduler(at()),
            left => {
                self.slice.budget.set(left - 1);
                true
            }
        }
    }

    #[cold]
    fn ask_scheduler(&self, at: SwitchPoint) -> bool {
        match self.scheduler().checkpoint(self.context, at) {
            Checkpoint::Continue(budget) => {
                self.slice.budget.set(budget);
                true
            }
            Checkpoint::Yield => {
                self.slice.budget.set(0);
                false
            }
        }
    }

    /// Whether the host's stack is used up as far as we dare.
    #[inline]
    pub(crate) fn is_deep(&self) -> bool {
        // Wherever the stack grows to, it is the distance that counts.
        self.slice.base.abs_diff(stack::address()) > DEEPEST
    }

    /// Goes on with `rest` from the bottom of the stack, before this turn ends.
    #[cold]
    pub(crate) fn bounce(&self, rest: Box<dyn Continue>) {
        self.slice.bounced.borrow_mut().push(rest);
    }
}

impl fmt::Debug for Cx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.context, f)
    }
}
