//! Runs programs under many schedules, with cancellations at every step of every fiber.

use std::mem;
use std::sync::Arc;
use std::time::SystemTime;

use fiber_core::error::Abandoned;
use fiber_core::scheduler::{Event, Scheduler, Task, TimerKey};
use fiber_core::{Context, Fiber, Handle, Instant, Outcome, Run};
use fiber_test::Explore;
use parking_lot::Mutex;

use crate::support::Queue;

/// Schedules of each search.
const SCHEDULES: u64 = if cfg!(debug_assertions) { 300 } else { 3000 };

/// The enumeration stops at this number of schedules.
const MOST_ENUMERATED: u64 = 20_000;

/// Runs `program` under many schedules: unchanged, and cancelled as a whole at every turn. It fails or panics to report
/// a problem.
#[track_caller]
pub(crate) fn explore<T: Send + 'static, R: Run<Out = T>>(program: impl Fn() -> Fiber<T, R> + Sync) {
    for explore in
        [Explore::default(), Explore::default().as_production(4), Explore::cancel_everywhere().program_only()]
    {
        explore.schedules(SCHEDULES).no_regressions().check(&program);
    }
}

/// Runs `program` under all schedules with at most `preemptions`.
#[track_caller]
pub(crate) fn enumerate<T: Send + 'static, R: Run<Out = T>>(
    preemptions: u32,
    program: impl Fn() -> Fiber<T, R> + Sync,
) {
    let explore = Explore::exhaustive().preemptions(preemptions).schedules(MOST_ENUMERATED).no_regressions();
    // Fails if there are more. It is not complete if a victim is drawn, because the draw is always the same.
    explore.check(program);
}

/// Runs the fibers side by side, and cancels one of them at any of its steps, as the schedule decides.
/// Returns their outcomes.
pub(crate) fn with_a_victim<T: Send + 'static>(fibers: Vec<Fiber<T>>) -> Fiber<Vec<Outcome<T>>> {
    let count = fibers.len() as u64;
    let forks = Arc::new(Mutex::new(Vec::new()));
    let forked = forks.clone();
    let fork_all = Fiber::for_each(fibers, move |fiber| {
        let forked = forked.clone();
        fiber.fork().map(move |handle: Handle<T>| forked.lock().push(handle))
    });
    fork_all
        .bind(|()| Fiber::random_u64())
        .bind(move |number| {
            let handles = mem::take(&mut *forks.lock());
            handles[(number % count) as usize].cancel_now();
            Fiber::parallel(handles.into_iter().map(|handle| handle.outcome()))
        })
        .boxed()
}

/// Runs the fiber. `event` happens when its first wait begins: the fiber has decided to wait, but is not in a queue yet.
#[track_caller]
pub(crate) fn run_with_an_event_between<T: Send + 'static, R: Run<Out = T>>(
    fiber: Fiber<T, R>,
    event: impl FnOnce() + Send + 'static,
) -> Outcome<T> {
    let meddler = Arc::new(Meddler { queue: Queue::default(), event: Mutex::new(Some(Box::new(event))) });
    let handle = Context::root(meddler.clone()).spawn(fiber);
    meddler.queue.drain();
    assert!(meddler.event.lock().is_none(), "it has waited");
    handle.try_outcome().expect("it has ended")
}

/// A queue that calls a closure when a fiber begins to wait.
struct Meddler {
    queue: Queue,
    event: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Scheduler for Meddler {
    fn schedule(&self, task: Task) {
        self.queue.schedule(task);
    }

    fn schedule_at(&self, at: Instant, task: Task) -> TimerKey {
        self.queue.schedule_at(at, task)
    }

    fn cancel_timer(&self, key: TimerKey) -> bool {
        self.queue.cancel_timer(key)
    }

    fn now(&self) -> Instant {
        self.queue.now()
    }

    fn utc_now(&self) -> SystemTime {
        self.queue.utc_now()
    }

    fn random_u64(&self) -> u64 {
        self.queue.random_u64()
    }

    fn schedule_blocking(&self, task: Task) {
        self.queue.schedule_blocking(task);
    }

    fn observe(&self, _: &Context, event: Event<'_>) {
        if matches!(event, Event::Waits { .. })
            && let Some(event) = self.event.lock().take()
        {
            event();
        }
    }
}

/// Runs the fiber until it waits. After `event`, its scheduler drops it: it is abandoned while it waits, or on its way
/// to continue.
#[track_caller]
pub(crate) fn forget_after<T: Send + 'static, R: Run<Out = T>>(fiber: Fiber<T, R>, event: impl FnOnce()) {
    let queue = Arc::new(Queue::default());
    let handle = Context::root(queue.clone()).spawn(fiber);
    queue.drain();
    event();
    handle.context().abandon();
    while let Some(task) = queue.pop() {
        drop(task);
    }
    let error = handle.try_outcome().ok().and_then(Outcome::failure).expect("it has failed");
    assert!(error.is::<Abandoned>());
}
