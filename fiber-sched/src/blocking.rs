//! Threads for tasks that block: as many as the work needs, up to a maximum; and beside those, a thread for each dedicated
//! task. A task may wait for another one that is short, as [`pace`](crate::pace) says, while a thread watches.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fiber_core::{Context, Task};
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::contain::contain;
use crate::discard::discard;
use crate::observer::Observers;
use crate::pace::{NAP, Pace};
use crate::threads::Threads;

/// The default limit of blocking threads: far more than the cores of any machine, because blocking threads mostly wait,
/// and few enough not to burden the operating system.
pub(crate) const DEFAULT_MAX_THREADS: usize = 512;

/// How long a blocking thread waits for more work before it ends: longer than the pauses of a busy program, and short
/// enough that idle threads do not linger.
pub(crate) const DEFAULT_KEEP_ALIVE: Duration = Duration::from_secs(10);

pub(crate) struct Blocking {
    shared: Arc<Shared>,
}

struct Shared {
    threads: Arc<Threads>,
    observers: Observers,
    state: Mutex<State>,
    /// Calls an idle thread.
    idle: Condvar,
    /// Calls the watcher.
    watcher: Condvar,
}

#[derive(Default)]
struct State {
    max_threads: usize,
    keep_alive: Duration,
    tasks: VecDeque<Task>,
    threads: usize,
    /// Threads that are on their way, each to take one task: they were started or called, and have not got here.
    coming: usize,
    /// Threads that are in a task.
    running: usize,
    /// Whether a thread without a task watches those that run, and has not been called.
    has_watcher: bool,
    pace: Pace,
    /// How many tasks have begun.
    begun: u64,
    /// How many threads were ever started, for their names.
    started: u64,
    /// The fibers whose calls run, by the numbers of the threads.
    callers: BTreeMap<u64, Context>,
    is_stopped: bool,
}

impl Blocking {
    pub(crate) fn new(
        threads: Arc<Threads>,
        max_threads: usize,
        keep_alive: Duration,
        observers: Observers,
    ) -> Self {
        let state = State { max_threads, keep_alive, ..State::default() };
        let (idle, watcher) = (Condvar::new(), Condvar::new());
        let shared = Shared { threads, observers, state: Mutex::new(state), idle, watcher };
        Blocking { shared: Arc::new(shared) }
    }

    /// Runs the task on an idle thread, on a new one, or as soon as a thread is free. Drops the task after `stop`.
    pub(crate) fn schedule(&self, task: Task) {
        let mut state = self.shared.state.lock();
        if state.is_stopped {
            drop(state);
            return discard(task);
        }
        state.tasks.push_back(task);
        self.shared.send_missing(&mut state);
        let has_nobody = state.threads == 0 && state.max_threads > 0;
        let refused = if has_nobody { state.tasks.pop_back() } else { None };
        drop(state);
        refused.into_iter().for_each(discard);
    }

    /// Runs the task on a thread of its own, outside the limit. Drops the task after `stop`, or if no thread can be started.
    pub(crate) fn schedule_dedicated(&self, task: Task) {
        // Held until the thread is counted, so that none is started after `stop`.
        let mut state = self.shared.state.lock();
        // The task stays outside the closure: if the thread does not start, dropping the closure under these locks must not drop it.
        let slot = Arc::new(Mutex::new(Some(task)));
        if !state.is_stopped {
            let (shared, number, task) = (self.shared.clone(), state.started, slot.clone());
            state.started += 1;
            let role = format!("dedicated-{number}");
            if self.shared.threads.start(&role, move || shared.serve_one(number, &task)).is_ok() {
                return;
            }
        }
        drop(state);
        let refused = slot.lock().take();
        refused.into_iter().for_each(discard);
    }

    /// Changes the limits, and starts the threads that waiting tasks may have now. Threads above a lower limit end as
    /// others do, when they have waited for work in vain.
    pub(crate) fn set_limits(&self, max_threads: usize, keep_alive: Duration) {
        let mut state = self.shared.state.lock();
        state.max_threads = max_threads;
        state.keep_alive = keep_alive;
        // If no thread can be started, those that there are take the tasks.
        self.shared.send_missing(&mut state);
    }

    /// The number of threads, and the number of tasks that wait for one.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let state = self.shared.state.lock();
        (state.threads, state.tasks.len())
    }

    /// The fibers whose calls have not returned, each with its name and fork site.
    pub(crate) fn calls(&self) -> Vec<String> {
        let callers: Vec<Context> = self.shared.state.lock().callers.values().cloned().collect();
        callers.iter().map(Context::to_string).collect()
    }

    /// Drops the tasks that have not begun, and lets the threads end.
    pub(crate) fn stop(&self) {
        let mut state = self.shared.state.lock();
        state.is_stopped = true;
        let tasks = std::mem::take(&mut state.tasks);
        drop(state);
        self.shared.idle.notify_all();
        self.shared.watcher.notify_all();
        tasks.into_iter().for_each(discard);
    }
}

impl State {
    /// How many threads have to come for the task that was queued last, and for those that were left to others until now.
    fn missing(&self) -> usize {
        let missing = self.tasks.len().saturating_sub(self.coming);
        if !(self.has_watcher && self.running > 0 && self.pace.expects_short()) {
            return missing;
        }
        usize::from(missing > 0 && !self.pace.keeps_up(self.tasks.len(), self.running + self.coming))
    }

    /// The next task, for a thread that begins with it.
    fn take(&mut self, thread: u64) -> Option<Task> {
        let task = self.tasks.pop_front()?;
        self.running += 1;
        self.begun += 1;
        self.begin(thread, &task);
        Some(task)
    }

    /// Notes the fiber whose call begins.
    fn begin(&mut self, thread: u64, task: &Task) {
        self.callers.extend(task.context().map(|caller| (thread, caller.clone())));
    }
}

impl Shared {
    /// Lets threads come, if too few do: idle ones, then the watcher, then new ones.
    fn send_missing(self: &Arc<Self>, state: &mut MutexGuard<'_, State>) {
        let missing = state.missing();
        let wanted = state.coming + missing;
        while state.coming < wanted && self.idle.notify_one() {
            state.coming += 1;
        }
        // With a task left behind, the watcher is needed where it is.
        let covers_all = state.tasks.len() <= wanted;
        if covers_all && state.coming < wanted && state.has_watcher && self.watcher.notify_one() {
            state.has_watcher = false;
            state.coming += 1;
        }
        while state.coming < wanted && state.threads < state.max_threads && self.start(state) {}
    }

    /// Starts one more thread, which is on its way. `false`: that failed.
    fn start(self: &Arc<Self>, state: &mut State) -> bool {
        let (shared, number) = (self.clone(), state.started);
        let started = self.threads.start(&format!("blocking-{number}"), move || shared.serve(number));
        if started.is_ok() {
            state.threads += 1;
            state.coming += 1;
            state.started += 1;
        }
        started.is_ok()
    }

    /// The main function of a thread.
    fn serve(self: &Arc<Self>, thread: u64) {
        self.state.lock().coming -= 1;
        while let Some(task) = self.wait(thread) {
            let begun = Instant::now();
            self.run(thread, task, |state| {
                state.running -= 1;
                state.pace.note(begun.elapsed());
            });
        }
    }

    /// The main function of a dedicated thread.
    fn serve_one(&self, thread: u64, task: &Mutex<Option<Task>>) {
        let Some(task) = task.lock().take() else { return };
        let mut state = self.state.lock();
        let is_stopped = state.is_stopped;
        if !is_stopped {
            state.begin(thread, &task);
        }
        drop(state);
        if is_stopped { discard(task) } else { self.run(thread, task, |_| ()) }
    }

    /// Runs a task, and then notes its end.
    fn run(&self, thread: u64, task: Task, note: impl FnOnce(&mut State)) {
        contain(|| self.observers.run(task, Task::run));
        let mut state = self.state.lock();
        note(&mut state);
        let caller = state.callers.remove(&thread);
        // Without the lock: this may be the end of the fiber's cell.
        drop(state);
        drop(caller);
    }

    /// The next task. `None`: the thread is no longer needed, and no longer counted.
    fn wait(self: &Arc<Self>, thread: u64) -> Option<Task> {
        let mut state = self.state.lock();
        let mut has_watched = false;
        loop {
            if let Some(task) = state.take(thread) {
                return Some(task);
            }
            let watches = !has_watched && !state.has_watcher && state.pace.expects_short();
            let is_wanted = match watches {
                _ if state.is_stopped => false,
                true => self.watch(&mut state),
                false => self.rest(&mut state),
            };
            has_watched = watches && !is_wanted;
            let is_over = state.is_stopped || !is_wanted && !watches;
            if is_over && state.tasks.is_empty() {
                state.threads -= 1;
                return None;
            }
        }
    }

    /// Waits to be called, for as long as idle threads are kept.
    fn rest(&self, state: &mut MutexGuard<'_, State>) -> bool {
        let keep_alive = state.keep_alive;
        let is_called = !self.idle.wait_for(state, keep_alive).timed_out();
        if is_called {
            // The end calls those that nobody has counted.
            state.coming = state.coming.saturating_sub(1);
        }
        is_called
    }

    /// Watches those that run, until there is a task to take. `false`: no task has begun for a while.
    fn watch(self: &Arc<Self>, state: &mut MutexGuard<'_, State>) -> bool {
        state.has_watcher = true;
        loop {
            let seen = state.begun;
            let is_called = !self.watcher.wait_for(state, NAP).timed_out();
            if is_called && !state.is_stopped {
                state.coming -= 1;
                return true;
            }
            if state.begun == seen || state.is_stopped {
                state.has_watcher = false;
                break;
            }
        }
        if state.tasks.is_empty() {
            return false;
        }
        // Those that run are not short. This thread is there for one of the tasks that wait.
        state.pace.is_slow();
        state.coming += 1;
        self.send_missing(state);
        state.coming -= 1;
        true
    }
}
