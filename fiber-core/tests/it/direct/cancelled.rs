//! The effects of cancelling or dropping a direct fiber, on virtual time.

use super::{Log, SECOND};
use fiber_core::error::{Abandoned, Cancelled};
use fiber_core::{Fiber, uncancelable};
use fiber_sched::CurrentThread;
use fiber_test::TestScheduler;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn each_wait_of_a_cancelled_fiber_fails_and_its_drops_run() {
    let (test, log) = (TestScheduler::new(), Log::default());
    let noted = log.clone();
    let fiber = Fiber::direct(move |d| {
        let _held = noted.on_drop("held");
        let first = d.wait(Fiber::delay(10 * SECOND)).unwrap_err();
        assert!(first.is::<Cancelled>() && d.is_cancelled());
        let again = d.wait(Fiber::delay(SECOND)).unwrap_err();
        assert!(again.is::<Cancelled>());
        noted.add("went on");
        Err::<(), _>(first)
    });
    let spawned = test.spawn(fiber);
    test.run_for(SECOND);
    spawned.cancel_now();
    test.run_until_idle();
    assert!(spawned.outcome().is_cancelled());
    assert_eq!(log.all(), ["went on", "held dropped"]);
    assert_eq!(test.now().as_nanos(), 1_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn a_wait_that_is_cut_short_in_a_region_counts_as_a_cancellation() {
    let (test, thread) = (TestScheduler::new(), CurrentThread::new());
    let region =
        || uncancelable(|restore| Fiber::direct(move |d| d.wait(restore.apply(Fiber::delay(3600 * SECOND)))));
    let spawned = test.spawn(region());
    test.run_for(SECOND);
    spawned.cancel_now();
    test.run_until_idle();
    assert!(spawned.outcome().is_cancelled());
    // On a thread of its own.
    let cancelled = region()
        .fork()
        .bind(|fork| Fiber::delay(SECOND / 100).bind(move |()| fork.cancel().bind(move |()| fork.outcome())));
    assert!(thread.run(cancelled).unwrap().is_cancelled());
    // The cancellation of another fiber is a failure.
    let joins = Fiber::<()>::never()
        .fork()
        .bind(|other| Fiber::direct(move |d| d.wait(other.cancel()).and_then(|()| d.wait(other.join()))));
    assert!(test.run(joins.uncancelable()).failure().unwrap().is::<Cancelled>());
}

#[test]
fn a_value_that_is_given_all_the_same_is_the_outcome() {
    let test = TestScheduler::new();
    let spawned = test.spawn(Fiber::direct(|d| Ok(d.wait(Fiber::delay(10 * SECOND)).is_err())));
    test.run_for(SECOND);
    spawned.cancel_now();
    test.run_until_idle();
    assert!(spawned.outcome().unwrap());
}

#[test]
fn a_cancelled_error_without_a_cancellation_is_a_failure() {
    let fiber = Fiber::<()>::direct(|d| {
        let child = d.wait(Fiber::<()>::never().fork())?;
        child.cancel_now();
        d.wait(child)
    });
    let outcome = TestScheduler::new().run(fiber);
    assert!(outcome.failure().unwrap().is::<Cancelled>());
}

#[test]
fn an_uncancelable_wait_goes_on_also_after_the_cancellation() {
    let (test, log) = (TestScheduler::new(), Log::default());
    let noted = log.clone();
    let fiber = Fiber::<()>::direct(move |d| {
        let broken = d.wait(Fiber::delay(10 * SECOND)).unwrap_err();
        d.wait(Fiber::delay(SECOND).uncancelable())?;
        noted.add("cleaned up");
        Err(broken)
    });
    let spawned = test.spawn(fiber);
    test.run_for(SECOND);
    spawned.cancel_now();
    test.run_until_idle();
    assert!(spawned.outcome().is_cancelled());
    assert_eq!(log.all(), ["cleaned up"]);
    assert_eq!(test.now().as_nanos(), 2_000_000_000);
}

#[test]
fn an_uncancelable_direct_fiber_waits_to_its_end() {
    let test = TestScheduler::new();
    let fiber = Fiber::direct(|d| {
        d.wait(Fiber::delay(10 * SECOND))?;
        Ok(!d.is_cancelled())
    });
    let spawned = test.spawn(fiber.uncancelable());
    test.run_for(SECOND);
    spawned.cancel_now();
    test.run_until_idle();
    assert!(spawned.outcome().unwrap());
    assert_eq!(test.now().as_nanos(), 10_000_000_000);
}

#[test]
fn the_loser_of_a_race_ends_before_the_race_does() {
    let (test, log) = (TestScheduler::new(), Log::default());
    let (noted, after) = (log.clone(), log.clone());
    let slow = Fiber::direct(move |d| {
        let _held = noted.on_drop("loser");
        d.wait(Fiber::delay(10 * SECOND))
    });
    test.run(slow.race(Fiber::delay(SECOND)).map(move |_| after.add("race over"))).unwrap();
    assert_eq!(log.all(), ["loser dropped", "race over"]);
    assert_eq!(test.now().as_nanos(), 1_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn cancelled_before_its_start_the_function_never_runs() {
    let (test, log) = (TestScheduler::new(), Log::default());
    let noted = log.clone();
    let spawned = test.spawn(Fiber::direct(move |_| {
        noted.add("ran");
        Ok(())
    }));
    spawned.cancel_now();
    test.run_until_idle();
    assert!(spawned.outcome().is_cancelled());
    assert!(log.all().is_empty());
}

#[test]
fn a_function_that_is_thrown_away_is_unwound_and_drops_what_it_held() {
    let log = Log::default();
    let (noted, test) = (log.clone(), TestScheduler::new());
    let spawned = test.spawn(Fiber::<()>::direct(move |d| {
        let _outer = noted.on_drop("outer");
        let deep = || {
            let _inner = noted.on_drop("inner");
            d.wait(Fiber::never())
        };
        deep()?;
        noted.add("never");
        Ok(())
    }));
    test.run_until_idle();
    spawned.context().abandon();
    assert_eq!(log.all(), ["inner dropped", "outer dropped"]);
    test.run_until_idle();
    assert!(spawned.outcome().failure().unwrap().is::<Abandoned>());
}

#[test]
fn the_drop_of_the_scheduler_cancels_it() {
    let log = Log::default();
    let noted = log.clone();
    let test = TestScheduler::new();
    drop(test.spawn(Fiber::<()>::direct(move |d| {
        let _held = noted.on_drop("held");
        let end = d.wait(Fiber::never());
        noted.add(format!("{}", end.as_ref().unwrap_err()));
        end
    })));
    test.run_until_idle();
    drop(test);
    assert_eq!(log.all().len(), 2);
    assert_eq!(log.all()[1], "held dropped");
}

#[test]
fn a_function_that_catches_its_unwinding_is_unwound_at_its_next_wait() {
    let log = Log::default();
    let (noted, test) = (log.clone(), TestScheduler::new());
    let spawned = test.spawn(Fiber::<()>::direct(move |d| {
        let caught = catch_unwind(AssertUnwindSafe(|| d.wait(Fiber::<()>::never())));
        noted.add(format!("caught {}", caught.is_err()));
        _ = d.wait(Fiber::success(()));
        noted.add("never");
        Ok(())
    }));
    test.run_until_idle();
    spawned.context().abandon();
    test.run_until_idle();
    assert_eq!(log.all(), ["caught true"]);
    assert!(spawned.outcome().failure().unwrap().is::<Abandoned>());
}

#[test]
fn a_function_that_goes_on_catching_its_unwinding_is_left_in_its_wait() {
    let log = Log::default();
    let (noted, test) = (log.clone(), TestScheduler::new());
    let spawned = test.spawn(Fiber::<()>::direct(move |d| {
        loop {
            let caught = catch_unwind(AssertUnwindSafe(|| d.wait(Fiber::<()>::never())));
            noted.add(format!("caught {}, has to end {}", caught.is_err(), d.is_cancelled()));
        }
    }));
    test.run_until_idle();
    spawned.context().abandon();
    test.run_until_idle();
    assert_eq!(log.all(), ["caught true, has to end true"; 2]);
    assert!(spawned.outcome().failure().unwrap().is::<Abandoned>());
}

#[test]
fn what_a_function_waits_for_when_it_is_thrown_away_may_panic_in_its_drop() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("a drop");
        }
    }
    let log = Log::default();
    let (noted, test) = (log.clone(), TestScheduler::new());
    let spawned = test.spawn(Fiber::<()>::direct(move |d| {
        let _outer = noted.on_drop("outer");
        let again = catch_unwind(AssertUnwindSafe(|| d.wait(Fiber::<()>::never())));
        noted.add(format!("caught {}", again.is_err()));
        let bomb = Bomb;
        d.wait(Fiber::lazy(move || drop(bomb)))
    }));
    test.run_until_idle();
    spawned.context().abandon();
    assert_eq!(log.all(), ["caught true", "outer dropped"]);
}
