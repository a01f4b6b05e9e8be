//! Circuit breakers: the calls that they let through, and when.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fiber_core::sync::{CircuitBreaker, CircuitOpen};
use fiber_core::{Error, Fiber, Outcome};
use fiber_test::TestScheduler;

use crate::everywhere::explore;

const SECOND: Duration = Duration::from_secs(1);

/// A breaker and its callers.
struct Calls {
    breaker: CircuitBreaker,
    test: TestScheduler,
}

impl Calls {
    fn new(failures: u32) -> Self {
        Calls { breaker: CircuitBreaker::new(failures, 10 * SECOND), test: TestScheduler::new() }
    }

    fn succeed(&self) -> Outcome<()> {
        self.test.run(self.breaker.protect(Fiber::success(())))
    }

    fn fail(&self) -> Outcome<()> {
        self.test.run(self.breaker.protect(Fiber::fail(Error::msg("down"))))
    }

    fn is_refused(outcome: Outcome<()>) -> bool {
        outcome.failure().is_some_and(|error| error.is::<CircuitOpen>())
    }
}

#[test]
fn a_call_from_before_it_opened_does_not_count_after_it_has_closed_again() {
    let calls = Calls::new(1);
    let late = Fiber::delay(30 * SECOND).try_map(|()| Err::<(), _>(Error::msg("late")));
    let late = calls.test.spawn(calls.breaker.protect(late));
    calls.test.run_for(SECOND);
    assert!(calls.fail().is_failure());
    calls.test.run_for(10 * SECOND);
    assert!(calls.succeed().is_success());
    calls.test.run_for(20 * SECOND);
    assert!(late.outcome().is_failure());
    assert!(calls.succeed().is_success());
}

#[test]
fn it_opens_after_so_many_failures_in_a_row_and_no_earlier() {
    let calls = Calls::new(3);
    for _ in 0..5 {
        assert!(!Calls::is_refused(calls.fail()));
        assert!(!Calls::is_refused(calls.fail()));
        assert!(calls.succeed().is_success(), "a success in between starts the count anew");
    }
    for _ in 0..3 {
        assert!(!Calls::is_refused(calls.fail()));
    }
    assert!(Calls::is_refused(calls.succeed()));
}

#[test]
fn a_panic_is_a_failure() {
    let calls = Calls::new(1);
    assert!(calls.test.run(calls.breaker.protect(Fiber::<()>::lazy(|| panic!("oh")))).is_panicked());
    assert!(Calls::is_refused(calls.succeed()));
}

#[test]
fn after_the_pause_a_success_closes_it_and_a_failure_opens_it_again() {
    let calls = Calls::new(1);
    assert!(!Calls::is_refused(calls.fail()));
    calls.test.advance(9 * SECOND);
    let refused = calls.succeed().failure().unwrap();
    assert_eq!(refused.to_string(), "too many calls have failed: the circuit is open until 10s");
    calls.test.advance(SECOND);
    assert!(!Calls::is_refused(calls.fail()), "the trial");
    assert!(Calls::is_refused(calls.succeed()));
    calls.test.advance(10 * SECOND);
    assert!(calls.succeed().is_success());
    assert!(calls.succeed().is_success());
}

#[test]
fn one_trial_runs_at_a_time_and_a_cancelled_one_makes_room_for_the_next() {
    let calls = Calls::new(1);
    assert!(!Calls::is_refused(calls.fail()));
    calls.test.advance(10 * SECOND);
    let trial = calls.test.spawn(calls.breaker.protect(Fiber::<()>::never()));
    calls.test.run_until_idle();
    assert!(Calls::is_refused(calls.succeed()));
    trial.cancel_now();
    calls.test.run_until_idle();
    assert!(trial.outcome().is_cancelled());
    assert!(calls.succeed().is_success());
}

#[test]
fn a_call_from_before_it_opened_does_not_change_it() {
    let calls = Calls::new(1);
    let slow = calls.test.spawn(calls.breaker.protect(Fiber::delay(5 * SECOND)));
    calls.test.run_for(SECOND);
    assert!(!Calls::is_refused(calls.fail()));
    calls.test.run_until_idle();
    assert!(slow.outcome().is_success());
    assert!(Calls::is_refused(calls.succeed()), "it is still open");
}

#[test]
fn in_every_schedule_at_most_one_call_is_a_trial() {
    explore(|| {
        let breaker = CircuitBreaker::new(1, SECOND);
        let running = Arc::new(AtomicUsize::new(0));
        let fails = breaker.protect(Fiber::<()>::fail(Error::msg("down"))).catch(|_| Fiber::success(()));
        let trials = (0..3).map(move |_| {
            let (begins, ends) = (running.clone(), running.clone());
            let body = Fiber::lazy(move || assert_eq!(begins.fetch_add(1, Ordering::Relaxed), 0))
                .bind(|()| Fiber::yield_now())
                .bind(move |()| {
                    ends.fetch_sub(1, Ordering::Relaxed);
                    Fiber::<()>::fail(Error::msg("still down"))
                });
            breaker.protect(body).catch(|_| Fiber::success(()))
        });
        let trials: Vec<_> = trials.collect();
        fails.bind(|()| Fiber::delay(SECOND)).bind(|()| Fiber::parallel(trials))
    });
}

#[derive(Debug)]
struct NotFound;

impl std::fmt::Display for NotFound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("404")
    }
}

impl std::error::Error for NotFound {}

#[test]
fn an_error_that_does_not_count_is_a_success() {
    let mut calls = Calls::new(2);
    calls.breaker = calls.breaker.clone().counting(|error: &Error| !error.is::<NotFound>());
    let not_found = || calls.test.run(calls.breaker.protect(Fiber::<()>::fail(NotFound).context("a page")));
    for _ in 0..3 {
        assert!(calls.fail().is_failure());
        assert!(not_found().failure().unwrap().is::<NotFound>(), "it passes, and ends the row of failures");
    }
    assert!(calls.fail().is_failure() && calls.fail().is_failure());
    assert!(Calls::is_refused(calls.succeed()), "two in a row");
    calls.test.run_for(10 * SECOND);
    assert!(not_found().failure().unwrap().is::<NotFound>(), "the trial");
    assert!(calls.succeed().is_success(), "the trial has closed it");
}

#[test]
fn a_panic_still_counts_and_one_of_the_condition_leaves_the_trial_to_the_next() {
    std::panic::set_hook(Box::new(|_| {}));
    let mut calls = Calls::new(1);
    calls.breaker = calls.breaker.clone().counting(|error: &Error| {
        assert!(!error.is::<NotFound>(), "of the condition");
        true
    });
    let panics = calls.breaker.protect(Fiber::<()>::lazy(|| panic!("a defect")));
    assert!(calls.test.run(panics).is_panicked());
    assert!(Calls::is_refused(calls.succeed()));
    calls.test.run_for(10 * SECOND);
    let trial = calls.test.run(calls.breaker.protect(Fiber::<()>::fail(NotFound)));
    assert!(trial.failure().unwrap().suppressed()[0].to_string().contains("of the condition"));
    assert!(calls.succeed().is_success());
}
