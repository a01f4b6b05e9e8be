//! An endless loop keeps nobody out.

use std::ops::ControlFlow;
use std::time::Duration;

use fiber_core::Fiber;
use fiber_sched::{CurrentThread, Pool, block_on};

fn endless() -> Fiber<()> {
    Fiber::iterate((), |()| Fiber::success(ControlFlow::Continue(()))).boxed()
}

fn endless_by_recursion() -> Fiber<()> {
    Fiber::success(()).bind(|()| endless_by_recursion()).boxed()
}

fn endless_yields() -> Fiber<()> {
    Fiber::iterate((), |()| Fiber::yield_now().map(|()| ControlFlow::Continue(()))).boxed()
}

#[test]
fn an_endless_loop_on_the_only_worker_lets_others_run_and_can_be_cancelled() {
    for forever in [endless(), endless_by_recursion(), endless_yields()] {
        let pool = Pool::builder().workers(1).build();
        let looping = pool.spawn(forever);
        // From outside, through the injector.
        assert!(block_on(pool.spawn(Fiber::success(()))).is_success());
        // In the same deque.
        assert!(block_on(pool.spawn(Fiber::yield_now().bind(|()| Fiber::yield_now()))).is_success());
        // By a timer and by a blocking thread.
        assert!(block_on(pool.spawn(Fiber::delay(Duration::from_millis(1)))).is_success());
        assert!(block_on(pool.spawn(Fiber::blocking(|| ()))).is_success());
        assert!(!looping.is_finished());
        looping.cancel_now();
        assert!(block_on(looping).is_cancelled());
    }
}

#[test]
fn an_endless_loop_on_every_worker_lets_others_run() {
    let pool = Pool::builder().workers(2).build();
    let loops: Vec<_> = (0..4).map(|_| pool.spawn(endless())).collect();
    for _ in 0..10 {
        assert!(block_on(pool.spawn(Fiber::delay(Duration::from_millis(1)))).is_success());
    }
    loops.iter().for_each(|handle| handle.cancel_now());
    assert!(loops.into_iter().all(|handle| block_on(handle).is_cancelled()));
}

#[test]
fn an_endless_loop_that_forks_lets_the_injector_in() {
    let pool = Pool::builder().workers(1).build();
    let forks = Fiber::iterate((), |()| {
        Fiber::yield_now().fork().bind(|child| child.join()).map(|()| ControlFlow::<(), _>::Continue(()))
    });
    let looping = pool.spawn(forks);
    assert!(block_on(pool.spawn(Fiber::success(()))).is_success());
    looping.cancel_now();
    // It may see first that its child was cancelled with it, which a join takes for a failure.
    assert!(!block_on(looping).is_success());
}

#[test]
fn an_endless_loop_on_the_current_thread_lets_others_run() {
    for forever in [endless(), endless_by_recursion(), endless_yields()] {
        let scheduler = CurrentThread::new();
        let looping = scheduler.spawn(forever);
        assert!(scheduler.run(Fiber::delay(Duration::from_millis(1))).is_success());
        assert!(scheduler.run(Fiber::blocking(|| ())).is_success());
        assert!(!looping.is_finished());
    }
}

#[test]
fn a_loop_that_is_run_on_the_calling_thread_lets_the_workers_work() {
    let pool = Pool::builder().workers(1).build();
    let both = endless().race(Fiber::delay(Duration::from_millis(1)));
    assert!(pool.run(both).is_success());
}
