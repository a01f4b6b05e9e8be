//! Shows fibers as tasks in tokio-console.

use std::iter::successors;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fiber_core::Context;
use fiber_core::scheduler::Event;
use tracing::{Span, trace, trace_span};

use crate::by_fiber::ByFiber;
use crate::observer::Observer;

/// An [`Observer`] that shows fibers in tokio-console, as tasks of the kind `fiber`: it writes the spans and events that
/// `console-subscriber` reads. Needs the feature `tracing`; neither `tokio_unstable` nor tokio is needed for it.
///
/// | in the console | is |
/// |---|---|
/// | name, location | those of the fiber, or `fiber`; where it was forked |
/// | field `fiber` | its id in dumps |
/// | polls, busy | its turns, and how long they took |
/// | wakers | 1 while the fiber waits |
/// | wakes, self wakes | ends of waits, yields |
/// | scheduled | next to nothing, because an observer sees the turn that follows a wake-up and not the wake-up itself |
///
/// The level is `TRACE`, the targets are `tokio::task` and `tokio::task::waker`, as those of tokio's own tasks.
///
/// ```
/// use fiber_core::Fiber;
/// use fiber_sched::{ConsoleTasks, Pool};
///
/// // In a program, before that: console_subscriber::init();
/// let pool = Pool::builder().observer(ConsoleTasks::new()).build();
/// assert!(pool.run(Fiber::yield_now().named("greeting")).is_success());
/// ```
#[derive(Debug, Default)]
pub struct ConsoleTasks {
    tasks: ByFiber<Task>,
    created: AtomicU64,
}

#[derive(Debug)]
struct Task {
    /// The span of the task. Parts of a fiber share it.
    span: Arc<Span>,
    /// Whether this fiber or part waits.
    waits: bool,
}

impl ConsoleTasks {
    /// An observer for one scheduler.
    pub fn new() -> Self {
        ConsoleTasks::default()
    }

    fn create(&self, fiber: &Context, parent: &Context) {
        // Not only that of its parent: another thread may be about to tell of the part whose branches are created here.
        let mut above = successors(Some(parent.clone()), Context::above);
        let span = if fiber.is_structure() { above.find_map(|above| self.span(&above)) } else { None };
        let span = span.unwrap_or_else(|| Arc::new(self.new_span(fiber)));
        self.tasks.insert(fiber, Task { span, waits: false });
    }

    fn new_span(&self, fiber: &Context) -> Span {
        let site = fiber.fork_site();
        // Relaxed: the numbers only have to be different.
        let number = self.created.fetch_add(1, Ordering::Relaxed) + 1;
        trace_span!(
            target: "tokio::task",
            parent: None,
            "runtime.spawn",
            kind = "fiber",
            task.name = fiber.name().unwrap_or("fiber"),
            task.id = number,
            fiber = fiber.id(),
            loc.file = site.file(),
            loc.line = site.line(),
            loc.col = site.column(),
        )
    }

    fn span(&self, fiber: &Context) -> Option<Arc<Span>> {
        self.tasks.with(fiber, |task| task.span.clone())
    }

    /// Notes whether the fiber waits. Returns its span if that has changed.
    fn note(&self, fiber: &Context, waits: bool) -> Option<Arc<Span>> {
        let change = |task: &mut Task| {
            let did_wait = mem::replace(&mut task.waits, waits);
            (did_wait != waits).then(|| task.span.clone())
        };
        self.tasks.with(fiber, change).flatten()
    }

    fn remove(&self, fiber: &Context) {
        let Some(task) = self.tasks.remove(fiber) else { return };
        if task.waits {
            tell("waker.drop", &task.span);
        }
    }
}

/// Emits an event of a task's waker.
fn tell(op: &'static str, task: &Span) {
    if let Some(id) = task.id() {
        trace!(target: "tokio::task::waker", op, task.id = id.into_u64());
    }
}

impl Observer for ConsoleTasks {
    fn event(&self, fiber: &Context, event: Event<'_>) {
        match event {
            Event::Created { parent } => self.create(fiber, parent),
            Event::Waits { .. } => {
                self.note(fiber, true).inspect(|task| tell("waker.clone", task));
            }
            Event::Yields(_) => {
                self.span(fiber).inspect(|task| tell("waker.wake_by_ref", task));
            }
            Event::Ended => self.remove(fiber),
            _ => {}
        }
    }

    fn turn(&self, fiber: &Context, turn: &mut dyn FnMut()) {
        self.note(fiber, false).inspect(|task| tell("waker.wake", task));
        match self.span(fiber) {
            Some(task) => task.in_scope(turn),
            None => turn(),
        }
    }
}
