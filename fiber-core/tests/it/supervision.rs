//! Supervised fibers, which restart whenever they end, and scopes that are passed on.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use fiber_core::error::{EndedEarly, ScopeEnded};
use fiber_core::{Error, Fiber, Outcome, Policy, Resource, Scope};
use fiber_test::{Explore, TestScheduler};
use parking_lot::Mutex;

const SECOND: Duration = Duration::from_secs(1);

/// A fiber that takes a second, and whose end depends on the number of the round.
fn rounds(end: impl Fn(u32) -> Result<(), Error> + Send + Sync + 'static) -> Fiber<Infallible> {
    let (count, end) = (Arc::new(AtomicU32::new(0)), Arc::new(end));
    let round = Fiber::delay(SECOND).try_map(move |()| end(count.fetch_add(1, Ordering::Relaxed)));
    round.restarted(Policy::recurs(2)).boxed()
}

#[test]
fn every_end_but_a_cancellation_starts_the_next_round_until_the_policy_is_over() {
    let test = TestScheduler::new();
    let ends = test.run(rounds(|n| match n {
        0 => Ok(()),
        1 => panic!("the second"),
        _ => Err(Error::msg("the third")),
    }));
    assert_eq!(ends.failure().unwrap().to_string(), "after 3 attempts: the third");
    assert_eq!(test.now().as_nanos(), 3 * SECOND.as_nanos() as u64);
}

#[test]
fn a_success_of_the_last_round_is_an_early_end() {
    let error = TestScheduler::new().run(rounds(|_| Ok(()))).failure().unwrap();
    assert!(error.is::<EndedEarly>(), "{error}");
}

#[test]
fn forks_of_a_round_have_ended_before_the_next_one_starts() {
    let (live, test) = (Arc::new(AtomicU32::new(0)), TestScheduler::new());
    let (begins, ends) = (live.clone(), live.clone());
    let fork = Fiber::lazy(move || {
        assert_eq!(begins.fetch_add(1, Ordering::Relaxed), 0, "the fork of the round before still runs");
    })
    .bind(|()| Fiber::<()>::never())
    .ensure(Fiber::delay(SECOND).map(move |()| {
        ends.fetch_sub(1, Ordering::Relaxed);
    }));
    let round = fork.fork().bind(|_| Fiber::yield_now()).bind(|()| Fiber::<()>::fail(Error::msg("over")));
    assert!(test.run(round.restarted(Policy::recurs(3))).is_failure());
    assert_eq!(live.load(Ordering::Relaxed), 0);
}

#[test]
fn the_policy_begins_anew_after_a_healthy_round() {
    let (count, test) = (Arc::new(AtomicU32::new(0)), TestScheduler::new());
    let rounds = count.clone();
    // Every third round lasts for an hour, so the policy, which allows two restarts, never gives up.
    let length = move || {
        let is_long = rounds.fetch_add(1, Ordering::Relaxed) % 3 == 2;
        if is_long { 3600 * SECOND } else { SECOND }
    };
    let round = Fiber::lazy(length).bind(Fiber::delay);
    let service = test.spawn(round.restarted(Policy::recurs(2)));
    test.run_for(36_000 * SECOND);
    assert!(service.is_pending());
    assert!(count.load(Ordering::Relaxed) > 27);
    service.cancel_now();
    test.run_until_idle();
    assert!(service.outcome().is_cancelled());
}

#[test]
fn a_panic_of_a_round_that_is_cancelled_is_the_outcome() {
    let test = TestScheduler::new();
    let round = Fiber::<()>::never().map_outcome(|_| -> Outcome<()> { panic!("on purpose") });
    let service = test.spawn(round.restarted(Policy::forever()));
    test.run_until_idle();
    service.cancel_now();
    test.run_until_idle();
    assert!(service.outcome().is_panicked());
}

#[test]
fn a_panic_after_a_healthy_round_is_reported() {
    let test = TestScheduler::new();
    let round = Fiber::delay(3600 * SECOND).map(|()| panic!("on purpose"));
    let (service, line) = (test.spawn(round.restarted(Policy::recurs(0))), line!());
    test.run_for(2 * 3600 * SECOND);
    assert!(service.is_pending());
    let reports = test.unobserved();
    let is_told =
        |report: &String| report.contains("on purpose") && report.contains(&format!("{}:{line}", file!()));
    assert!(reports.len() == 2 && reports.iter().all(is_told), "{reports:#?}");
    service.cancel_now();
    test.run_until_idle();
}

#[test]
fn forks_of_a_scope_that_is_a_resource_end_before_the_next_resource_is_released() {
    let (log, test) = (Arc::new(Mutex::new(Vec::new())), TestScheduler::new());
    let note = |what: &'static str| {
        let log = log.clone();
        Fiber::lazy(move || log.lock().push(what))
    };
    let closed = note("closed");
    let connection = Resource::new(note("opened"), move |()| closed);
    let fork = Fiber::<()>::never().ensure(Fiber::delay(SECOND).bind({
        let ended = note("fork has ended");
        move |()| ended
    }));
    let kept = Arc::new(Mutex::new(None));
    let keeps = kept.clone();
    let used = connection.zip(Scope::resource()).using(move |((), scope)| {
        *keeps.lock() = Some(scope.clone());
        scope.fork(fork).map(drop)
    });
    assert!(test.run(used).is_success());
    assert_eq!(*log.lock(), ["opened", "fork has ended", "closed"]);
    let late = kept.lock().take().unwrap().fork(Fiber::success(()));
    assert!(test.run(late).failure().unwrap().is::<ScopeEnded>());
}

#[test]
fn a_scope_that_is_a_resource_is_closed_wherever_its_user_is_cancelled() {
    Explore::cancel_everywhere().no_regressions().check(|| {
        let live = Arc::new(AtomicU32::new(0));
        let (begins, ends) = (live.clone(), live.clone());
        let fork = Fiber::lazy(move || begins.fetch_add(1, Ordering::Relaxed)).bind(move |_| {
            Fiber::<()>::never().ensure(Fiber::yield_now().map(move |()| {
                ends.fetch_sub(1, Ordering::Relaxed);
            }))
        });
        let used = Scope::resource().using(|scope| scope.fork(fork).bind(|_| Fiber::yield_now()));
        used.map_outcome(move |outcome| {
            assert_eq!(live.load(Ordering::Relaxed), 0);
            outcome
        })
    });
}
