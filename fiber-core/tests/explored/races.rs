//! Branches, one of which wins.

use fiber_core::{Either, Fiber, Outcome};

use crate::exploration::explore;
use crate::ledger::TICK;

#[test]
fn the_loser_of_a_race_has_ended() {
    explore(|ledger| {
        let (left, right) = (ledger.part("left"), ledger.part("right"));
        let race = left.guarded(left.runs(2, 1)).race(right.guarded(right.runs(1, 1)));
        right.ends_before(left.ends_before(race))
    })
    .ends_with(|outcome| matches!(outcome, Outcome::Success(Either::Left(1) | Either::Right(1))))
    .check();
}

#[test]
fn a_race_of_steps_has_one_winner() {
    explore(|ledger| {
        let (left, right) = (ledger.part("left"), ledger.part("right"));
        let race = left.guarded(left.works(2)).race(right.guarded(right.works(2)));
        right.ends_before(left.ends_before(race))
    })
    .preemptions(2)
    .check();
}

#[test]
fn a_failure_or_panic_wins_a_race_too_and_the_other_ones_error_is_kept() {
    explore(|ledger| {
        let (failing, panicking) = (ledger.part("failing"), ledger.part("panicking"));
        let race = failing.guarded(failing.fails(1)).race(panicking.guarded(panicking.panics(1)));
        failing.ends_before(panicking.ends_before(race))
    })
    .ends_with(|outcome| outcome.is_failure() || outcome.is_panicked())
    .may_be_unobserved()
    .check();
}

#[test]
fn a_race_of_all_has_one_winner_and_awaits_the_others() {
    explore(|ledger| {
        let parts = ["first", "second", "third"].map(|name| ledger.part(name));
        let runners: Vec<_> = parts.iter().map(|part| part.guarded(part.works(2))).collect();
        parts.iter().fold(Fiber::race_all(runners).boxed(), |race, part| part.ends_before(race))
    })
    .preemptions(0)
    .check();
}

#[test]
fn a_race_with_both_outcomes_loses_no_value() {
    explore(|ledger| {
        let (left, right) = (ledger.part("left"), ledger.part("right"));
        let raced = ledger.acquire("left").uncancelable().race_with(ledger.acquire("right").uncancelable());
        // A lease from before the cancellation is released all the same.
        let released = raced.bind(|raced| {
            let leases = [raced.first, raced.second].map(|outcome| outcome.success().map(Either::into_inner));
            let releases = leases.into_iter().flatten().map(|lease| lease.release());
            Fiber::parallel(releases.collect::<Vec<_>>()).map(drop)
        });
        let steps = left.guarded(left.works(1)).zip(right.guarded(right.works(1)));
        steps.bind(move |_| released.uncancelable()).boxed()
    })
    .preemptions(0)
    .check();
}

#[test]
fn the_first_success_wins_over_failures() {
    explore(|ledger| {
        let parts = ["failing", "slow", "fast"].map(|name| ledger.part(name));
        let [failing, slow, fast] = &parts;
        let all =
            [failing.guarded(failing.fails(1)), slow.guarded(slow.runs(1, 2)), fast.guarded(fast.runs(2, 1))];
        parts.iter().fold(Fiber::first_success(all).boxed(), |all, part| part.ends_before(all))
    })
    .preemptions(0)
    .may_be_unobserved()
    .check();
}

#[test]
fn a_first_success_of_failures_has_all_errors() {
    explore(|ledger| {
        let [first, second] = ["first", "second"].map(|name| ledger.part(name));
        let all = [first.guarded(first.fails(1)), second.guarded(second.fails(1))];
        second.ends_before(first.ends_before(Fiber::first_success(all)))
    })
    .ends_with(|outcome| matches!(outcome, Outcome::Failure(error) if error.suppressed().len() == 1))
    .check();
}

#[test]
fn the_attempts_of_a_hedge_have_ended_when_one_succeeds() {
    explore(|ledger| {
        let parts = ["first", "second", "third"].map(|name| ledger.part(name));
        let mut attempts = parts.clone().into_iter().map(|part| part.guarded(part.runs(1, 2)));
        let hedge = Fiber::hedge(TICK, 3, move || attempts.next().expect("three attempts"));
        parts.iter().fold(hedge.boxed(), |hedge, part| part.ends_before(hedge))
    })
    .preemptions(0)
    .check();
}

#[test]
fn a_race_in_an_uncancelable_region_cancels_its_loser_and_nothing_else() {
    explore(|ledger| {
        let ledger = ledger.shielded();
        let (winner, loser) = (ledger.part("winner"), ledger.part("loser"));
        let race = winner.guarded(winner.runs(1, 2)).race(loser.guarded(loser.stays(1)));
        let race = loser.ends_before(winner.ends_before(race));
        let won = race.map_outcome(move |outcome| {
            ledger.check(outcome.is_success(), "a cancellation reached into an uncancelable region");
            outcome
        });
        won.uncancelable().boxed()
    })
    .check();
}
