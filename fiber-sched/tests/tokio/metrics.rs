//! What a scheduler on tokio counts.

use std::sync::mpsc;
use std::time::Duration;

use fiber_core::Fiber;
use fiber_core::scheduler::TaskKind;
use fiber_sched::{Metrics, Shutdown, TokioScheduler};
use tokio::runtime::Runtime;

const LONG: Duration = Duration::from_secs(60);

/// Waits until the numbers are as they should be.
fn until(fibers: &TokioScheduler, what: &str, holds: impl Fn(&Metrics) -> bool) {
    let end = std::time::Instant::now() + LONG;
    while !holds(&fibers.metrics()) {
        assert!(std::time::Instant::now() < end, "{what} has not come: {}", fibers.metrics());
        std::thread::yield_now();
    }
}

#[test]
fn turns_timers_and_fibers_are_counted() {
    let runtime = Runtime::new().unwrap();
    let fibers = TokioScheduler::new(runtime.handle());
    let sleepers: Vec<_> = (0..10).map(|_| fibers.spawn(Fiber::delay(LONG))).collect();
    until(&fibers, "ten timers", |metrics| metrics.timers == 10);
    assert_eq!(fibers.metrics().total(|driver| driver.tasks(TaskKind::Start)), 10);
    assert_eq!(fibers.metrics().fibers, 10);
    sleepers.iter().for_each(|sleeper| sleeper.cancel_now());
    until(&fibers, "the end", |metrics| metrics.fibers == 0 && metrics.timers == 0);
    assert!(fibers.metrics().total(|driver| driver.turns()) >= 20, "a start and a cancellation each");
    assert!(fibers.metrics().total(|driver| driver.wake_ups) > 0);
    runtime.block_on(fibers.shutdown(Shutdown::within(LONG))).unwrap();
}

#[test]
fn blocking_calls_are_counted_while_they_run_and_while_they_wait() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(1).build().unwrap();
    let fibers = TokioScheduler::new(runtime.handle());
    let (release, wait) = mpsc::channel::<()>();
    let first = fibers.spawn(Fiber::blocking(move || _ = wait.recv()));
    until(&fibers, "a call", |metrics| metrics.blocking_threads == 1);
    let second = fibers.spawn(Fiber::blocking(|| ()));
    until(&fibers, "a call that waits", |metrics| metrics.blocking_queue == 1);
    drop(release);
    runtime.block_on(async {
        assert!(first.await.is_success());
        assert!(second.await.is_success());
    });
    until(&fibers, "the end", |metrics| metrics.blocking_threads == 0 && metrics.blocking_queue == 0);
}
