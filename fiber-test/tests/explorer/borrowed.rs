//! Borrowed tasks: one after the other, in an order that is part of the schedule.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::thread;

use fiber_core::Fiber;
use fiber_sched::Pool;
use fiber_test::{Explore, Schedule, Search, TestScheduler};

/// Runs tasks that record their names, and returns the order in which they ran.
fn order() -> String {
    let order = Mutex::new(String::new());
    let note = |name: &str| order.lock().unwrap().push_str(name);
    fiber_sched::scope(|s| {
        let a = s.spawn(|| note("a"));
        drop(s.spawn(|| note("b")));
        note("-");
        a.join();
    });
    order.into_inner().unwrap()
}

/// All possible results of a program.
fn all<T: Ord + Send + 'static>(program: impl Fn() -> T + Clone + Send + Sync + 'static) -> BTreeSet<T> {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let note = seen.clone();
    let explored = Explore::exhaustive().check(move || {
        let (program, note) = (program.clone(), note.clone());
        Fiber::lazy(move || _ = note.lock().unwrap().insert(program()))
    });
    assert!(explored.is_complete(), "{explored}");
    let mut seen = seen.lock().unwrap();
    std::mem::take(&mut *seen)
}

#[test]
fn the_tasks_of_a_scope_run_in_every_order() {
    let orders = all(order);
    let expected = ["ab-", "ba-", "a-b", "b-a", "-ab", "-ba"];
    assert_eq!(orders, expected.map(str::to_owned).into());
}

/// An older task begins only when a later one has been spawned.
#[test]
fn any_task_may_run_between_two_spawns() {
    let order = || {
        let order = Mutex::new(String::new());
        let note = |name: &str| order.lock().unwrap().push_str(name);
        fiber_sched::scope(|s| {
            drop(s.spawn(|| note("a")));
            note("1");
            drop(s.spawn(|| note("b")));
            note("2");
        });
        order.into_inner().unwrap()
    };
    let expected = ["a1b2", "a12b", "1ab2", "1ba2", "1a2b", "1b2a", "12ab", "12ba"];
    assert_eq!(all(order), expected.map(str::to_owned).into());
}

#[test]
fn both_sides_of_a_join_may_be_first() {
    let first = || {
        let first = Mutex::new(None);
        let note = |side: &'static str| _ = first.lock().unwrap().get_or_insert(side);
        fiber_sched::join(|| note("left"), || note("right"));
        first.into_inner().unwrap().unwrap()
    };
    assert_eq!(all(first), BTreeSet::from(["left", "right"]));
}

#[test]
fn a_failure_that_depends_on_the_order_is_found_and_repeated() {
    let program = || {
        Fiber::lazy(|| {
            let total = Mutex::new(1);
            fiber_sched::par_for_each(1..4u8, |n| {
                let mut total = total.lock().unwrap();
                *total = if n == 1 { 1 } else { *total * 2 };
            });
            // Only if the first element comes first.
            assert_eq!(total.into_inner().unwrap(), 4);
        })
    };
    let failure = Explore::default().no_regressions().try_check(program).unwrap_err();
    let again = Explore::replay(&failure.schedule().to_string()).try_check(program);
    assert!(again.is_err());
}

#[test]
fn all_runs_on_one_thread_whichever_pool_is_called() {
    let pool = Arc::new(Pool::builder().workers(2).build());
    let program = Fiber::lazy(move || {
        let here = thread::current().id();
        let threads = pool.par_map(0..1000, |_| thread::current().id());
        let (left, right) = pool.join(|| thread::current().id(), || thread::current().id());
        pool.scope(|s| s.spawn(|| assert_eq!(thread::current().id(), here)).join());
        threads.into_iter().chain([left, right]).all(|thread| thread == here)
    });
    assert!(TestScheduler::new().run(program).unwrap());
}

/// So what first in, first out shows is replayed by the empty schedule.
#[test]
fn the_empty_schedule_has_the_order_of_first_in_first_out() {
    let failures: Vec<_> = ["ab-", "a-b", "b-a", "-ab", "-ba"]
        .into_iter()
        .filter_map(|wrong| {
            let program = move || Fiber::lazy(move || assert_ne!(order(), wrong));
            Explore::default().only(Search::Fifo).try_check(program).err()
        })
        .collect();
    let [failure] = &failures[..] else { panic!("it has one order: {failures:?}") };
    assert_eq!(failure.schedule(), &Schedule::fifo());
    let empty = TestScheduler::with_schedule(Schedule::fifo());
    let order = || Fiber::lazy(order);
    assert_eq!(empty.run(order()).unwrap(), TestScheduler::new().run(order()).unwrap());
}

#[test]
fn the_same_schedule_gives_the_same_order() {
    let orders: BTreeSet<_> =
        (0..20).map(|_| TestScheduler::new().run(Fiber::lazy(order)).unwrap()).collect();
    assert_eq!(orders.len(), 1);
}
