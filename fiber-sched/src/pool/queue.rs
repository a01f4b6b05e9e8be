//! The queues of tasks: the injector, for tasks from outside, and the deque of each worker.
//!
//! The deques are those of Chase and Lev ("Dynamic Circular Work-Stealing Deque", 2005), in crossbeam's version. All
//! are first in, first out, so that a task that yields goes behind the others.

use std::iter;

use crossbeam_deque::{Injector, Steal, Stealer, Worker};
use fiber_core::{Checkpoint, Task};

use super::idle::Idle;
use super::lent::Lent;
use super::worker::Local;
use crate::discard::discard;

pub(super) struct Queues {
    injector: Injector<Task>,
    stealers: Box<[Stealer<Task>]>,
    lent: Lent,
    idle: Idle,
}

impl Queues {
    pub(super) fn new(deques: &[Worker<Task>], lent: Lent, idle: Idle) -> Self {
        let stealers = deques.iter().map(Worker::stealer).collect();
        Queues { injector: Injector::new(), stealers, lent, idle }
    }

    pub(super) fn lent(&self) -> &Lent {
        &self.lent
    }

    pub(super) fn idle(&self) -> &Idle {
        &self.idle
    }

    pub(super) fn workers(&self) -> usize {
        self.stealers.len()
    }

    /// Queues a task, for the worker of this thread or a thief.
    pub(super) fn push(&self, task: Task, local: Option<&Local>) {
        match local {
            Some(local) => local.push(task, self),
            None => self.inject(task),
        }
    }

    /// Lets the fiber go on unless a task waits for its worker. On a user thread, it keeps no task waiting.
    pub(super) fn checkpoint(&self, local: Option<&Local>, budget: u32) -> Checkpoint {
        let is_wanted = local.is_some_and(|local| local.is_wanted(self));
        if is_wanted || self.idle.is_stopped() { Checkpoint::Yield } else { Checkpoint::Continue(budget) }
    }

    /// Queues a task from outside.
    pub(super) fn inject(&self, task: Task) {
        self.injector.push(task);
        if self.idle.notify().is_stopped() {
            // The thread that stopped the pool may have looked before the push.
            discard_all(|| self.injector.steal());
        }
    }

    pub(super) fn has_injected(&self) -> bool {
        !self.injector.is_empty()
    }

    /// Whether any queue holds a task.
    pub(super) fn has_any(&self) -> bool {
        self.has_injected() || self.stealers.iter().any(|stealer| !stealer.is_empty())
    }

    /// Takes a task from the injector, and moves some more into the deque.
    pub(super) fn take_injected(&self, deque: &Worker<Task>) -> Option<Task> {
        until_clear(|| self.injector.steal_batch_and_pop(deque))
    }

    /// Takes a task from the injector or from another worker, and moves some more into the deque of worker `thief`.
    pub(super) fn steal(&self, thief: usize, deque: &Worker<Task>) -> Option<Task> {
        self.take_injected(deque).or_else(|| {
            // Starts with the next worker, so that not all thieves besiege the first.
            let (before, after) = self.stealers.split_at(thief);
            let mut victims = after.iter().skip(1).chain(before);
            victims.find_map(|victim| until_clear(|| victim.steal_batch_and_pop(deque)))
        })
    }

    /// Drops the tasks in all queues, after the stop.
    ///
    /// The workers also drop later tasks in their deques, but a worker may be busy for a long time.
    pub(super) fn discard(&self) {
        discard_all(|| self.injector.steal());
        self.stealers.iter().for_each(|stealer| discard_all(|| stealer.steal()));
    }
}

fn discard_all(mut steal: impl FnMut() -> Steal<Task>) {
    iter::from_fn(|| until_clear(&mut steal)).for_each(discard);
}

/// Retries as long as other threads interfere.
fn until_clear(mut steal: impl FnMut() -> Steal<Task>) -> Option<Task> {
    loop {
        match steal() {
            Steal::Success(task) => return Some(task),
            Steal::Empty => return None,
            Steal::Retry => std::hint::spin_loop(),
        }
    }
}
