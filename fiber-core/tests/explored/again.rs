//! Retries and repetitions.

use fiber_core::{Fiber, Outcome, Policy};

use crate::exploration::explore;
use crate::ledger::TICK;

fn twice_more<I: 'static>() -> Policy<I> {
    Policy::recurs(2) & Policy::spaced(TICK)
}

#[test]
fn an_attempt_has_ended_when_the_next_one_starts() {
    explore(|ledger| {
        let attempt = ledger.part("attempt");
        let attempts = attempt.clone();
        let retried = Fiber::retry_with(twice_more(), move || {
            attempts.has_ended();
            attempts.guarded(if attempts.times_started() < 2 { attempts.fails(1) } else { attempts.works(2) })
        });
        let counted = attempt.clone();
        attempt.ends_before(retried).map(move |_| counted.times_started()).boxed()
    })
    .ends_with(|outcome| matches!(outcome, Outcome::Success(3)))
    .preemptions(2)
    .check();
}

#[test]
fn the_last_attempt_gives_the_error() {
    explore(|ledger| {
        let attempt = ledger.part("attempt");
        let attempts = attempt.clone();
        attempt.ends_before(Fiber::retry_with(twice_more(), move || attempts.guarded(attempts.fails(1))))
    })
    .ends_with(|outcome| matches!(outcome, Outcome::Failure(error) if error.to_string() == "after 3 attempts: attempt"))
    .check();
}

#[test]
fn a_panic_is_not_tried_again() {
    explore(|ledger| {
        let attempt = ledger.part("attempt");
        let (attempts, counted) = (attempt.clone(), attempt.clone());
        let retried = Fiber::retry_with(twice_more(), move || attempts.guarded(attempts.panics(1)));
        retried
            .map_outcome(move |outcome| {
                assert!(counted.times_started() <= 1);
                outcome
            })
            .boxed()
    })
    .ends_with(Outcome::is_panicked)
    .check();
}

#[test]
fn a_round_has_ended_when_the_next_one_starts() {
    explore(|ledger| {
        let round = ledger.part("round");
        let (rounds, counted) = (round.clone(), round.clone());
        let repeated = Fiber::repeat_with(twice_more(), move || {
            rounds.has_ended();
            rounds.guarded(rounds.runs(1, 1))
        });
        round.ends_before(repeated).map(move |_| counted.times_started()).boxed()
    })
    .ends_with(|outcome| matches!(outcome, Outcome::Success(3)))
    .preemptions(2)
    .check();
}

#[test]
fn a_retry_that_is_timed_out_stops_where_it_is() {
    explore(|ledger| {
        let attempt = ledger.part("attempt");
        let attempts = attempt.clone();
        let policy = Policy::spaced(TICK);
        let retried = Fiber::retry_with(policy, move || attempts.guarded(attempts.fails(1)));
        attempt.ends_before(retried.timeout_option(5 * TICK))
    })
    .check();
}

#[test]
fn two_that_retry_do_not_disturb_each_other() {
    explore(|ledger| {
        let retried = |name| {
            let part = ledger.part(name);
            let attempts = part.clone();
            let retried = Fiber::retry_with(twice_more(), move || {
                attempts.guarded(if attempts.has_started() { attempts.works(1) } else { attempts.fails(1) })
            });
            part.ends_before(retried).map(move |_| part.times_started())
        };
        retried("left").zip(retried("right")).boxed()
    })
    .ends_with(|outcome| matches!(outcome, Outcome::Success((2, 2))))
    .not_enumerated()
    .check();
}
