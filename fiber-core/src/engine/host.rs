//! The task of an executor that runs a fiber: its *host*. See [`Call`](crate::Call).
//!
//! What is to run next of the fiber waits in a queue, and the host is woken. The fiber leaves its host when it yields, has spent its
//! budget, or is cancelled, when the host stops to poll, and at its end. From then on, its tasks go to the scheduler. So no queue keeps the task of a fiber
//! that has ended, which would keep the fiber, and that the queue.
//!
//! | `has_left` | `waker` | the host | left by | to |
//! |---|---|---|---|---|
//! | no | none | has not been polled, is polled, or has been woken | `next`, which finds no task | sleeps |
//! | no | some | sleeps | `schedule`: takes the waker, and wakes it | has been woken |
//! | | | | `next`, which finds no task: takes another waker | sleeps |
//! | no | any | | `leave`: takes all tasks and the waker | has left |
//! | yes | none | | | |
//!
//! All of it changes under the lock. `has_left` is also read without it, and never becomes `false` again.

use std::collections::VecDeque;
use std::mem::take;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;

use parking_lot::Mutex;

use crate::engine::scheduler::Scheduler;
use crate::engine::task::{Task, TaskKind};
use crate::panic::{catch_panic, guard};

#[derive(Default)]
pub(crate) struct Host {
    has_left: AtomicBool,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    /// Apart, so that the usual one needs no memory for a queue.
    first: Option<Task>,
    others: VecDeque<Task>,
    /// Of the host, while it sleeps.
    waker: Option<Waker>,
}

impl Host {
    /// Whether the scheduler has the tasks of the fiber.
    #[inline]
    pub(crate) fn has_left(&self) -> bool {
        // Acquire: pairs with the Release of `leave`.
        self.has_left.load(Ordering::Acquire)
    }

    /// Queues a task of the fiber, and wakes the host; or passes it to the scheduler.
    pub(crate) fn schedule(&self, task: Task, scheduler: &dyn Scheduler) {
        if task.kind() == TaskKind::Continue {
            self.leave().go_on(scheduler);
        }
        match self.queue(task) {
            Ok(waker) => wake(waker, scheduler),
            Err(task) => scheduler.schedule(task),
        }
    }

    /// # Errors
    /// Gives the task back if the fiber has left.
    fn queue(&self, task: Task) -> Result<Option<Waker>, Task> {
        let mut queue = self.queue.lock();
        // Relaxed: under the lock.
        if self.has_left.load(Ordering::Relaxed) {
            return Err(task);
        }
        if queue.first.is_none() {
            queue.first = Some(task);
        } else {
            queue.others.push_back(task);
        }
        Ok(queue.waker.take())
    }

    /// The next task. If there is none, the host sleeps, and `waker` is taken to wake it.
    pub(crate) fn next(&self, waker: &mut Option<Waker>) -> Option<Task> {
        let mut queue = self.queue.lock();
        let next = queue.first.take();
        if next.is_some() {
            queue.first = queue.others.pop_front();
        } else if !self.has_left.load(Ordering::Relaxed)
            && let Some(waker) = waker.take()
        {
            let before = queue.waker.replace(waker);
            // Its drop may run code that wakes the fiber.
            drop(queue);
            drop(before);
        }
        next
    }

    /// From now on, the tasks of the fiber go to the scheduler. Also called at its end.
    pub(crate) fn leave(&self) -> Leaving {
        let mut queue = self.queue.lock();
        // Release: pairs with the Acquire of `has_left`.
        self.has_left.store(true, Ordering::Release);
        let Queue { first, others: mut tasks, waker } = take(&mut *queue);
        first.into_iter().for_each(|first| tasks.push_front(first));
        Leaving { tasks, waker }
    }
}

/// What a fiber that leaves its host has left to do.
#[must_use = "the fiber would be abandoned"]
pub(crate) struct Leaving {
    tasks: VecDeque<Task>,
    waker: Option<Waker>,
}

impl Leaving {
    /// Passes its tasks to the scheduler, and wakes the host, which waits for the end from now on.
    pub(crate) fn go_on(self, scheduler: &dyn Scheduler) {
        let tasks = self.tasks.into_iter().filter(|task| !task.is_void());
        // A scheduler that panics has dropped the task, which abandons the fiber. The host has to see that.
        tasks.for_each(|task| catch_panic(|| scheduler.schedule(task)));
        wake(self.waker, scheduler);
    }
}

/// A waker of the user may panic.
fn wake(waker: Option<Waker>, scheduler: &dyn Scheduler) {
    if let Some(waker) = waker {
        drop(guard(|| scheduler.wake_host(waker)));
    }
}
