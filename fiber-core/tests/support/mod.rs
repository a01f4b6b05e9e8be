//! What several test files need.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use fiber_core::{
    Context, Event, Fiber, Handle, Instant, Outcome, Run, Scheduler, Task, TimerKey, Unobserved,
};

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
        let root = Context::root(queue.clone());
        let handle = root.spawn(fiber);
        queue.drain();
        root.cancel();
        handle.try_outcome().expect("the fiber has ended")
    }

    pub fn drain(&self) {
        while let Some(task) = self.pop() {
            task.run();
        }
    }

    /// Takes out the next task.
    pub fn pop(&self) -> Option<Task> {
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

    fn random_u64(&self) -> u64 {
        0
    }

    fn schedule_blocking(&self, task: Task) {
        self.schedule(task);
    }
}

/// Tasks and timers on this thread: each turn runs one that a seed decides, or moves the time to the next timer when
/// nothing else is left. Its fibers have turns of any length.
pub struct Steps {
    state: Arc<StepsState>,
    root: Context,
}

struct StepsState {
    tasks: Mutex<StepsTasks>,
    budget: u32,
    live: AtomicUsize,
    unobserved: Mutex<Vec<String>>,
}

struct StepsTasks {
    now: Instant,
    ready: Vec<Task>,
    timers: BTreeMap<(Instant, u64), Task>,
    next_timer: u64,
    random: u64,
}

impl Steps {
    pub fn new(seed: u64, budget: u32) -> Self {
        let tasks = StepsTasks {
            now: Instant::EPOCH,
            ready: Vec::new(),
            timers: BTreeMap::new(),
            next_timer: 0,
            random: seed,
        };
        let state = Arc::new(StepsState {
            tasks: Mutex::new(tasks),
            budget,
            live: AtomicUsize::new(0),
            unobserved: Mutex::default(),
        });
        Steps { root: Context::root(state.clone()), state }
    }

    pub fn spawn<T: Send + 'static, R: Run<Out = T>>(&self, fiber: Fiber<T, R>) -> Handle<T> {
        self.root.spawn(fiber)
    }

    /// Runs so many tasks, or as many as there are.
    pub fn run(&self, turns: usize) {
        for _ in 0..turns {
            let Some(task) = self.state.tasks.lock().unwrap().next() else { return };
            task.run();
        }
    }

    /// Runs so many tasks, and drops the one that is next. `false`: there is none.
    pub fn throws_away_after(&self, turns: usize) -> bool {
        self.run(turns);
        let task = self.state.tasks.lock().unwrap().next();
        task.is_some()
    }

    pub fn live_fibers(&self) -> usize {
        self.state.live.load(Ordering::Relaxed)
    }

    pub fn unobserved(&self) -> Vec<String> {
        self.state.unobserved.lock().unwrap().clone()
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.root.cancel();
    }
}

impl StepsTasks {
    fn next(&mut self) -> Option<Task> {
        if self.ready.is_empty() {
            let ((at, _), task) = self.timers.pop_first()?;
            self.now = at;
            return Some(task);
        }
        // SplitMix64's increment and one round of its mixing: enough to choose a task.
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let chosen = (mixed >> 32) as usize % self.ready.len();
        Some(self.ready.swap_remove(chosen))
    }
}

impl Scheduler for StepsState {
    fn schedule(&self, task: Task) {
        self.tasks.lock().unwrap().ready.push(task);
    }

    fn schedule_at(&self, at: Instant, task: Task) -> TimerKey {
        let mut tasks = self.tasks.lock().unwrap();
        let key = tasks.next_timer;
        tasks.next_timer += 1;
        tasks.timers.insert((at, key), task);
        TimerKey::new(key)
    }

    fn cancel_timer(&self, key: TimerKey) -> bool {
        let mut tasks = self.tasks.lock().unwrap();
        let timer = tasks.timers.keys().find(|(_, number)| *number == key.get()).copied();
        let cancelled = timer.and_then(|timer| tasks.timers.remove(&timer));
        drop(tasks);
        cancelled.is_some()
    }

    fn now(&self) -> Instant {
        self.tasks.lock().unwrap().now
    }

    fn utc_now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }

    fn random_u64(&self) -> u64 {
        0
    }

    fn schedule_blocking(&self, task: Task) {
        self.schedule(task);
    }

    fn budget(&self) -> u32 {
        self.budget
    }

    fn observe(&self, _: &Context, event: Event<'_>) {
        match event {
            Event::Created { .. } => drop(self.live.fetch_add(1, Ordering::Relaxed)),
            Event::Ended => drop(self.live.fetch_sub(1, Ordering::Relaxed)),
            _ => {}
        }
    }

    fn unobserved(&self, failure: &Unobserved) {
        self.unobserved.lock().unwrap().push(failure.to_string());
    }
}
