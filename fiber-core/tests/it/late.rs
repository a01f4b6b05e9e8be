//! A cancellation that comes late: a block notices it only when a wait begins or is pending (rule 8).

use std::time::Duration;

use crate::support::Counter;
use fiber_core::error::Cancelled;
use fiber_core::{CancelToken, Fiber, Outcome, fiber, uncancelable};
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

/// The fiber is cancelled, and so is what its finalizer awaits, but for another reason.
#[test]
fn a_finalizer_that_is_a_block_goes_on_after_what_it_awaits_was_cancelled_alone() {
    // Before the finalizer awaits it, and while it does.
    for cancelled_after in [0, 2] {
        let (token, counter, test) = (CancelToken::new(), Counter::default(), TestScheduler::new());
        let (flush, close) = (Fiber::delay(3 * SECOND).cancelled_by(&token), counter.count());
        let end = fiber! {
            assert!(flush.await.unwrap_err().is::<Cancelled>());
            do! close;
        };
        let spawned = test.spawn(Fiber::never().map(|()| ()).ensure(end));
        test.run_for(SECOND);
        if cancelled_after == 0 {
            token.cancel();
        }
        spawned.cancel_now();
        test.run_for(cancelled_after * SECOND);
        token.cancel();
        test.run_until_idle();
        assert_eq!(counter.get(), 1, "the token was cancelled after {cancelled_after} s");
        assert!(spawned.outcome().is_cancelled());
    }
}

/// Another restored part of the region was cut short before.
#[test]
fn a_block_in_a_region_tells_a_part_that_was_cut_short_from_one_that_was_cancelled_alone() {
    let token = CancelToken::new();
    token.cancel();
    let fiber = uncancelable(move |restore| {
        fiber! {
            do! cancel_me();
            let! cut = restore.apply(Fiber::never()).map_outcome(|outcome: Outcome<()>| {
                Outcome::Success(outcome.is_cancelled())
            });
            let alone = Fiber::<()>::never().cancelled_by(&token).await;
            (cut, alone.is_err())
        }
    });
    assert_eq!(run(fiber.boxed()).unwrap(), (true, true));
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
