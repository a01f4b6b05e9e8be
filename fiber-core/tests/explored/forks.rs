//! Forked fibers, their handles, and detached or disconnected fibers.

use std::sync::{Arc, Mutex};

use fiber_core::{Context, Error, Fiber, Handle, Outcome};

use crate::exploration::explore;
use crate::ledger::TICK;

#[test]
fn a_joined_fiber_has_ended() {
    explore(|ledger| {
        let child = ledger.part("child");
        let joined = child.guarded(child.runs(2, 2)).fork().bind(Handle::join);
        child.ends_before_value(joined)
    })
    .ends_with(|outcome| matches!(outcome, Outcome::Success(2)))
    .check();
}

#[test]
fn a_fork_ends_before_the_part_that_forked_it() {
    explore(|ledger| {
        let (parent, child, grandchild) =
            (ledger.part("parent"), ledger.part("child"), ledger.part("grandchild"));
        let grandchild_runs = grandchild.guarded(grandchild.runs(1, 3)).fork();
        let child_stays = child.stays(1);
        let child_runs = child.guarded(grandchild_runs.bind(move |_| child_stays));
        let parent_works = parent.runs(2, 2);
        let forks = parent.guarded(child_runs.fork().bind(move |_| parent_works));
        grandchild.ends_before(child.ends_before(forks.timeout(9 * TICK)))
    })
    .preemptions(0)
    .check();
}

#[test]
fn a_failure_of_a_fork_reaches_the_one_who_joins() {
    explore(|ledger| {
        let (failing, panicking) = (ledger.part("failing"), ledger.part("panicking"));
        let failure = failing.guarded(failing.fails(1)).fork().bind(Handle::outcome);
        let panic = panicking.guarded(panicking.panics(1)).fork().bind(Handle::outcome);
        failure
            .bind(move |failure| panic.map(move |panic| (failure, panic)))
            .map(|(failure, panic)| assert!(failure.is_failure() && panic.is_panicked()))
            .boxed()
    })
    .may_be_unobserved()
    .check();
}

#[test]
fn all_who_cancel_or_wait_see_the_end() {
    explore(|ledger| {
        let child = ledger.part("child");
        let watched = child.clone();
        let works = child.guarded(child.runs(1, 2)).fork();
        let all = works.bind(move |handle: Handle<u32>| {
            let cancels = watched.ends_before_value(handle.cancel());
            let cancels_too = watched.ends_before_value(handle.cancel());
            let waits = watched.ends_before_value(handle.ended());
            let stops_waiting = handle.ended().timeout_option(TICK);
            let all =
                cancels.zip(Fiber::delay(TICK).bind(move |()| cancels_too)).zip(waits).zip(stops_waiting);
            all.bind(move |_| handle.outcome())
        });
        all.boxed()
    })
    .ends_with(|outcome| matches!(outcome, Outcome::Success(Outcome::Success(2) | Outcome::Cancelled)))
    .not_enumerated()
    .check();
}

#[test]
fn a_fork_that_was_cancelled_before_its_start_never_starts() {
    explore(|ledger| {
        let child = ledger.part("child");
        let started = child.clone();
        let works = child.guarded(child.works(2)).fork();
        let cancelled = works.bind(move |handle: Handle<u32>| {
            Fiber::lazy(move || {
                handle.cancel_now();
                (handle, started.has_started())
            })
        });
        let child_again = child.clone();
        let ended = cancelled.bind(move |(handle, had_started)| {
            handle.outcome().map(move |outcome| {
                assert!(had_started || outcome.is_cancelled());
                assert_eq!(child_again.has_started(), had_started);
            })
        });
        ended.boxed()
    })
    .check();
}

#[test]
fn a_fork_may_cancel_the_fiber_that_it_belongs_to() {
    explore(|ledger| {
        let (parent, child) = (ledger.part("parent"), ledger.part("child"));
        let own: Arc<Mutex<Option<Handle<u32>>>> = Arc::default();
        let target = own.clone();
        let cancels = Fiber::defer(move || match &*target.lock().unwrap() {
            Some(handle) => handle.cancel().boxed(),
            None => Fiber::success(()).boxed(),
        });
        let cancels = child.guarded(cancels);
        let stays = parent.guarded(parent.waits(2));
        let forks = cancels.fork().bind(move |_| stays).fork();
        forks
            .bind(move |handle: Handle<u32>| {
                let ended = handle.ended();
                *own.lock().unwrap() = Some(handle);
                ended.map(move |()| drop(own.lock().unwrap().take()))
            })
            .boxed()
    })
    .check();
}

#[test]
fn two_who_cancel_each_other_both_end() {
    explore(|ledger| {
        let slots: [Arc<Mutex<Option<Context>>>; 2] = Default::default();
        let one = |at: usize, name| {
            let part = ledger.part(name);
            let (own, other) = (slots[at].clone(), slots[1 - at].clone());
            let works = part.runs(1, 1);
            let cancels = Fiber::current().bind(move |context| {
                *own.lock().unwrap() = Some(context);
                works.map(move |_| other.lock().unwrap().iter().for_each(Context::cancel))
            });
            part.guarded(cancels).fork().bind(Handle::outcome)
        };
        let (left, right) = (one(0, "left"), one(1, "right"));
        left.zip(right).map(drop).boxed()
    })
    .preemptions(0)
    .check();
}

#[test]
fn a_detached_fiber_outlives_its_maker_and_can_be_joined() {
    explore(|ledger| {
        let ledger = ledger.detached();
        let (left, joined) = (ledger.part("left"), ledger.part("joined"));
        let leaves = left.guarded(left.runs(1, 3)).detach();
        let joins = joined.guarded(joined.runs(1, 2)).detach().bind(Handle::join);
        leaves.bind(move |_| joins).map(move |_| joined.has_ended()).boxed()
    })
    .preemptions(0)
    .check();
}

#[test]
fn a_cancelled_detached_fiber_has_ended_when_its_cancellation_has() {
    explore(|ledger| {
        let child = ledger.detached().part("child");
        let watched = child.clone();
        let detached = child.guarded(child.runs(2, 2)).detach();
        let cancelled = detached.bind(move |handle: Handle<u32>| {
            let cancel = watched.ends_before_value(handle.cancel());
            Fiber::delay(TICK).bind(move |()| cancel)
        });
        cancelled.boxed()
    })
    .check();
}

#[test]
fn a_disconnected_fiber_is_cancelled_and_finalized_by_itself() {
    explore(|ledger| {
        let slow = ledger.detached().part("slow");
        let fast = ledger.part("fast");
        let disconnected = slow.guarded(slow.stays(2)).disconnect();
        disconnected.race(fast.guarded(fast.runs(1, 2))).boxed()
    })
    .preemptions(0)
    .check();
}

#[test]
fn a_disconnected_fiber_that_ends_gives_its_outcome() {
    explore(|ledger| {
        let detached = ledger.detached();
        let (good, bad) = (detached.part("good"), detached.part("bad"));
        let fails = bad.guarded(bad.fails(1)).disconnect().catch(|_: Error| Fiber::success(0));
        let succeeds = good.guarded(good.runs(1, 2)).disconnect();
        let both = succeeds.bind(move |good| fails.map(move |bad| (good, bad)));
        both.boxed()
    })
    .ends_with(|outcome| matches!(outcome, Outcome::Success((2, 0))))
    .may_be_unobserved()
    .check();
}
