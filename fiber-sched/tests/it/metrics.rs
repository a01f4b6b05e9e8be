//! The metrics of pools.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use fiber_core::Fiber;
use fiber_core::scheduler::TaskKind;
use fiber_sched::{AffinityPool, Metrics, Pool, block_on};

/// Fails a test that would hang.
const PATIENCE: Duration = Duration::from_secs(30);

fn pool(workers: usize) -> Pool {
    Pool::builder().workers(workers).build()
}

fn affinity_pool(workers: usize) -> AffinityPool {
    AffinityPool::builder().workers(workers).build()
}

fn tasks(metrics: &Metrics, kind: TaskKind) -> u64 {
    metrics.total(|worker| worker.tasks(kind))
}

fn samples(metrics: &Metrics) -> u64 {
    metrics.workers.iter().flat_map(|worker| worker.latencies()).map(|(_, count)| count).sum()
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
    // The sleeper set its timer before the call began, because there is one worker.
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
    let samples = samples(&metrics);
    // Each of the two threads times the first task that it queues, and then one of 1,022; there are 10,100 at most. Those that
    // thieves have taken are missing.
    assert!((1..=2 + 10_100 / 1_022).contains(&samples), "{samples}");
}

#[test]
fn the_text_tells_the_same() {
    let pool = pool(1);
    let idle = "1 may run, 0 fibers, 0 injected, 0 timers, 0 blocking threads, 0 blocking calls wait\n";
    let text = pool.metrics().to_string();
    assert!(text.starts_with(idle), "{text}");
    assert!(block_on(pool.spawn(Fiber::success(()))).is_success());
    let text = pool.metrics().to_string();
    assert!(text.contains("1 turn, 1 start;"), "{text}");
}

#[test]
fn an_affinity_pool_counts_tasks_with_the_worker_of_their_key() {
    let pool = affinity_pool(2);
    let yields = Fiber::for_each(0..10, |_| Fiber::yield_now());
    assert!(block_on(pool.spawn_on("key", yields)).is_success());
    assert!(block_on(pool.spawn_on("key", Fiber::delay(Duration::from_millis(1)))).is_success());
    let metrics = pool.metrics();
    let (busy, idle) = (pool.worker_of("key"), 1 - pool.worker_of("key"));
    let tasks = |kind| metrics.workers[busy].tasks(kind);
    assert_eq!(
        [TaskKind::Start, TaskKind::Continue, TaskKind::Timer].map(tasks),
        [2, 10, 1],
        "starts, yields and timers"
    );
    assert_eq!([busy, idle].map(|worker| metrics.workers[worker].turns()), [13, 0]);
    assert!(metrics.workers[busy].searches > 0);
}

#[test]
fn an_affinity_pool_tells_what_waits_for_each_worker() {
    let pool = affinity_pool(2);
    let (key, context) = ("key", pool.context().clone());
    let sleeping = pool.spawn_on(key, Fiber::delay(Duration::from_secs(3600)));
    let (begun, begins) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let blocks = pool.spawn_on(
        key,
        Fiber::lazy(move || {
            begun.send([(); 3].map(|()| context.spawn(Fiber::success(())))).unwrap();
            released.recv().unwrap();
        }),
    );
    let from_inside = begins.recv().unwrap();
    let from_outside = [(); 4].map(|()| pool.spawn_on(key, Fiber::success(())));
    let metrics = pool.metrics();
    let (busy, idle) = (pool.worker_of(key), 1 - pool.worker_of(key));
    assert_eq!([busy, idle].map(|worker| metrics.workers[worker].queued), [3 + 4, 0]);
    assert_eq!((metrics.fibers, metrics.timers, metrics.injected), (9, 1, 0));
    assert_eq!((metrics.may_run, metrics.blocking_threads, metrics.blocking_queue), (2, 0, 0));
    release.send(()).unwrap();
    assert!(block_on(blocks).is_success());
    assert!(from_inside.into_iter().chain(from_outside).all(|handle| block_on(handle).is_success()));
    sleeping.cancel_now();
    assert!(block_on(sleeping).is_cancelled());
    let metrics = pool.metrics();
    assert_eq!((metrics.workers[busy].queued, metrics.timers), (0, 0));
}

#[test]
fn an_affinity_pool_counts_turns_that_are_cut_by_steps() {
    let pool = affinity_pool(1);
    let long = || Fiber::for_each(0..100_000, |_| Fiber::success(()));
    assert!(block_on(pool.spawn(long())).is_success());
    let cut = |metrics: Metrics| metrics.total(|worker| worker.cut_by_steps);
    assert_eq!(cut(pool.metrics()), 0, "no other fiber waits");
    assert!(block_on(pool.spawn(Fiber::parallel((0..2).map(move |_| long())))).is_success());
    assert!(cut(pool.metrics()) > 100, "each takes 97 turns or more");
}

#[test]
fn an_affinity_pool_samples_waiting_times() {
    let pool = affinity_pool(1);
    let crowd = Fiber::parallel((0..100).map(|_| Fiber::for_each(0..100, |_| Fiber::yield_now())));
    assert!(block_on(pool.spawn(crowd)).is_success());
    // One of 1,022 of the 10,000 yields and 100 starts, beginning with the first; there are no thieves.
    assert_eq!(samples(&pool.metrics()), 10);
}

#[test]
fn an_affinity_pool_counts_the_wake_ups_of_its_workers() {
    let pool = affinity_pool(1);
    let end = Instant::now() + PATIENCE;
    while pool.metrics().total(|worker| worker.wake_ups) == 0 {
        assert!(Instant::now() < end, "no worker has ever slept");
        assert!(block_on(pool.spawn(Fiber::delay(Duration::from_millis(1)))).is_success());
    }
}
