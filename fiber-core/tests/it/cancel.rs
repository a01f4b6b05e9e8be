//! When a cancellation is noticed, and what it reaches.

use std::sync::Arc;
use std::time::Duration;

use crate::support::Counter;
use fiber_core::{Either, Error, Fiber, Outcome};
use fiber_test::TestScheduler;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn cancel_before_start_never_runs_the_body() {
    let test = TestScheduler::new();
    let body = Counter::default();
    let fiber = test.spawn(body.count());
    fiber.cancel_now();
    test.run_until_idle();
    assert!(fiber.outcome().is_cancelled());
    assert_eq!(body.get(), 0);
    test.assert_no_leaks();
}

#[test]
fn cancel_of_a_sleeping_fiber_wakes_it_at_once_and_removes_its_timer() {
    let test = TestScheduler::new();
    let fiber = test.spawn(Fiber::delay(3600 * SECOND));
    test.run_for(SECOND);
    assert_eq!(test.pending_timers(), 1);
    fiber.cancel_now();
    test.run_for(Duration::ZERO);
    assert!(fiber.outcome().is_cancelled());
    assert_eq!(test.now().as_nanos(), 1_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn cancel_of_a_finished_fiber_changes_nothing() {
    let test = TestScheduler::new();
    let fiber = test.spawn(Fiber::success(1));
    test.run_until_idle();
    fiber.cancel_now();
    test.run_until_idle();
    assert_eq!(fiber.outcome().unwrap(), 1);
}

#[test]
fn cancel_of_a_fiber_that_waits_for_a_callback_closes_its_resume() {
    let test = TestScheduler::new();
    let slot = Arc::new(std::sync::Mutex::new(None));
    let kept = slot.clone();
    let fiber = test.spawn(Fiber::<u32>::callback(move |resume| *kept.lock().unwrap() = Some(resume)));
    test.run_until_idle();
    fiber.cancel_now();
    test.run_until_idle();
    let resume = slot.lock().unwrap().take().unwrap();
    assert!(resume.is_closed());
    resume.success(1);
    test.run_until_idle();
    assert!(fiber.outcome().is_cancelled());
}

#[test]
fn cancel_of_a_fiber_that_joins_leaves_the_joined_one_running() {
    let test = TestScheduler::new();
    let target = test.spawn(Fiber::delay(2 * SECOND).map(|()| 7)).into_handle();
    let context = target.context().clone();
    let joiner = test.spawn(target.join());
    test.run_for(SECOND);
    joiner.cancel_now();
    test.run_for(Duration::ZERO);
    assert!(joiner.outcome().is_cancelled());
    assert!(!context.is_cancelled());
    test.run_until_idle();
    test.assert_no_leaks();
}

#[test]
fn loops_over_items_pull_none_if_the_fiber_was_cancelled_before() {
    let pulls = |pulled: &Counter| {
        let pulled = pulled.clone();
        std::iter::repeat_with(move || pulled.add()).take(3)
    };
    let pulled = Counter::default();
    let loops = [
        Fiber::for_each(pulls(&pulled), |_| Fiber::success(())).boxed(),
        Fiber::fold(pulls(&pulled), (), |(), _| Fiber::success(())).boxed(),
    ];
    for items in loops {
        let test = TestScheduler::new();
        let fiber = test.spawn(Fiber::delay(2 * SECOND).uncancelable().bind(move |()| items));
        test.run_for(SECOND);
        fiber.cancel_now();
        test.run_until_idle();
        assert!(fiber.outcome().is_cancelled());
        assert_eq!(pulled.get(), 0);
    }
}

#[test]
fn an_endless_loop_of_binds_is_cancelled() {
    let test = TestScheduler::new();
    let counter = Counter::default();
    let looping = counter.clone();
    let fiber = test.spawn(Fiber::<()>::iterate((), move |()| {
        looping.count().map(std::ops::ControlFlow::<(), ()>::Continue)
    }));
    let canceller = fiber.context().clone();
    // A second fiber has a turn between the binds of the first.
    test.run(Fiber::lazy(move || canceller.cancel())).unwrap();
    test.run_until_idle();
    assert!(fiber.outcome().is_cancelled());
    assert!(counter.get() > 0);
}

#[test]
fn a_value_that_was_made_reaches_the_function_that_takes_it() {
    let test = TestScheduler::new();
    let used = Counter::default();
    let seen = used.clone();
    let acquire = Fiber::delay(SECOND).map(|()| "resource").uncancelable();
    let fiber = test.spawn(acquire.bind(move |_| {
        seen.add();
        Fiber::delay(SECOND)
    }));
    test.run_for(SECOND / 2);
    fiber.cancel_now();
    test.run_until_idle();
    assert_eq!(used.get(), 1, "the function got the value");
    assert!(fiber.outcome().is_cancelled(), "what it started saw the cancellation");
    assert_eq!(test.now().as_nanos(), 1_000_000_000);
}

#[test]
fn catch_does_not_recover_a_cancelled_fiber() {
    let test = TestScheduler::new();
    let caught = Counter::default();
    let seen = caught.clone();
    let fiber = test.spawn(Fiber::delay(SECOND).catch(move |_| seen.count()));
    test.run_for(Duration::ZERO);
    fiber.cancel_now();
    test.run_until_idle();
    assert!(fiber.outcome().is_cancelled());
    assert_eq!(caught.get(), 0);
}

#[test]
fn a_fiber_that_map_outcome_made_successful_again_is_still_cancelled() {
    let test = TestScheduler::new();
    let after = Counter::default();
    let fiber = test.spawn(Fiber::delay(SECOND).map_outcome(|_| Outcome::Success(())).bind({
        let after = after.clone();
        move |()| after.count()
    }));
    test.run_for(Duration::ZERO);
    fiber.cancel_now();
    test.run_until_idle();
    assert!(fiber.outcome().is_cancelled());
    assert_eq!(after.get(), 0);
}

#[test]
fn cancel_waits_for_the_finalizers_of_its_target() {
    let test = TestScheduler::new();
    let fiber = Fiber::<()>::never().ensure(Fiber::delay(5 * SECOND)).fork().bind(|child| {
        // The child reaches its wait first.
        Fiber::delay(SECOND).bind(move |()| {
            let cancel = child.cancel();
            cancel.bind(move |()| {
                assert!(child.is_finished());
                Fiber::now()
            })
        })
    });
    assert_eq!(test.run(fiber).unwrap().as_nanos(), 6_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn cancel_cannot_be_cancelled_half_way() {
    let test = TestScheduler::new();
    let target = test.spawn(Fiber::<()>::never().ensure(Fiber::delay(5 * SECOND))).into_handle();
    test.run_for(SECOND);
    let canceller = test.spawn(target.cancel());
    test.run_for(SECOND);
    canceller.cancel_now();
    test.run_for(SECOND);
    assert!(canceller.is_pending(), "it waits for the end of its target");
    test.run_until_idle();
    assert!(target.is_finished());
    assert!(canceller.outcome().is_success());
}

#[test]
fn cancelling_twice_at_once_ends_both_cancels() {
    let test = TestScheduler::new();
    let fiber = Fiber::<()>::never().ensure(Fiber::delay(SECOND)).fork().bind(|child| {
        let (one, two) = (child.cancel(), child.cancel());
        Fiber::yield_now().bind(|()| one.zip(two)).map(move |_| child.is_finished())
    });
    assert!(test.run(fiber).unwrap());
}

#[test]
fn a_fiber_that_cancels_itself_does_not_wait_for_itself() {
    let test = TestScheduler::new();
    let place = Arc::new(std::sync::Mutex::new(None::<fiber_core::Handle<()>>));
    let own = place.clone();
    let fiber = test.spawn(Fiber::delay(SECOND).bind(move |()| {
        let handle = own.lock().unwrap().take().unwrap();
        handle.cancel().bind(|()| Fiber::delay(SECOND))
    }));
    let watch = fiber.context().clone();
    *place.lock().unwrap() = Some(fiber.into_handle());
    test.run_until_idle();
    assert!(watch.is_cancelled());
    test.assert_no_leaks();
}

#[test]
fn cancelling_a_parent_cancels_all_below_and_nothing_beside() {
    let test = TestScheduler::new();
    let below =
        Fiber::<()>::never().fork().bind(|_| Fiber::<()>::never().fork()).bind(|_| Fiber::<()>::never());
    let parent = test.spawn(below);
    let sibling = test.spawn(Fiber::delay(SECOND).map(|()| "unharmed"));
    test.run_for(Duration::ZERO);
    assert_eq!(test.live_fibers(), 4);
    parent.cancel_now();
    test.run_for(Duration::ZERO);
    assert_eq!(test.live_fibers(), 1);
    test.run_until_idle();
    assert_eq!(sibling.outcome().unwrap(), "unharmed");
}

#[test]
fn an_uncancelable_region_is_left_before_the_cancellation_is_seen() {
    let test = TestScheduler::new();
    let (inside, outside) = (Counter::default(), Counter::default());
    let region = Fiber::delay(SECOND).bind({
        let inside = inside.clone();
        move |()| inside.count()
    });
    let fiber = test.spawn(region.uncancelable().bind({
        let outside = outside.clone();
        move |()| outside.count()
    }));
    test.run_for(Duration::ZERO);
    fiber.cancel_now();
    test.run_until_idle();
    assert!(fiber.outcome().is_cancelled());
    assert_eq!((inside.get(), outside.get()), (1, 0));
}

#[test]
fn branches_in_an_uncancelable_region_are_not_cancelled_from_outside() {
    let test = TestScheduler::new();
    let both = Fiber::delay(SECOND).zip(Fiber::delay(2 * SECOND)).uncancelable();
    let fiber = test.spawn(both);
    test.run_for(Duration::ZERO);
    fiber.cancel_now();
    test.run_until_idle();
    assert!(fiber.outcome().is_success());
    assert_eq!(test.now().as_nanos(), 2_000_000_000);
}

#[test]
fn a_race_in_an_uncancelable_region_still_cancels_its_loser() {
    let test = TestScheduler::new();
    let race = Fiber::delay(SECOND).race(Fiber::<()>::never()).uncancelable();
    assert_eq!(test.run(race).unwrap(), Either::Left(()));
    test.assert_no_leaks();
}

#[test]
fn an_uncancelable_region_is_not_inherited_by_forks() {
    let test = TestScheduler::new();
    let region = Fiber::<()>::never().fork().bind(|child| {
        Fiber::delay(SECOND).bind(move |()| {
            let end = child.cancel();
            end.bind(|()| child.outcome())
        })
    });
    assert!(test.run(region.uncancelable()).unwrap().is_cancelled());
}

#[test]
fn joining_a_cancelled_fiber_fails_the_joiner_and_does_not_cancel_it() {
    let test = TestScheduler::new();
    let fiber = Fiber::<()>::never().fork().bind(|child| {
        child.cancel_now();
        child.join().catch(|error| {
            assert!(error.is::<fiber_core::error::Cancelled>());
            Fiber::fail(Error::msg("seen"))
        })
    });
    assert_eq!(test.run(fiber).failure().unwrap().to_string(), "seen");
}
