//! Finalizers run exactly once, innermost first, uncancelable, and lose no error.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::Counter;
use fiber_core::{Error, Fiber, Outcome};
use fiber_test::TestScheduler;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_finalizer_runs_once_after_a_success_a_failure_and_a_cancellation() {
    let bodies: [fn() -> Fiber<()>; 3] =
        [|| Fiber::success(()).boxed(), || Fiber::fail(Error::msg("e")).boxed(), || Fiber::never().boxed()];
    for body in bodies {
        let test = TestScheduler::new();
        let finalized = Counter::default();
        let fiber = test.spawn(body().ensure(finalized.count()));
        test.run_until_idle();
        fiber.cancel_now();
        test.run_until_idle();
        assert!(!fiber.is_pending());
        assert_eq!(finalized.get(), 1);
        test.assert_no_leaks();
    }
}

#[test]
fn finalizers_run_innermost_first_and_may_wait() {
    let test = TestScheduler::new();
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = |name: &'static str| {
        let order = order.clone();
        Fiber::delay(SECOND).map(move |()| order.lock().unwrap().push(name))
    };
    let fiber =
        test.spawn(Fiber::<()>::never().ensure(note("inner")).ensure(note("middle")).ensure(note("outer")));
    test.run_until_idle();
    fiber.cancel_now();
    fiber.cancel_now();
    test.run_until_idle();
    assert_eq!(*order.lock().unwrap(), ["inner", "middle", "outer"]);
    assert_eq!(test.now().as_nanos(), 3_000_000_000);
    assert!(fiber.outcome().is_cancelled());
}

#[test]
fn a_failing_finalizer_fails_a_success() {
    let fiber = Fiber::success(1).ensure(Fiber::fail(Error::msg("close failed")));
    assert_eq!(TestScheduler::new().run(fiber).failure().unwrap().to_string(), "close failed");
}

#[test]
fn a_failing_finalizer_is_suppressed_into_a_failure() {
    let fiber = Fiber::<()>::fail(Error::msg("use failed")).ensure(Fiber::fail(Error::msg("close failed")));
    let error = TestScheduler::new().run(fiber).failure().unwrap();
    assert_eq!(error.to_string(), "use failed");
    assert_eq!(error.suppressed()[0].to_string(), "close failed");
}

#[test]
fn a_failing_finalizer_of_a_cancelled_fiber_is_reported_and_leaves_it_cancelled() {
    let test = TestScheduler::new();
    let fiber = test.spawn(Fiber::<()>::never().ensure(Fiber::fail(Error::msg("close failed"))));
    test.run_until_idle();
    fiber.cancel_now();
    test.run_until_idle();
    assert!(fiber.outcome().is_cancelled());
    let unobserved = test.unobserved();
    assert!(unobserved.len() == 1 && unobserved[0].contains("close failed"), "{unobserved:?}");
}

#[test]
fn a_failing_finalizer_of_on_cancel_is_reported_under_the_name_of_its_operator() {
    let test = TestScheduler::new();
    let fails = Fiber::from_outcome(Outcome::Failure(Error::msg("close failed")));
    let fiber = test.spawn(Fiber::<()>::never().on_cancel(fails));
    test.run_until_idle();
    fiber.cancel_now();
    test.run_until_idle();
    assert!(test.unobserved()[0].contains("close failed (on_cancel at "), "{:?}", test.unobserved());
}

#[test]
fn on_outcome_sees_how_it_ended() {
    let seen = Arc::new(Mutex::new(String::new()));
    let note = seen.clone();
    let fiber = Fiber::<u8>::fail(Error::msg("no tea")).on_outcome(move |outcome| {
        *note.lock().unwrap() = match outcome {
            Outcome::Failure(error) => error.to_string(),
            _ => "something else".to_owned(),
        };
        Fiber::success(())
    });
    assert!(TestScheduler::new().run(fiber).is_failure());
    assert_eq!(*seen.lock().unwrap(), "no tea");
}

#[test]
fn a_finalizer_of_a_fiber_that_never_started_does_not_run() {
    let test = TestScheduler::new();
    let finalized = Counter::default();
    let fiber = test.spawn(Fiber::success(()).ensure(finalized.count()));
    fiber.cancel_now();
    test.run_until_idle();
    assert!(fiber.outcome().is_cancelled());
    assert_eq!(finalized.get(), 0);
}

#[test]
fn a_cancellation_during_a_finalizer_does_not_interrupt_it() {
    let test = TestScheduler::new();
    let finalized = Counter::default();
    let finalizer = Fiber::delay(10 * SECOND).bind({
        let finalized = finalized.clone();
        move |()| finalized.count()
    });
    let fiber = test.spawn(Fiber::success(1).ensure(finalizer));
    test.run_for(SECOND);
    fiber.cancel_now();
    test.run_until_idle();
    assert_eq!(finalized.get(), 1);
    assert_eq!(fiber.outcome().unwrap(), 1, "the value was there before the cancellation");
}
