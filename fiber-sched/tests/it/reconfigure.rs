//! Limits and hooks that change while a pool runs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use fiber_core::{Error, Fiber};
use fiber_sched::{Pool, Settings, block_on};

/// Fails a test that would hang.
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn a_higher_bound_starts_the_threads_that_calls_wait_for() {
    let pool = Pool::builder().workers(1).settings(Settings::new().blocking_threads(1)).build();
    let (begun, begins) = mpsc::channel();
    let meet = || {
        let begun = begun.clone();
        let (release, released) = mpsc::channel::<()>();
        let call = move || {
            begun.send(()).unwrap();
            released.recv().ok();
        };
        (pool.spawn(Fiber::blocking(call)), release)
    };
    let calls = [meet(), meet(), meet()];
    begins.recv().unwrap();
    assert!(begins.recv_timeout(Duration::from_millis(5)).is_err());
    pool.reconfigure(pool.settings().blocking_threads(3));
    begins.recv().unwrap();
    begins.recv().unwrap();
    for (call, release) in calls {
        drop(release);
        assert!(block_on(call).is_success());
    }
}

#[test]
fn a_lower_limit_holds_while_all_blocking_threads_are_wanted() {
    const CALLS: usize = 4;
    let pool = Pool::builder().workers(1).build();
    let barrier = Arc::new(Barrier::new(CALLS));
    let meetings = (0..CALLS).map(|_| {
        let barrier = barrier.clone();
        Fiber::blocking(move || _ = barrier.wait())
    });
    pool.run(Fiber::parallel(meetings.collect::<Vec<_>>())).unwrap();
    pool.reconfigure(pool.settings().blocking_threads(1));
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let calls = (0..8 * CALLS).map(|_| {
        let (now, most) = (now.clone(), most.clone());
        Fiber::blocking(move || {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(1));
            now.fetch_sub(1, Ordering::SeqCst);
        })
    });
    pool.run(Fiber::parallel(calls.collect::<Vec<_>>())).unwrap();
    assert_eq!(most.load(Ordering::SeqCst), 1);
}

#[test]
fn a_shorter_wait_for_work_holds_for_idle_blocking_threads() {
    let settings = Settings::new().blocking_keep_alive(Duration::from_secs(3600));
    let pool = Pool::builder().workers(1).settings(settings).build();
    pool.run(Fiber::blocking(|| ())).unwrap();
    assert_eq!(pool.metrics().blocking_threads, 1);
    pool.reconfigure(pool.settings().blocking_keep_alive(Duration::ZERO));
    let end = Instant::now() + Duration::from_secs(20);
    while pool.metrics().blocking_threads > 0 {
        assert!(Instant::now() < end, "an idle thread waits on");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_hook_is_swapped() {
    let pool = Pool::builder().workers(1).settings(Settings::new().on_unobserved(|_| ())).build();
    let (sender, lost) = mpsc::channel();
    pool.reconfigure(pool.settings().on_unobserved(move |failure| sender.send(failure.to_string()).unwrap()));
    drop(pool.spawn(Fiber::<()>::fail(Error::msg("nobody looks"))));
    assert!(lost.recv().unwrap().contains("nobody looks"));
}

#[test]
fn with_a_long_quantum_no_worker_is_stuck() {
    let (report, reports) = mpsc::channel();
    let settings = Settings::new().on_stuck(move |stuck| report.send(*stuck).unwrap());
    let pool = Pool::builder().workers(1).settings(settings.quantum(Duration::from_secs(3600))).build();
    let sleeps = pool.spawn(Fiber::lazy(|| thread::sleep(Duration::from_millis(60))));
    assert!(block_on(pool.spawn(Fiber::success(()))).is_success());
    assert!(block_on(sleeps).is_success());
    drop(pool);
    assert!(reports.try_recv().is_err());
}

#[test]
fn with_an_endless_quantum_no_worker_is_stuck() {
    let settings = Settings::new().quantum(Duration::MAX);
    let pool = Pool::builder().workers(1).settings(settings).build();
    let (release, released) = mpsc::channel();
    let blocks = pool.spawn(Fiber::lazy(move || released.recv().unwrap()));
    // A lookout naps from now on.
    let waits = pool.spawn(Fiber::success(()));
    let start = Instant::now();
    while pool.metrics().total(|worker| worker.wake_ups) < 20 {
        assert!(start.elapsed() < PATIENCE, "the lookout is gone");
        thread::yield_now();
    }
    assert_eq!(pool.metrics().may_run, 1);
    release.send(()).unwrap();
    assert!(block_on(blocks).is_success());
    assert!(block_on(waits).is_success());
}
