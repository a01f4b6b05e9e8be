//! The thread that waits for timers. It starts with the first of them, and sleeps until the next is due.

use std::sync::Arc;

use fiber_core::{Instant, Task, TimerKey};
use parking_lot::{Condvar, Mutex};

use super::queue::Queue;
use crate::clock::Clock;
use crate::discard::discard;
use crate::threads::Threads;

pub(crate) struct Driver {
    shared: Arc<Shared>,
    threads: Arc<Threads>,
}

struct Shared {
    clock: Clock,
    /// Where tasks go when they are due.
    schedule: Box<dyn Fn(Task) + Send + Sync>,
    state: Mutex<State>,
    /// The thread has to look earlier, or the end has come.
    changed: Condvar,
}

struct State {
    queue: Queue,
    /// When the thread looks again. A timer that is removed does not change it: most timers are timeouts, set and
    /// removed again, and waking the thread for each would cost more than all else. So it may wake in vain, once.
    wakes_at: Instant,
    has_thread: bool,
    is_stopped: bool,
}

impl State {
    fn new() -> Self {
        let queue = Queue::default();
        State { queue, wakes_at: Instant::FAR_FUTURE, has_thread: false, is_stopped: false }
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

    /// Schedules `task` when the time has come. After `stop`, throws it away.
    ///
    /// # Panics
    /// If this is the first timer, and the operating system gives no thread.
    pub(crate) fn insert(&self, at: Instant, task: Task) -> TimerKey {
        let mut state = self.shared.state.lock();
        if state.is_stopped {
            drop(state);
            discard(task);
            return Queue::no_timer();
        }
        if !state.has_thread {
            let shared = self.shared.clone();
            let started = self.threads.start("timer", move || shared.serve());
            started.expect("the operating system gives no thread for the timers");
            state.has_thread = true;
        }
        let (key, _) = state.queue.insert(at, task);
        let is_early = at < state.wakes_at;
        state.wakes_at = state.wakes_at.min(at);
        drop(state);
        if is_early {
            self.shared.changed.notify_one();
        }
        key
    }

    /// Forgets a timer. `false`: it is not there any more.
    pub(crate) fn remove(&self, key: TimerKey) -> bool {
        let task = self.shared.state.lock().queue.remove(key);
        // The task is dropped without the lock: it may hold values of the user's.
        task.map(discard).is_some()
    }

    /// Throws all timers away, and lets the thread end.
    pub(crate) fn stop(&self) {
        let mut state = self.shared.state.lock();
        state.is_stopped = true;
        let queue = std::mem::take(&mut state.queue);
        drop(state);
        self.shared.changed.notify_one();
        queue.for_each(discard);
    }
}

impl Shared {
    /// The thread.
    fn serve(&self) {
        let mut due = Vec::new();
        while self.wait(&mut due) {
            // Without the lock: the scheduler has locks of its own.
            due.drain(..).for_each(&self.schedule);
        }
    }

    /// Waits until some tasks are due, and takes them. `false`: the end has come.
    fn wait(&self, due: &mut Vec<Task>) -> bool {
        let mut state = self.state.lock();
        while !state.is_stopped {
            let now = self.clock.now();
            due.extend(std::iter::from_fn(|| state.queue.pop_due(now)));
            if !due.is_empty() {
                return true;
            }
            if state.wakes_at <= now {
                state.wakes_at = state.queue.first().unwrap_or(Instant::FAR_FUTURE);
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
