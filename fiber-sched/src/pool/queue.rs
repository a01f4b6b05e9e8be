//! Where tasks wait: the injector, for what comes from outside, and the deque of each worker.
//!
//! The deques are those of Chase and Lev ("Dynamic Circular Work-Stealing Deque", 2005), in crossbeam's version. All are
//! first in, first out, so that tasks which make place for others really do.

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

    /// A fiber goes on unless something waits for its worker. On a thread that is not the pool's it keeps nobody waiting.
    pub(super) fn checkpoint(&self, local: Option<&Local>, budget: u32) -> Checkpoint {
        let is_wanted = local.is_some_and(|local| local.is_wanted(self));
        if is_wanted || self.idle.is_stopped() { Checkpoint::Yield } else { Checkpoint::Continue(budget) }
    }

    /// Queues a task from outside.
    pub(super) fn inject(&self, task: Task) {
        self.injector.push(task);
        if self.idle.notify().is_stopped() {
            // The one who has stopped the pool may have looked before the push.
            discard_all(|| self.injector.steal());
        }
    }

    pub(super) fn has_injected(&self) -> bool {
        !self.injector.is_empty()
    }

    /// Whether there is a task in any queue.
    pub(super) fn has_any(&self) -> bool {
        self.has_injected() || self.stealers.iter().any(|stealer| !stealer.is_empty())
    }

    /// A task from the injector, and some more for the deque.
    pub(super) fn take_injected(&self, deque: &Worker<Task>) -> Option<Task> {
        until_clear(|| self.injector.steal_batch_and_pop(deque))
    }

    /// A task from the injector or from another worker, and some more for the deque of worker `thief`.
    pub(super) fn steal(&self, thief: usize, deque: &Worker<Task>) -> Option<Task> {
        self.take_injected(deque).or_else(|| {
            // Beginning with the next, so that not all thieves besiege the first.
            let (before, after) = self.stealers.split_at(thief);
            let mut victims = after.iter().skip(1).chain(before);
            victims.find_map(|victim| until_clear(|| victim.steal_batch_and_pop(deque)))
        })
    }

    /// Throws away what is in any queue. After the stop.
    ///
    /// The workers do so with their deques too, for what comes later; but one may be busy for a long time.
    pub(super) fn discard(&self) {
        discard_all(|| self.injector.steal());
        self.stealers.iter().for_each(|stealer| discard_all(|| stealer.steal()));
    }
}

fn discard_all(mut steal: impl FnMut() -> Steal<Task>) {
    iter::from_fn(|| until_clear(&mut steal)).for_each(discard);
}

/// Asks again as long as others got in the way.
fn until_clear(mut steal: impl FnMut() -> Steal<Task>) -> Option<Task> {
    loop {
        match steal() {
            Steal::Success(task) => return Some(task),
            Steal::Empty => return None,
            Steal::Retry => std::hint::spin_loop(),
        }
    }
}
