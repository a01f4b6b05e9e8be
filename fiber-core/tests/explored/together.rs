//! Branches that all have to succeed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fiber_core::{Fiber, Outcome};

use crate::exploration::explore;
use crate::ledger::{Ledger, TICK};
use crate::part::Part;

const NAMES: [&str; 4] = ["first", "second", "third", "fourth"];

#[test]
fn both_sides_of_a_zip_have_ended() {
    explore(|ledger| {
        let (left, right) = (ledger.part("left"), ledger.part("right"));
        let zip = left.guarded(left.runs(2, 1)).zip(right.guarded(right.runs(1, 2)));
        right.ends_before(left.ends_before(zip))
    })
    .ends_with(|outcome| matches!(outcome, Outcome::Success((1, 2))))
    .check();
}

#[test]
fn a_failure_cancels_and_awaits_the_other_side_of_a_zip() {
    explore(|ledger| {
        let (failing, staying) = (ledger.part("failing"), ledger.part("staying"));
        let zip = failing.guarded(failing.fails(1)).zip(staying.guarded(staying.stays(2)));
        staying.ends_before(failing.ends_before(zip))
    })
    .ends_with(|outcome| matches!(outcome, Outcome::Failure(error) if error.to_string() == "failing"))
    .check();
}

#[test]
fn the_errors_of_both_sides_of_a_zip_are_kept() {
    explore(|ledger| {
        let ledger = ledger.shielded();
        let (failing, panicking) = (ledger.part("failing"), ledger.part("panicking"));
        let failing = failing.guarded(failing.fails(1)).uncancelable();
        failing.zip(panicking.guarded(panicking.panics(1)).uncancelable()).boxed()
    })
    .ends_with(|outcome| match outcome {
        Outcome::Failure(error) => error.suppressed().len() == 1,
        Outcome::Panicked(panic) => panic.suppressed().len() == 1,
        _ => false,
    })
    .preemptions(0)
    .check();
}

#[test]
fn values_acquired_at_the_same_time_are_all_released() {
    explore(|ledger| {
        let both = ledger.acquire("left").zip(ledger.acquire("right"));
        let used = both.uncancelable().bind(|(left, right)| {
            let releases = left.release().zip(right.release()).map(drop);
            left.is_used(1).zip(right.is_used(2)).ensure(releases)
        });
        used.boxed()
    })
    .preemptions(0)
    .check();
}

/// `count` parts, with the number of those that run at the same time.
fn crowd(
    ledger: &Ledger,
    count: usize,
    limit: usize,
) -> (Vec<Part>, Arc<AtomicUsize>, impl Fn(&Part, Fiber<u32>) -> Fiber<u32> + Send + use<>) {
    let (parts, running) =
        (NAMES[..count].iter().map(|name| ledger.part(name)).collect(), Arc::new(AtomicUsize::new(0)));
    let (count, ledger) = (running.clone(), ledger.clone());
    let member = move |part: &Part, body: Fiber<u32>| {
        let (enters, leaves, ledger) = (count.clone(), count.clone(), ledger.clone());
        let guarded = part.guarded(body);
        // Its finalizers also count.
        let counted = Fiber::defer(move || {
            let running = enters.fetch_add(1, Ordering::Relaxed);
            ledger.check(running < limit, "more run at a time than the limit allows");
            guarded.map_outcome(move |outcome| {
                leaves.fetch_sub(1, Ordering::Relaxed);
                outcome
            })
        });
        counted.boxed()
    };
    (parts, running, member)
}

#[test]
fn parallel_keeps_order_and_limit() {
    explore(|ledger| {
        let (parts, running, member) = crowd(ledger, 4, 2);
        let all: Vec<_> =
            (1..).zip(&parts).map(|(n, part)| member(part, part.runs(1, 4 - n)).map(move |_| n)).collect();
        let all = Fiber::parallel(all).limit(2);
        let all = parts.iter().fold(all.boxed(), |all, part| part.ends_before(all));
        all.map(move |all| {
            assert_eq!(running.load(Ordering::Relaxed), 0);
            all
        })
        .boxed()
    })
    .ends_with(|outcome| matches!(outcome, Outcome::Success(all) if *all == [1, 2, 3, 4]))
    .not_enumerated()
    .check();
}

#[test]
fn parallel_without_a_limit_keeps_the_order() {
    explore(|ledger| {
        let (parts, _, member) = crowd(ledger, 3, 3);
        let all: Vec<_> =
            (1..).zip(&parts).map(|(n, part)| member(part, part.works(1)).map(move |_| n)).collect();
        parts.iter().fold(Fiber::parallel(all).boxed(), |all, part| part.ends_before(all))
    })
    .ends_with(|outcome| matches!(outcome, Outcome::Success(all) if *all == [1, 2, 3]))
    .preemptions(0)
    .check();
}

#[test]
fn parallel_starts_nothing_after_a_failure() {
    explore(|ledger| {
        let (parts, _, member) = crowd(ledger, 4, 2);
        let failing = parts[0].clone();
        let all = parts.clone().into_iter().enumerate().map(move |(n, part)| {
            let body = if n == 0 { part.fails(1) } else { part.runs(1, 2) };
            assert!(!failing.has_started() || failing.is_running(), "pulled after the failure");
            member(&part, body)
        });
        let all = Fiber::parallel(all).limit(2);
        let all = parts.iter().fold(all.boxed(), |all, part| part.ends_before(all));
        let last = parts[3].clone();
        all.map_outcome(move |outcome| {
            assert!(!last.has_started(), "the first failed before there was place for the last");
            outcome
        })
        .boxed()
    })
    .ends_with(|outcome| matches!(outcome, Outcome::Failure(error) if error.to_string() == "first"))
    .not_enumerated()
    .check();
}

#[test]
fn parallel_is_cut_short_by_a_timeout() {
    explore(|ledger| {
        let (parts, _, member) = crowd(ledger, 4, 2);
        let all: Vec<_> = parts.iter().map(|part| member(part, part.runs(1, 2))).collect();
        let all = Fiber::parallel(all).limit(2).timeout_option(3 * TICK);
        parts.iter().fold(all.boxed(), |all, part| part.ends_before(all))
    })
    .not_enumerated()
    .check();
}
