//! Misuse by programs that schedulers have to tolerate.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fiber_core::error::Abandoned;
use fiber_core::scheduler::{Scheduler, Task};
use fiber_core::{Fiber, Outcome};

use super::around::{Hooks, root_around};
use super::gate::Gate;
use super::host::AnyHost;
use super::probe::{Probe, task};
use super::trial::Trial;

const LONG: Duration = Duration::from_secs(3_600);

pub(super) fn a_call_that_would_block_its_own_thread_panics<H: AnyHost + ?Sized>(trial: Trial<H>) {
    let calls = || trial.host().nested_call();
    let (Some(in_fiber), Some(after_yield), Some(in_blocking)) = (calls(), calls(), calls()) else { return };
    let nested = [
        Fiber::lazy(in_fiber).boxed(),
        Fiber::yield_now().map(|()| after_yield()).boxed(),
        Fiber::blocking(in_blocking).boxed(),
    ];
    for fiber in nested {
        match trial.outcome("a call that would block its own thread", fiber) {
            Outcome::Panicked(panic) => assert!(!panic.message().is_empty(), "the panic says nothing"),
            other => panic!("a call that would block its own thread ends as {other:?}"),
        }
        trial.run("a fiber after a call that has panicked", Fiber::yield_now());
        trial.run("a blocking call after one that has panicked", Fiber::blocking(|| ()));
    }
}

/// Drops tasks while the switch is on.
struct Dropping(Arc<AtomicBool>);

impl Hooks for Dropping {
    fn schedule(&self, task: Task) -> Option<Task> {
        // Relaxed: the thread that sets it is also the one that schedules.
        Some(task).filter(|_| !self.0.load(Ordering::Relaxed))
    }
}

pub(super) fn a_dropped_task_abandons_its_fiber<H: AnyHost + ?Sized>(trial: Trial<H>) {
    let drops = Arc::new(AtomicBool::new(false));
    let root = root_around(trial.scheduler(), Dropping(drops.clone()));
    for _ in 0..20 {
        let released = Gate::new(1);
        let waits = root.spawn(released.opened());
        let joiner = trial.spawn(Fiber::yield_now().bind(move |()| waits.outcome()));
        trial.run("a fiber that yields", Fiber::yield_now().bind(|()| Fiber::yield_now()));
        // Relaxed: as above.
        drops.store(true, Ordering::Relaxed);
        let unstarted = root.spawn(Fiber::success(()));
        released.pass();
        drops.store(false, Ordering::Relaxed);
        let outcome = unstarted.try_outcome().expect("a fiber ends with the drop of its task");
        let is_abandoned =
            |outcome: Outcome<()>| outcome.failure().is_some_and(|error| error.is::<Abandoned>());
        assert!(is_abandoned(outcome), "a fiber whose first task is dropped is not abandoned");
        // The joiner may have found the gate open.
        let outcome = trial.finish("a fiber that joins an abandoned one", joiner).unwrap();
        assert!(
            outcome.is_success() || is_abandoned(outcome),
            "a fiber whose task is dropped is not abandoned"
        );
    }
    root.cancel();
}

/// Uses the scheduler when it is dropped.
struct Reenters {
    scheduler: Arc<dyn Scheduler>,
    then: Option<Task>,
}

impl Drop for Reenters {
    fn drop(&mut self) {
        let now = self.scheduler.now();
        let key = self.scheduler.schedule_at(now + LONG, task(|| ()));
        _ = self.scheduler.cancel_timer(key);
        self.then.take().into_iter().for_each(|task| self.scheduler.schedule(task));
    }
}

pub(super) fn a_task_may_use_the_scheduler_in_its_drop<H: AnyHost + ?Sized>(trial: Trial<H>) {
    let scheduler = trial.scheduler();
    let gate = Gate::new(2);
    let set = || {
        let (then, probe) = Probe::task(&gate);
        let reenters = Reenters { scheduler: scheduler.clone(), then: Some(then) };
        (scheduler.schedule_at(scheduler.now() + LONG, task(move || drop(reenters))), probe)
    };
    trial.expect("`cancel_timer`, whose task uses the scheduler when it is dropped");
    for (key, _) in [set(), set()] {
        assert!(scheduler.cancel_timer(key), "a timer of an hour cannot be cancelled");
    }
    trial.run("tasks that are scheduled in drops", gate.opened());
    let (_, probe) = set();
    drop(scheduler);
    let step = trial.step();
    let root = trial.context().clone();
    trial.shut_down();
    step.expect("an ended host to drop its timers, one of which uses the scheduler when it is dropped");
    drop(root);
    while !probe.is_gone() {
        std::thread::yield_now();
    }
}
