//! A worker as its fibers see it.

use std::any::Any;
use std::ptr;

use fiber_core::Context;
use fiber_core::scheduler::{Checkpoint, Scheduler, SwitchPoint, Task, Worker};

use super::scheduler::AffinityScheduler;
use super::worker::{Local, Workers};
use crate::direct::OfWorker;

/// Lends no branches: each is a task of the same worker.
pub(super) struct AffinityThread<'a> {
    workers: &'a Workers,
    local: &'a Local,
    #[cfg_attr(not(feature = "direct"), expect(dead_code, reason = "only direct fibers have stacks"))]
    stacks: &'a OfWorker,
}

impl<'a> AffinityThread<'a> {
    pub(super) fn new(workers: &'a Workers, local: &'a Local, stacks: &'a OfWorker) -> Self {
        AffinityThread { workers, local, stacks }
    }

    /// Whether this is a thread of `scheduler`. A fiber of another scheduler runs here too, if a task of this pool wakes it.
    fn is_of(&self, scheduler: &dyn Scheduler) -> bool {
        let pool = (scheduler as &dyn Any).downcast_ref::<AffinityScheduler>();
        pool.is_some_and(|pool| ptr::eq(pool.workers(), self.workers))
    }
}

impl Worker for AffinityThread<'_> {
    fn schedule(&self, scheduler: &dyn Scheduler, task: Task) {
        if self.is_of(scheduler) {
            self.workers.push(task, Some(self.local));
        } else {
            scheduler.schedule(task);
        }
    }

    #[cfg(feature = "direct")]
    fn stacks(&self, scheduler: &dyn Scheduler) -> Option<&fiber_core::scheduler::Stacks> {
        self.is_of(scheduler).then(|| self.stacks.stacks())
    }

    fn checkpoint(&self, scheduler: &dyn Scheduler, context: &Context, at: SwitchPoint) -> Checkpoint {
        if self.is_of(scheduler) {
            self.workers.checkpoint(Some(self.local), scheduler.budget())
        } else {
            scheduler.checkpoint(context, at)
        }
    }
}
