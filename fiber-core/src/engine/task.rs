//! The tasks that schedulers run.

use std::cell::Cell;
use std::fmt;
use std::ptr;
use std::sync::Arc;
use std::task::Waker;

use crate::cell::{EventKey, OneOf, Signal, Value, ValueRef, Values};
use crate::drop_queue::with_own_queue;
use crate::engine::context::{Comes, Context, Turn, TurnView, Wakeup};
use crate::engine::frames::{Frames, Visit};
use crate::engine::next;
use crate::engine::scheduler::Worker;
use crate::engine::suppress::discard;
use crate::panic::{catch_panic, guard};

/// A piece of work for a [`Scheduler`](crate::scheduler::Scheduler): it runs one fiber until the fiber has to wait.
///
/// Running a task never unwinds. Dropping it instead ends its fiber with [`Abandoned`](crate::error::Abandoned),
/// without running finalizers; a scheduler that shuts down should cancel its fibers and run the remaining tasks.
/// Dropping the task of a [timeout](TaskKind::TimeOut) cancels the body, finalizers included, and the timeout fails
/// with `Abandoned`.
#[must_use = "a task that is dropped abandons its fiber"]
pub struct Task(OneOf<Work>);

/// A fiber, the rest of one, or anything else, and a note about what to do with it.
///
/// | | note |
/// |---|---|
/// | a fiber | `START`; `TIME_OUT` and above that the generation of a limit without a node; `FIRE` and above that the number of the event |
/// | a rest | its signal, or `RESUME` |
/// | other | 0 |
enum Work {}

impl Values for Work {
    type First = Context;
    type Second = Waiter;
    type Third = Box<Other>;

    #[inline]
    fn discard(value: Value<Work>, note: u64) {
        match Kind::of(value, note) {
            // Usually, the fiber was joined before its task came up.
            Kind::Start(fiber) if fiber.is_claimed() => with_own_queue(|| drop(fiber)),
            // Nor does the drop end anything: the fiber does it.
            Kind::TimeOut(fiber, generation) if fiber.leaves_limit(generation) => drop(fiber),
            kind => kind.abandon(),
        }
    }
}

const START: u64 = 0;
const TIME_OUT: u64 = 1;
const FIRE: u64 = 2;
/// The number of bits in front of a generation, or of the number of an event.
const SHIFT: u32 = 2;
const KIND: u64 = (1 << SHIFT) - 1;

const FIRED: u64 = 0;
const CANCELLED: u64 = 1;
const ABANDONED: u64 = 2;
const RESUME: u64 = 3;

/// A task, unpacked.
enum Kind {
    /// A fiber that has not started, unless it has been claimed meanwhile.
    Start(Context),
    /// A fiber whose wait is over, or that has yielded.
    Wake(Waiter, Signal),
    /// The event of a wait has happened: a timer is due.
    Fire(Wakeup),
    /// The time limit of this part has passed, or if there is a generation, that of a limit without a node in this fiber.
    TimeOut(Context, u64),
    Other(Box<Other>),
}

/// Rare work, which is boxed, so that a task has two words.
enum Other {
    /// Work that may block, whose fiber waits for it; or without a fiber, borrowed tasks that a thread may run for their owner.
    Errand(Option<Context>, Arc<dyn Errand>),
    /// The timer of a future is due.
    Fire(Waker),
}

/// Work for a thread, shared with the fiber that waits for it, or with the owner of borrowed tasks. It unwinds only if the drop of a user
/// value does.
pub(crate) trait Errand: Send + Sync {
    /// Does the work of `fiber`, which waits for it, or has waited until it was cancelled. Borrowed tasks have no fiber.
    fn carry_out(&self, fiber: Option<&Context>);

    /// The task was dropped: no thread does the work. The owner of borrowed tasks runs them.
    fn abandon(&self) {}

    /// Whether the work was done, or was taken back by a cancellation.
    fn is_over(&self) -> bool {
        false
    }
}

impl Kind {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn of(value: Value<Work>, note: u64) -> Self {
        match value {
            Value::First(fiber) => match note & KIND {
                START => Kind::Start(fiber),
                TIME_OUT => Kind::TimeOut(fiber, note >> SHIFT),
                _ => Kind::Fire(Wakeup::of_fiber(fiber, EventKey::from_number(note >> SHIFT))),
            },
            Value::Second(rest) => Kind::Wake(rest, signal_of(note)),
            Value::Third(other) => Kind::Other(other),
        }
    }
}

/// Why the rest of a fiber is woken by a task with this note.
#[inline]
fn signal_of(note: u64) -> Signal {
    match note {
        CANCELLED => Signal::Cancelled,
        ABANDONED => Signal::Abandoned,
        // `FIRED` and `RESUME`.
        _ => Signal::Fired,
    }
}

/// The kind of work of a [`Task`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskKind {
    /// Start a fiber, unless it has been started meanwhile.
    Start,
    /// Continue after a wait.
    Wake,
    /// Continue as cancelled, out of a wait.
    Cancel,
    /// Continue after a wait, when its timer is due.
    Timer,
    /// Cancel a part of a fiber whose time limit has passed.
    TimeOut,
    /// Continue after the fiber yielded.
    Continue,
    /// Run a closure that may block.
    Blocking,
    /// Run borrowed tasks of [`compute`](crate::compute), unless their owner has run them meanwhile.
    Compute,
}

impl fmt::Display for TaskKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TaskKind::Start => "start",
            TaskKind::Wake => "wake",
            TaskKind::Cancel => "cancel",
            TaskKind::Timer => "timer",
            TaskKind::TimeOut => "timeout",
            TaskKind::Continue => "continue",
            TaskKind::Blocking => "blocking",
            TaskKind::Compute => "compute",
        })
    }
}

/// The operations on a fiber whose type is hidden. Each receives the context of the fiber.
pub(crate) struct Start {
    /// Runs the fiber, unless it has been claimed; if it was cancelled, ends it. Gives its frames if it has to wait.
    pub(crate) start: fn(&Context, TurnView<'_>) -> Option<Frames>,
    /// Called when the last task that could start the fiber was dropped.
    pub(crate) abandon: fn(&Context),
    /// The fibers that wait for the end of this one, each with the generation of its wait, for reports.
    pub(crate) joiners: fn(&Context) -> Vec<(Context, u64)>,
}

impl Start {
    /// For a part of a fiber, which is never started.
    pub(crate) const NONE: Start = Start { start: |_, _| None, abandon: |_| {}, joiners: |_| Vec::new() };
}

/// Ends a cancelled fiber, unless it has been claimed.
pub(crate) fn take_back(fiber: &Context) {
    if fiber.is_claimed() {
        return;
    }
    if let Some(_depth) = Depth::enter() {
        Turn::new(fiber, &Alone).run(|turn| fiber.start_here(turn.into()));
    }
}

/// How many branches are taken back inside each other on one thread; deeper ones are left to the scheduler, which holds
/// their tasks anyway. Without this limit, a chain of values could overflow the stack, if the drop of each value cancels
/// the fiber that holds the next.
const DEEPEST: u32 = 32;

thread_local! {
    // A thread-local, because a drop has no argument that says whether it is nested.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Counts one level of taking back while it lives.
struct Depth;

impl Depth {
    fn enter() -> Option<Depth> {
        let depth = DEPTH.get();
        (depth < DEEPEST).then(|| {
            DEPTH.set(depth + 1);
            Depth
        })
    }
}

impl Drop for Depth {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// The rest of a fiber, stored in its parking slot.
pub(crate) type Waiter = Frames;

impl Waiter {
    /// Drops the rest of the fiber, which ends as abandoned: on the thread to which it belongs, if it belongs to one.
    pub(crate) fn discard(mut self) {
        let mut home = None;
        self.visit(&mut Visit::Home(&mut home));
        match home {
            Some(leave) => leave(self),
            None => self.discard_here(),
        }
    }

    pub(crate) fn discard_here(self) {
        let fiber = self.fiber().clone();
        discard(self, &fiber);
    }

    /// Wakes the fiber in a turn of its own.
    pub(crate) fn wake_in(self, turn: &Turn<'_>, signal: Signal) {
        turn.begin(self.fiber());
        turn.run(|turn| self.wake(turn.into(), signal));
    }
}

impl Task {
    #[inline]
    fn of_fiber(fiber: Context, note: u64) -> Self {
        Task(OneOf::new(Value::First(fiber), note))
    }

    #[inline]
    fn of_rest(rest: Waiter, note: u64) -> Self {
        Task(OneOf::new(Value::Second(rest), note))
    }

    fn of_other(other: Other) -> Self {
        Task(OneOf::new(Value::Third(Box::new(other)), 0))
    }

    #[inline]
    pub(crate) fn start(fiber: Context) -> Self {
        Task::of_fiber(fiber, START)
    }

    #[inline]
    pub(crate) fn wake(waiter: Waiter, signal: Signal) -> Self {
        Task::of_rest(
            waiter,
            match signal {
                Signal::Fired => FIRED,
                Signal::Cancelled => CANCELLED,
                Signal::Abandoned => ABANDONED,
            },
        )
    }

    /// A task that fires the wake-up: for a leaf of your own that waits for a timer, see
    /// [`schedule_at`](crate::scheduler::Scheduler::schedule_at).
    ///
    /// ```
    /// use fiber_core::scheduler::{Cx, Task, TimerKey, Wait, Wakeup};
    /// use fiber_core::{Fiber, Instant, Outcome};
    /// use fiber_test::TestScheduler;
    ///
    /// struct Until {
    ///     at: Instant,
    ///     timer: Option<TimerKey>,
    /// }
    ///
    /// impl Wait for Until {
    ///     type Out = ();
    ///     fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<()>> {
    ///         (cx.scheduler().now() >= self.at).then_some(Outcome::Success(()))
    ///     }
    ///     fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<()>> {
    ///         self.timer = Some(cx.scheduler().schedule_at(self.at, Task::fire(wakeup)));
    ///         None
    ///     }
    ///     fn deregister(&mut self, cx: &Cx<'_>) {
    ///         if let Some(timer) = self.timer {
    ///             cx.scheduler().cancel_timer(timer);
    ///         }
    ///     }
    /// }
    ///
    /// let test = TestScheduler::new();
    /// test.run(Fiber::wait(Until { at: Instant::from_nanos(5), timer: None })).unwrap();
    /// assert_eq!(test.now().as_nanos(), 5);
    /// ```
    pub fn fire(wakeup: Wakeup) -> Self {
        match wakeup.into_parts() {
            Ok((fiber, event)) => Task::of_fiber(fiber, event.to_number() << SHIFT | FIRE),
            Err(waker) => Task::of_other(Other::Fire(waker)),
        }
    }

    /// The fiber that the task starts.
    ///
    /// # Errors
    /// Gives back any other task.
    #[inline]
    pub(crate) fn into_start(self) -> Result<Context, Task> {
        match self.0.into_inner() {
            (Value::First(fiber), START) => Ok(fiber),
            (value, note) => Err(Task(OneOf::new(value, note))),
        }
    }

    /// The timer of a part, whose generation is 0, or of a limit without a node.
    pub(crate) fn time_out(context: Context, generation: u64) -> Self {
        Task::of_fiber(context, generation << SHIFT | TIME_OUT)
    }

    /// A task that wakes `rest` as an event would.
    #[inline]
    pub(crate) fn resume(rest: Waiter) -> Self {
        Task::of_rest(rest, RESUME)
    }

    /// A task that does the work of `fiber`, or without one, runs borrowed tasks of a thread.
    pub(crate) fn errand(fiber: Option<Context>, errand: Arc<dyn Errand>) -> Self {
        Task::of_other(Other::Errand(fiber, errand))
    }

    /// The fiber that the task belongs to. `None` for the wake-up of a future, and for borrowed tasks.
    #[inline]
    pub fn context(&self) -> Option<&Context> {
        match self.0.get() {
            ValueRef::First(fiber) => Some(fiber),
            ValueRef::Second(rest) => Some(rest.fiber()),
            ValueRef::Third(other) => match &**other {
                Other::Errand(fiber, _) => fiber.as_ref(),
                Other::Fire(_) => None,
            },
        }
    }

    /// The kind of work.
    pub fn kind(&self) -> TaskKind {
        match (self.0.get(), self.0.note()) {
            (ValueRef::First(_), START) => TaskKind::Start,
            (ValueRef::First(_), note) if note & KIND == TIME_OUT => TaskKind::TimeOut,
            (ValueRef::First(_), _) => TaskKind::Timer,
            (ValueRef::Second(_), FIRED | ABANDONED) => TaskKind::Wake,
            (ValueRef::Second(_), CANCELLED) => TaskKind::Cancel,
            (ValueRef::Second(_), _) => TaskKind::Continue,
            (ValueRef::Third(other), _) => match **other {
                Other::Errand(Some(_), _) => TaskKind::Blocking,
                Other::Errand(None, _) => TaskKind::Compute,
                Other::Fire(_) => TaskKind::Timer,
            },
        }
    }

    /// Whether the task starts the fiber of `context`.
    ///
    /// ```
    /// use std::collections::VecDeque;
    /// use fiber_core::scheduler::Task;
    /// use fiber_core::Context;
    ///
    /// /// The newest task of a queue, if it starts this fiber: for [`Worker::take_back`](fiber_core::scheduler::Worker::take_back).
    /// fn take_back(queue: &mut VecDeque<Task>, fiber: &Context) -> Option<Task> {
    ///     if queue.back()?.starts(fiber) { queue.pop_back() } else { None }
    /// }
    /// # let test = fiber_test::TestScheduler::new();
    /// # assert!(take_back(&mut VecDeque::new(), test.context()).is_none());
    /// ```
    #[inline]
    pub fn starts(&self, context: &Context) -> bool {
        matches!(self.0.get(), ValueRef::First(fiber) if self.0.note() == START && fiber.is_same(context))
    }

    /// Whether running the task has no effect, because the fiber that it would start was started or cancelled meanwhile, the fiber of its
    /// blocking call was cancelled before the call, or its borrowed tasks have already run.
    #[inline]
    pub fn is_void(&self) -> bool {
        match self.0.get() {
            ValueRef::First(fiber) => self.0.note() == START && fiber.is_claimed(),
            ValueRef::Second(_) => false,
            ValueRef::Third(other) => match &**other {
                Other::Errand(_, errand) => errand.is_over(),
                Other::Fire(_) => false,
            },
        }
    }

    /// Runs the task. Never unwinds.
    ///
    /// # Blocking
    /// Only the tasks of [`schedule_blocking`](crate::scheduler::Scheduler::schedule_blocking) block.
    pub fn run(self) {
        self.run_on(&Alone);
    }

    /// Like `run`, on a thread that offers the services of a [`Worker`](crate::scheduler::Worker) to the fibers. For many tasks, use a
    /// [`TaskRunner`].
    ///
    /// ```
    /// use fiber_core::scheduler::{Task, Worker};
    ///
    /// fn run(worker: &dyn Worker, task: Task) {
    ///     task.run_on(worker);
    /// }
    /// ```
    pub fn run_on(self, worker: &dyn Worker) {
        TaskRunner::on(worker).run(self);
    }
}

/// Runs one task after the other on a thread, each as [`Task::run_on`] does. It asks the worker for its
/// [`branches`](Worker::branches) and its [`is_overdue`](Worker::is_overdue) once instead of for each task, and the scheduler for its
/// [`budget`](crate::scheduler::Scheduler::budget) only where a task is of another tree than the one before.
///
/// ```
/// use fiber_core::scheduler::{Task, TaskRunner, Worker};
///
/// fn run_all(worker: &dyn Worker, tasks: impl Iterator<Item = Task>) {
///     let mut runner = TaskRunner::on(worker);
///     tasks.for_each(|task| runner.run(task));
/// }
/// ```
pub struct TaskRunner<'w> {
    turn: Turn<'w>,
    /// The scheduler whose fibers may run [next], or null.
    wakes_next: *const (),
}

impl<'w> TaskRunner<'w> {
    /// For the thread of `worker`.
    pub fn on(worker: &'w dyn Worker) -> Self {
        let wakes_next = guard(|| worker.wakes_next()).unwrap_or(ptr::null());
        TaskRunner { turn: Turn::on_thread_of(worker), wakes_next }
    }

    /// Runs a task. Never unwinds.
    ///
    /// # Blocking
    /// As [`Task::run`].
    pub fn run(&mut self, task: Task) {
        let TaskRunner { ref turn, wakes_next } = *self;
        let outer = if wakes_next.is_null() { wakes_next } else { next::set_scheduler(wakes_next) };
        with_own_queue(|| {
            let mut in_a_row = 0;
            let mut next = match task.0.into_inner() {
                (Value::Second(rest), note) => Some((rest, signal_of(note))),
                (value, note) => {
                    run_kind(Kind::of(value, note), turn);
                    next::take(wakes_next, &mut in_a_row)
                }
            };
            while let Some((rest, signal)) = next {
                turn.begin(rest.fiber());
                turn.run(|turn| rest.wake_inlined(turn.into(), signal));
                next = next::take(wakes_next, &mut in_a_row);
            }
            if !wakes_next.is_null() {
                next::set_scheduler(outer);
            }
        });
    }
}

impl fmt::Debug for TaskRunner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskRunner").finish_non_exhaustive()
    }
}

/// A worker that cannot lend.
pub(crate) struct Alone;

impl Worker for Alone {}

// Not inlined: most turns wake a fiber.
#[inline(never)]
fn run_kind(kind: Kind, turn: &Turn<'_>) {
    match kind {
        Kind::Start(fiber) => {
            turn.begin(&fiber);
            turn.run(|turn| drop(fiber.start(turn.into())));
        }
        // Not of a `TaskRunner`, which does it itself.
        Kind::Wake(rest, signal) => rest.wake_in(turn, signal),
        Kind::Fire(wakeup) => wakeup.fire_in_turn(turn),
        Kind::TimeOut(context, 0) => context.time_out(),
        Kind::TimeOut(context, generation) => context.timer_comes(generation, Comes::Due),
        Kind::Other(other) => match *other {
            Other::Errand(fiber, errand) => catch_panic(|| errand.carry_out(fiber.as_ref())),
            Other::Fire(waker) => Wakeup::from(waker).fire(),
        },
    }
}

impl Kind {
    /// Called when the task is dropped without running.
    fn abandon(self) {
        // This wakes the waiters of the fiber, which has to happen now, whatever panics.
        with_own_queue(|| match self {
            Kind::Start(fiber) => fiber.abandon_unstarted(),
            Kind::Wake(rest, _) => rest.discard(),
            Kind::Fire(wakeup) => wakeup.abandon(),
            Kind::TimeOut(context, 0) => context.lose_timer(),
            Kind::TimeOut(context, generation) => context.timer_comes(generation, Comes::Lost),
            Kind::Other(other) => match *other {
                Other::Errand(fiber, errand) => {
                    errand.abandon();
                    if let Some(fiber) = fiber {
                        discard(errand, &fiber);
                    }
                }
                Other::Fire(waker) => Wakeup::from(waker).abandon(),
            },
        });
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind();
        match self.context() {
            Some(context) => write!(f, "{kind} of {context}"),
            None => write!(f, "{kind}"),
        }
    }
}
