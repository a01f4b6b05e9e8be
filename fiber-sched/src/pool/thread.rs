//! A thread that runs fibers of the pool, as the fibers see it: a worker, or a user thread during a call of
//! [`Pool::run`](super::Pool::run).
//!
//! Tasks that a running fiber schedules come this way, without access to a thread-local. Tasks from elsewhere, such as
//! a wake-up that a fiber of another scheduler fires, go through [`PoolScheduler`](super::scheduler::PoolScheduler).

use std::ops::Deref;
use std::ptr;
use std::sync::Weak;
use std::sync::atomic::AtomicBool;

use fiber_core::{BranchDeque, Checkpoint, Context, Scheduler, SwitchPoint, Task, Worker};
use parking_lot::MutexGuard;

use super::queue::Queues;
use super::scheduler::PoolScheduler;
use super::worker::Local;
use crate::direct::OfWorker;

pub(super) struct PoolThread<'a, D> {
    /// Only compared. Its memory is not used for another one as long as this exists.
    scheduler: *const PoolScheduler,
    queues: &'a Queues,
    /// `None`: the thread is not a worker.
    local: Option<&'a Local>,
    /// `None`: no direct fiber can stay here.
    #[cfg_attr(not(feature = "direct"), expect(dead_code, reason = "only direct fibers have stacks"))]
    stacks: Option<&'a OfWorker>,
    /// The number of its deque, and the deque. `None`: all deques for guests were in use, or the pool records.
    branches: Option<(usize, D)>,
}

impl<'a> PoolThread<'a, &'a BranchDeque> {
    pub(super) fn worker(
        scheduler: &'a Weak<PoolScheduler>,
        queues: &'a Queues,
        local: &'a Local,
        branches: &'a BranchDeque,
        stacks: &'a OfWorker,
    ) -> Self {
        let scheduler = scheduler.as_ptr();
        // What is recorded has turns of its own, and does not run on the stack of its owner.
        let branches = (!queues.is_recorded()).then(|| (local.index(), branches));
        PoolThread { scheduler, queues, local: Some(local), stacks: Some(stacks), branches }
    }
}

impl<'a> PoolThread<'a, MutexGuard<'a, BranchDeque>> {
    /// Makes the view of a user thread.
    pub(super) fn guest(scheduler: &'a PoolScheduler) -> Self {
        let queues = &*scheduler.queues;
        let branches = if queues.is_recorded() { None } else { queues.lent().for_guest() };
        PoolThread { scheduler, queues, local: None, stacks: None, branches }
    }
}

impl<D> PoolThread<'_, D> {
    /// Whether this is a thread of `scheduler`. A fiber of another scheduler runs here too, if a task of this pool wakes it.
    fn is_of(&self, scheduler: &dyn Scheduler) -> bool {
        ptr::addr_eq(self.scheduler, scheduler)
    }
}

impl<D: Deref<Target = BranchDeque>> Worker for PoolThread<'_, D> {
    fn branches(&self) -> Option<&BranchDeque> {
        self.branches.as_ref().map(|(_, branches)| &**branches)
    }

    fn lent(&self) {
        if let Some((index, _)) = self.branches {
            self.queues.lent().watch(index);
            self.queues.idle().notify();
        }
    }

    fn share(&self, task: Task) {
        self.queues.push(task, self.local);
    }

    fn block(&self, wait: &mut dyn FnMut()) {
        match self.local {
            Some(local) => self.queues.stand_in_for(local, wait),
            None => wait(),
        }
    }

    fn make_way(&self, has_lent: bool) -> bool {
        self.local.is_some_and(|local| local.make_way(has_lent, self.queues))
    }

    fn is_overdue(&self) -> Option<&AtomicBool> {
        self.local.map(|local| self.queues.seat(local.index()).is_overdue())
    }

    fn schedule(&self, scheduler: &dyn Scheduler, task: Task) {
        if self.is_of(scheduler) {
            self.queues.push(task, self.local);
        } else {
            scheduler.schedule(task);
        }
    }

    #[cfg(feature = "direct")]
    fn stacks(&self, scheduler: &dyn Scheduler) -> Option<&fiber_core::Stacks> {
        self.stacks.filter(|_| self.is_of(scheduler)).map(OfWorker::stacks)
    }

    fn checkpoint(&self, scheduler: &dyn Scheduler, context: &Context, at: SwitchPoint) -> Checkpoint {
        if self.is_of(scheduler) {
            self.queues.checkpoint(self.local, context, at)
        } else {
            scheduler.checkpoint(context, at)
        }
    }
}
