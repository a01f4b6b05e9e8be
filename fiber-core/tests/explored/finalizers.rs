//! Finalizers, and values that must not be lost before they run.

use fiber_core::{Error, Fiber, Outcome, Resource, uncancelable};

use crate::exploration::explore;
use crate::lease::Lease;
use crate::ledger::{Ledger, TICK};

#[test]
fn finalizers_run_once_and_innermost_first() {
    explore(|ledger| {
        let (outer, inner) = (ledger.part("outer"), ledger.part("inner"));
        let inner_runs = inner.guarded(inner.runs(2, 1));
        let both = outer.guarded(outer.works(1).bind(move |_| inner_runs));
        outer.ends_before(inner.ends_before(both))
    })
    .preemptions(2)
    .check();
}

#[test]
fn finalizers_run_after_a_failure_and_after_a_panic() {
    explore(|ledger| {
        let (failing, panicking) = (ledger.part("failing"), ledger.part("panicking"));
        let panics = panicking.guarded(panicking.panics(1)).catch_panic(|_| Fiber::success(0));
        let fails = failing.guarded(failing.fails(1)).catch(|_: Error| panics);
        failing.ends_before(panicking.ends_before(fails))
    })
    .ends_with(|outcome| matches!(outcome, Outcome::Success(0)))
    .check();
}

#[test]
fn of_the_finalizers_for_one_case_exactly_the_right_one_runs() {
    explore(|ledger| {
        let (seen, cancelled, failed) =
            (ledger.note("seen"), ledger.note("cancelled"), ledger.note("failed"));
        let body = ledger.part("body");
        let started = body.clone();
        let ledger = ledger.clone();
        let both = body
            .body(body.waits(1).zip(body.fails(2)).map(|(ticks, _)| ticks))
            .on_cancel(cancelled)
            .on_failure(|_| failed)
            .on_outcome(|_| seen);
        both.map_outcome(move |outcome| {
            let [seen, cancelled, failed] = ["seen", "cancelled", "failed"].map(|what| ledger.count(what));
            let is_right = cancelled == usize::from(outcome.is_cancelled())
                && failed == usize::from(outcome.is_failure());
            // A fiber that is cancelled before all of this does not count.
            ledger.check(
                seen == 1 && is_right || !started.has_started(),
                "not the finalizers of this outcome ran",
            );
            outcome
        })
        .boxed()
    })
    .ends_with(Outcome::is_failure)
    .check();
}

#[test]
fn a_bracket_releases_what_it_acquired_after_its_use() {
    explore(|ledger| {
        let body = ledger.part("use");
        let watched = body.clone();
        Fiber::bracket(
            ledger.acquire("lease"),
            move |lease: Lease| body.guarded(lease.is_used(2)),
            move |lease: Lease| watched.ends_before(lease.release()),
        )
        .boxed()
    })
    .preemptions(2)
    .check();
}

#[test]
fn a_bracket_sees_the_outcome_of_its_use() {
    explore(|ledger| {
        let body = ledger.part("use");
        let noted = ledger.clone();
        let fails = Fiber::bracket_outcome(
            ledger.acquire("lease"),
            move |lease: Lease| {
                let fails = body.fails(1);
                body.body(lease.is_used(1).bind(move |_| fails))
            },
            move |lease: Lease, outcome: &Outcome<u32>| {
                noted.check(!outcome.is_success(), "a use that fails was seen as a success");
                lease.release()
            },
        );
        fails.boxed()
    })
    .ends_with(Outcome::is_failure)
    .check();
}

fn resource(ledger: &Ledger, name: &'static str) -> Resource<Lease> {
    Resource::new(ledger.acquire(name), |lease: Lease| lease.release())
}

#[test]
fn resources_are_released_in_reverse_whatever_happens() {
    explore(|ledger| {
        let both = resource(ledger, "first").zip(resource(ledger, "second"));
        both.using(|(first, second)| first.is_used(1).zip(second.is_used(2))).boxed()
    })
    .preemptions(0)
    .check();
}

#[test]
fn a_resource_that_cannot_be_acquired_leaves_none_behind() {
    explore(|ledger| {
        let broken = ledger.shielded().part("broken");
        let third = Resource::from_fiber(broken.guarded(broken.fails(1)));
        let all = resource(ledger, "first").zip(resource(ledger, "second")).and_then(|_| third);
        all.using(Fiber::success)
    })
    .ends_with(Outcome::is_failure)
    .check();
}

#[test]
fn resources_used_at_the_same_time_under_a_timeout_are_released() {
    explore(|ledger| {
        let uses = ["first", "second"].map(|name| resource(ledger, name).using(|lease| lease.is_used(3)));
        Fiber::parallel(uses).timeout_option(2 * TICK).boxed()
    })
    .preemptions(0)
    .check();
}

#[test]
fn an_uncancelable_region_runs_to_its_end() {
    explore(|ledger| {
        let (before, region) = (ledger.part("before"), ledger.shielded().part("region"));
        let ledger = ledger.clone();
        let runs = region.guarded(region.runs(2, 2)).uncancelable().map_outcome(move |outcome| {
            ledger.check(!outcome.is_cancelled(), "a cancellation reached into an uncancelable region");
            outcome
        });
        before.body(before.works(2)).bind(move |_| runs).boxed()
    })
    .check();
}

#[test]
fn a_restored_part_is_cut_short_and_what_was_taken_is_given_back() {
    explore(|ledger| {
        let (acquire, body) = (ledger.acquire("lease"), ledger.part("use"));
        let region = uncancelable(move |restore| {
            acquire.bind(move |lease: Lease| {
                restore.apply(body.guarded(lease.is_used(2))).ensure(lease.release())
            })
        });
        region.boxed()
    })
    .preemptions(2)
    .check();
}

#[test]
fn a_region_in_a_region_restores_no_more_than_the_outer_one() {
    explore(|ledger| {
        let ledger = ledger.shielded();
        let body = ledger.part("body");
        let inner = uncancelable(move |restore| restore.apply(body.guarded(body.runs(2, 2))));
        inner
            .uncancelable()
            .map_outcome(move |outcome| {
                ledger.check(outcome.is_success(), "a restored part of a region in a region was cut short");
                outcome
            })
            .boxed()
    })
    .check();
}

#[test]
fn a_restore_that_has_left_its_region_shields_nothing() {
    explore(|ledger| {
        let body = ledger.part("body");
        let runs = body.guarded(body.runs(2, 2));
        let left = uncancelable(|_| uncancelable(Fiber::success));
        left.bind(move |restore| restore.apply(runs)).boxed()
    })
    .check();
}

#[test]
fn a_value_reaches_the_function_that_takes_it() {
    explore(|ledger| {
        let acquired = ledger.acquire("lease").uncancelable();
        acquired.bind(|lease: Lease| lease.is_used(1).ensure(lease.release())).boxed()
    })
    .preemptions(2)
    .check();
}

#[test]
fn branches_of_a_finalizer_are_part_of_it() {
    explore(|ledger| {
        let shielded = ledger.shielded();
        let (body, left, right) = (ledger.part("body"), shielded.part("left"), shielded.part("right"));
        let finalizer = left.guarded(left.runs(1, 1)).zip(right.guarded(right.runs(1, 2))).map(drop);
        let finalized = body.body(body.runs(1, 2)).ensure(finalizer);
        right.ends_before(left.ends_before(finalized))
    })
    .check();
}
