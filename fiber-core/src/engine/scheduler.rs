//! The [`Scheduler`] trait: the interface between programs and the threads that run them.

use std::any::Any;
use std::fmt;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::task::Waker;
use std::time::SystemTime;

use crate::engine::context::Context;
use crate::engine::event::Event;
use crate::engine::files::Files;
use crate::engine::lend::BranchDeque;
use crate::engine::network::Net;
#[cfg(feature = "direct")]
use crate::engine::stacks::Stacks;
use crate::engine::suppress::HasContext;
use crate::engine::task::Task;
use crate::error::{Error, Frame};
use crate::instant::Instant;
use crate::outcome::Outcome;
use crate::panic::{Panic, guard};

/// Runs the tasks of fibers. The thread pool and the current thread of `fiber-sched` and the virtual timeline of
/// `fiber-test` implement it. Implement it for any other executor that can run closures, and check the implementation with
/// `fiber_test::scheduler_laws!`, which makes a test of each law that schedulers keep.
///
/// A task runs one fiber until it has to wait. Tasks may run on any thread, several at a time, and in any order. The
/// library calls no method while it holds a lock.
///
/// Methods should not panic. If one does, the task that was passed to it is dropped, which ends its fiber with
/// [`Abandoned`](crate::error::Abandoned). A `checkpoint` that panics counts as `Yield`, a `budget` that panics as 1,
/// and a panic of an observer is ignored.
///
/// ```
/// use fiber_core::scheduler::{Checkpoint, Scheduler, Task, TimerKey};
/// use fiber_core::{Context, Fiber, Instant};
/// use std::sync::{Arc, mpsc};
/// use std::time::{Duration, SystemTime};
///
/// /// Runs tasks in the order in which they come; its clock stands still, so timers are due at once, and its dice lie still, too.
/// struct Queue(mpsc::Sender<Task>);
///
/// impl Scheduler for Queue {
///     fn schedule(&self, task: Task) {
///         self.0.send(task).ok();
///     }
///     fn schedule_at(&self, _: Instant, task: Task) -> TimerKey {
///         self.schedule(task);
///         TimerKey::new(0)
///     }
///     fn cancel_timer(&self, _: TimerKey) -> bool {
///         false
///     }
///     fn now(&self) -> Instant {
///         Instant::EPOCH
///     }
///     fn utc_now(&self) -> SystemTime {
///         SystemTime::UNIX_EPOCH
///     }
///     fn random_u64(&self) -> u64 {
///         4
///     }
///     fn schedule_blocking(&self, task: Task) {
///         self.schedule(task);
///     }
/// }
///
/// let (sender, tasks) = mpsc::channel();
/// let root = Context::root(Arc::new(Queue(sender)));
/// let handle = root.spawn(Fiber::delay(Duration::from_secs(3600)).map(|()| "an hour later"));
/// while let Ok(task) = tasks.try_recv() {
///     task.run();
/// }
/// assert_eq!(handle.try_outcome().unwrap().unwrap(), "an hour later");
/// root.cancel();
/// ```
pub trait Scheduler: Any + Send + Sync {
    /// Schedules `task` to run soon.
    fn schedule(&self, task: Task);

    /// Schedules several tasks to run soon. A scheduler that wakes threads can wake them once for all.
    fn schedule_all(&self, tasks: &mut dyn Iterator<Item = Task>) {
        tasks.for_each(|task| self.schedule(task));
    }

    /// Schedules `task` to run at `at` or later, never earlier.
    fn schedule_at(&self, at: Instant, task: Task) -> TimerKey;

    /// Drops the task of a timer. `true`: the task was dropped, and will not run. `false`: the task has run, or will
    /// run.
    fn cancel_timer(&self, key: TimerKey) -> bool;

    /// The time since this scheduler's epoch. It is monotonic.
    fn now(&self) -> Instant;

    /// The time of day.
    fn utc_now(&self) -> SystemTime;

    /// A uniformly distributed random number for jitter and sampling, not for secrets. A scheduler for tests gives the
    /// same numbers in every run.
    fn random_u64(&self) -> u64;

    /// Runs `task`, which may block its thread for any length of time.
    fn schedule_blocking(&self, task: Task);

    /// Runs `task`, which may take as long as the program, on a thread of its own. The default treats it as one of the
    /// blocking tasks.
    fn schedule_dedicated(&self, task: Task) {
        self.schedule_blocking(task);
    }

    /// How many binds a task may run before the first call of `checkpoint`. At least 1.
    fn budget(&self) -> u32 {
        DEFAULT_BUDGET
    }

    /// Decides whether the fiber of `context`, which has spent its budget, may continue.
    fn checkpoint(&self, context: &Context, at: SwitchPoint) -> Checkpoint {
        let _ = (context, at);
        Checkpoint::Yield
    }

    /// Whether the engine calls [`observe`](Scheduler::observe). Called once, when a [root](Context::root) is made.
    fn is_observer(&self) -> bool {
        true
    }

    /// Whether the [tag](Context::tag) of a fiber is the place where it has to run, such as the number of a thread. Called
    /// once, when a [root](Context::root) is made.
    ///
    /// If it is, everything made below a fiber starts with the tag of that fiber, and a detached fiber with the tag of
    /// the fiber that detaches it. A fiber starts or continues in the turn of another one only if both have the same
    /// tag. [`schedule`](Scheduler::schedule) reads the tag of the task's context, so a fiber whose tag is changed
    /// moves with its next task.
    fn has_places(&self) -> bool {
        false
    }

    /// Whether the [workers](Worker::stacks) to which [`schedule`](Scheduler::schedule) passes tasks have stacks. If
    /// so, a direct fiber that starts elsewhere, such as on a user thread, moves there first.
    #[cfg(feature = "direct")]
    fn has_stacks(&self) -> bool {
        false
    }

    /// Whether fibers can be [hosted](Scheduler::host). Called once, when a [root](Context::root) is made.
    fn is_host(&self) -> bool {
        false
    }

    /// Runs fibers in a task of an executor, on the calling thread, which polls a [`Call`](crate::Call): the tasks that `next` gives, until
    /// it gives none, or until other tasks of the executor should get their turn. Then it is called again soon.
    ///
    /// `false`, the default: it has run none, and will not. The fiber leaves the task, and its tasks go to
    /// [`schedule`](Scheduler::schedule).
    fn host(&self, next: &mut dyn FnMut() -> Option<Task>) -> bool {
        let _ = next;
        false
    }

    /// Wakes a task that hosts a fiber. If a fiber does that in its turn, the task may have to wait on this thread until the turn
    /// ends; a scheduler knows how to prevent that.
    fn wake_host(&self, waker: Waker) {
        waker.wake();
    }

    /// The network that the fibers of this scheduler use, if there is one; see [`net`](crate::net).
    fn net(&self) -> Option<&dyn Net> {
        None
    }

    /// The files of the fiber whose turn it is; see [`fs`](crate::fs). `None`: those of the operating system.
    fn files(&self) -> Option<Arc<dyn Files>> {
        None
    }

    /// Reports an event of a fiber of this scheduler, for counts, dumps, leak checks and traces.
    fn observe(&self, context: &Context, event: Event<'_>) {
        let _ = (context, event);
    }

    /// Reports a failure or panic of a fiber whose outcome can no longer be taken, or a panic that was
    /// [suppressed](crate::Error::suppressed) into another failure and dropped unseen. The default prints it to
    /// stderr.
    fn unobserved(&self, failure: &Unobserved) {
        eprintln!("{failure}");
    }
}

/// The thread that runs a task, as seen by the fibers on it.
///
/// A scheduler without workers runs its tasks with [`Task::run`], and then every branch is a task of its own. With
/// [`Task::run_on`], the fibers of the thread lend their branches instead, which costs nothing unless another thread
/// takes one.
///
/// ```
/// use fiber_core::scheduler::{BranchDeque, Task, Worker};
///
/// struct Thread {
///     branches: BranchDeque,
/// }
///
/// impl Worker for Thread {
///     fn branches(&self) -> Option<&BranchDeque> {
///         Some(&self.branches)
///     }
/// }
///
/// /// Others take branches by `branches.stealer().steal()`, and run the task that they get.
/// fn run_all(thread: &Thread, tasks: impl Iterator<Item = Task>) {
///     tasks.for_each(|task| task.run_on(thread));
/// }
/// ```
pub trait Worker {
    /// The deque in which fibers on this thread lend branches to other threads. A branch that is still there at two
    /// checkpoints in a row becomes a task.
    fn branches(&self) -> Option<&BranchDeque> {
        None
    }

    /// Called when a branch was lent while [no thread watches](crate::scheduler::BranchStealer::set_watched) the deque.
    fn lent(&self) {}

    /// A flag that other threads set when the turn of the running fiber lasts too long: the fiber then calls
    /// `checkpoint` at its next bind, whatever is left of its budget. [`checkpoint`](Worker::checkpoint) has to reset
    /// the flag.
    fn is_overdue(&self) -> Option<&AtomicBool> {
        None
    }

    /// Schedules `task` to run soon. The task belongs to a fiber of `scheduler`. That is another scheduler than the
    /// thread's own if a task of the thread has woken a foreign fiber: then pass the task to `scheduler`. By default, `scheduler` gets
    /// what [`schedule_again`](Worker::schedule_again) gives back.
    fn schedule(&self, scheduler: &dyn Scheduler, task: Task) {
        if let Err(task) = self.schedule_again(ptr::from_ref(scheduler).cast(), task) {
            scheduler.schedule(task);
        }
    }

    /// Schedules `task`, the rest of a fiber that yields, as [`schedule`](Worker::schedule) does, if its scheduler is the thread's
    /// own. The address is that of the fiber's scheduler: a reference would have to outlive the fiber, which may end before this
    /// returns.
    ///
    /// # Errors
    /// Gives the task back, as by default. The engine then passes it to `schedule`, which costs two atomic operations more.
    fn schedule_again(&self, scheduler: *const (), task: Task) -> Result<(), Task> {
        let _ = scheduler;
        Err(task)
    }

    /// The address of the thread's own scheduler, if a fiber of that scheduler which is woken here may run before those in its queue: in the
    /// same call of [`TaskRunner::run`](crate::scheduler::TaskRunner::run), up to seven in a row. So no other thread may have to run it, if the turn lasts.
    /// Null, the default: each fiber that is woken becomes a task.
    fn wakes_next(&self) -> *const () {
        ptr::null()
    }

    /// Gives back the task that starts `fiber`, if that is all that waits on this thread. A fiber here joins `fiber`, which has not
    /// started, and starts it itself, so the task is no longer needed. With `None`, the default, it stays where it is, and will be
    /// [void](Task::is_void).
    fn take_back(&self, fiber: &Context) -> Option<Task> {
        let _ = fiber;
        None
    }

    /// Schedules `task`, borrowed tasks of [`compute`](crate::compute) that this thread offers, to run soon on any
    /// thread. If it is dropped, as by default, this thread runs them itself.
    fn share(&self, task: Task) {
        drop(task);
    }

    /// Calls `wait`, which blocks the thread until another thread has run its borrowed task. A scheduler may let
    /// another thread run fibers meanwhile.
    fn block(&self, wait: &mut dyn FnMut()) {
        wait();
    }

    /// Called now and then while a borrowed task runs on this thread, when it lends others, or between two tasks of a scope: often
    /// if few tasks are left for other threads, and soon after [`BranchStealer::call`](crate::scheduler::BranchStealer::call). The task
    /// continues on this thread in any case. A scheduler may let another thread run fibers meanwhile. `has_lent`: fibers have lent
    /// branches on this thread. `true`: fibers still wait for this thread, so it is called again soon.
    fn make_way(&self, has_lent: bool) -> bool {
        let _ = has_lent;
        false
    }

    /// The order of borrowed tasks, for tests: which of `count` runs next. `None`, the default: the threads decide.
    /// If a test decides, nothing is shared or lent.
    fn choose(&self, count: usize) -> Option<usize> {
        let _ = count;
        None
    }

    /// The stacks of the direct fibers of `scheduler` on this thread. `None`, the default: direct fibers that start
    /// here run on threads of their own.
    #[cfg(feature = "direct")]
    fn stacks(&self, scheduler: &dyn Scheduler) -> Option<&Stacks> {
        let _ = scheduler;
        None
    }

    /// Like [`Scheduler::checkpoint`], for a fiber on this thread.
    fn checkpoint(&self, scheduler: &dyn Scheduler, context: &Context, at: SwitchPoint) -> Checkpoint {
        scheduler.checkpoint(context, at)
    }
}

/// Enough binds to make asking the scheduler cheap (a few ns in a microsecond), and few enough that other fibers run
/// within microseconds beside an endless loop.
const DEFAULT_BUDGET: u32 = 1024;

/// The point at which a fiber asks whether it may continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchPoint {
    /// Before the closure of this operator. On [`Checkpoint::Yield`] the rest of the fiber is scheduled at once.
    Bind(Frame),
    /// Before it starts another fiber within its own turn. On [`Checkpoint::Yield`], the other fiber gets a turn of its
    /// own, and this one continues.
    Branch,
}

/// The scheduler's answer to a fiber that has spent its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checkpoint {
    /// Continue, and ask again after this many binds (at least 1).
    Continue(u32),
    /// Yield: the rest of the fiber is scheduled again.
    Yield,
}

/// Identifies a timer of the scheduler that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TimerKey(u64);

impl TimerKey {
    /// Makes a key from a number that the scheduler chooses.
    pub fn new(key: u64) -> Self {
        TimerKey(key)
    }

    /// The number from which the key was made.
    pub fn get(self) -> u64 {
        self.0
    }
}

/// A failure or panic of a fiber whose handle was dropped unread, or a suppressed panic that was dropped unseen.
#[derive(Debug)]
pub struct Unobserved {
    fiber: Context,
    what: String,
    is_panic: bool,
    trace: Vec<Frame>,
    suppressed: Vec<String>,
}

/// An error as text. A failure whose `Display` panics must not get lost.
fn printed(error: &Error) -> String {
    let text = guard(|| error.to_string());
    text.unwrap_or_else(|panic| {
        format!("(it cannot be printed, because its Display panics: {})", panic.message())
    })
}

impl Unobserved {
    /// Reports `outcome` to the scheduler, if it is a failure or a panic.
    pub(crate) fn report<T>(fiber: &dyn HasContext, outcome: &Outcome<T>) {
        match outcome {
            Outcome::Failure(error) => Unobserved::report_wrong(fiber, Err(error)),
            Outcome::Panicked(panic) => Unobserved::report_wrong(fiber, Ok(panic)),
            Outcome::Success(_) | Outcome::Cancelled => {}
        }
    }

    /// Reports a panic or a failure.
    #[cold]
    fn report_wrong(fiber: &dyn HasContext, wrong: Result<&Panic, &Error>) {
        let fiber = fiber.context();
        // This may be called during a drop, which must not panic, and printing an error runs user code.
        drop(guard(|| {
            let (what, trace, suppressed) = match wrong {
                Err(error) => (printed(error), error.trace(), error.suppressed()),
                Ok(panic) => (panic.to_string(), panic.trace(), panic.suppressed()),
            };
            let suppressed = suppressed.iter().map(printed).collect();
            let (trace, is_panic) = (trace.to_vec(), wrong.is_ok());
            fiber.scheduler().unobserved(&Unobserved {
                fiber: fiber.clone(),
                what,
                is_panic,
                trace,
                suppressed,
            });
        }));
    }

    /// Reports an event other than an outcome to the scheduler.
    pub(crate) fn notice(fiber: &Context, what: String, frame: Frame) {
        let (trace, suppressed) = (vec![frame], Vec::new());
        Unobserved { fiber: fiber.clone(), what, is_panic: false, trace, suppressed }.tell();
    }

    /// A panic that is about to be suppressed into an outcome of `fiber`. Errors that are suppressed in the panic are
    /// reported on their own, except for panics of the same drop, whose fiber was unknown.
    pub(crate) fn of_suppressed(fiber: &Context, panic: &Panic) -> Self {
        let (what, trace) = (panic.to_string(), panic.trace().to_vec());
        let suppressed = panic.unwatched().map(Error::to_string).collect();
        Unobserved { fiber: fiber.clone(), what, is_panic: true, trace, suppressed }
    }

    /// Calls the scheduler. A panic of its hook must not unwind into the caller.
    pub(crate) fn tell(&self) {
        drop(guard(|| self.fiber.scheduler().unobserved(self)));
    }

    /// The fiber that failed: its id, name and fork site.
    pub fn fiber(&self) -> &Context {
        &self.fiber
    }

    /// The error's or panic's message. It may have several lines: that of a failed `assert_eq!` has three.
    pub fn message(&self) -> &str {
        &self.what
    }

    /// Whether it is a panic.
    pub fn is_panic(&self) -> bool {
        self.is_panic
    }

    /// The operators that the failure passed, innermost first.
    pub fn trace(&self) -> &[Frame] {
        &self.trace
    }

    /// The messages of the errors that were suppressed into the failure.
    pub fn suppressed(&self) -> &[String] {
        &self.suppressed
    }
}

impl fmt::Display for Unobserved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unobserved failure of {}: {}", self.fiber, self.what)?;
        if let Some(frame) = self.trace.first() {
            write!(f, " ({frame})")?;
        }
        self.suppressed.iter().try_for_each(|error| write!(f, "; suppressed: {error}"))
    }
}
