//! The blocking calls of fibers, on the threads that the runtime has for such calls.
//!
//! tokio wakes a thread for each call. Here, a call may wait for another one, as [`pace`](crate::pace) says:
//!
//! ```text
//!  call --queue--> nobody runs, or calls are long --> a thread comes for it: the watcher, or one of the runtime
//!                  somebody runs a short call     --> that thread takes it next; the watcher watches
//! ```
//!
//! A call is left to those who run only while there is a watcher. Otherwise as many threads are on their way as calls wait.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fiber_core::Task;
use parking_lot::{Condvar, Mutex, MutexGuard};
use tokio::runtime;

use crate::contain::contain;
use crate::discard::discard;
use crate::observer::Observers;
use crate::pace::{NAP, Pace};

pub(super) struct Calls {
    runtime: runtime::Handle,
    observers: Observers,
    state: Mutex<State>,
    /// Calls the watcher.
    called: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Task>,
    /// Threads that are on their way, each to take one call.
    coming: usize,
    /// Threads that are in a call.
    running: usize,
    /// The number of the one who watches.
    watcher: Option<u64>,
    /// How many have watched.
    watchers: u64,
    pace: Pace,
    /// How many calls have begun.
    begun: u64,
    is_stopped: bool,
}

impl State {
    /// How many threads have to come for the call that was queued last, and for those that were left to others until now.
    fn missing(&self) -> usize {
        let missing = self.waiting.len().saturating_sub(self.coming);
        if !(self.watcher.is_some() && self.running > 0 && self.pace.expects_short()) {
            return missing;
        }
        usize::from(missing > 0 && !self.pace.keeps_up(self.waiting.len(), self.running + self.coming))
    }

    /// Takes the watcher from its watch. `false`: there is none, or it is needed where it is.
    fn call_watcher(&mut self, missing: usize) -> bool {
        let covers_all = self.waiting.len() <= self.coming + missing;
        covers_all && self.watcher.take().is_some()
    }
}

impl Calls {
    pub(super) fn new(runtime: &runtime::Handle, observers: Observers) -> Arc<Self> {
        let (state, called) = (Mutex::default(), Condvar::new());
        Arc::new(Calls { runtime: runtime.clone(), observers, state, called })
    }

    /// Runs the task on a thread for blocking calls. Drops it after `stop`, or if the runtime has ended.
    pub(super) fn schedule(self: &Arc<Self>, task: Task) {
        let mut state = self.state.lock();
        if state.is_stopped {
            drop(state);
            return discard(task);
        }
        state.waiting.push_back(task);
        self.send_missing(&mut state);
    }

    /// Lets threads come, if too few do.
    fn send_missing(self: &Arc<Self>, state: &mut MutexGuard<'_, State>) {
        let missing = state.missing();
        if missing == 0 {
            return;
        }
        let calls_watcher = state.call_watcher(missing);
        state.coming += missing;
        MutexGuard::unlocked(state, || {
            if calls_watcher {
                self.called.notify_one();
            }
            (usize::from(calls_watcher)..missing).for_each(|_| self.send_thread());
        });
    }

    /// Lets one more thread of the runtime come, which is counted already.
    fn send_thread(self: &Arc<Self>) {
        // Dropped by a runtime that has ended.
        let coming = Coming { calls: self.clone(), has_come: false };
        contain(|| drop(self.runtime.spawn_blocking(move || coming.serve())));
    }

    /// The main function of a thread.
    fn serve(self: &Arc<Self>) {
        let mut state = self.state.lock();
        state.coming -= 1;
        loop {
            while let Some(task) = state.waiting.pop_front() {
                state.running += 1;
                state.begun += 1;
                let took = MutexGuard::unlocked(&mut state, || self.run(task));
                state.running -= 1;
                state.pace.note(took);
            }
            let is_needed = state.watcher.is_none() && state.pace.expects_short() && !state.is_stopped;
            if !is_needed || !self.watch(&mut state) {
                return;
            }
        }
    }

    fn run(&self, task: Task) -> Duration {
        let begun = Instant::now();
        contain(|| self.observers.run(task, Task::run));
        begun.elapsed()
    }

    /// Watches those who run, until there is a call to take. `false`: no call has begun for a while.
    fn watch(self: &Arc<Self>, state: &mut MutexGuard<'_, State>) -> bool {
        state.watchers += 1;
        let this = Some(state.watchers);
        state.watcher = this;
        loop {
            let (seen, until) = (state.begun, Instant::now() + NAP);
            while state.watcher == this
                && !state.is_stopped
                && !self.called.wait_until(state, until).timed_out()
            {}
            if state.watcher != this {
                // It was called, if not in time, and is one of those on their way.
                state.coming -= 1;
                return true;
            }
            let is_still = state.begun == seen;
            if is_still || state.is_stopped {
                state.watcher = None;
                let is_wanted = !state.waiting.is_empty();
                if is_wanted {
                    // Those who run are not short. This thread is there for one of those who wait.
                    state.pace.is_slow();
                    state.coming += 1;
                    self.send_missing(state);
                    state.coming -= 1;
                }
                return is_wanted;
            }
        }
    }

    /// How many calls run, and how many wait.
    pub(super) fn counts(&self) -> (usize, usize) {
        let state = self.state.lock();
        (state.running, state.waiting.len())
    }

    /// Drops the calls that wait, and those that come later.
    pub(super) fn stop(&self) {
        let mut state = self.state.lock();
        state.is_stopped = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        self.called.notify_all();
        waiting.into_iter().for_each(discard);
    }
}

/// A thread on its way.
struct Coming {
    calls: Arc<Calls>,
    has_come: bool,
}

impl Coming {
    fn serve(mut self) {
        self.has_come = true;
        self.calls.serve();
    }
}

impl Drop for Coming {
    /// A thread that does not come, because the runtime has ended, leaves nobody for the calls.
    fn drop(&mut self) {
        if !self.has_come {
            self.calls.stop();
        }
    }
}
