//! A thread that runs fibers of the pool, as the fibers see it: a worker, a user thread during a call of
//! [`Pool::run`](super::Pool::run), or a [host](super::host).
//!
//! Tasks that a running fiber schedules come this way, without access to a thread-local. Tasks from elsewhere, such as
//! a wake-up that a fiber of another scheduler fires, go through [`PoolScheduler`](super::scheduler::PoolScheduler).

use std::cell::OnceCell;
use std::ptr;
use std::sync::Weak;
use std::sync::atomic::AtomicBool;

use fiber_core::Context;
use fiber_core::scheduler::{BranchDeque, Checkpoint, Scheduler, SwitchPoint, Task, Worker};
use parking_lot::MutexGuard;

use super::queue::Queues;
use super::scheduler::PoolScheduler;
use super::worker::Local;
use crate::direct::OfWorker;

pub(super) struct PoolThread<'a> {
    /// Only compared. Its memory is not used for another one as long as this exists.
    scheduler: *const PoolScheduler,
    queues: &'a Queues,
    /// `None`: the thread is not a worker.
    local: Option<&'a Local>,
    /// `None`: no direct fiber can stay here.
    #[cfg_attr(not(feature = "direct"), expect(dead_code, reason = "only direct fibers have stacks"))]
    stacks: Option<&'a OfWorker>,
    deque: Deque<'a>,
    /// Other tasks of an executor wait for the thread.
    is_host: bool,
}

/// Where the thread lends branches, and the number of that deque.
enum Deque<'a> {
    Own(usize, &'a BranchDeque),
    /// One that the pool keeps for user threads, from the first branch on. `None`: all were in use.
    Guest(OnceCell<Option<(usize, MutexGuard<'a, BranchDeque>)>>),
    /// What is recorded has turns of its own, and does not run on the stack of its owner.
    Recorded,
}

impl<'a> PoolThread<'a> {
    pub(super) fn worker(
        scheduler: &'a Weak<PoolScheduler>,
        queues: &'a Queues,
        local: &'a Local,
        branches: &'a BranchDeque,
        stacks: &'a OfWorker,
    ) -> Self {
        let scheduler = scheduler.as_ptr();
        let deque = if queues.is_recorded() { Deque::Recorded } else { Deque::Own(local.index(), branches) };
        PoolThread { scheduler, queues, local: Some(local), stacks: Some(stacks), deque, is_host: false }
    }

    /// Makes the view of a user thread.
    pub(super) fn guest(scheduler: &'a PoolScheduler) -> Self {
        let queues = &*scheduler.queues;
        let deque = if queues.is_recorded() { Deque::Recorded } else { Deque::Guest(OnceCell::new()) };
        PoolThread { scheduler, queues, local: None, stacks: None, deque, is_host: false }
    }

    /// Makes the view of a thread that runs a task of an executor.
    pub(super) fn host(scheduler: &'a PoolScheduler) -> Self {
        PoolThread { is_host: true, ..PoolThread::guest(scheduler) }
    }

    /// Counts a turn of a host.
    pub(super) fn add_turn(&self, task: &Task) {
        if let Some((index, _)) = self.deque() {
            self.queues.lent().of_host(index).add_turn(task);
        }
    }

    fn deque(&self) -> Option<(usize, &BranchDeque)> {
        match &self.deque {
            Deque::Own(index, branches) => Some((*index, branches)),
            Deque::Guest(guest) => {
                let guest = guest.get_or_init(|| self.queues.lent().for_guest(self.is_host));
                guest.as_ref().map(|(index, branches)| (*index, &**branches))
            }
            Deque::Recorded => None,
        }
    }

    /// Whether this is a thread of `scheduler`. A fiber of another scheduler runs here too, if a task of this pool wakes it.
    fn is_of(&self, scheduler: &dyn Scheduler) -> bool {
        ptr::addr_eq(self.scheduler, scheduler)
    }
}

impl Worker for PoolThread<'_> {
    fn branches(&self) -> Option<&BranchDeque> {
        self.deque().map(|(_, branches)| branches)
    }

    fn lent(&self) {
        if let Some((index, _)) = self.deque() {
            self.queues.lent().watch(index);
            // A host begins often, and lends for microseconds: too short for a thread that has to be woken.
            if !self.is_host || !self.queues.idle().has_lookout() {
                self.queues.idle().notify();
            }
        }
    }

    fn take_back(&self, fiber: &Context) -> Option<Task> {
        self.local.and_then(|local| local.take_back(fiber, self.queues))
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

    fn schedule_again(&self, scheduler: *const (), task: Task) -> Result<(), Task> {
        if !ptr::addr_eq(self.scheduler, scheduler) {
            return Err(task);
        }
        self.queues.push(task, self.local);
        Ok(())
    }

    #[cfg(feature = "direct")]
    fn stacks(&self, scheduler: &dyn Scheduler) -> Option<&fiber_core::scheduler::Stacks> {
        self.stacks.filter(|_| self.is_of(scheduler)).map(OfWorker::stacks)
    }

    fn checkpoint(&self, scheduler: &dyn Scheduler, context: &Context, at: SwitchPoint) -> Checkpoint {
        if self.is_host && at != SwitchPoint::Branch {
            Checkpoint::Yield
        } else if self.is_of(scheduler) {
            self.queues.checkpoint(self.local, context, at)
        } else {
            scheduler.checkpoint(context, at)
        }
    }
}
