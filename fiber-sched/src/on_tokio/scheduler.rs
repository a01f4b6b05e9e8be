//! The [`Scheduler`] that fibers on a tokio runtime see.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::Waker;
use std::thread;
use std::time::SystemTime;

use fiber_core::scheduler::net::Net;
use fiber_core::scheduler::{Event, Scheduler, Task, TimerKey, Unobserved};
use fiber_core::{Context, Instant};
use parking_lot::Mutex;
use tokio::runtime;

use super::driver::Driver;
use super::drivers::Drivers;
use super::lookout::Lookout;
use super::sockets::Sockets;
use super::timekeeper::Timekeeper;
use crate::contain::contain;
use crate::discard::discard;
use crate::metrics::Metrics;
use crate::observer::Observers;
use crate::random::Random;

pub(crate) struct RuntimeScheduler {
    runtime: runtime::Handle,
    drivers: Arc<Drivers>,
    timekeeper: Arc<Timekeeper>,
    sockets: Sockets,
    random: Random,
    is_stopped: AtomicBool,
    calls: Arc<Calls>,
    hooks: Hooks,
}

/// The blocking calls.
#[derive(Default)]
struct Calls {
    waiting: AtomicUsize,
    running: AtomicUsize,
}

/// What the user of the scheduler wants to be told.
pub(super) struct Hooks {
    pub(super) observers: Observers,
    pub(super) on_unobserved: Box<dyn Fn(&Unobserved) + Send + Sync>,
}

impl Default for Hooks {
    fn default() -> Self {
        Hooks { observers: Observers::default(), on_unobserved: Box::new(|failure| eprintln!("{failure}")) }
    }
}

impl RuntimeScheduler {
    /// Starts the tokio tasks that run fibers and fire timers.
    #[track_caller]
    pub(super) fn start(runtime: runtime::Handle, hooks: Hooks) -> Arc<Self> {
        let (drivers, deques) = Drivers::new(&runtime, hooks.observers.clone());
        let sockets = Sockets::new(&runtime, &drivers);
        let timekeeper = Timekeeper::start(&runtime, drivers.clone(), sockets.clone());
        Arc::new_cyclic(|scheduler: &Weak<RuntimeScheduler>| {
            for (index, own) in deques.into_iter().enumerate() {
                runtime.spawn(Driver::new(index, &drivers, &timekeeper, scheduler.clone(), own));
            }
            Lookout::start(&drivers, &timekeeper, &sockets);
            RuntimeScheduler {
                runtime,
                drivers,
                timekeeper,
                sockets,
                random: Random::new(),
                is_stopped: AtomicBool::new(false),
                calls: Arc::default(),
                hooks,
            }
        })
    }

    pub(super) fn runtime(&self) -> &runtime::Handle {
        &self.runtime
    }

    pub(super) fn metrics(&self, fibers: usize) -> Metrics {
        let (workers, hosts) = self.drivers.metrics();
        Metrics {
            may_run: self.drivers.count(),
            workers,
            hosts,
            injected: self.drivers.injected(),
            timers: self.timekeeper.len(),
            // Relaxed: a number stands for itself.
            blocking_threads: self.calls.running.load(Ordering::Relaxed),
            blocking_queue: self.calls.waiting.load(Ordering::Relaxed),
            fibers,
        }
    }

    /// Drops the tasks and timers that are left, and those that come later. The tokio tasks end.
    pub(super) fn stop(&self) {
        // Release: pairs with the Acquire of `is_stopped`. A blocking task that comes at the same time may still run.
        self.is_stopped.store(true, Ordering::Release);
        self.timekeeper.stop();
        self.drivers.stop();
        self.sockets.stop();
    }

    fn is_stopped(&self) -> bool {
        // Acquire: pairs with the Release of `stop`.
        self.is_stopped.load(Ordering::Acquire)
    }
}

#[cfg(feature = "inspector")]
impl crate::source::Source for RuntimeScheduler {
    fn observers(&self) -> &crate::observer::Observers {
        &self.hooks.observers
    }

    fn metrics(&self, fibers: usize) -> Option<crate::metrics::Metrics> {
        Some(self.metrics(fibers))
    }
}

impl Scheduler for RuntimeScheduler {
    fn schedule(&self, task: Task) {
        self.drivers.push(task);
    }

    fn schedule_at(&self, at: Instant, task: Task) -> TimerKey {
        let (key, is_first) = self.timekeeper.insert(at, task);
        if is_first {
            self.drivers.keeper_was_woken();
        }
        key
    }

    fn cancel_timer(&self, key: TimerKey) -> bool {
        self.timekeeper.remove(key)
    }

    fn now(&self) -> Instant {
        self.timekeeper.now()
    }

    fn utc_now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn random_u64(&self) -> u64 {
        self.random.next()
    }

    fn schedule_blocking(&self, task: Task) {
        if self.is_stopped() {
            return discard(task);
        }
        // A runtime that has ended drops the closure, and the task with it.
        let job = Job::new(task, self.hooks.observers.clone(), self.calls.clone());
        drop(self.runtime.spawn_blocking(move || job.run()));
    }

    /// A thread beside those of the runtime, whose number is limited and whose ends it awaits.
    fn schedule_dedicated(&self, task: Task) {
        if self.is_stopped() {
            return discard(task);
        }
        let (runtime, observers) = (self.runtime.clone(), self.hooks.observers.clone());
        // A thread that cannot be started must not drop the task inside of `spawn`.
        let slot = Arc::new(Mutex::new(Some(task)));
        let taken = slot.clone();
        let body = move || {
            let _inside = runtime.enter();
            let task = taken.lock().take();
            contain(|| task.into_iter().for_each(|task| observers.run(task, Task::run)));
        };
        if thread::Builder::new().name("fiber-dedicated".to_owned()).spawn(body).is_err() {
            let refused = slot.lock().take();
            refused.into_iter().for_each(discard);
        }
    }

    fn net(&self) -> Option<&dyn Net> {
        self.sockets.net()
    }

    fn is_host(&self) -> bool {
        true
    }

    fn host(&self, next: &mut dyn FnMut() -> Option<Task>) -> bool {
        self.drivers.host(next)
    }

    fn wake_host(&self, waker: Waker) {
        self.drivers.wake_host(waker);
    }

    fn is_observer(&self) -> bool {
        !self.hooks.observers.is_empty()
    }

    fn observe(&self, fiber: &Context, event: Event<'_>) {
        self.hooks.observers.event(fiber, event);
    }

    fn unobserved(&self, failure: &Unobserved) {
        self.hooks.observers.unobserved(failure);
        (self.hooks.on_unobserved)(failure);
    }
}

/// A blocking task on its way to a thread of the runtime.
struct Job {
    task: Option<Task>,
    observers: Observers,
    calls: Arc<Calls>,
}

impl Job {
    fn new(task: Task, observers: Observers, calls: Arc<Calls>) -> Self {
        // Relaxed, here and below: the numbers are only shown.
        calls.waiting.fetch_add(1, Ordering::Relaxed);
        Job { task: Some(task), observers, calls }
    }

    fn run(mut self) {
        let Some(task) = self.take() else { return };
        self.calls.running.fetch_add(1, Ordering::Relaxed);
        contain(|| self.observers.run(task, Task::run));
        self.calls.running.fetch_sub(1, Ordering::Relaxed);
    }

    fn take(&mut self) -> Option<Task> {
        let task = self.task.take()?;
        self.calls.waiting.fetch_sub(1, Ordering::Relaxed);
        Some(task)
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.take().into_iter().for_each(discard);
    }
}

impl fmt::Debug for RuntimeScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeScheduler").finish_non_exhaustive()
    }
}
