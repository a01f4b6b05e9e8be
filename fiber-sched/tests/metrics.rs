//! What a pool counts.

use std::sync::mpsc;
use std::time::Duration;

use fiber_core::{Fiber, TaskKind};
use fiber_sched::{Metrics, Pool, block_on};

fn pool(workers: usize) -> Pool {
    Pool::builder().workers(workers).build()
}

fn tasks(metrics: &Metrics, kind: TaskKind) -> u64 {
    metrics.total(|worker| worker.tasks(kind))
}

#[test]
fn tasks_are_counted_by_kind() {
    let pool = pool(2);
    let yields = Fiber::for_each(0..10, |_| Fiber::yield_now());
    assert!(block_on(pool.spawn(yields)).is_success());
    assert!(block_on(pool.spawn(Fiber::delay(Duration::from_millis(1)))).is_success());
    let metrics = pool.metrics();
    assert_eq!(tasks(&metrics, TaskKind::Start), 2);
    assert_eq!(tasks(&metrics, TaskKind::Continue), 10);
    assert_eq!(tasks(&metrics, TaskKind::Timer), 1);
    assert_eq!(metrics.total(|worker| worker.turns()), 13);
    assert!(metrics.total(|worker| worker.searches) > 0);
}

#[test]
fn what_waits_is_told() {
    let pool = pool(1);
    let sleeping = pool.spawn(Fiber::delay(Duration::from_secs(3600)));
    let (begun, begins) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let call = pool.spawn(Fiber::blocking(move || {
        begun.send(()).unwrap();
        released.recv().unwrap();
    }));
    begins.recv().unwrap();
    // The sleeper has set its timer before the call began, because there is one worker.
    let metrics = pool.metrics();
    assert_eq!((metrics.fibers, metrics.timers, metrics.blocking_threads), (2, 1, 1));
    assert_eq!((metrics.injected, metrics.blocking_queue, metrics.may_run), (0, 0, 1));
    release.send(()).unwrap();
    assert!(block_on(call).is_success());
    sleeping.cancel_now();
    assert!(block_on(sleeping).is_cancelled());
    assert_eq!(pool.metrics().timers, 0);
}

#[test]
fn a_turn_that_is_cut_by_steps_is_counted() {
    let pool = pool(1);
    let many = Fiber::parallel((0..2).map(|_| Fiber::for_each(0..100_000, |_| Fiber::success(()))));
    assert!(block_on(pool.spawn(many)).is_success());
    assert!(pool.metrics().total(|worker| worker.cut_by_steps) > 0);
}

#[test]
fn waiting_times_are_sampled() {
    let pool = pool(1);
    let crowd = Fiber::parallel((0..100).map(|_| Fiber::for_each(0..100, |_| Fiber::yield_now())));
    assert!(block_on(pool.spawn(crowd)).is_success());
    let metrics = pool.metrics();
    let samples: u64 =
        metrics.workers.iter().flat_map(|worker| worker.latencies()).map(|(_, count)| count).sum();
    // One of 1,022 of the 10,000 yields, but for those that thieves have taken.
    assert!((1..=10).contains(&samples), "{samples}");
}

#[test]
fn the_text_tells_the_same() {
    let pool = pool(1);
    let idle = "1 may run, 0 fibers, 0 injected, 0 timers, 0 blocking threads, 0 blocking calls wait\n";
    let text = pool.metrics().to_string();
    assert!(text.starts_with(idle), "{text}");
    assert!(block_on(pool.spawn(Fiber::success(()))).is_success());
    let text = pool.metrics().to_string();
    assert!(text.contains("1 turns, 1 start;"), "{text}");
}
