//! A cancellation that comes late: a block notices it only when a wait begins or is pending (rule 8).

use std::time::Duration;

use crate::support::Counter;
use fiber_core::{Fiber, Outcome, fiber, uncancelable};
use fiber_test::{Explore, TestScheduler};

const SECOND: Duration = Duration::from_secs(1);

/// Cancels the fiber that runs it, and continues.
fn cancel_me() -> Fiber<()> {
    Fiber::current().map(|me| me.cancel()).uncancelable().boxed()
}

fn run<T: Send + 'static>(fiber: Fiber<T>) -> Outcome<T> {
    let test = TestScheduler::new();
    let outcome = test.run(fiber);
    test.assert_no_leaks();
    outcome
}

#[test]
fn a_block_that_is_cancelled_after_its_last_wait_gives_its_value() {
    assert_eq!(run(fiber! { do! cancel_me(); 1 }).unwrap(), 1);
    assert_eq!(run(fiber! { do! cancel_me(); return 1 }).unwrap(), 1);
    assert_eq!(run(Fiber::block(|| async { cancel_me().await.map(|()| 1) }).boxed()).unwrap(), 1);
    assert_eq!(run(cancel_me().map(|()| 1).boxed()).unwrap(), 1, "as a bind does");
}

#[test]
fn a_block_that_is_cancelled_after_its_last_wait_may_fail_and_panic() {
    assert!(run(fiber! { do! cancel_me(); "x".parse::<u32>()? }).is_failure());
    let panics: Fiber<u32> = fiber! { do! cancel_me(); panic!("on purpose") };
    assert!(run(panics).is_panicked());
}

#[test]
fn a_block_that_is_cancelled_before_a_wait_does_not_begin_it() {
    let counter = Counter::default();
    let count = || counter.count();
    let (one, two, three) = (count(), count(), count());
    assert!(run(fiber! { do! cancel_me(); do! one; }).is_cancelled());
    assert!(run(fiber! { do! cancel_me(); return! two }).is_cancelled());
    assert!(run(fiber! { cancel_me().await?; three.await? }).is_cancelled());
    assert!(run(fiber! { do! cancel_me(); do! fiber! { 1 } }).is_cancelled(), "a block begins");
    assert_eq!(counter.get(), 0);
}

#[test]
fn the_value_of_a_wait_reaches_the_block_though_it_was_cancelled_meanwhile() {
    let counter = Counter::default();
    let seen = counter.clone();
    let test = TestScheduler::new();
    let spawned = test.spawn(fiber! {
        let! taken = Fiber::delay(SECOND).map(|()| 5).uncancelable();
        seen.add();
        taken
    });
    test.run_for(SECOND / 2);
    spawned.cancel_now();
    test.run_until_idle();
    assert_eq!((spawned.outcome().unwrap(), counter.get()), (5, 1));
}

#[test]
fn a_cancelled_block_is_not_told_of_its_cancellation_by_await() {
    let counter = Counter::default();
    let told = counter.clone();
    let fiber = fiber! {
        do! cancel_me();
        let ended = Fiber::success(1).await;
        told.add();
        ended.unwrap_or(3)
    };
    assert!(run(fiber).is_cancelled());
    assert_eq!(counter.get(), 0);
}

#[test]
fn a_block_in_an_uncancelable_region_goes_on() {
    let fiber = uncancelable(|restore| {
        fiber! {
            do! cancel_me();
            do! Fiber::delay(SECOND);
            Fiber::delay(SECOND).await?;
            let restored = restore.apply(Fiber::delay(SECOND)).await;
            unreachable!("{restored:?}")
        }
    });
    let test = TestScheduler::new();
    let outcome: Outcome<()> = test.run(fiber);
    assert!(outcome.is_cancelled());
    assert_eq!(test.now().as_nanos(), 2_000_000_000);
}

#[test]
fn an_acquired_value_is_never_lost_between_a_wait_and_its_use() {
    Explore::cancel_everywhere().check(|| {
        let counter = Counter::default();
        let (acquire, release) = (counter.count(), counter.count());
        let program = fiber! {
            let acquired = fiber! { do! Fiber::yield_now(); do! acquire; };
            do! acquired.uncancelable().bind(|()| Fiber::yield_now().ensure(release));
        };
        program.map_outcome(move |outcome| {
            assert!(counter.get() != 1, "acquired, and not released");
            outcome
        })
    });
}
