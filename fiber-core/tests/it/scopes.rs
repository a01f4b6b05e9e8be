//! Scopes, detached and disconnected fibers, resources, deadlines, locals, and regions that restore.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{Counter, Steps};
use fiber_core::error::{DeadlineExceeded, ScopeEnded, TimedOut};
use fiber_core::{Context, Either, Error, Fiber, Outcome, Resource, Restore, Scope, local_key, uncancelable};
use fiber_test::TestScheduler;

const SECOND: Duration = Duration::from_secs(1);

type Log = Arc<Mutex<Vec<&'static str>>>;

fn note(log: &Log, what: &'static str) -> Fiber<()> {
    let log = log.clone();
    Fiber::lazy(move || log.lock().unwrap().push(what)).boxed()
}

#[test]
fn a_scope_cancels_and_awaits_its_forks_when_its_body_ends() {
    let test = TestScheduler::new();
    let finalized = Counter::default();
    let child = Fiber::<()>::never().ensure(Fiber::delay(2 * SECOND)).ensure(finalized.count());
    let fiber = Fiber::scope(move |scope: Scope| scope.fork(child).bind(|_| Fiber::delay(SECOND)));
    assert!(test.run(fiber).is_success());
    assert_eq!(finalized.get(), 1);
    assert_eq!(test.now().as_nanos(), 3_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn await_all_waits_for_the_end_of_forks_that_fork_further() {
    let test = TestScheduler::new();
    let done = Counter::default();
    let count = done.count();
    let fiber = Fiber::scope(move |scope: Scope| {
        let inner = scope.clone();
        let first =
            Fiber::delay(SECOND).bind(move |()| inner.fork(Fiber::delay(SECOND).bind(move |()| count)));
        let all = scope.await_all();
        scope.fork(first).bind(move |_| all)
    });
    assert!(test.run(fiber).is_success());
    assert_eq!(done.get(), 1);
    assert_eq!(test.now().as_nanos(), 2_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn a_fork_into_a_scope_that_has_ended_fails() {
    let test = TestScheduler::new();
    let fiber = Fiber::scope(Fiber::success).bind(|scope| scope.fork(Fiber::success(1)));
    assert!(test.run(fiber).failure().unwrap().is::<ScopeEnded>());
    test.assert_no_leaks();
}

#[test]
fn a_scope_is_cancelled_with_all_that_is_in_it() {
    let test = TestScheduler::new();
    let finalized = Counter::default();
    let child = Fiber::<()>::never().ensure(finalized.count());
    let body = move |scope: Scope| scope.fork(child).bind(|_| Fiber::<()>::never());
    let spawned = test.spawn(Fiber::scope(body).ensure(finalized.count()));
    test.run_until_idle();
    spawned.cancel_now();
    test.run_until_idle();
    assert!(spawned.outcome().is_cancelled());
    assert_eq!(finalized.get(), 2);
    test.assert_no_leaks();
}

#[test]
fn a_panic_that_opens_a_scope_ends_it() {
    let test = TestScheduler::new();
    assert!(test.run(Fiber::<()>::scope::<fiber_core::Boxed<()>, _>(|_| panic!("no"))).is_panicked());
    test.assert_no_leaks();
}

#[test]
fn a_detached_fiber_outlives_the_one_that_made_it() {
    let test = TestScheduler::new();
    let done = Counter::default();
    let count = done.count();
    let parent = Fiber::delay(60 * SECOND).bind(move |()| count).detach().map(drop);
    assert!(test.run(parent).is_success());
    assert_eq!(test.live_fibers(), 1);
    test.run_until_idle();
    assert_eq!(done.get(), 1);
    test.assert_no_leaks();
}

#[test]
fn a_disconnected_loser_is_cancelled_and_not_awaited() {
    let test = TestScheduler::new();
    let finalized = Counter::default();
    let slow = Fiber::<()>::never().ensure(Fiber::delay(60 * SECOND)).ensure(finalized.count());
    assert_eq!(test.run(slow.disconnect().race(Fiber::delay(SECOND))).unwrap(), Either::Right(()));
    assert_eq!(test.now().as_nanos(), 1_000_000_000);
    assert_eq!(finalized.get(), 0);
    test.run_until_idle();
    assert_eq!(finalized.get(), 1);
    test.assert_no_leaks();
}

#[test]
fn a_disconnected_fiber_that_is_cancelled_while_it_starts_is_not_lost() {
    let steps = Steps::new(0, 1000);
    let own: Arc<Mutex<Option<Context>>> = Arc::default();
    let target = own.clone();
    let body = Fiber::lazy(move || target.lock().unwrap().as_ref().unwrap().cancel())
        .bind(|()| Fiber::<()>::never());
    let handle = steps.spawn(body.disconnect());
    *own.lock().unwrap() = Some(handle.context().clone());
    steps.run(100);
    assert!(handle.try_outcome().unwrap().is_cancelled());
    assert_eq!(steps.live_fibers(), 0);
}

#[test]
fn a_timeout_with_grace_gives_up_the_wait_and_says_so() {
    let test = TestScheduler::new();
    let finalized = Counter::default();
    let slow = || Fiber::<()>::never().ensure(Fiber::delay(10 * SECOND)).ensure(finalized.count());
    let error = test.run(slow().timeout_with_grace(SECOND, 2 * SECOND)).failure().unwrap();
    assert!(error.is::<TimedOut>());
    assert_eq!(test.now().as_nanos(), 3_000_000_000);
    assert_eq!((finalized.get(), test.unobserved().len()), (0, 1));
    test.run_until_idle();
    assert_eq!(finalized.get(), 1);
    test.assert_no_leaks();

    let error = test.run(slow().timeout_with_grace(SECOND, 60 * SECOND)).failure().unwrap();
    assert!(error.is::<TimedOut>());
    assert_eq!((finalized.get(), test.unobserved().len()), (2, 1), "it ended within the grace");
    test.assert_no_leaks();
}

#[test]
fn a_timeout_with_grace_that_is_cancelled_awaits_its_fiber() {
    let test = TestScheduler::new();
    let finalized = Counter::default();
    let slow = Fiber::<()>::never().ensure(Fiber::delay(10 * SECOND)).ensure(finalized.count());
    let spawned = test.spawn(slow.timeout_with_grace(60 * SECOND, SECOND));
    test.run_for(SECOND);
    spawned.cancel_now();
    test.run_for(5 * SECOND);
    assert!(spawned.is_pending());
    test.run_until_idle();
    assert!(spawned.outcome().is_cancelled());
    assert_eq!(finalized.get(), 1);
    assert_eq!(test.now().as_nanos(), 11_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn a_deadline_is_inherited_and_the_earlier_one_counts() {
    let test = TestScheduler::new();
    let fiber = Fiber::now().bind(|now| {
        let inner = Fiber::current().map(|context| context.deadline()).fork().bind(|child| child.join());
        let later = inner.with_deadline(now + 9 * SECOND);
        later.map(move |seen| seen == Some(now + 5 * SECOND)).with_deadline(now + 5 * SECOND)
    });
    assert!(test.run(fiber).unwrap());
}

#[test]
fn a_timeout_beyond_the_deadline_sets_no_timer_and_the_deadline_comes_out() {
    let test = TestScheduler::new();
    let slow = Fiber::<()>::never().timeout(60 * SECOND);
    let fiber = Fiber::now().bind(move |now| slow.with_deadline(now + SECOND));
    let spawned = test.spawn(fiber);
    test.run_for(Duration::ZERO);
    assert_eq!(test.pending_timers(), 1);
    test.run_until_idle();
    assert!(spawned.outcome().failure().unwrap().is::<DeadlineExceeded>());
    assert_eq!(test.now().as_nanos(), 1_000_000_000);
}

#[test]
fn a_deadline_that_has_passed_starts_nothing() {
    let test = TestScheduler::new();
    let started = Counter::default();
    let count = started.count();
    let fiber = Fiber::delay(SECOND).bind(move |()| count.with_deadline(fiber_core::Instant::EPOCH));
    assert!(test.run(fiber).failure().unwrap().is::<DeadlineExceeded>());
    assert_eq!(started.get(), 0);
}

local_key! {
    static TENANT: &'static str = "nobody";
}

#[test]
fn locals_are_inherited_by_forks_branches_and_detached_fibers_and_end_with_their_region() {
    let test = TestScheduler::new();
    let tenant = || Fiber::local(&TENANT);
    let detached = tenant().detach().bind(|child| child.join());
    let inside = tenant()
        .fork()
        .bind(|child| child.join())
        .zip(Fiber::yield_now().bind(move |()| tenant()).timeout(SECOND))
        .zip(detached)
        .with_local(&TENANT, "Ann");
    let after = inside.bind(move |inside| tenant().map(move |outside| (inside, outside)));
    assert_eq!(test.run(after).unwrap(), ((("Ann", "Ann"), "Ann"), "nobody"));
}

local_key! {
    static HELD: Option<Arc<()>> = None;
}

#[test]
fn the_values_that_a_fiber_carried_are_dropped_when_it_ends_though_its_handle_and_its_parent_go_on() {
    let test = TestScheduler::new();
    let value = Arc::new(());
    let seen = Arc::downgrade(&value);
    let child = Fiber::delay(SECOND).fork().with_local(&HELD, Some(value));
    let parent = test.spawn(child.bind(|child| Fiber::<()>::never().map(move |()| drop(child))));
    test.run_for(SECOND / 2);
    assert!(seen.upgrade().is_some(), "the child carries it");
    test.run_for(SECOND);
    assert!(parent.is_pending() && seen.upgrade().is_none());
}

#[test]
fn a_bracket_releases_once_after_its_use_whatever_happens() {
    let uses: [fn() -> Fiber<()>; 3] =
        [|| Fiber::success(()).boxed(), || Fiber::fail(Error::msg("e")).boxed(), || Fiber::never().boxed()];
    for using in uses {
        let (test, log) = (TestScheduler::new(), Log::default());
        let (used, release) = (note(&log, "use"), note(&log, "release"));
        let acquire = Fiber::delay(SECOND).bind({
            let acquired = note(&log, "acquire");
            move |()| acquired
        });
        let fiber = Fiber::bracket(acquire, move |()| used.bind(move |()| using()), move |()| release);
        let spawned = test.spawn(fiber);
        test.run_until_idle();
        spawned.cancel_now();
        test.run_until_idle();
        assert_eq!(*log.lock().unwrap(), ["acquire", "use", "release"]);
        test.assert_no_leaks();
    }
}

#[test]
fn a_bracket_that_is_cancelled_while_it_acquires_releases_and_does_not_use() {
    let (test, log) = (TestScheduler::new(), Log::default());
    let (acquired, used, release) = (note(&log, "acquire"), note(&log, "use"), note(&log, "release"));
    let acquire = Fiber::delay(SECOND).bind(move |()| acquired);
    let spawned = test.spawn(Fiber::bracket(acquire, move |()| used, move |()| release));
    test.run_for(SECOND / 2);
    spawned.cancel_now();
    test.run_until_idle();
    assert_eq!(*log.lock().unwrap(), ["acquire", "release"]);
    assert!(spawned.outcome().is_cancelled());
}

#[test]
fn a_bracket_whose_acquisition_fails_releases_nothing() {
    let (test, log) = (TestScheduler::new(), Log::default());
    let (used, release) = (note(&log, "use"), note(&log, "release"));
    let fiber = Fiber::bracket(Fiber::<()>::fail(Error::msg("e")), move |()| used, move |()| release);
    assert!(test.run(fiber).is_failure());
    assert!(log.lock().unwrap().is_empty());
}

#[test]
fn bracket_outcome_sees_how_the_use_ended() {
    let (test, log) = (TestScheduler::new(), Log::default());
    let (commit, roll_back) = (note(&log, "commit"), note(&log, "roll back"));
    let fiber = Fiber::bracket_outcome(
        Fiber::success(1),
        |_| Fiber::<()>::fail(Error::msg("conflict")),
        move |_, outcome: &Outcome<()>| if outcome.is_success() { commit } else { roll_back },
    );
    assert!(test.run(fiber).is_failure());
    assert_eq!(*log.lock().unwrap(), ["roll back"]);
}

fn resource(log: &Log, open: &'static str, close: &'static str) -> Resource<()> {
    let close = note(log, close);
    Resource::new(note(log, open), move |()| close)
}

#[test]
fn resources_are_acquired_in_order_and_released_in_reverse() {
    let (test, log) = (TestScheduler::new(), Log::default());
    let both = resource(&log, "open a", "close a").zip(resource(&log, "open b", "close b"));
    let third = resource(&log, "open c", "close c");
    let used = note(&log, "use");
    assert!(test.run(both.and_then(|_| third).using(move |()| used)).is_success());
    assert_eq!(*log.lock().unwrap(), ["open a", "open b", "open c", "use", "close c", "close b", "close a"]);
}

#[test]
fn a_resource_that_cannot_be_acquired_releases_those_before_it() {
    let (test, log) = (TestScheduler::new(), Log::default());
    let broken = Resource::from_fiber(Fiber::<()>::fail(Error::msg("no b")));
    let both = resource(&log, "open a", "close a").zip(broken);
    let used = note(&log, "use");
    assert_eq!(test.run(both.using(move |_| used)).failure().unwrap().to_string(), "no b");
    assert_eq!(*log.lock().unwrap(), ["open a", "close a"]);
}

#[test]
fn a_restored_part_is_interrupted_and_the_rest_of_the_region_is_not() {
    let (test, log) = (TestScheduler::new(), Log::default());
    let after = note(&log, "after");
    let region = uncancelable(move |restore| {
        restore.apply(Fiber::delay(60 * SECOND)).map_outcome(|_| Outcome::Success(())).bind(move |()| after)
    });
    let spawned = test.spawn(region.bind(|()| Fiber::delay(SECOND)));
    test.run_for(SECOND);
    spawned.cancel_now();
    test.run_until_idle();
    assert!(spawned.outcome().is_cancelled());
    assert_eq!(*log.lock().unwrap(), ["after"]);
    assert_eq!(test.now().as_nanos(), 1_000_000_000);
}

#[test]
fn a_restore_gives_back_no_more_than_there_was_before_its_region() {
    let test = TestScheduler::new();
    let inner = uncancelable(|restore| restore.apply(Fiber::delay(2 * SECOND).map(|()| "finished")));
    let spawned = test.spawn(inner.uncancelable());
    test.run_for(SECOND);
    spawned.cancel_now();
    test.run_until_idle();
    assert_eq!(spawned.outcome().unwrap(), "finished");
}

#[test]
fn a_restore_that_has_left_its_region_restores_no_part_of_another_one() {
    let test = TestScheduler::new();
    let other =
        |restore: Restore| restore.apply(Fiber::delay(2 * SECOND).map(|()| "finished")).uncancelable();
    let spawned = test.spawn(uncancelable(Fiber::success).bind(other));
    test.run_for(SECOND);
    spawned.cancel_now();
    test.run_until_idle();
    assert_eq!(spawned.outcome().unwrap(), "finished");
}

#[test]
fn first_success_skips_failures_and_fails_with_all_of_them() {
    let test = TestScheduler::new();
    let fails = |n: u32| Fiber::delay(n * SECOND).bind(move |()| Fiber::<u32>::fail(Error::msg(n))).boxed();
    let succeeds = |n: u32| Fiber::delay(n * SECOND).map(move |()| n).boxed();
    assert_eq!(test.run(Fiber::first_success([fails(1), succeeds(3), succeeds(2)])).unwrap(), 2);
    let error = test.run(Fiber::first_success([fails(2), fails(1), fails(3)])).failure().unwrap();
    let all: Vec<_> = error.suppressed().iter().map(Error::to_string).collect();
    assert_eq!((error.to_string(), all), ("1".to_owned(), vec!["2".to_owned(), "3".to_owned()]));
    test.assert_no_leaks();
}

#[test]
fn race_with_hands_over_a_loser_that_succeeded() {
    let test = TestScheduler::new();
    let winner = Fiber::delay(SECOND).bind(|()| Fiber::<u8>::fail(Error::msg("first")));
    let loser = Fiber::delay(2 * SECOND).map(|()| "connection").uncancelable();
    let raced = test.run(winner.race_with(loser)).unwrap();
    assert!(raced.first.is_failure());
    assert_eq!(raced.second.unwrap(), Either::Right("connection"));
    test.assert_no_leaks();
}

#[test]
fn a_hedge_with_an_endless_pause_makes_its_first_attempt() {
    let test = TestScheduler::new();
    let hedge = Fiber::hedge(Duration::MAX, 3, || Fiber::delay(SECOND).map(|()| "first"));
    assert_eq!(test.run(hedge).unwrap(), "first");
    test.assert_no_leaks();
}

#[test]
fn a_hedge_makes_its_attempts_when_it_runs() {
    let made = Counter::default();
    let make = {
        let made = made.clone();
        move || {
            made.add();
            Fiber::success(())
        }
    };
    let hedge = Fiber::hedge(SECOND, 3, make);
    assert_eq!(made.get(), 0);
    drop(hedge.clone());
    assert!(TestScheduler::new().run(hedge).is_success());
    assert_eq!(made.get(), 1, "the others are not needed");
    let defect = Fiber::hedge(SECOND, 3, || -> Fiber<()> { panic!("no attempt") });
    assert!(TestScheduler::new().run(defect).is_panicked());
}

#[test]
fn a_hedge_starts_its_attempts_one_after_the_other_and_cancels_the_slower() {
    let test = TestScheduler::new();
    let started = Counter::default();
    let finalized = Counter::default();
    let attempt = {
        let (started, finalized) = (started.clone(), finalized.clone());
        move || started.count().bind(|()| Fiber::delay(10 * SECOND)).ensure(finalized.count())
    };
    assert!(test.run(Fiber::hedge(4 * SECOND, 5, attempt)).is_success());
    assert_eq!((started.get(), finalized.get()), (3, 3));
    assert_eq!(test.now().as_nanos(), 10_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn on_cancel_and_on_failure_run_for_their_case_only() {
    let (test, log) = (TestScheduler::new(), Log::default());
    let with_both = |fiber: Fiber<()>| {
        let failed = note(&log, "failed");
        fiber.on_cancel(note(&log, "cancelled")).on_failure(move |_| failed)
    };
    assert!(test.run(with_both(Fiber::success(()).boxed())).is_success());
    assert!(test.run(with_both(Fiber::fail(Error::msg("e")).boxed())).is_failure());
    let spawned = test.spawn(with_both(Fiber::never().boxed()));
    test.run_until_idle();
    spawned.cancel_now();
    test.run_until_idle();
    assert_eq!(*log.lock().unwrap(), ["failed", "cancelled"]);
}

#[test]
fn a_timeout_in_a_branch_of_an_uncancelable_region_fires_though_the_deadline_does_not_reach_it() {
    let test = TestScheduler::new();
    let region = Fiber::<()>::never().timeout(5 * SECOND).zip(Fiber::success(())).uncancelable();
    let fiber = Fiber::now().bind(move |now| region.with_deadline(now + 3 * SECOND));
    assert!(test.run(fiber).failure().unwrap().is::<TimedOut>());
    assert_eq!(test.now().as_nanos(), 5_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn a_fork_into_a_scope_carries_what_the_fiber_that_forks_it_carries() {
    let test = TestScheduler::new();
    let fiber = Fiber::scope(|scope: Scope| {
        let forked = scope.fork(Fiber::local(&TENANT)).with_local(&TENANT, "Bob");
        Fiber::yield_now().zip(forked).bind(|((), handle)| handle.join())
    });
    assert_eq!(test.run(fiber).unwrap(), "Bob");
}

#[test]
fn a_panic_beside_a_first_success_is_reported() {
    let test = TestScheduler::new();
    let defect = Fiber::lazy(|| -> u8 { panic!("defect") }).boxed();
    let late = Fiber::delay(SECOND).map(|()| 1).boxed();
    assert_eq!(test.run(Fiber::first_success([defect, late])).unwrap(), 1);
    assert!(test.unobserved()[0].contains("defect"));
    let defect = Fiber::lazy(|| -> u8 { panic!("defect") }).boxed();
    let failure = Fiber::fail(Error::msg("e")).boxed();
    assert!(test.run(Fiber::first_success([defect, failure])).is_panicked());
}
