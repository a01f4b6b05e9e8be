//! The results of `run`, and where it may be called.

use std::sync::Arc;
use std::thread;

use fiber_core::{Error, Fiber, Outcome};
use fiber_sched::{CurrentThread, Pool};

fn panic_message<T>(outcome: Outcome<T>) -> String {
    match outcome {
        Outcome::Panicked(panic) => panic.message().to_owned(),
        _ => panic!("expected a panic"),
    }
}

#[test]
fn a_ready_fiber_runs_on_the_calling_thread() {
    let pool = Pool::new();
    let here = thread::current().id();
    assert_eq!(pool.run(Fiber::lazy(|| thread::current().id())).unwrap(), here);
}

#[test]
fn a_fiber_that_waits_goes_on_on_a_worker() {
    let pool = Pool::builder().workers(1).name("here").build();
    let name = Fiber::yield_now().map(|()| thread::current().name().map(str::to_owned));
    assert!(pool.run(name).unwrap().unwrap().starts_with("here-worker-"));
}

#[test]
fn every_kind_of_outcome_comes_back() {
    let pool = Pool::new();
    assert_eq!(pool.run(Fiber::success(1)).unwrap(), 1);
    assert!(pool.run(Fiber::<()>::fail(Error::msg("no"))).is_failure());
    assert_eq!(panic_message(pool.run(Fiber::lazy(|| panic!("oh")))), "oh");
    let cancelled = Fiber::<()>::never().fork().bind(|child| {
        child.cancel_now();
        child.outcome()
    });
    assert!(pool.run(cancelled).unwrap().is_cancelled());
}

#[test]
fn several_threads_may_run_fibers_on_one_pool() {
    let pool = Pool::builder().workers(2).build();
    thread::scope(|scope| {
        for n in 0..8 {
            let pool = &pool;
            scope.spawn(move || {
                for _ in 0..100 {
                    assert_eq!(pool.run(Fiber::yield_now().map(move |()| n)).unwrap(), n);
                }
            });
        }
    });
}

#[test]
fn run_on_a_worker_of_the_same_pool_panics_and_the_worker_lives() {
    let pool = Arc::new(Pool::builder().workers(1).build());
    let inner = pool.clone();
    let nested = Fiber::yield_now().map(move |()| inner.run(Fiber::success(1)).unwrap());
    let message = panic_message(pool.run(nested));
    assert!(message.contains("Bind the fiber instead"), "{message}");
    assert!(pool.run(Fiber::yield_now()).is_success());
}

#[test]
fn the_panic_names_the_call_of_the_program() {
    let nested = || Fiber::lazy(|| fiber_sched::run(Fiber::success(1)).unwrap());
    let message = panic_message(fiber_sched::run(nested()));
    assert!(message.starts_with("`fiber_sched::run` would block"), "{message}");
}

#[test]
fn run_within_run_on_the_calling_thread_panics() {
    let pool = Arc::new(Pool::builder().workers(1).build());
    let inner = pool.clone();
    assert!(pool.run(Fiber::lazy(move || inner.run(Fiber::success(1)).unwrap())).is_panicked());
    assert!(pool.run(Fiber::success(())).is_success());
}

#[test]
fn run_on_a_blocking_thread_of_the_same_pool_panics() {
    let pool = Arc::new(Pool::builder().workers(1).build());
    let inner = pool.clone();
    assert!(pool.run(Fiber::blocking(move || inner.run(Fiber::success(1)).unwrap())).is_panicked());
}

#[test]
fn run_on_a_thread_of_another_pool_is_allowed() {
    let outer = Pool::builder().workers(1).build();
    let inner = Arc::new(Pool::builder().workers(1).build());
    let nested = Fiber::yield_now().map(move |()| inner.run(Fiber::yield_now().map(|()| 7)).unwrap());
    assert_eq!(outer.run(nested).unwrap(), 7);
}

#[test]
fn run_through_another_scheduler_in_between_panics_too() {
    let outer = Arc::new(Pool::builder().workers(1).build());
    let again = outer.clone();
    let nested = Fiber::yield_now().map(move |()| {
        let between = CurrentThread::new();
        between.run(Fiber::lazy(move || again.run(Fiber::success(1)).unwrap()))
    });
    assert!(outer.run(nested).unwrap().is_panicked());
}

#[test]
fn the_shared_pool_runs_from_many_threads() {
    let threads: Vec<_> = (0..4)
        .map(|n| thread::spawn(move || fiber_sched::run(Fiber::yield_now().map(move |()| n)).unwrap()))
        .collect();
    let values: Vec<i32> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(values, [0, 1, 2, 3]);
}
