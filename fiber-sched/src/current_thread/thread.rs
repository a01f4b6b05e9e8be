//! The only thread that runs the fibers of a [`CurrentThread`](super::CurrentThread), and its own queue, which needs no lock.
//!
//! All tasks run in the order in which they came. A task goes into the own queue only if none is in the shared one, so those in
//! the own queue are older. A fiber that another one wakes is no task: it runs after the turn of that one, before the queue, unless
//! seven have run so in a row.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ptr;
use std::sync::Arc;

use parking_lot::{ReentrantMutex, ReentrantMutexGuard};

use fiber_core::Context;
use fiber_core::scheduler::{BranchDeque, Checkpoint, Scheduler, SwitchPoint, Task, Worker};

use super::scheduler::{CLOCK_INTERVAL, ThreadScheduler};
use crate::bed::Bed;

/// The tasks that the thread schedules itself, while it runs fibers. It locks the queue for that time, and once more for each task, which
/// is then a look at the name of the thread.
#[derive(Default)]
pub(super) struct OwnQueue(ReentrantMutex<RefCell<VecDeque<Task>>>);

impl OwnQueue {
    /// Adds a task, if this thread runs the fibers.
    ///
    /// # Errors
    /// Gives the task back if another thread does, or none.
    #[inline]
    pub(super) fn push(&self, task: Task) -> Result<(), Task> {
        if !self.0.is_owned_by_current_thread() {
            return Err(task);
        }
        self.0.lock().borrow_mut().push_back(task);
        Ok(())
    }

    pub(super) fn take_all(&self) -> VecDeque<Task> {
        self.0.lock().take()
    }
}

/// A thread that runs fibers. It takes back all lent branches itself.
pub(super) struct OnlyThread<'a> {
    branches: &'a BranchDeque,
    bed: &'a Bed,
    scheduler: &'a Arc<ThreadScheduler>,
    own: ReentrantMutexGuard<'a, RefCell<VecDeque<Task>>>,
    /// The number of own tasks until it looks at the clock and at the shared queue.
    countdown: Cell<u32>,
}

impl<'a> OnlyThread<'a> {
    pub(super) fn new(scheduler: &'a Arc<ThreadScheduler>, branches: &'a BranchDeque, bed: &'a Bed) -> Self {
        let own = scheduler.own().0.lock();
        OnlyThread { branches, bed, scheduler, own, countdown: Cell::new(CLOCK_INTERVAL) }
    }

    pub(super) fn bed(&self) -> &Bed {
        self.bed
    }

    /// The next own task, unless it is time to look at the clock.
    #[inline]
    pub(super) fn next(&self) -> Option<Task> {
        self.countdown.set(self.countdown.get().checked_sub(1)?);
        self.pop()
    }

    #[inline]
    pub(super) fn pop(&self) -> Option<Task> {
        self.own.borrow_mut().pop_front()
    }

    /// Whether it is time to look at the clock. Begins the next interval.
    pub(super) fn restart_countdown(&self) -> bool {
        self.countdown.replace(CLOCK_INTERVAL) == 0
    }

    fn is_of(&self, scheduler: *const ()) -> bool {
        ptr::addr_eq(Arc::as_ptr(self.scheduler), scheduler)
    }

    #[inline]
    fn push(&self, task: Task) {
        if self.scheduler.has_ready() {
            self.scheduler.schedule(task);
        } else {
            self.own.borrow_mut().push_back(task);
        }
    }
}

impl Worker for OnlyThread<'_> {
    fn branches(&self) -> Option<&BranchDeque> {
        Some(self.branches)
    }

    fn schedule_again(&self, scheduler: *const (), task: Task) -> Result<(), Task> {
        if !self.is_of(scheduler) {
            return Err(task);
        }
        self.push(task);
        Ok(())
    }

    fn wakes_next(&self) -> *const () {
        self.scheduler.wakes_next()
    }

    fn take_back(&self, fiber: &Context) -> Option<Task> {
        if self.scheduler.has_ready() {
            return self.scheduler.take_back(fiber);
        }
        take_back(&mut self.own.borrow_mut(), fiber)
    }

    fn checkpoint(&self, scheduler: &dyn Scheduler, context: &Context, at: SwitchPoint) -> Checkpoint {
        match scheduler.checkpoint(context, at) {
            Checkpoint::Continue(_)
                if self.is_of(ptr::from_ref(scheduler).cast()) && !self.own.borrow().is_empty() =>
            {
                Checkpoint::Yield
            }
            answer => answer,
        }
    }
}

/// The task that starts the fiber, if it was the last one to be queued.
pub(super) fn take_back(queue: &mut VecDeque<Task>, fiber: &Context) -> Option<Task> {
    if queue.back()?.starts(fiber) { queue.pop_back() } else { None }
}
