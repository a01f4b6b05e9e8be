//! Who runs the right side of a join, and when the owner may go on, under every interleaving that the memory model allows.
//!
//! `RUSTFLAGS="--cfg fiber_loom" cargo test -p fiber-core --lib --release`

use std::panic::{AssertUnwindSafe, catch_unwind};

use loom::cell::UnsafeCell;
use loom::model;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::{Crew, Offered, lend, serve, with_crew};
use crate::engine::lend::{BranchDeque, BranchStealer};
use crate::engine::scheduler::Worker;
use crate::engine::task::Task;
use crate::primitive::model_with_a_bound;

struct Owner(BranchDeque);

impl Worker for Owner {
    fn branches(&self) -> Option<&BranchDeque> {
        Some(&self.0)
    }
}

/// Content on the stack of the owner, in loom's cell, so that loom sees who reads and writes it.
struct Counted(UnsafeCell<usize>);

// SAFETY: loom checks that no two threads have it at the same time.
unsafe impl Sync for Counted {}

impl Counted {
    fn new() -> Self {
        Counted(UnsafeCell::new(0))
    }

    fn add(&self) {
        self.0.with_mut(|count| {
            // SAFETY: it belongs to this thread; loom checks that.
            unsafe { *count += 1 };
        });
    }

    fn get(&self) -> usize {
        self.0.with(|count| {
            // SAFETY: as above.
            unsafe { *count }
        })
    }
}

fn thief(stealer: BranchStealer, looks: usize) -> thread::JoinHandle<usize> {
    thread::spawn(move || (0..looks).filter_map(|_| stealer.steal()).map(Task::run).count())
}

/// Calls `left`, lends `right`, and runs it if it comes back.
fn join(left: impl FnOnce(), right: impl FnOnce() + Send) {
    with_crew(|crew| {
        let lender = crew.and_then(Crew::lender).expect("the owner lends");
        match lend(lender, left, |_: Option<()>| right()) {
            ((), Offered::Back(right)) => right(None),
            ((), Offered::Done(done)) => assert!(done.is_ok()),
        }
    });
}

#[test]
fn the_right_side_runs_once_and_has_ended_when_the_call_returns() {
    model(|| {
        let owner = Owner(BranchDeque::new());
        let thief = thief(owner.0.stealer(), 1);
        let count = Counted::new();
        serve(&owner, 1, || join(|| (), || count.add()));
        assert_eq!(count.get(), 1);
        thief.join().unwrap();
    });
}

#[test]
fn of_nested_calls_each_right_side_runs_once() {
    model_with_a_bound(|| {
        let owner = Owner(BranchDeque::new());
        let thief = thief(owner.0.stealer(), 2);
        let (inner, outer) = (Counted::new(), Counted::new());
        serve(&owner, 1, || {
            join(
                || {
                    join(|| (), || inner.add());
                    assert_eq!(inner.get(), 1);
                },
                || outer.add(),
            );
        });
        assert_eq!((inner.get(), outer.get()), (1, 1));
        thief.join().unwrap();
    });
}

#[test]
fn two_thieves_and_the_owner_run_it_once() {
    model_with_a_bound(|| {
        let owner = Owner(BranchDeque::new());
        let thieves = [thief(owner.0.stealer(), 1), thief(owner.0.stealer(), 1)];
        let count = Counted::new();
        serve(&owner, 1, || join(|| (), || count.add()));
        assert_eq!(count.get(), 1);
        thieves.into_iter().for_each(|thief| _ = thief.join().unwrap());
    });
}

/// The thief hands the task to a third thread, or drops it: then the owner claims it.
#[test]
fn a_task_that_is_handed_on_or_dropped_is_not_lost() {
    for is_dropped in [false, true] {
        model_with_a_bound(move || {
            let owner = Owner(BranchDeque::new());
            let stealer = owner.0.stealer();
            let thief = thread::spawn(move || {
                let task = stealer.steal();
                if is_dropped {
                    drop(task);
                } else {
                    thread::spawn(move || task.into_iter().for_each(Task::run)).join().unwrap();
                }
            });
            let count = Counted::new();
            serve(&owner, 1, || join(|| (), || count.add()));
            assert_eq!(count.get(), 1);
            thief.join().unwrap();
        });
    }
}

/// What the right side borrows is still there when the left side unwinds.
#[test]
fn a_panic_of_the_left_side_waits_for_the_thief() {
    model(|| {
        let owner = Owner(BranchDeque::new());
        let thief = thief(owner.0.stealer(), 1);
        let (count, runs) = (Counted::new(), Arc::new(AtomicUsize::new(0)));
        let has_run = runs.clone();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let right = || {
                // Relaxed: read after the threads have met.
                has_run.fetch_add(1, Ordering::Relaxed);
                count.add();
            };
            serve(&owner, 1, || join(|| std::panic::resume_unwind(Box::new("left")), right));
        }));
        assert!(panicked.is_err());
        // By the thief, or never.
        assert_eq!(count.get(), runs.load(Ordering::Relaxed));
        thief.join().unwrap();
        assert_eq!(count.get(), runs.load(Ordering::Relaxed));
    });
}
