//! Any number of tasks that end before the call of [`gather`](Crowd::gather) does.
//!
//! They wait in a queue that the helpers share. A helper takes the oldest task, the owner the newest. A thread that
//! wants the value of a task that waits claims it out of turn, and leaves a dead entry.
//!
//! A task lies in a counted block, because a helper may come late, when the crowd is long over. Nothing that a user made is in
//! the block then: the closure is gone when it has run, and the value is taken by the handle, or dropped before the task
//! counts as ended if there is no handle. A handle that is forgotten keeps its block for ever, and the value in it.

use std::collections::VecDeque;
use std::mem;
use std::panic::resume_unwind;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use super::crew::{Crew, Patience, with_crew};
use crate::engine::context::Context;
use crate::engine::task::{Errand, Task};
use crate::panic::{Panic, catch_panic, guard};

/// The tasks of one call of [`gather`](Crowd::gather).
pub(crate) struct Crowd(Arc<Shared>);

/// A task of a crowd, and the way to its value.
pub(crate) struct Member<'scope, T> {
    job: Arc<dyn Gives<T> + 'scope>,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// A task has ended, or a new one waits.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Arc<dyn Job>>,
    /// How many tasks have not ended.
    live: usize,
    /// How many threads sleep until something changes.
    sleepers: usize,
    /// How many helpers are on their way, or at work.
    helpers: usize,
    /// How many tasks run here, one inside of the other; counted only where a test decides about the order.
    depth: usize,
    /// The first panic of a task whose handle is gone.
    panic: Option<Panic>,
    /// How many panics lie with their handles.
    unseen: usize,
    /// Whether any task has panicked.
    has_panicked: bool,
}

/// As many helpers as any pool has workers.
const MOST_HELPERS: usize = 256;

impl Crowd {
    pub(crate) fn new() -> Self {
        Crowd(Arc::new(Shared { state: Mutex::default(), changed: Condvar::new() }))
    }

    /// Calls `body`, which may add tasks, and waits until all of them have ended.
    ///
    /// # Panics
    /// With the panic of `body`, or else of the first task whose handle has not passed it on.
    pub(crate) fn gather<T>(&self, body: impl FnOnce() -> T) -> T {
        let value = guard(body);
        self.0.end();
        let panic = self.0.state.lock().take_panic();
        match (value, panic) {
            (Ok(value), None) => value,
            (Err(panic), other) => {
                catch_panic(|| drop(other));
                resume_unwind(panic.into_thrown())
            }
            (Ok(value), Some(panic)) => {
                catch_panic(|| drop(value));
                resume_unwind(panic.into_thrown())
            }
        }
    }

    /// Adds a task.
    ///
    /// # Safety
    /// It is called in the body of a [`gather`](Crowd::gather), or in a task of the crowd, and that `gather` returns within
    /// `'scope`.
    pub(crate) unsafe fn add<'scope, T, F>(&self, f: F) -> Member<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let job = Arc::new(JobOf(Mutex::new(Stage::Waiting { f, is_wanted: true })));
        let shared: Arc<dyn Job + 'scope> = job.clone();
        // SAFETY: only the lifetime of the trait object changes. By the contract, `gather` waits for the end of this task,
        // within `'scope`. Afterwards nothing is called on the block but its own drop, and the block is empty, or belongs to a
        // handle that was forgotten: see the top of this file.
        let shared = unsafe { mem::transmute::<Arc<dyn Job + 'scope>, Arc<dyn Job + 'static>>(shared) };
        self.0.queue(shared);
        Member { job, shared: self.0.clone() }
    }

    /// Whether a task has panicked.
    pub(crate) fn has_panicked(&self) -> bool {
        self.0.state.lock().has_panicked
    }
}

impl State {
    fn take_panic(&mut self) -> Option<Panic> {
        let is_forgotten = self.unseen > 0;
        let forgotten = || Panic::new(Box::new("a task panicked, and its handle was forgotten"));
        self.panic.take().or_else(|| is_forgotten.then(forgotten))
    }
}

impl<T> Member<'_, T> {
    /// Runs the task, if no thread has started it; otherwise waits until it has ended. Gives its value.
    ///
    /// # Panics
    /// If the task has panicked, with its panic.
    pub(crate) fn join(self) -> T {
        self.begin();
        self.shared.wait(|_| self.job.has_ended());
        match self.job.take() {
            Some(Ok(value)) => value,
            Some(Err(panic)) => {
                self.shared.state.lock().unseen -= 1;
                resume_unwind(panic.into_thrown())
            }
            None => unreachable!("only the handle takes it"),
        }
    }

    /// Runs the task here, if no thread has started it.
    pub(crate) fn begin(&self) {
        if self.shared.is_outside_of_tasks() {
            self.shared.run_until(|| self.job.has_ended());
        } else {
            self.shared.run(&*self.job);
        }
    }

    /// Whether the task has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.job.has_ended()
    }
}

impl<T> Drop for Member<'_, T> {
    fn drop(&mut self) {
        if let Some(Err(panic)) = self.job.disown() {
            self.shared.state.lock().unseen -= 1;
            self.shared.keep(panic);
        }
    }
}

impl Shared {
    fn queue(self: &Arc<Self>, job: Arc<dyn Job>) {
        let mut state = self.state.lock();
        state.queue.push_back(job);
        state.live += 1;
        if state.sleepers > 0 {
            self.changed.notify_all();
        }
        drop(state);
        match choose(1) {
            Some(_) => self.run_meanwhile(),
            None => self.call_helper(),
        }
    }

    /// Runs the tasks that other threads have run by now, as a test chooses them: any number of those that wait.
    #[cold]
    fn run_meanwhile(&self) {
        while let Some(job) = self.choose_job(|waiting| choose(waiting + 1)?.checked_sub(1)) {
            self.run(&*job);
        }
    }

    /// The task that a test chooses among those that wait. `None`: there is none, or the test has chosen none.
    fn choose_job(&self, choose: impl FnOnce(usize) -> Option<usize>) -> Option<Arc<dyn Job>> {
        let mut state = self.state.lock();
        state.queue.retain(|job| job.is_waiting());
        let waiting = state.queue.len();
        drop(state);
        let choice = if waiting > 0 { choose(waiting) } else { None };
        self.state.lock().queue.remove(choice?)
    }

    /// Lets another thread help, unless one is on its way.
    fn call_helper(self: &Arc<Self>) {
        let mut state = self.state.lock();
        if state.helpers > 0 {
            return;
        }
        state.helpers = 1;
        drop(state);
        self.share();
    }

    /// Hands out a task that helps; it is counted already.
    fn share(self: &Arc<Self>) {
        let help = Task::errand(None, Arc::new(Helper(self.clone())));
        with_crew(|crew| match crew {
            Some(crew) => crew.share(help),
            // A thread of no scheduler has spawned. Another one may call for a helper later.
            None => self.state.lock().helpers -= 1,
        });
    }

    /// Runs the newest task that waits. `false`: none does.
    fn run_newest(&self) -> bool {
        make_way();
        let job = self.state.lock().queue.pop_back();
        job.map(|job| self.run(&*job)).is_some()
    }

    /// Runs a task, unless another thread has started it.
    fn run(&self, job: &(impl Job + ?Sized)) {
        let is_test = choose(1).is_some();
        self.state.lock().depth += usize::from(is_test);
        let has_run = job.run(self);
        let mut state = self.state.lock();
        state.depth -= usize::from(is_test);
        if has_run {
            state.live -= 1;
            if state.sleepers > 0 {
                self.changed.notify_all();
            }
        }
    }

    /// Whether a test decides about the order, and may do so here: what waits inside of a task runs only what it waits for.
    fn is_outside_of_tasks(&self) -> bool {
        choose(1).is_some() && self.state.lock().depth == 0
    }

    /// Runs tasks in the order that a test chooses.
    fn run_until(&self, is_over: impl Fn() -> bool) {
        while !is_over() {
            let Some(job) = self.choose_job(choose) else { return };
            self.run(&*job);
        }
    }

    /// Runs what waits, and waits for what others run, until no task is left.
    fn end(&self) {
        if self.is_outside_of_tasks() {
            self.run_until(|| false);
        }
        loop {
            while self.run_newest() {}
            if self.state.lock().live == 0 {
                return;
            }
            self.wait(|state| state.live == 0 || !state.queue.is_empty());
        }
    }

    fn wait(&self, is_over: impl Fn(&State) -> bool) {
        let mut patience = Patience::default();
        loop {
            if is_over(&self.state.lock()) {
                return;
            }
            if !patience.pause() {
                break;
            }
        }
        let mut sleep = || {
            let mut state = self.state.lock();
            state.sleepers += 1;
            while !is_over(&state) {
                self.changed.wait(&mut state);
            }
            state.sleepers -= 1;
        };
        with_crew(|crew| match crew {
            Some(crew) => crew.block(&mut sleep),
            None => sleep(),
        });
    }

    /// Keeps a panic for the caller of the scope.
    fn keep(&self, panic: Panic) {
        let mut state = self.state.lock();
        state.has_panicked = true;
        let surplus = match &state.panic {
            None => state.panic.replace(panic),
            Some(_) => Some(panic),
        };
        drop(state);
        catch_panic(|| drop(surplus));
    }

    /// A task has panicked. Its handle has the panic.
    fn note_panic(&self) {
        let mut state = self.state.lock();
        state.has_panicked = true;
        state.unseen += 1;
    }
}

/// Lets this thread make way for fibers.
fn make_way() {
    with_crew(|crew| crew.is_some_and(Crew::make_way));
}

/// The order that a test chooses.
fn choose(count: usize) -> Option<usize> {
    with_crew(|crew| crew.and_then(|crew| crew.choose(count)))
}

/// Runs tasks of a crowd on another thread.
struct Helper(Arc<Shared>);

impl Errand for Helper {
    fn carry_out(&self, _: Option<&Context>) {
        let mut next = self.0.next_for_helper();
        while let Some((job, needs_more)) = next {
            if needs_more {
                self.0.share();
            }
            self.0.run(&*job);
            make_way();
            next = self.0.next_for_helper();
        }
    }

    fn is_over(&self) -> bool {
        self.0.state.lock().queue.is_empty()
    }
}

impl Shared {
    /// The oldest task, and whether there is work for another helper. `None`: the helper leaves.
    fn next_for_helper(&self) -> Option<(Arc<dyn Job>, bool)> {
        let mut state = self.state.lock();
        let Some(job) = state.queue.pop_front() else {
            state.helpers -= 1;
            return None;
        };
        let needs_more = !state.queue.is_empty() && state.helpers < MOST_HELPERS;
        state.helpers += usize::from(needs_more);
        Some((job, needs_more))
    }
}

/// A task whose type is hidden.
trait Job: Send + Sync {
    /// Runs the task, unless another thread has started it. `true`: it ran, and the caller counts it as ended. Does not unwind.
    fn run(&self, crowd: &Shared) -> bool;

    /// Whether no thread has started it.
    fn is_waiting(&self) -> bool;
}

/// A task that gives a `T`.
trait Gives<T>: Job {
    fn has_ended(&self) -> bool;

    /// The result, once.
    fn take(&self) -> Option<Result<T, Panic>>;

    /// The value is no longer wanted. Gives the result, if there is one.
    fn disown(&self) -> Option<Result<T, Panic>>;
}

struct JobOf<F, T>(Mutex<Stage<F, T>>);

enum Stage<F, T> {
    Waiting {
        f: F,
        is_wanted: bool,
    },
    Running {
        is_wanted: bool,
    },
    Done(Result<T, Panic>),
    /// Nothing of the user is left here.
    Over,
}

impl<F: FnOnce() -> T, T> JobOf<F, T> {
    fn claim(&self) -> Option<F> {
        let mut stage = self.0.lock();
        match mem::replace(&mut *stage, Stage::Over) {
            Stage::Waiting { f, is_wanted } => {
                *stage = Stage::Running { is_wanted };
                Some(f)
            }
            other => {
                *stage = other;
                None
            }
        }
    }

    /// Leaves the result for the handle. Gives it back if there is none.
    fn leave(&self, result: Result<T, Panic>) -> Option<Result<T, Panic>> {
        let mut stage = self.0.lock();
        if matches!(*stage, Stage::Running { is_wanted: true }) {
            *stage = Stage::Done(result);
            return None;
        }
        *stage = Stage::Over;
        Some(result)
    }
}

impl<F: FnOnce() -> T + Send, T: Send> Job for JobOf<F, T> {
    fn run(&self, crowd: &Shared) -> bool {
        let Some(f) = self.claim() else { return false };
        let result = guard(f);
        if result.is_err() {
            crowd.note_panic();
        }
        match self.leave(result) {
            None => {}
            Some(Err(panic)) => {
                crowd.state.lock().unseen -= 1;
                crowd.keep(panic);
            }
            Some(Ok(value)) => {
                if let Err(panic) = guard(|| drop(value)) {
                    crowd.keep(panic);
                }
            }
        }
        true
    }

    fn is_waiting(&self) -> bool {
        matches!(*self.0.lock(), Stage::Waiting { .. })
    }
}

impl<F: FnOnce() -> T + Send, T: Send> Gives<T> for JobOf<F, T> {
    fn has_ended(&self) -> bool {
        matches!(*self.0.lock(), Stage::Done(_) | Stage::Over)
    }

    fn take(&self) -> Option<Result<T, Panic>> {
        let mut stage = self.0.lock();
        match mem::replace(&mut *stage, Stage::Over) {
            Stage::Done(result) => Some(result),
            other => {
                *stage = other;
                None
            }
        }
    }

    fn disown(&self) -> Option<Result<T, Panic>> {
        if let Stage::Waiting { is_wanted, .. } | Stage::Running { is_wanted } = &mut *self.0.lock() {
            *is_wanted = false;
        }
        self.take()
    }
}
