//! `cancel_everywhere` finds effects that are not undone when a program is cancelled.

use std::time::Duration;

use fiber_core::sync::Channel;
use fiber_core::{Error, Fiber, fiber};
use fiber_test::{Explore, ProblemKind, TestScheduler};

use crate::known;
use crate::support::{Lock, Shared};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_flag_that_is_not_reset_is_found_at_the_first_turn_that_leaves_it_set() {
    let failure = Explore::cancel_everywhere().try_check(known::lost_lock).unwrap_err();
    assert_eq!(failure.schedule().to_string(), "x1");
    assert_eq!(failure.problem().kind(), ProblemKind::Unobserved);
    Explore::default().check(known::lost_lock);
}

/// Acquires a lock, works, releases it: in a bracket, or in three binds. The next fiber waits for the lock.
fn lock_and_work(in_a_bracket: bool) -> Fiber<()> {
    let is_taken = Shared::new(false);
    let (take, release, check) = (is_taken.clone(), is_taken.clone(), is_taken);
    let take = take.step(|is_taken| *is_taken = true);
    let release = move |()| release.step(|is_taken| *is_taken = false);
    let work = |()| Fiber::delay(SECOND);
    let locked = if in_a_bracket {
        Fiber::bracket(take, work, release).boxed()
    } else {
        take.bind(work).bind(release).boxed()
    };
    locked.ensure(check.step(|is_taken| assert!(!*is_taken, "the lock is lost"))).boxed()
}

#[test]
fn a_missing_finalizer_is_found_and_a_bracket_is_right() {
    let failure = Explore::cancel_everywhere().try_check(|| lock_and_work(false)).unwrap_err();
    assert!(failure.schedule().cancel_at().is_some());
    assert!(failure.schedule().to_string().starts_with('x'), "{}", failure.schedule());
    assert!(failure.to_string().contains(", cancelled before turn "), "{failure}");
    Explore::cancel_everywhere().schedules(1_000).check(|| lock_and_work(true));
}

#[test]
fn a_replay_cancels_at_the_same_turn() {
    let failure = Explore::cancel_everywhere().try_check(|| lock_and_work(false)).unwrap_err();
    let schedule = failure.schedule().to_string();
    let again = Explore::replay(&schedule).try_check(|| lock_and_work(false)).unwrap_err();
    assert_eq!(again.problem().kind(), failure.problem().kind());
    assert_eq!(again.trace().turns().len(), failure.trace().turns().len());
}

/// Two fibers that sleep, and write into a log when they are cancelled.
fn two_sleepers(broken: [u32; 2]) -> Fiber<()> {
    let log = Shared::new(Vec::new());
    let sleeps = |number: u32| {
        let log = log.clone();
        Fiber::<()>::never().ensure(log.step(move |log| log.push(number)))
    };
    let (one, other, check) = (sleeps(0), sleeps(1), log);
    fiber! {
        let! one = one.fork();
        let! other = other.fork();
        do! Fiber::delay(SECOND);
        do! check.step(move |log| assert!(*log != broken, "{log:?}"));
        do! one.cancel();
        do! other.cancel();
    }
}

#[test]
fn cancellations_before_one_turn_are_replayed_in_their_order() {
    for order in [[0, 1], [1, 0]] {
        let words = order.map(|fiber| format!("x5@0.{fiber}")).join(" ");
        let explore = Explore::replay(&words);
        let failure = explore.try_check(move || two_sleepers(order)).unwrap_err();
        assert_eq!(failure.schedule().to_string(), words);
        assert!(explore.try_check(move || two_sleepers([order[1], order[0]])).is_ok());
    }
    for seed in 0..40 {
        let explore = Explore::cancel_everywhere().seed(seed);
        let Err(failure) = explore.try_check(|| two_sleepers([1, 0])) else { continue };
        assert!(!failure.to_string().contains("\nwarning "), "{failure}");
        assert!(Explore::replay(&failure.schedule().to_string()).try_check(|| two_sleepers([1, 0])).is_err());
    }
}

/// Only if the second fiber had the first turn: the bug needs a deviation and a cancellation.
fn needs_both() -> Fiber<()> {
    let state = Shared::new((false, false));
    let (first, second, reset, check) = (state.clone(), state.clone(), state.clone(), state);
    let one = first.step(|state| state.0 = true);
    let other = second.step(|state| state.1 = !state.0);
    let other = other.bind(|()| Fiber::delay(SECOND)).bind(move |()| reset.step(|state| state.1 = false));
    let both = Fiber::parallel([one.boxed(), other.boxed()]).map(drop);
    both.ensure(check.step(|state| assert!(!state.1, "left behind"))).boxed()
}

#[test]
fn what_needs_a_deviation_and_a_cancellation_is_shrunk_to_the_smallest_of_both() {
    for seed in 0..10 {
        let failure = Explore::cancel_everywhere().seed(seed).try_check(needs_both).unwrap_err();
        assert_eq!(failure.schedule().to_string(), "x2 1:1", "seed {seed}");
    }
}

#[test]
fn what_may_be_cancelled_anywhere_is_explored_turn_by_turn() {
    let lock = || {
        let lock = Lock::default();
        let one = || lock.hold(Fiber::delay(SECOND));
        Fiber::parallel([one(), one(), one()])
    };
    let explored = Explore::cancel_everywhere().schedules(2_000).check(lock);
    assert_eq!(explored.schedules(), 2_000);
}

#[test]
fn every_turn_is_one_of_them_unless_there_is_no_time() {
    let program =
        || (0..200).fold(Fiber::success(()).boxed(), |all, _| all.bind(|()| Fiber::success(())).boxed());
    let explored = Explore::cancel_everywhere().schedules(1).check(program);
    assert!(explored.is_complete());
    assert!(explored.schedules() > 200, "{explored:?}");
    let explored = Explore::cancel_everywhere().within(Duration::ZERO).check(program);
    assert!(!explored.is_complete());
    assert_eq!(explored.schedules(), 1);
}

#[test]
fn a_program_that_is_not_cancelled_in_time_may_succeed() {
    Explore::cancel_everywhere().schedules(100).check(|| Fiber::delay(SECOND).uncancelable());
}

#[test]
fn a_fiber_that_outlives_its_cancelled_program_is_a_leak() {
    let program = || {
        let background = Fiber::<()>::never().detach();
        background.bind(|handle| Fiber::delay(SECOND).bind(move |()| handle.cancel()))
    };
    Explore::default().schedules(100).check(program);
    let failure = Explore::cancel_everywhere().try_check(program).unwrap_err();
    assert_eq!(failure.problem().kind(), ProblemKind::Leak);
}

/// A token is passed round: a fiber that has taken it gives it back, unless it is cancelled meanwhile. If the whole program is cancelled, the token
/// is no longer needed.
fn careless_child() -> Fiber<()> {
    let (give, take) = Channel::bounded(1);
    give.try_send(()).expect("there is room");
    let (give_back, next) = (give.clone(), take.clone());
    let child = take.recv().bind(|()| Fiber::delay(SECOND)).bind(move |()| give_back.send(()));
    let parent = child.fork().bind(|child| child.outcome()).bind(move |_| next.recv());
    parent.ensure(Fiber::lazy(move || drop(give))).boxed()
}

#[test]
fn a_child_that_keeps_a_lock_when_it_alone_is_cancelled_is_found() {
    Explore::default().check(careless_child);
    let failure = Explore::cancel_everywhere().try_check(careless_child).unwrap_err();
    assert_eq!(failure.problem().kind(), ProblemKind::Deadlock);
    let schedule = failure.schedule().to_string();
    assert_eq!(schedule, "x2@0.0");
    assert!(failure.to_string().contains(", fiber 0.0 cancelled before turn 2"), "{failure}");
    assert!(failure.to_string().contains("---- from outside: cancels fiber 0.0"), "{failure}");
    let again = Explore::replay(&schedule).try_check(careless_child).unwrap_err();
    assert_eq!(again.problem().kind(), ProblemKind::Deadlock);
}

#[test]
fn every_fiber_is_cancelled_before_and_after_each_of_its_turns() {
    // The root has two turns, its child three.
    let child = || Fiber::success(()).bind(|()| Fiber::success(())).bind(|()| Fiber::success(()));
    let program = || child().fork().bind(|child| child.outcome().map(drop));
    let explored = Explore::cancel_everywhere().schedules(1).check(program);
    assert!(explored.is_complete());
    // Itself; the root before each turn; the child before each of its turns, and after the last one.
    assert!(explored.schedules() >= 1 + 5 + 3, "{explored}");
}

/// A fiber that a finalizer starts is also cancelled, and has to survive that.
#[test]
fn what_runs_in_a_finalizer_is_cancelled_too() {
    let program = || {
        let is_clean = Shared::new(false);
        let (cleaning, check) = (is_clean.clone(), is_clean);
        let clean = Fiber::delay(SECOND).bind(move |()| cleaning.step(|is_clean| *is_clean = true));
        // A separate fiber can be cancelled, although the finalizer cannot.
        let finalizer = clean.detach().bind(|clean| clean.outcome()).map(drop);
        let work = Fiber::delay(SECOND).ensure(finalizer);
        work.ensure(check.step(|is_clean| assert!(*is_clean, "not clean")))
    };
    Explore::default().check(program);
    let failure = Explore::cancel_everywhere().try_check(program).unwrap_err();
    assert!(failure.to_string().contains("not clean"), "{failure}");
    assert!(
        failure.schedule().cancellations().iter().all(|one| one.fiber.is_some()),
        "{}",
        failure.schedule()
    );
}

#[test]
fn one_that_fails_since_a_child_was_cancelled_is_not_broken() {
    let program = || {
        let (give, take) = Channel::<u32>::bounded(1);
        let child = Fiber::delay(SECOND).bind(move |()| give.send(7));
        child.fork().bind(move |_child| take.recv())
    };
    Explore::cancel_everywhere().check(program);
}

/// The first child is cancelled, so the one that joins it fails, and then the program is cancelled before it looks at that.
#[test]
fn a_failure_for_want_of_a_cancelled_child_may_remain_unobserved_but_a_panic_may_not() {
    fn program(panics: bool) -> Fiber<()> {
        fiber! {
            let! first = Fiber::yield_now().map(|()| 7).fork();
            let! second = first.join().attempt().bind(move |joined| {
                assert!(joined.is_ok() || !panics, "no value");
                Fiber::from_result(joined)
            }).fork();
            do! Fiber::yield_now();
            do! Fiber::yield_now();
            let! _outcome = second.outcome();
        }
    }

    Explore::cancel_everywhere().check(|| program(false));
    let failure = Explore::cancel_everywhere().try_check(|| program(true)).unwrap_err();
    assert!(failure.to_string().contains("no value"), "{failure}");
    // The same if no fiber was cancelled alone.
    let program = || Fiber::<()>::fail(Error::msg("lost")).fork().bind(|_lost| Fiber::delay(SECOND));
    let failure = Explore::cancel_everywhere().try_check(program).unwrap_err();
    assert!(failure.to_string().contains("lost"), "{failure}");
}

#[test]
fn a_program_that_cancels_itself_is_not_excused_by_a_cancellation_that_never_came() {
    let program = || {
        Fiber::current().bind(|context| {
            context.cancel();
            Fiber::delay(SECOND)
        })
    };
    let failure = Explore::replay("x90").try_check(program).unwrap_err();
    assert_eq!(failure.problem().kind(), ProblemKind::Cancelled);
    assert_eq!(failure.schedule().cancel_at(), None);
}

/// No cancellation is planned in the turns of fibers that the program has left behind.
#[test]
fn turns_after_the_end_of_the_program_are_not_among_those_before_which_it_is_cancelled() {
    let program = || {
        let rest = Fiber::for_each(0..100, |_| Fiber::success(()));
        Fiber::delay(SECOND).bind(move |()| rest.detach()).map(drop)
    };
    let explored = Explore::cancel_everywhere().schedules(1).check(program);
    assert!(explored.is_complete());
    assert!(explored.schedules() < 20, "{explored}");
}

#[test]
fn a_scheduler_that_follows_a_schedule_cancels_as_it_says() {
    let test = TestScheduler::with_schedule("x1".parse().unwrap());
    assert!(test.run(Fiber::delay(SECOND)).is_cancelled());
    let test = TestScheduler::with_schedule("x2@0.0.1".parse().unwrap());
    let sleeps = || Fiber::delay(SECOND).ensure(Fiber::success(()));
    assert!(test.run(Fiber::parallel([sleeps(), sleeps()])).is_cancelled());
}
