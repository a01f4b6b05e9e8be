//! Barriers and latches: no fiber passes too early, and none waits for ever.
#![allow(clippy::disallowed_methods, reason = "foreign threads are what is tested")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fiber_core::sync::{Barrier, Latch};
use fiber_core::{Fiber, Outcome};
use fiber_sched::Pool;
use fiber_test::TestScheduler;

use crate::everywhere::{enumerate, explore, forget_after, run_with_an_event_between, with_a_victim};

const ROUNDS: usize = 500;

const TICK: Duration = Duration::from_secs(1);

#[test]
fn a_barrier_opens_for_its_number_of_parties_and_begins_again() {
    let (barrier, test) = (Barrier::new(2), TestScheduler::new());
    for _ in 0..3 {
        let first = test.spawn(barrier.wait());
        test.run_until_idle();
        assert!(first.is_pending());
        assert_eq!(barrier.arrived(), 1);
        let second = test.spawn(barrier.wait());
        test.run_until_idle();
        assert!(!first.outcome().unwrap());
        assert!(second.outcome().unwrap(), "the last one is the leader");
        assert_eq!(barrier.arrived(), 0);
    }
}

#[test]
fn a_barrier_for_one_lets_all_through() {
    let (barrier, test) = (Barrier::new(1), TestScheduler::new());
    assert!(test.run(barrier.wait()).unwrap());
    assert!(barrier.blocking_wait());
}

#[test]
#[should_panic(expected = "at least one party")]
fn a_barrier_for_nobody_is_refused() {
    drop(Barrier::new(0));
}

#[test]
fn a_party_that_is_cancelled_does_not_count() {
    let (barrier, test) = (Barrier::new(2), TestScheduler::new());
    let first = test.spawn(barrier.wait());
    test.run_until_idle();
    let second = test.spawn(barrier.wait());
    // The second arrives before the first has left.
    first.cancel_now();
    test.run_until_idle();
    assert!(first.outcome().is_cancelled());
    assert!(second.is_pending());
    let third = test.spawn(barrier.wait());
    test.run_until_idle();
    assert!(second.outcome().is_success() && third.outcome().is_success());
}

#[test]
fn parties_of_which_one_was_cancelled_wait_on_until_all_are_there() {
    let (barrier, test) = (Barrier::new(4), TestScheduler::new());
    let mut parties = Vec::from([(); 3].map(|()| test.spawn(barrier.wait())));
    test.run_until_idle();
    parties.push(test.spawn(barrier.wait()));
    // The last one arrives before this one has left: it wakes the others, and finds that one is gone.
    parties.remove(1).cancel_now();
    test.run_until_idle();
    assert!(parties.iter().all(|party| party.is_pending()));
    assert_eq!(barrier.arrived(), 3);
    parties.push(test.spawn(barrier.wait()));
    test.run_until_idle();
    let leaders = parties.into_iter().map(|party| usize::from(party.outcome().unwrap())).sum::<usize>();
    assert_eq!(leaders, 1);
}

/// `count` fibers arrive at a barrier for two, and one of them is cancelled. Then others arrive, until none waits.
fn all_pass(count: usize) -> Fiber<()> {
    let barrier = Barrier::new(2);
    let arrived = Arc::new(AtomicUsize::new(0));
    let party = |barrier: &Barrier| {
        let arrived = arrived.clone();
        let barrier = barrier.clone();
        let arrive = Fiber::lazy(move || arrived.fetch_add(1, Ordering::Relaxed));
        arrive.bind(move |_| barrier.wait()).boxed()
    };
    let parties = (0..count).map(|_| party(&barrier)).collect();
    // Virtual time advances when all others wait.
    let helper = Fiber::delay(TICK);
    let lonely = barrier.clone();
    // A fiber that is left alone gets a partner.
    let company = helper.bind(move |()| {
        if lonely.arrived() == 1 { lonely.wait().boxed() } else { Fiber::success(false).boxed() }
    });
    with_a_victim(parties)
        .zip(company)
        .map(move |(outcomes, led)| {
            let passed = outcomes.iter().filter(|outcome| outcome.is_success()).count();
            let leaders = outcomes.into_iter().filter_map(Outcome::success).filter(|leads| *leads).count();
            let pairs = leaders + usize::from(led);
            assert!(passed == 2 * pairs || passed + 1 == 2 * pairs, "{passed} have passed in {pairs} pairs");
            assert_eq!(barrier.arrived(), 0);
        })
        .boxed()
}

#[test]
fn nobody_passes_a_barrier_alone_whoever_is_cancelled_when() {
    explore(|| all_pass(4));
}

#[test]
fn nobody_passes_a_barrier_alone_in_any_schedule() {
    enumerate(1, || all_pass(2));
}

#[test]
fn a_party_whose_scheduler_forgets_it_does_not_count() {
    let barrier = Barrier::new(2);
    forget_after(barrier.wait(), || assert_eq!(barrier.arrived(), 1));
    assert_eq!(barrier.arrived(), 0);
    let test = TestScheduler::new();
    let waits = test.spawn(barrier.wait());
    test.run_until_idle();
    assert!(waits.is_pending());
}

#[test]
fn threads_and_fibers_meet_at_a_barrier() {
    let (barrier, step) = (Barrier::new(3), Arc::new(AtomicUsize::new(0)));
    let pool = Pool::builder().workers(2).build();
    let fibers = [(); 2].map(|()| {
        let (barrier, step) = (barrier.clone(), step.clone());
        pool.spawn(Fiber::for_each(0..ROUNDS, move |_| {
            let step = step.clone();
            barrier.wait().map(move |_| step.fetch_add(1, Ordering::Relaxed)).map(drop).bind({
                let barrier = barrier.clone();
                move |()| barrier.wait().map(drop)
            })
        }))
    });
    for round in 1..=ROUNDS {
        barrier.blocking_wait();
        barrier.blocking_wait();
        assert!(step.load(Ordering::Relaxed) >= 2 * round);
        assert!(step.load(Ordering::Relaxed) <= 2 * round + 2);
    }
    for fiber in fibers {
        assert!(pool.run(fiber.join()).is_success());
    }
}

#[test]
fn a_latch_opens_at_the_last_count_and_stays_open() {
    let (latch, test) = (Latch::new(2), TestScheduler::new());
    let waits = [(); 2].map(|()| test.spawn(latch.wait()));
    test.run_until_idle();
    assert!(!latch.count_down());
    test.run_until_idle();
    assert!(waits.iter().all(|wait| wait.is_pending()) && !latch.is_open());
    assert!(latch.count_down());
    test.run_until_idle();
    assert!(waits.into_iter().all(|wait| wait.outcome().is_success()));
    assert!(!latch.count_down(), "it is open already");
    assert_eq!(latch.remaining(), 0);
    latch.blocking_wait();
    assert!(test.run(latch.wait()).is_success());
}

#[test]
fn a_latch_of_zero_is_open() {
    assert!(TestScheduler::new().run(Latch::new(0).wait()).is_success());
}

#[test]
fn nobody_waits_for_ever_at_a_latch_whoever_is_cancelled_when() {
    explore(|| {
        let latch = Latch::new(2);
        let count = || {
            let latch = latch.clone();
            Fiber::lazy(move || {
                latch.count_down();
            })
            .boxed()
        };
        let all = vec![latch.wait().boxed(), count(), latch.wait().boxed(), count()];
        let last = latch.clone();
        // One count may have been cancelled before it began. Virtual time advances when all others wait.
        let late = Fiber::delay(TICK).map(move |()| {
            assert!(last.remaining() <= 1);
            last.count_down();
        });
        with_a_victim(all).zip(late).map(move |_| assert!(latch.is_open()))
    });
}

#[test]
fn those_who_wait_at_a_latch_and_are_forgotten_leave_it() {
    let latch = Latch::new(1);
    forget_after(latch.wait(), || ());
    forget_after(latch.wait(), || assert!(latch.count_down()));
}

#[test]
fn what_was_done_before_the_counts_is_seen_after_the_latch() {
    let pool = Pool::builder().workers(2).build();
    for _ in 0..ROUNDS {
        let (latch, done) = (Latch::new(2), Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]));
        let workers = [0, 1].map(|n| {
            let (latch, done) = (latch.clone(), done.clone());
            pool.spawn(Fiber::lazy(move || {
                done[n].store(1, Ordering::Relaxed);
                latch.count_down();
            }))
        });
        latch.blocking_wait();
        assert_eq!(done.iter().map(|done| done.load(Ordering::Relaxed)).sum::<usize>(), 2);
        drop(workers);
    }
}

#[test]
fn what_happens_while_a_fiber_begins_to_wait_at_a_gate_is_not_missed() {
    let latch = Latch::new(1);
    let last = latch.clone();
    assert!(run_with_an_event_between(latch.wait(), move || assert!(last.count_down())).is_success());
    let (barrier, test) = (Barrier::new(2), Arc::new(TestScheduler::new()));
    let (other, others) = (barrier.clone(), test.clone());
    let waits = barrier.wait();
    // The other one arrives after this one has seen that no fiber waits.
    let leads = run_with_an_event_between(waits, move || {
        drop(others.spawn(other.wait()));
        others.run_until_idle();
        assert_eq!(other.arrived(), 1);
    });
    assert!(leads.unwrap());
    test.run_until_idle();
    test.assert_no_leaks();
}
