//! What several test files need.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use fiber_core::{Context, Fiber, Instant, Outcome, Run, Scheduler, Task, TimerKey};

/// Counts how often something happened.
#[derive(Clone, Debug, Default)]
pub struct Counter(Arc<AtomicUsize>);

impl Counter {
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// A fiber that counts when it runs.
    pub fn count(&self) -> Fiber<()> {
        let counter = self.clone();
        Fiber::lazy(move || counter.add()).boxed()
    }

    pub fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// A queue of tasks on this thread with the budget of production: many binds in one turn. Timers are due at once.
#[derive(Default)]
pub struct Queue(Mutex<VecDeque<Task>>);

impl Queue {
    /// Runs a fiber until the queue is empty.
    pub fn run<T: Send + 'static, R: Run<Out = T>>(fiber: Fiber<T, R>) -> Outcome<T> {
        let queue = Arc::new(Queue::default());
        let handle = Context::root(queue.clone()).spawn(fiber);
        queue.drain();
        handle.try_outcome().expect("the fiber has ended")
    }

    pub fn drain(&self) {
        while let Some(task) = self.pop() {
            task.run();
        }
    }

    fn pop(&self) -> Option<Task> {
        self.0.lock().unwrap().pop_front()
    }
}

impl Scheduler for Queue {
    fn schedule(&self, task: Task) {
        self.0.lock().unwrap().push_back(task);
    }

    fn schedule_at(&self, _: Instant, task: Task) -> TimerKey {
        self.schedule(task);
        TimerKey::new(0)
    }

    fn cancel_timer(&self, _: TimerKey) -> bool {
        false
    }

    fn now(&self) -> Instant {
        Instant::EPOCH
    }

    fn utc_now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }

    fn schedule_blocking(&self, task: Task) {
        self.schedule(task);
    }
}
