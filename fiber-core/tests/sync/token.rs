//! Links between the cancel tree of fibers and that of tokens.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fiber_core::{CancelToken, Error, Fiber, Outcome};
use fiber_sched::Pool;
use fiber_test::TestScheduler;
use parking_lot::Mutex;

use crate::everywhere::{enumerate, explore, with_a_victim};

const TICK: Duration = Duration::from_secs(1);

#[test]
fn all_who_wait_for_a_token_go_on_when_it_is_cancelled_and_not_before() {
    explore(|| {
        let (above, cancelled) = (CancelToken::new(), Arc::new(AtomicUsize::new(0)));
        let token = above.child();
        let waits = (0..3).map(|_| {
            let cancelled = cancelled.clone();
            let waits = token.cancelled();
            waits.map(move |()| assert_eq!(cancelled.load(Ordering::Relaxed), 1, "it was not cancelled yet"))
        });
        let waits = Fiber::parallel(waits.collect::<Vec<_>>());
        let cancel = Fiber::yield_now().map(move |()| {
            cancelled.store(1, Ordering::Relaxed);
            above.cancel();
        });
        waits.zip(cancel)
    });
}

#[test]
fn one_who_gives_up_waiting_for_a_token_leaves_the_others() {
    enumerate(1, || {
        let token = CancelToken::new();
        let waits = (0..2).map(|_| token.cancelled().boxed()).collect();
        let cancel = Fiber::yield_now().map(move |()| token.cancel());
        with_a_victim(waits).zip(cancel).map(|(outcomes, ())| {
            assert!(outcomes.iter().any(Outcome::is_success));
        })
    });
}

#[test]
fn a_wait_for_a_token_that_is_cancelled_already_is_over_at_once() {
    let token = CancelToken::new();
    token.cancel();
    assert!(fiber_sched::run(token.cancelled().clone()).is_success());
}

#[test]
fn a_fiber_below_a_token_runs_its_finalizers_when_the_token_is_cancelled() {
    let (token, test, log) = (CancelToken::new(), TestScheduler::new(), Arc::new(Mutex::new(Vec::new())));
    let note = |what: &'static str| {
        let log = log.clone();
        Fiber::lazy(move || log.lock().push(what))
    };
    let body = Fiber::<()>::never().ensure(Fiber::delay(TICK).bind({
        let body = note("body");
        move |()| body
    }));
    let after = note("after");
    let handle = test.spawn(body.cancelled_by(&token).on_cancel(after));
    test.run_for(TICK);
    token.cancel();
    test.run_until_idle();
    assert!(handle.outcome().is_cancelled());
    assert_eq!(*log.lock(), ["body", "after"]);
    assert_eq!(test.now().as_nanos(), 2 * TICK.as_nanos() as u64);
}

#[test]
fn a_fiber_below_a_token_ends_as_it_would_without_one() {
    let token = CancelToken::new();
    assert_eq!(fiber_sched::run(Fiber::success(1).cancelled_by(&token)).unwrap(), 1);
    let failed = fiber_sched::run(Fiber::<()>::fail(Error::msg("no")).cancelled_by(&token));
    assert_eq!(failed.failure().unwrap().to_string(), "no");
    let panicked = fiber_sched::run(Fiber::lazy(|| panic!("oh")).cancelled_by(&token));
    assert!(matches!(panicked, Outcome::<()>::Panicked(_)));
}

#[test]
fn a_fiber_below_a_cancelled_token_never_starts() {
    let token = CancelToken::new();
    token.cancel();
    let ran = Arc::new(AtomicUsize::new(0));
    let counted = ran.clone();
    let fiber = Fiber::lazy(move || counted.fetch_add(1, Ordering::Relaxed));
    assert!(fiber_sched::run(fiber.cancelled_by(&token)).is_cancelled());
    assert_eq!(ran.load(Ordering::Relaxed), 0);
    // Nor where the scheduler decides which branch runs first.
    explore(move || {
        let fiber = Fiber::lazy(|| panic!("it has started")).cancelled_by(&token);
        fiber.map_outcome(|outcome: Outcome<()>| {
            assert!(outcome.is_cancelled(), "{outcome:?}");
            Outcome::Success(())
        })
    });
}

#[test]
fn a_value_that_comes_in_spite_of_the_cancellation_of_the_whole_is_kept() {
    let (token, test) = (CancelToken::new(), TestScheduler::new());
    let handle = test.spawn(Fiber::delay(TICK).map(|()| 7).uncancelable().cancelled_by(&token));
    test.run_for(TICK / 2);
    handle.cancel_now();
    test.run_until_idle();
    assert_eq!(handle.outcome().unwrap(), 7);
}

#[test]
fn a_value_that_comes_in_spite_of_the_cancellation_is_kept() {
    let (token, test) = (CancelToken::new(), TestScheduler::new());
    let handle = test.spawn(Fiber::delay(TICK).map(|()| 7).uncancelable().cancelled_by(&token));
    test.run_for(TICK / 2);
    token.cancel();
    test.run_until_idle();
    assert_eq!(handle.outcome().unwrap(), 7);
}

#[test]
fn a_token_below_a_fiber_is_cancelled_with_it_or_when_its_region_ends() {
    explore(|| {
        let seen = Arc::new(Mutex::new(None));
        let (passed, checked) = (seen.clone(), seen.clone());
        let region = Fiber::with_token(move |token| {
            let watched = token.child();
            *passed.lock() = Some(token);
            Fiber::yield_now().bind(|()| Fiber::yield_now()).map(move |()| {
                // Only a cancellation of the fiber ends it earlier.
                watched.is_cancelled()
            })
        });
        let is_cancelled = move || checked.lock().take().is_none_or(|token| token.is_cancelled());
        region.fork().bind(|handle| handle.outcome()).map(move |outcome| {
            assert!(is_cancelled(), "the region is over");
            assert!(!matches!(outcome, Outcome::Success(true)), "it was cancelled too early");
        })
    });
}

#[test]
fn a_computation_after_a_wait_sees_the_cancellation_of_its_fiber_at_once() {
    explore(|| {
        let compute = Fiber::with_token(|token| {
            Fiber::delay(TICK).bind(|()| Fiber::current()).map(move |fiber| {
                fiber.cancel();
                assert!(token.is_cancelled());
            })
        });
        compute.fork().bind(|handle| handle.outcome()).map(|outcome| assert!(!outcome.is_failure()))
    });
}

#[test]
fn a_computation_on_the_only_worker_sees_the_cancellation_from_outside() {
    let pool = Pool::builder().workers(1).build();
    let (begun, has_begun) = std::sync::mpsc::channel();
    let compute = Fiber::with_token(move |token| {
        Fiber::lazy(move || {
            begun.send(()).unwrap();
            while !token.is_cancelled() {
                std::hint::spin_loop();
            }
        })
    });
    let handle = pool.spawn(compute);
    has_begun.recv().unwrap();
    handle.cancel_now();
    assert!(pool.run(handle.outcome()).is_success());
}
