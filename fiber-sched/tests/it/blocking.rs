//! The threads for blocking calls.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use fiber_core::Fiber;
use fiber_sched::{CurrentThread, Pool, Settings, block_on};

#[test]
fn an_idle_blocking_thread_is_reused() {
    let pool = Pool::builder().workers(1).build();
    // A thread that has delivered its result may not be idle at once: so a few threads, but never one for each call.
    let threads: HashSet<_> =
        (0..100).map(|_| pool.run(Fiber::blocking(|| thread::current().id())).unwrap()).collect();
    assert!(threads.len() < 20, "{} threads", threads.len());
}

#[test]
fn blocking_calls_run_beside_each_other() {
    const CALLS: usize = 8;
    let pool = Pool::builder().workers(1).build();
    let barrier = Arc::new(Barrier::new(CALLS));
    let calls = (0..CALLS).map(|_| {
        let barrier = barrier.clone();
        Fiber::blocking(move || _ = barrier.wait())
    });
    assert!(pool.run(Fiber::parallel(calls.collect::<Vec<_>>())).is_success());
}

#[test]
fn there_are_no_more_blocking_threads_than_allowed() {
    const MOST: usize = 3;
    let pool = Pool::builder().workers(1).settings(Settings::new().blocking_threads(MOST)).build();
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let threads = Arc::new(Mutex::new(HashSet::new()));
    let calls = (0..200).map(|_| {
        let (now, most, threads) = (now.clone(), most.clone(), threads.clone());
        Fiber::blocking(move || {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            threads.lock().unwrap().insert(thread::current().id());
            thread::yield_now();
            now.fetch_sub(1, Ordering::SeqCst);
        })
    });
    assert_eq!(pool.run(Fiber::parallel(calls.collect::<Vec<_>>())).unwrap().len(), 200);
    assert!(most.load(Ordering::SeqCst) <= MOST);
    assert!(threads.lock().unwrap().len() <= MOST);
}

#[test]
fn an_idle_blocking_thread_ends_after_a_while() {
    let pool = Pool::builder()
        .workers(1)
        .settings(Settings::new().blocking_keep_alive(Duration::from_millis(1)))
        .build();
    let first = pool.run(Fiber::blocking(|| thread::current().id())).unwrap();
    let end = Instant::now() + Duration::from_secs(20);
    // A thread's id is never reused.
    while pool
        .run(Fiber::delay(Duration::from_millis(5)).bind(|()| Fiber::blocking(|| thread::current().id())))
        .unwrap()
        == first
    {
        assert!(Instant::now() < end, "the thread does not end");
    }
}

#[test]
fn a_cancelled_call_that_waits_for_a_thread_never_runs() {
    let pool = Pool::builder().workers(1).settings(Settings::new().blocking_threads(1)).build();
    let (release, wait) = mpsc::channel::<()>();
    let (begun, begins) = mpsc::channel();
    let first = pool.spawn(Fiber::blocking(move || {
        begun.send(()).unwrap();
        wait.recv().ok();
    }));
    begins.recv().unwrap();
    let has_run = Arc::new(AtomicUsize::new(0));
    let runs = has_run.clone();
    let second = pool.context().spawn_here(Fiber::blocking(move || _ = runs.fetch_add(1, Ordering::SeqCst)));
    second.cancel_now();
    assert!(block_on(second).is_cancelled());
    drop(release);
    assert!(block_on(first).is_success());
    drop(pool);
    assert_eq!(has_run.load(Ordering::SeqCst), 0);
}

#[test]
fn the_current_thread_has_blocking_threads_too() {
    let scheduler = CurrentThread::new();
    let here = thread::current().id();
    assert_ne!(scheduler.run(Fiber::blocking(|| thread::current().id())).unwrap(), here);
}

/// While all threads are busy, calls that were given up do not pile up in front of them.
#[test]
fn cancelled_calls_do_not_wait_for_a_thread() {
    let pool = Pool::builder().workers(1).settings(Settings::new().blocking_threads(1)).build();
    let (release, released) = mpsc::channel::<()>();
    let (begins, begun) = mpsc::channel();
    let busy = pool.spawn(Fiber::blocking(move || {
        begins.send(()).unwrap();
        _ = released.recv();
    }));
    begun.recv().unwrap();
    let call = |_: u32| {
        let call = Fiber::blocking(|| panic!("it is cancelled before it begins"));
        call.timeout_option(Duration::from_micros(1)).map(|_: Option<()>| ())
    };
    pool.run(Fiber::for_each(0..1_000, call)).unwrap();
    assert_eq!(pool.metrics().blocking_queue, 0);
    let waits = pool.spawn(Fiber::blocking(|| "later"));
    while pool.metrics().blocking_queue == 0 {
        thread::yield_now();
    }
    assert_eq!(pool.metrics().blocking_queue, 1);
    release.send(()).unwrap();
    assert_eq!(block_on(waits).unwrap(), "later");
    block_on(busy).unwrap();
}
