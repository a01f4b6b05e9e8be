//! Fibers run beside computations that fill the pool, long before the lookout calls a worker stuck.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use fiber_core::{Fiber, compute};
use fiber_sched::{Pool, Settings, block_on};

use super::PATIENCE;

/// A pool that calls no worker stuck.
fn pool(workers: usize) -> Pool {
    pool_with(workers, Settings::new().quantum(10 * PATIENCE))
}

fn pool_with(workers: usize, settings: Settings) -> Pool {
    Pool::builder().workers(workers).settings(settings).build()
}

/// Has so many fibers compute by `step` until another one runs. `false`: they had to give up.
fn a_fiber_runs_beside(pool: &Pool, count: usize, step: fn()) -> bool {
    let (begin, begun) = mpsc::channel();
    let has_run = Arc::new(AtomicBool::new(false));
    let computations: Vec<_> = (0..count)
        .map(|_| {
            let (begin, has_run) = (begin.clone(), has_run.clone());
            pool.spawn(Fiber::lazy(move || {
                begin.send(()).unwrap();
                steps_until(&has_run, step)
            }))
        })
        .collect();
    computations.iter().for_each(|_| begun.recv_timeout(PATIENCE).unwrap());
    let runs = pool.spawn(Fiber::lazy(move || has_run.store(true, Ordering::Relaxed)));
    let were_in_time: Vec<bool> =
        computations.into_iter().map(|computation| block_on(computation).unwrap()).collect();
    assert!(block_on(runs).is_success());
    were_in_time.into_iter().all(|was_in_time| was_in_time)
}

/// Repeats the step until the flag is set.
fn steps_until(flag: &AtomicBool, step: impl Fn()) -> bool {
    let end = Instant::now() + PATIENCE;
    while !flag.load(Ordering::Relaxed) {
        if Instant::now() > end {
            return false;
        }
        step();
    }
    true
}

fn join() {
    compute::join(|| (), || ());
}

/// A join whose sides hold many others, so that it has lent enough to other threads.
fn nested_joins() {
    fn nested(depth: usize) {
        if depth > 0 {
            compute::join(|| nested(depth - 1), || nested(depth - 1));
        }
    }
    nested(12);
}

fn scope() {
    compute::scope(|s| (0..10).for_each(|_| drop(s.spawn(|| ()))));
}

fn par_for_each() {
    compute::par_for_each(0..1_000, |n| _ = std::hint::black_box(n));
}

#[test]
fn a_fiber_from_outside_runs_beside_joins() {
    assert!(a_fiber_runs_beside(&pool(1), 1, join));
    assert!(a_fiber_runs_beside(&pool(1), 1, nested_joins));
}

#[test]
fn a_fiber_from_outside_runs_beside_scopes() {
    assert!(a_fiber_runs_beside(&pool(1), 1, scope));
}

#[test]
fn a_fiber_from_outside_runs_beside_loops_over_ranges() {
    assert!(a_fiber_runs_beside(&pool(1), 1, par_for_each));
}

#[test]
fn a_fiber_from_outside_runs_beside_computations_that_fill_the_pool() {
    assert!(a_fiber_runs_beside(&pool(2), 2, nested_joins));
    assert!(a_fiber_runs_beside(&pool(2), 2, par_for_each));
}

/// One computation after the other, on the same pool: a worker that has made way gets its place back.
#[test]
fn workers_make_way_again_and_again() {
    let pool = pool(2);
    for _ in 0..20 {
        assert!(a_fiber_runs_beside(&pool, 2, nested_joins));
    }
    let is_idle = || pool.metrics().may_run == 2;
    assert!(steps_until_true(is_idle), "may_run: {}", pool.metrics().may_run);
}

fn steps_until_true(is_so: impl Fn() -> bool) -> bool {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        if Instant::now() > end {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

/// The fiber that it has woken lies in its own queue.
#[test]
fn a_fiber_that_the_computing_one_has_forked_runs() {
    // Ten quanta are longer than the test waits.
    let pool = pool_with(1, Settings::new().quantum(PATIENCE / 8));
    let has_run = Arc::new(AtomicBool::new(false));
    let seen = has_run.clone();
    let computes = Fiber::lazy(move || has_run.store(true, Ordering::Relaxed))
        .fork()
        .map(move |_| steps_until(&seen, nested_joins));
    assert!(block_on(pool.spawn(computes)).unwrap());
}

#[test]
fn a_timer_fires_beside_a_computation() {
    let pool = pool(1);
    let has_fired = Arc::new(AtomicBool::new(false));
    let seen = has_fired.clone();
    let later = pool.spawn(
        Fiber::delay(Duration::from_millis(5)).map(move |()| has_fired.store(true, Ordering::Relaxed)),
    );
    assert!(block_on(pool.spawn(Fiber::lazy(move || steps_until(&seen, nested_joins)))).unwrap());
    assert!(block_on(later).is_success());
}

/// Two fibers that wake each other all the time, beside computations that fill the pool and do not yield.
#[test]
fn fibers_go_on_running_beside_a_computation_that_has_made_way() {
    const TURNS: usize = 1_000;
    let pool = pool(1);
    let turns = Arc::new(AtomicUsize::new(0));
    let is_over = Arc::new(AtomicBool::new(false));
    let seen = is_over.clone();
    let computation = pool.spawn(Fiber::lazy(move || steps_until(&seen, par_for_each)));
    let others: Vec<_> = (0..2)
        .map(|_| {
            let (turns, is_over) = (turns.clone(), is_over.clone());
            pool.spawn(Fiber::iterate((), move |()| {
                let (turns, is_over) = (turns.clone(), is_over.clone());
                Fiber::yield_now().map(move |()| match turns.fetch_add(1, Ordering::Relaxed) {
                    TURNS.. => {
                        is_over.store(true, Ordering::Relaxed);
                        ControlFlow::Break(())
                    }
                    _ => ControlFlow::Continue(()),
                })
            }))
        })
        .collect();
    assert!(block_on(computation).unwrap());
    others.into_iter().for_each(|other| assert!(block_on(other).is_success()));
}

/// A computation that comes to a split again and again is not called stuck, but what lies on its thread is found.
#[test]
fn a_branch_that_the_computing_fiber_has_lent_runs() {
    let pool = pool_with(1, Settings::new());
    let has_run = Arc::new(AtomicBool::new(false));
    let seen = has_run.clone();
    let computes = Fiber::lazy(move || steps_until(&seen, nested_joins));
    let runs = Fiber::lazy(move || has_run.store(true, Ordering::Relaxed));
    assert!(block_on(pool.spawn(computes.zip(runs))).unwrap().0);
}
