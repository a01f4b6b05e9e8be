//! Threads for tasks that block: as many as the work needs, up to a maximum; and beside those, a thread for each dedicated
//! task.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use fiber_core::Context;
use fiber_core::scheduler::Task;
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::contain::contain;
use crate::discard::discard;
use crate::observer::Observers;
use crate::threads::Threads;

/// The default limit of blocking threads: far more than the cores of any machine, because blocking threads mostly wait,
/// and few enough not to burden the operating system.
pub(crate) const DEFAULT_MAX_THREADS: usize = 512;

/// How long a blocking thread waits for more work before it ends: longer than the pauses of a busy program, and short
/// enough that idle threads do not linger.
pub(crate) const DEFAULT_KEEP_ALIVE: Duration = Duration::from_secs(10);

/// So many tasks are queued before those of cancelled fibers are dropped.
const FEW: usize = 64;

pub(crate) struct Blocking {
    shared: Arc<Shared>,
    threads: Arc<Threads>,
}

struct Shared {
    observers: Observers,
    state: Mutex<State>,
    /// Signals a new task, or the end.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    max_threads: usize,
    keep_alive: Duration,
    tasks: VecDeque<Task>,
    /// With more tasks than this, and than [`FEW`], the void ones are dropped: all threads may be busy for long.
    most: usize,
    threads: usize,
    /// Waiting threads, including those that were notified and have not woken yet.
    idle: usize,
    /// Threads that have just done a task, and look once more for another one before they wait.
    looking: usize,
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
        let shared = Shared { observers, state: Mutex::new(state), changed: Condvar::new() };
        Blocking { shared: Arc::new(shared), threads }
    }

    /// Runs the task on an idle thread, on a new one, or as soon as a thread is free. Drops the task after `stop`.
    pub(crate) fn schedule(&self, task: Task) {
        let mut state = self.shared.state.lock();
        if state.is_stopped {
            drop(state);
            return discard(task);
        }
        let void = state.take_void();
        state.tasks.push_back(task);
        // Each thread that looks or is idle takes one of the waiting tasks. Those that look need not be woken.
        let for_idle = state.tasks.len().saturating_sub(state.looking);
        let mut refused = None;
        if for_idle > 0 {
            if for_idle <= state.idle {
                self.shared.changed.notify_one();
            } else if state.threads < state.max_threads {
                refused = self.start(&mut state).then(|| state.tasks.pop_back()).flatten();
            }
        }
        drop(state);
        refused.into_iter().chain(void).for_each(discard);
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
            if self.threads.start(&role, move || shared.serve_one(number, &task)).is_ok() {
                return;
            }
        }
        drop(state);
        let refused = slot.lock().take();
        refused.into_iter().for_each(discard);
    }

    /// Starts one more thread. `true`: that failed, and no other thread would take the task.
    fn start(&self, state: &mut State) -> bool {
        let shared = self.shared.clone();
        let number = state.started;
        let started = self.threads.start(&format!("blocking-{number}"), move || shared.serve(number));
        if started.is_ok() {
            state.threads += 1;
            state.started += 1;
        }
        state.threads == 0
    }

    /// Changes the limits, and starts the threads that waiting tasks may have now. Threads above a lower limit end, the busy ones
    /// after their tasks.
    pub(crate) fn set_limits(&self, max_threads: usize, keep_alive: Duration) {
        let mut state = self.shared.state.lock();
        state.max_threads = max_threads;
        state.keep_alive = keep_alive;
        let wanted = state.tasks.len().saturating_sub(state.idle + state.looking);
        let missing = max_threads.saturating_sub(state.threads).min(wanted);
        for _ in 0..missing {
            // If no thread can be started, the existing ones take the tasks.
            _ = self.start(&mut state);
        }
        drop(state);
        // Those that wait for work do so within the new limits.
        self.shared.changed.notify_all();
    }

    /// The number of threads, and the number of tasks that wait for one.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let state = self.shared.state.lock();
        (state.threads, state.tasks.iter().filter(|task| !task.is_void()).count())
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
        self.shared.changed.notify_all();
        tasks.into_iter().for_each(discard);
    }
}

impl State {
    /// The tasks that have become void, if there are many tasks.
    fn take_void(&mut self) -> VecDeque<Task> {
        if self.tasks.len() < FEW.max(self.most) {
            return VecDeque::new();
        }
        let (void, left) = std::mem::take(&mut self.tasks).into_iter().partition(Task::is_void);
        self.tasks = left;
        self.most = 2 * self.tasks.len();
        void
    }

    /// Notes the fiber whose call begins.
    fn begin(&mut self, thread: u64, task: &Task) {
        self.callers.extend(task.context().map(|caller| (thread, caller.clone())));
    }
}

impl Shared {
    /// The main function of a thread.
    fn serve(&self, thread: u64) {
        let mut may_look = false;
        while let Some(task) = self.wait(thread, may_look) {
            self.run(thread, task);
            may_look = true;
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
        if is_stopped { discard(task) } else { self.run(thread, task) }
    }

    fn run(&self, thread: u64, task: Task) {
        contain(|| self.observers.run(task, Task::run));
        let caller = self.state.lock().callers.remove(&thread);
        // Without the lock: this may drop the fiber's cell.
        drop(caller);
    }

    /// The next task. `None`: the thread is no longer needed, and no longer counted. If it `may_look`, it lets other threads run before
    /// it sleeps: the fiber whose task it has just done often leads to the next one, and to sleep and be woken costs more than most tasks.
    fn wait(&self, number: u64, may_look: bool) -> Option<Task> {
        let mut state = self.state.lock();
        if may_look && state.tasks.is_empty() && !state.is_stopped {
            state.looking += 1;
            MutexGuard::unlocked(&mut state, thread::yield_now);
            state.looking -= 1;
        }
        loop {
            if state.threads > state.max_threads && !state.is_stopped {
                // The others take the tasks.
                state.threads -= 1;
                return None;
            }
            if let Some(task) = state.tasks.pop_front() {
                state.begin(number, &task);
                return Some(task);
            }
            let mut is_over = state.is_stopped;
            if !is_over {
                state.idle += 1;
                let keep_alive = state.keep_alive;
                is_over = self.changed.wait_for(&mut state, keep_alive).timed_out();
                state.idle -= 1;
            }
            if is_over && state.tasks.is_empty() {
                state.threads -= 1;
                return None;
            }
        }
    }
}
