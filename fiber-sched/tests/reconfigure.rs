//! Limits and hooks that change while a pool runs.

use std::sync::mpsc;
use std::time::Duration;

use fiber_core::{Error, Fiber};
use fiber_sched::{Pool, Settings, block_on};

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
    let sleeps = pool.spawn(Fiber::lazy(|| std::thread::sleep(Duration::from_millis(60))));
    assert!(block_on(pool.spawn(Fiber::success(()))).is_success());
    assert!(block_on(sleeps).is_success());
    drop(pool);
    assert!(reports.try_recv().is_err());
}
