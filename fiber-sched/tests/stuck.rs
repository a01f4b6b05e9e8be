//! A worker whose fiber does not bind keeps no other fiber from running.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use fiber_core::Fiber;
use fiber_sched::{Pool, Settings, Stuck, block_on};

/// Fails the test instead of hanging it.
const PATIENCE: Duration = Duration::from_secs(30);

/// A pool, and what its hook reports.
fn pool(workers: usize) -> (Pool, mpsc::Receiver<Stuck>) {
    let (report, reports) = mpsc::channel();
    let hook = move |stuck: &Stuck| _ = report.send(*stuck);
    (Pool::builder().workers(workers).settings(Settings::new().on_stuck(hook)).build(), reports)
}

/// A fiber that blocks its worker until something is sent to it.
fn blocks() -> (mpsc::Sender<()>, Fiber<bool>) {
    let (release, released) = mpsc::channel();
    (release, Fiber::lazy(move || released.recv_timeout(PATIENCE).is_ok()).boxed())
}

#[test]
fn a_fiber_from_outside_runs_beside_the_stuck_worker() {
    let (pool, _) = pool(1);
    let (release, blocks) = blocks();
    let stuck = pool.spawn(blocks);
    assert!(block_on(pool.spawn(Fiber::lazy(move || release.send(())))).unwrap().is_ok());
    assert!(block_on(stuck).unwrap());
}

#[test]
fn the_forks_of_a_stuck_fiber_run() {
    let (pool, _) = pool(1);
    let (release, blocks) = blocks();
    let releases = Fiber::lazy(move || release.send(()).unwrap());
    let fiber = releases.fork().bind(|_| blocks);
    assert!(block_on(pool.spawn(fiber)).unwrap());
}

#[test]
fn the_branch_that_a_stuck_fiber_has_lent_runs() {
    let (pool, _) = pool(1);
    let (release, blocks) = blocks();
    let releases = Fiber::lazy(move || release.send(()).unwrap());
    assert!(block_on(pool.spawn(blocks.zip(releases))).unwrap().0);
}

#[test]
fn a_timer_fires_while_the_only_worker_is_stuck() {
    let (pool, _) = pool(1);
    let (release, blocks) = blocks();
    let later = pool.spawn(Fiber::delay(Duration::from_millis(30)).map(move |()| release.send(())));
    assert!(block_on(pool.spawn(blocks)).unwrap());
    assert!(block_on(later).unwrap().is_ok());
}

#[test]
fn what_a_stuck_fiber_wakes_runs() {
    let (pool, _) = pool(1);
    let (release, blocks) = blocks();
    let (sender, woken) = mpsc::channel();
    let waits =
        Fiber::callback(move |resume| _ = sender.send(resume)).map(move |()| release.send(()).unwrap());
    let waits = pool.spawn(waits);
    let resume = woken.recv().unwrap();
    let wakes = Fiber::lazy(move || resume.success(())).bind(|_| blocks);
    assert!(block_on(pool.spawn(wakes)).unwrap());
    assert!(block_on(waits).is_success());
}

#[test]
fn the_fork_site_of_the_culprit_is_reported_once() {
    let (pool, reports) = pool(1);
    let (release, blocks) = blocks();
    let site = line!() + 1;
    let stuck = pool.spawn(blocks);
    assert!(block_on(pool.spawn(Fiber::success(()))).is_success());
    let report = reports.recv_timeout(PATIENCE).unwrap();
    assert_eq!((report.fork_site.file(), report.fork_site.line()), (file!(), site));
    assert!(block_on(pool.spawn(Fiber::success(()))).is_success());
    release.send(()).unwrap();
    assert!(block_on(stuck).unwrap());
    drop(pool);
    assert!(reports.try_recv().is_err());
}

#[test]
fn as_many_run_as_before_when_the_stuck_worker_goes_on() {
    let (pool, _) = pool(1);
    for _ in 0..3 {
        let (release, blocks) = blocks();
        let stuck = pool.spawn(blocks);
        assert!(block_on(pool.spawn(Fiber::success(()))).is_success());
        release.send(()).unwrap();
        assert!(block_on(stuck).unwrap());
        // It leaves its place when it looks for its next task.
        let start = Instant::now();
        while pool.metrics().may_run > 1 {
            assert!(start.elapsed() < PATIENCE, "the worker that goes on keeps the place of another one");
            thread::yield_now();
        }
    }
}

#[test]
fn a_fiber_with_slow_binds_lets_others_run_long_before_it_has_spent_its_budget() {
    let (pool, reports) = pool(1);
    let binds = Arc::new(AtomicUsize::new(0));
    let counter = binds.clone();
    // A thousand binds take ten seconds.
    let slow = Fiber::lazy(move || {
        thread::sleep(Duration::from_millis(10));
        counter.fetch_add(1, Ordering::Relaxed)
    })
    .repeat_while(|_| true);
    let slow = pool.spawn(slow);
    assert!(block_on(pool.spawn(Fiber::success(()))).is_success());
    assert!(binds.load(Ordering::Relaxed) < 1000);
    slow.cancel_now();
    assert!(block_on(slow).is_cancelled());
    drop(pool);
    // It binds, so it is not stuck.
    assert!(reports.try_recv().is_err());
}
