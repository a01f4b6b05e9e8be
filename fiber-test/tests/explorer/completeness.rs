//! An exploration that has seen everything ends and reports that; one that has not does not report it.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use fiber_core::Fiber;
use fiber_test::{Explore, Search};

use crate::known;
use crate::support::Shared;

/// Two fibers of two steps: six orders.
fn two_by_two() -> Fiber<()> {
    let steps = || Fiber::success(()).bind(|()| Fiber::success(()));
    Fiber::parallel([steps(), steps()]).map(drop).boxed()
}

#[test]
fn the_portfolio_ends_when_all_orders_were_seen() {
    let explored = Explore::default().check(two_by_two);
    assert!(explored.is_complete() && explored.schedules() < 100, "{explored}");
    assert_eq!(explored.orders(), Some(6));
    assert!(explored.to_string().starts_with("all 6 orders were seen"), "{explored}");
}

#[test]
fn it_ends_in_the_same_way_on_any_number_of_threads() {
    let explored = [1, 2, 3].map(|threads| Explore::default().threads(threads).check(two_by_two));
    assert_eq!(explored[0], explored[1]);
    assert_eq!(explored[0], explored[2]);
}

/// Two fibers of eight steps have 12,870 orders.
#[test]
fn what_is_too_large_is_not_complete() {
    let eight = || Fiber::for_each(0..8, |_| Fiber::success(()));
    let explored = Explore::default().check(move || Fiber::parallel([eight(), eight()]));
    assert!(!explored.is_complete());
    assert_eq!((explored.schedules(), explored.orders()), (1_000, None));
    assert!(explored.to_string().starts_with("1000 schedules were run"), "{explored}");
}

/// It is not filled up with random walks, which would be most of the large batches.
#[test]
fn a_portfolio_that_may_run_all_orders_runs_hardly_more() {
    let eight = || Fiber::for_each(0..8, |_| Fiber::success(()));
    let explored = Explore::default().schedules(15_000).check(move || Fiber::parallel([eight(), eight()]));
    assert!(explored.is_complete(), "{explored}");
    assert_eq!(explored.orders(), Some(12_870));
    assert!(explored.schedules() < 12_870 + 100, "{explored}");
}

#[test]
fn one_strategy_of_the_portfolio_is_a_sample() {
    let explored = Explore::default().only(Search::RandomWalk).schedules(50).check(two_by_two);
    assert!(!explored.is_complete());
    assert_eq!(explored.schedules(), 50);
    // No part of an enumeration is mixed in.
    let explored = Explore::default().only(Search::RunAhead).schedules(50).check(two_by_two);
    assert!(!explored.is_complete());
}

/// Running each fiber until it waits loses no update; other orders do.
#[test]
fn a_strategy_without_chance_is_the_same_in_all_batches() {
    let ahead = Explore::default().only(Search::RunAhead).schedules(50).check(known::lost_update);
    assert_eq!((ahead.schedules(), ahead.different_orders()), (50, 1));
}

#[test]
fn nothing_is_complete_where_a_random_number_was_drawn() {
    let program = || Fiber::random_u64().bind(|_| Fiber::success(()));
    assert!(!Explore::exhaustive().check(program).is_complete());
    let explored = Explore::default().schedules(200).check(program);
    assert!(!explored.is_complete());
    assert_eq!(explored.schedules(), 200);
}

/// One fiber spins until the other one has made progress: where the explorer forces a choice, there are schedules that it has not seen.
#[test]
fn nothing_is_complete_where_a_choice_was_forced() {
    let program = || {
        let is_done = Shared::new(false);
        let looking = is_done.clone();
        let look = move |()| {
            looking.step(|is_done| if *is_done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        let act = is_done.step(|is_done| *is_done = true);
        Fiber::parallel([Fiber::iterate((), look).boxed(), act.boxed()]).map(drop)
    };
    let explored = Explore::exhaustive().preemptions(0).try_check(program).unwrap();
    assert!(!explored.is_complete(), "{explored}");
}

/// Every other run has one more fiber.
#[test]
fn nothing_is_complete_where_the_program_decides_something_by_itself() {
    let runs = AtomicU64::new(0);
    let program = || {
        let count = 2 + runs.fetch_add(1, SeqCst) % 2;
        Fiber::parallel((0..count).map(|_| Fiber::success(()).bind(|()| Fiber::success(()))))
    };
    let explored = Explore::default().schedules(300).check(program);
    assert!(!explored.is_complete(), "{explored}");
    // Most of its schedules are left out.
    let checked = catch_unwind(AssertUnwindSafe(|| Explore::exhaustive().no_regressions().check(program)));
    assert!(checked.unwrap_err().downcast::<String>().unwrap().contains("decides something by itself"));
}

#[test]
fn the_bound_on_preemptions_is_one_on_the_orders() {
    let orders = |most| Explore::exhaustive().preemptions(most).check(two_by_two).schedules();
    // Without any: one fiber after the other, in both orders. With two: all.
    assert_eq!([orders(0), orders(1), orders(2), orders(3)], [2, 4, 6, 6]);
}

#[test]
fn another_seed_enumerates_in_another_order() {
    let first = |seed| {
        let steps = |place: &Shared<Vec<usize>>, number| {
            let place = place.clone();
            Fiber::for_each(0..6, move |_| place.step(move |all| all.push(number)))
        };
        let seen = std::sync::Mutex::new(Vec::new());
        let explore = Explore::exhaustive().preemptions(1).seed(seed);
        explore.check(|| {
            let place = Shared::new(Vec::new());
            let both = Fiber::parallel([steps(&place, 0), steps(&place, 1)]);
            let order = place.clone();
            seen.lock().unwrap().push(order);
            both
        });
        let seen = seen.into_inner().unwrap();
        seen.iter().map(|order| order.with(|all| all.clone())).collect::<Vec<_>>()
    };
    let (one, other) = (first(1), first(2));
    assert_ne!(one, other);
    let sorted = |mut all: Vec<Vec<usize>>| {
        all.sort();
        all
    };
    assert_eq!(sorted(one), sorted(other));
}
