//! The tasks that only one worker may run: those of the direct fibers whose stacks are on its thread.
//!
//! They are not stolen, and not handed over when the worker is stuck. The thread that adds one rings for the worker, which looks
//! here before it falls asleep.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

use fiber_core::scheduler::Task;
use parking_lot::Mutex;

#[derive(Default)]
pub(super) struct Pinned {
    state: Mutex<State>,
    /// How many tasks there are, for a look without the lock.
    count: AtomicUsize,
}

#[derive(Default)]
struct State {
    /// In the order in which they came.
    tasks: VecDeque<Task>,
    is_stopped: bool,
}

impl Pinned {
    /// Adds a task.
    ///
    /// # Errors
    /// Gives the task back after the stop.
    pub(super) fn push(&self, task: Task) -> Result<(), Task> {
        let mut state = self.state.lock();
        if state.is_stopped {
            return Err(task);
        }
        state.tasks.push_back(task);
        self.count.store(state.tasks.len(), Ordering::Relaxed);
        Ok(())
    }

    /// Whether there is a task. One from another thread may be seen late, but not after the ring for it.
    #[inline]
    pub(super) fn has_any(&self) -> bool {
        // Relaxed, as where it is stored: the bell orders it for a worker that is about to sleep, and the lock what comes next.
        self.count.load(Ordering::Relaxed) > 0
    }

    pub(super) fn take(&self) -> Option<Task> {
        if !self.has_any() {
            return None;
        }
        let mut state = self.state.lock();
        let task = state.tasks.pop_front();
        self.count.store(state.tasks.len(), Ordering::Relaxed);
        task
    }

    /// Takes out all tasks, and lets no more in.
    pub(super) fn stop(&self) -> VecDeque<Task> {
        let mut state = self.state.lock();
        state.is_stopped = true;
        self.count.store(0, Ordering::Relaxed);
        std::mem::take(&mut state.tasks)
    }

    pub(super) fn len(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}
