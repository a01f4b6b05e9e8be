//! Timeouts and deadlines: a limited fiber ends with its value or out of time, and has ended when its outcome is delivered.

use fiber_core::error::{DeadlineExceeded, TimedOut};
use fiber_core::{Fiber, Outcome};

use crate::exploration::explore;
use crate::ledger::{Ledger, TICK};

/// A value, or an error of type `E`.
fn in_time_or<E: std::error::Error + 'static>(outcome: &Outcome<u32>) -> bool {
    match outcome {
        Outcome::Success(_) => true,
        Outcome::Failure(error) => error.is::<E>(),
        _ => false,
    }
}

/// A guarded part that takes about as long as the limits of this file.
fn limited(ledger: &Ledger, limit: impl FnOnce(Fiber<u32>) -> Fiber<u32>) -> Fiber<u32> {
    let body = ledger.part("body");
    body.ends_before(limit(body.guarded(body.runs(2, 2))))
}

#[test]
fn a_timeout_ends_with_the_value_or_timed_out() {
    explore(|ledger| limited(ledger, |body| body.timeout(2 * TICK).boxed()))
        .ends_with(in_time_or::<TimedOut>)
        .preemptions(2)
        .check();
}

#[test]
fn a_timeout_with_an_option_ends_with_some_or_none() {
    explore(|ledger| {
        limited(ledger, |body| body.timeout_option(2 * TICK).map(|value| value.unwrap_or(0)).boxed())
    })
    .check();
}

#[test]
fn a_fallback_starts_when_the_fiber_that_is_out_of_time_has_ended() {
    explore(|ledger| {
        let (body, fallback) = (ledger.part("body"), ledger.part("fallback"));
        let after = body.clone();
        let falls_back = fallback.guarded(fallback.works(2));
        let falls_back = Fiber::defer(move || {
            after.has_ended();
            falls_back
        });
        body.ends_before(body.guarded(body.runs(2, 2)).timeout_to(2 * TICK, falls_back))
    })
    .check();
}

#[test]
fn a_deadline_ends_with_the_value_or_exceeded() {
    explore(|ledger| {
        limited(ledger, |body| Fiber::now().bind(|now| body.with_deadline(now + 2 * TICK)).boxed())
    })
    .ends_with(in_time_or::<DeadlineExceeded>)
    .check();
}

#[test]
fn of_limits_at_the_same_time_the_one_that_came_first_is_told() {
    explore(|ledger| {
        limited(ledger, |body| {
            let inner = body.timeout(2 * TICK);
            Fiber::now().bind(|now| inner.with_deadline(now + 2 * TICK).timeout(2 * TICK)).boxed()
        })
    })
    .ends_with(|outcome| in_time_or::<TimedOut>(outcome) || in_time_or::<DeadlineExceeded>(outcome))
    .check();
}

#[test]
fn a_value_that_is_acquired_as_time_runs_out_is_not_lost() {
    explore(|ledger| {
        let acquired = ledger.acquire("lease").uncancelable().timeout(TICK);
        acquired.bind(|lease| lease.is_used(2).ensure(lease.release())).boxed()
    })
    .preemptions(2)
    .check();
}

#[test]
fn a_timeout_that_is_disconnected_does_not_wait() {
    explore(|ledger| {
        let body = ledger.detached().part("body");
        body.guarded(body.runs(2, 2)).timeout_disconnect(2 * TICK).boxed()
    })
    .ends_with(in_time_or::<TimedOut>)
    .check();
}

#[test]
fn a_timeout_with_grace_ends_with_the_value_or_timed_out() {
    explore(|ledger| {
        let body = ledger.detached().part("body");
        body.ends_before(body.guarded(body.runs(2, 2)).timeout_with_grace(2 * TICK, 9 * TICK))
    })
    .ends_with(in_time_or::<TimedOut>)
    .check();
}

#[test]
fn a_timeout_whose_grace_is_over_leaves_the_finalizers_to_themselves() {
    explore(|ledger| {
        let body = ledger.detached().part("body");
        body.guarded(body.stays(2)).timeout_with_grace(TICK, TICK).boxed()
    })
    .ends_with(in_time_or::<TimedOut>)
    .may_be_unobserved()
    .check();
}

#[test]
fn a_timeout_with_grace_loses_no_value() {
    explore(|ledger| {
        let acquired = ledger.acquire("lease").uncancelable().timeout_with_grace(2 * TICK, 9 * TICK);
        acquired.bind(|lease| lease.is_used(2).ensure(lease.release())).boxed()
    })
    .check();
}

#[test]
fn a_cancelled_fiber_starts_nothing_with_a_grace() {
    explore(|ledger| {
        let body = ledger.detached().part("body");
        let started = body.clone();
        let limited = body.guarded(body.works(2)).timeout_with_grace(9 * TICK, 9 * TICK);
        let cancelled = Fiber::current().map(|context| context.cancel()).bind(move |()| limited);
        // Cancelled, and observed from outside.
        let outcome = cancelled.fork().bind(|child| child.outcome());
        outcome
            .bind(|outcome| {
                Fiber::delay(9 * TICK).map(move |()| outcome.is_cancelled() && !started.has_started())
            })
            .boxed()
    })
    .ends_with(|outcome| matches!(outcome, Outcome::Success(true)))
    .check();
}
