//! The timer thread. It starts with the first timer, and sleeps until the next one is due.

use std::sync::Arc;

use fiber_core::{Instant, Task, TimerKey};
use parking_lot::{Condvar, Mutex};

use super::wheel::Wheel;
use crate::clock::Clock;
use crate::discard::discard;
use crate::threads::Threads;

pub(crate) struct Driver {
    shared: Arc<Shared>,
    threads: Arc<Threads>,
}

struct Shared {
    clock: Clock,
    /// Schedules a task that is due.
    schedule: Box<dyn Fn(Task) + Send + Sync>,
    state: Mutex<State>,
    /// Signals an earlier timer, or the end.
    changed: Condvar,
}

struct State {
    timers: Wheel<Task>,
    /// When the thread looks again. Removing a timer does not change it: most timers are timeouts, which are set and
    /// removed again, and waking the thread for each would dominate their cost. So the thread may wake in vain, once.
    wakes_at: Instant,
    has_thread: bool,
    is_stopped: bool,
}

impl State {
    fn new() -> Self {
        let timers = Wheel::default();
        State { timers, wakes_at: Instant::FAR_FUTURE, has_thread: false, is_stopped: false }
    }
}

impl Driver {
    pub(crate) fn new(
        clock: Clock,
        threads: Arc<Threads>,
        schedule: impl Fn(Task) + Send + Sync + 'static,
    ) -> Self {
        let shared = Shared {
            clock,
            schedule: Box::new(schedule),
            state: Mutex::new(State::new()),
            changed: Condvar::new(),
        };
        Driver { shared: Arc::new(shared), threads }
    }

    /// Schedules `task` at time `at`. Drops it after `stop`.
    ///
    /// # Panics
    /// If this is the first timer, and the operating system cannot start the thread.
    pub(crate) fn insert(&self, at: Instant, task: Task) -> TimerKey {
        let mut state = self.shared.state.lock();
        if state.is_stopped {
            drop(state);
            discard(task);
            return Wheel::<Task>::no_timer();
        }
        if !state.has_thread {
            let shared = self.shared.clone();
            let started = self.threads.start("timer", move || shared.serve());
            started.expect("the operating system gives no thread for the timers");
            state.has_thread = true;
        }
        let (key, _) = state.timers.insert(at, task);
        let is_early = at < state.wakes_at;
        state.wakes_at = state.wakes_at.min(at);
        drop(state);
        if is_early {
            self.shared.changed.notify_one();
        }
        key
    }

    /// Removes a timer. `false`: it was already gone.
    pub(crate) fn remove(&self, key: TimerKey) -> bool {
        let task = self.shared.state.lock().timers.remove(key);
        // The task is dropped without the lock, because it may hold user values.
        task.map(discard).is_some()
    }

    /// Drops all timers, and lets the thread end.
    pub(crate) fn stop(&self) {
        let mut state = self.shared.state.lock();
        state.is_stopped = true;
        let timers = std::mem::take(&mut state.timers);
        drop(state);
        self.shared.changed.notify_one();
        timers.for_each(discard);
    }
}

impl Shared {
    /// The main function of the thread.
    fn serve(&self) {
        let mut due = Vec::new();
        while self.wait(&mut due) {
            // Without the lock, because the scheduler has locks of its own.
            due.drain(..).for_each(&self.schedule);
        }
    }

    /// Waits until some tasks are due, and takes them. `false`: the driver was stopped.
    fn wait(&self, due: &mut Vec<Task>) -> bool {
        let mut state = self.state.lock();
        while !state.is_stopped {
            let now = self.clock.now();
            due.extend(std::iter::from_fn(|| state.timers.pop_due(now)));
            if !due.is_empty() {
                return true;
            }
            if state.wakes_at <= now {
                state.wakes_at = state.timers.first().unwrap_or(Instant::FAR_FUTURE);
            }
            let wakes_at = Some(state.wakes_at).filter(|at| *at < Instant::FAR_FUTURE);
            match wakes_at.and_then(|at| self.clock.to_system(at)) {
                Some(at) => _ = self.changed.wait_until(&mut state, at),
                None => self.changed.wait(&mut state),
            }
        }
        false
    }
}
