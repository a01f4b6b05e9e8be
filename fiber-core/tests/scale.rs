//! A million of each: all wake, and nothing is left.

mod support;

use std::sync::Arc;
use std::time::Duration;

use fiber_core::sync::Barrier;
use fiber_core::{Either, Fiber};
use fiber_test::TestScheduler;
use support::Counter;

const MANY: usize = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };
const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_parent_of_a_million_sleeping_children_is_cancelled_and_all_of_them_wake() {
    let test = TestScheduler::new();
    let woken = Counter::default();
    let sleeper = {
        let woken = woken.clone();
        move |_| {
            let woken = woken.clone();
            Fiber::delay(3600 * SECOND).on_outcome(move |outcome| {
                assert!(outcome.is_cancelled());
                woken.add();
                Fiber::success(())
            })
        }
    };
    let parent = test.spawn(Fiber::parallel((0..MANY).map(sleeper)));
    test.run_for(SECOND);
    assert_eq!(test.pending_timers(), MANY);
    parent.cancel_now();
    test.run_for(Duration::ZERO);
    assert!(parent.outcome().is_cancelled());
    assert_eq!(woken.get(), MANY);
    test.assert_no_leaks();
}

#[test]
fn as_many_as_wait_for_one_fiber_leave_it_in_any_order() {
    let test = TestScheduler::new().turns_per_instant(20 * MANY);
    let target = Arc::new(test.spawn(Fiber::<()>::never()).into_handle());
    let waiter = {
        let target = target.clone();
        // Later ones leave earlier.
        move |n| target.ended().race(Fiber::delay((MANY - n) as u32 * Duration::from_millis(1)))
    };
    let waiters = test.spawn(Fiber::parallel((0..MANY).map(waiter)));
    test.run_for(MANY as u32 * Duration::from_millis(1));
    assert_eq!(waiters.outcome().unwrap().len(), MANY);
    target.cancel_now();
    test.run_for(Duration::ZERO);
    test.assert_no_leaks();
}

#[test]
fn a_million_forks_of_one_fiber_end_with_it() {
    let test = TestScheduler::new().turns_per_instant(10 * MANY);
    let forks = Fiber::for_each(0..MANY, |_| Fiber::<()>::never().fork().map(drop));
    let parent = test.spawn(forks.bind(|()| Fiber::<()>::never()));
    test.run_for(SECOND);
    assert_eq!(test.live_fibers(), MANY + 1);
    parent.cancel_now();
    test.run_for(Duration::ZERO);
    assert!(parent.outcome().is_cancelled());
    test.assert_no_leaks();
}

#[test]
fn a_barrier_opens_for_as_many_sides_of_races() {
    let test = TestScheduler::new().turns_per_instant(20 * MANY);
    let barrier = Barrier::new(MANY);
    // Each of these waits is in a fiber of its own.
    let side = move |_| Fiber::<()>::never().named("a branch").race(barrier.wait().named("another"));
    let sides = test.run(Fiber::parallel((0..MANY).map(side))).unwrap();
    assert_eq!(sides.into_iter().filter(|side| *side == Either::Right(true)).count(), 1);
    test.assert_no_leaks();
}
