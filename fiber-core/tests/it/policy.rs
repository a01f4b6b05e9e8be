//! retry, repeat and their policies: the number of rounds, the pauses, and the results.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{Counter, MILLION, Queue};
use fiber_core::{Error, Fiber, Instant, Outcome, Policy};
use fiber_test::TestScheduler;
use proptest::prelude::*;

const SECOND: Duration = Duration::from_secs(1);

fn seconds<const N: usize>(seconds: [u64; N]) -> [Duration; N] {
    seconds.map(Duration::from_secs)
}

fn no() -> Error {
    Error::msg("no")
}

/// The start times of a program's rounds.
#[derive(Clone, Default)]
struct Starts(Arc<Mutex<Vec<Duration>>>);

impl Starts {
    /// A round that records its start, and takes the time `took(number)`.
    fn round(&self, took: impl Fn(usize) -> Duration + Clone + Send + 'static) -> Fiber<usize> {
        let starts = self.0.clone();
        let note = Fiber::now().map(move |now| {
            let mut starts = starts.lock().unwrap();
            starts.push(now - Instant::EPOCH);
            starts.len() - 1
        });
        note.bind(move |number| Fiber::delay(took(number)).map(move |()| number)).boxed()
    }

    fn get(&self) -> Vec<Duration> {
        self.0.lock().unwrap().clone()
    }
}

/// The start times of the first `most` rounds of a repetition, where a round takes the time `took(number)`.
fn starts(
    policy: Policy<usize>,
    most: usize,
    took: impl Fn(usize) -> Duration + Clone + Send + 'static,
) -> Vec<Duration> {
    let starts = Starts::default();
    let rounds = starts.clone();
    let policy = policy.while_input(move |&number| number + 1 < most);
    let test = TestScheduler::new();
    test.run(Fiber::repeat_with(policy, move || rounds.round(took.clone()))).unwrap();
    test.assert_no_leaks();
    starts.get()
}

/// The pauses of a retry, which are the times between the starts if an attempt takes no time.
fn pauses_of_a_retry(policy: Policy, most: usize) -> Vec<Duration> {
    let starts = Starts::default();
    let rounds = starts.clone();
    let attempt = move || rounds.round(|_| Duration::ZERO).bind(|_| Fiber::<()>::fail(no()));
    let attempts = starts.clone();
    let policy = policy.while_input(move |_| attempts.get().len() <= most);
    TestScheduler::new().run(Fiber::retry_with(policy, attempt)).failure().unwrap();
    starts.get().windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// Fails this many times, then succeeds with the number of attempts. Clones share the count.
fn fails(times: u32) -> (Fiber<u32, impl fiber_core::Run<Out = u32> + Clone>, Arc<AtomicU32>) {
    let attempts = Arc::new(AtomicU32::new(0));
    let counter = attempts.clone();
    let fiber = Fiber::try_lazy(move || {
        let attempt = 1 + counter.fetch_add(1, Ordering::Relaxed);
        if attempt <= times { Err(Error::msg(format!("failure {attempt}"))) } else { Ok(attempt) }
    });
    (fiber, attempts)
}

// retry

#[test]
fn a_fiber_that_fails_twice_succeeds_at_the_third_attempt() {
    let (fiber, attempts) = fails(2);
    let test = TestScheduler::new();
    assert_eq!(test.run(fiber.retry(Policy::spaced(SECOND) & Policy::recurs(5))).unwrap(), 3);
    assert_eq!(attempts.load(Ordering::Relaxed), 3);
    assert_eq!(test.now(), Instant::EPOCH + 2 * SECOND);
    test.assert_no_leaks();
}

#[test]
fn a_success_is_not_tried_again() {
    let (fiber, attempts) = fails(0);
    assert_eq!(TestScheduler::new().run(fiber.retry(Policy::forever())).unwrap(), 1);
    assert_eq!(attempts.load(Ordering::Relaxed), 1);
}

#[test]
fn recurs_counts_the_attempts_after_the_first() {
    for times in 0..4 {
        let (fiber, attempts) = fails(u32::MAX);
        assert!(TestScheduler::new().run(fiber.retry(Policy::recurs(times))).is_failure());
        assert_eq!(u64::from(attempts.load(Ordering::Relaxed)), times + 1);
    }
}

#[test]
fn the_last_error_says_how_many_attempts_there_were_and_where() {
    let (fiber, _) = fails(u32::MAX);
    let line = line!() + 1;
    let error = TestScheduler::new().run(fiber.retry(Policy::recurs(2))).failure().unwrap();
    assert_eq!(error.to_string(), "after 3 attempts: failure 3");
    let frame = error.trace().last().unwrap();
    assert_eq!((frame.operator(), frame.location().file()), ("retry", file!()));
    assert_eq!(frame.location().line(), line);
}

#[test]
fn the_only_attempt_is_not_counted() {
    let (fiber, _) = fails(1);
    let error = TestScheduler::new().run(fiber.retry(Policy::recurs(0))).failure().unwrap();
    assert_eq!(error.to_string(), "failure 1");
}

#[test]
fn a_panic_is_not_tried_again() {
    let started = Counter::default();
    let attempt = started.clone();
    let panics = Fiber::lazy(move || {
        attempt.add();
        std::panic::resume_unwind(Box::new("defect"))
    });
    let outcome: Outcome<()> = TestScheduler::new().run(panics.retry(Policy::forever()));
    let Outcome::Panicked(panic) = outcome else { panic!("not a panic: {outcome:?}") };
    assert_eq!(panic.message(), "defect");
    assert_eq!(panic.trace().last().unwrap().operator(), "retry");
    assert_eq!(started.get(), 1);
}

#[test]
fn a_panic_of_a_condition_or_a_factory_is_the_outcome() {
    let test = TestScheduler::new();
    let condition = |_: &Error| std::panic::resume_unwind(Box::new("condition"));
    let (fiber, _) = fails(1);
    assert!(test.run(fiber.retry(Policy::forever().while_input(condition))).is_panicked());
    let factory = || -> Fiber<()> { std::panic::resume_unwind(Box::new("factory")) };
    assert!(test.run(Fiber::retry_with(Policy::forever(), factory)).is_panicked());
    assert!(test.run(Fiber::repeat_with(Policy::forever(), factory)).is_panicked());
}

#[test]
fn a_cancellation_ends_the_pause_at_once() {
    let test = TestScheduler::new();
    let (fiber, attempts) = fails(u32::MAX);
    let spawned = test.spawn(fiber.retry(Policy::spaced(3600 * SECOND)));
    test.run_for(SECOND);
    assert_eq!(test.pending_timers(), 1);
    spawned.cancel_now();
    test.run_for(Duration::ZERO);
    assert!(spawned.outcome().is_cancelled());
    assert_eq!(attempts.load(Ordering::Relaxed), 1);
    test.assert_no_leaks();
}

#[test]
fn a_cancelled_attempt_is_not_tried_again() {
    let test = TestScheduler::new();
    let started = Counter::default();
    let attempt = started.clone();
    let spawned = test.spawn(Fiber::retry_with(Policy::forever(), move || {
        attempt.add();
        Fiber::<()>::never()
    }));
    test.run_until_idle();
    spawned.cancel_now();
    test.run_until_idle();
    assert!(spawned.outcome().is_cancelled());
    assert_eq!(started.get(), 1);
}

#[test]
fn a_cancellation_is_noticed_between_attempts_that_do_not_look() {
    let test = TestScheduler::new();
    let stubborn = || Fiber::<()>::fail(no()).uncancelable();
    let spawned = test.spawn(Fiber::retry_with(Policy::forever(), stubborn));
    let cancel = spawned.context().clone();
    drop(test.spawn(Fiber::delay(Duration::ZERO).map(move |()| cancel.cancel())));
    test.run_until_idle();
    assert!(spawned.outcome().is_cancelled());
}

#[test]
fn no_pause_of_a_retry_goes_beyond_the_deadline() {
    let expected = [
        (999, "no", 0),
        (1999, "after 2 attempts: no", 1),
        // No attempt starts at the deadline.
        (2000, "after 2 attempts: no", 1),
        (2001, "after 3 attempts: no", 2),
    ];
    for (millis, message, ends_at) in expected {
        let test = TestScheduler::new();
        let deadline = Instant::EPOCH + Duration::from_millis(millis);
        let fiber = Fiber::retry_with(Policy::spaced(SECOND), || Fiber::<()>::fail(no()));
        let error = test.run(fiber.with_deadline(deadline)).failure().unwrap();
        assert_eq!(error.to_string(), message);
        assert_eq!(test.now(), Instant::EPOCH + ends_at * SECOND);
        test.assert_no_leaks();
    }
}

#[test]
fn a_deadline_ends_no_retry_in_a_finalizer_or_in_an_uncancelable_region() {
    let cleanup = || {
        let (fiber, attempts) = fails(3);
        (fiber.retry(Policy::spaced(SECOND)).map(drop), attempts)
    };
    let limited = |fiber: Fiber<()>| Fiber::now().bind(move |now| fiber.with_deadline(now + SECOND));
    let (test, (cleans, attempts)) = (TestScheduler::new(), cleanup());
    assert!(test.run(limited(Fiber::<()>::never().ensure(cleans).boxed())).is_failure());
    assert_eq!((attempts.load(Ordering::Relaxed), test.unobserved().len()), (4, 0));
    let (region, attempts) = cleanup();
    assert!(test.run(limited(region.uncancelable().boxed())).is_success());
    assert_eq!(attempts.load(Ordering::Relaxed), 4);
    // One within the region does.
    let (body, attempts) = cleanup();
    assert!(test.run(limited(body.boxed()).uncancelable()).is_failure());
    assert!(attempts.load(Ordering::Relaxed) < 4);
}

#[test]
fn an_attempt_is_made_when_its_pause_is_over() {
    let test = TestScheduler::new();
    let made = Counter::default();
    let attempt = made.clone();
    let spawned = test.spawn(Fiber::retry_with(Policy::spaced(SECOND), move || {
        attempt.add();
        Fiber::<()>::fail(no())
    }));
    test.run_for(SECOND / 2);
    assert_eq!(made.get(), 1);
    test.run_for(SECOND);
    assert_eq!(made.get(), 2);
    drop(spawned);
}

#[test]
fn every_run_counts_for_itself() {
    let policy = Policy::recurs(2);
    let (fiber, attempts) = fails(u32::MAX);
    let fiber = fiber.retry(policy.clone());
    let test = TestScheduler::new();
    for run in 1..=3 {
        assert!(test.run(fiber.clone()).is_failure());
        assert_eq!(attempts.load(Ordering::Relaxed), 3 * run);
    }
    assert_eq!(policy.preview(9).len(), 2);
}

#[test]
fn a_million_attempts_at_once_use_no_stack() {
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(|| {
        let (fiber, _) = fails(MILLION);
        assert_eq!(Queue::run(fiber.retry(Policy::forever())).unwrap(), MILLION + 1);
        let count = Counter::default();
        let round = count.clone();
        let counting = Fiber::lazy(move || round.add()).repeat(Policy::recurs(MILLION.into()));
        assert!(Queue::run(counting).is_success());
        assert_eq!(count.get(), MILLION as usize + 1);
    });
    thread.unwrap().join().unwrap();
}

#[test]
fn attempts_without_end_make_place_for_others() {
    let endless = Fiber::retry_with(Policy::forever(), || Fiber::<()>::fail(no()));
    let others = Fiber::iterate(0, |turn| {
        Fiber::yield_now().map(move |()| match turn {
            10 => ControlFlow::Break("done"),
            _ => ControlFlow::Continue(turn + 1),
        })
    });
    assert!(Queue::run(endless.race(others)).is_success());
}

// repeat

#[test]
fn repeat_gives_the_last_value() {
    let test = TestScheduler::new();
    let seconds = Fiber::now().map(|now| now.as_nanos() / 1_000_000_000);
    assert_eq!(test.run(seconds.repeat(Policy::spaced(SECOND) & Policy::recurs(3))).unwrap(), 3);
}

#[test]
fn repeat_ends_with_the_first_failure() {
    let mut round = 0;
    let rounds = move || {
        round += 1;
        Fiber::from_result(if round == 3 { Err(no()) } else { Ok(()) })
    };
    let test = TestScheduler::new();
    let error = test.run(Fiber::repeat_with(Policy::spaced(SECOND), rounds)).failure().unwrap();
    assert_eq!(error.to_string(), "no");
    assert_eq!(error.trace().last().unwrap().operator(), "repeat");
    assert_eq!(test.now(), Instant::EPOCH + 2 * SECOND);
}

#[test]
fn a_cancelled_repetition_gives_no_value() {
    let test = TestScheduler::new();
    let spawned = test.spawn(Fiber::success(1).repeat(Policy::spaced(SECOND)));
    test.run_for(10 * SECOND);
    spawned.cancel_now();
    test.run_for(Duration::ZERO);
    assert!(spawned.outcome().is_cancelled());
    test.assert_no_leaks();
}

#[test]
fn conditions_look_at_errors_and_at_values() {
    let test = TestScheduler::new();
    let (fiber, attempts) = fails(9);
    let is_early = |error: &Error| error.to_string().as_str() < "failure 4";
    assert!(test.run(fiber.retry(Policy::forever().while_input(is_early))).is_failure());
    assert_eq!(attempts.load(Ordering::Relaxed), 4);
    let (fiber, _) = fails(0);
    assert_eq!(test.run(fiber.repeat(Policy::forever().until_input(|&n| n == 7))).unwrap(), 7);
}

// policies

#[test]
fn the_pauses_of_each_policy() {
    let preview = |policy: Policy| policy.preview(5);
    assert_eq!(preview(Policy::forever()), seconds([0; 5]));
    assert_eq!(preview(Policy::recurs(2)), seconds([0; 2]));
    assert_eq!(preview(Policy::spaced(SECOND)), seconds([1; 5]));
    assert_eq!(preview(Policy::fixed_rate(SECOND)), seconds([1; 5]));
    assert_eq!(preview(Policy::exponential(SECOND)), seconds([1, 2, 4, 8, 16]));
    assert_eq!(preview(Policy::exponential_with(SECOND, 3.0)), seconds([1, 3, 9, 27, 81]));
    assert_eq!(preview(Policy::fibonacci(SECOND)), seconds([1, 1, 2, 3, 5]));
    assert_eq!(preview(Policy::fibonacci(SECOND).capped(2 * SECOND)), seconds([1, 1, 2, 2, 2]));
    assert_eq!(preview(Policy::exponential(SECOND).up_to(7 * SECOND)), seconds([1, 2, 4]));
    assert_eq!(preview(Policy::spaced(SECOND) | Policy::recurs(2)), seconds([0, 0, 1, 1, 1]));
    assert_eq!(preview(Policy::spaced(SECOND) & Policy::recurs(2)), seconds([1; 2]));
    assert_eq!(preview(Policy::recurs(2).and_then(Policy::spaced(SECOND))), seconds([0, 0, 1, 1, 1]));
}

#[test]
fn a_fixed_rate_keeps_to_its_grid_and_does_not_pile_up() {
    let took = [SECOND / 2, 5 * SECOND / 2, SECOND / 4, SECOND, SECOND / 2, Duration::ZERO];
    let starts = starts(Policy::fixed_rate(SECOND), took.len(), move |number| took[number]);
    let millis: Vec<u128> = starts.iter().map(Duration::as_millis).collect();
    // The second round misses the starts at 2 and 3, and is followed by one at once; the fourth ends as the next is due.
    assert_eq!(millis, [0, 1000, 3500, 4000, 5000, 6000]);
}

#[test]
fn a_fixed_rate_makes_up_for_nothing_when_the_process_was_asleep() {
    let test = TestScheduler::new();
    let starts = Starts::default();
    let rounds = starts.clone();
    let ticking = Fiber::repeat_with(Policy::fixed_rate(SECOND), move || rounds.round(|_| Duration::ZERO));
    let spawned = test.spawn(ticking);
    test.run_for(SECOND / 2);
    test.advance(10 * SECOND);
    test.run_for(SECOND);
    assert_eq!(starts.get(), [Duration::ZERO, Duration::from_millis(10_500), 11 * SECOND]);
    drop(spawned);
}

#[test]
fn spaced_counts_from_the_end_of_a_round() {
    assert_eq!(starts(Policy::spaced(SECOND), 3, |_| 2 * SECOND), seconds([0, 3, 6]));
}

#[test]
fn up_to_counts_the_time_of_the_rounds() {
    assert_eq!(starts(Policy::spaced(SECOND).up_to(9 * SECOND), 99, |_| 2 * SECOND), seconds([0, 3, 6, 9]));
}

#[test]
fn what_is_over_stays_over() {
    // The left side would continue after 1, which is below its limit again.
    let numbers = Arc::new(Mutex::new([1, 9, 1, 1].into_iter()));
    let next = move || Fiber::success(numbers.lock().unwrap().next().unwrap());
    let below = Policy::forever().while_input(|&n| n < 5);
    let test = TestScheduler::new();
    test.run(Fiber::repeat_with(below | Policy::spaced(SECOND) & Policy::recurs(3), next)).unwrap();
    assert_eq!(test.now(), Instant::EPOCH + 2 * SECOND);
}

#[test]
fn jitter_stays_within_its_factors_and_is_the_same_in_every_run() {
    let jittered = |seed, policy: Policy<Instant>| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let starts = log.clone();
        let note = Fiber::now().tap(move |&now| {
            starts.lock().unwrap().push(now);
            Fiber::success(())
        });
        TestScheduler::with_seed(seed).run(note.repeat(policy & Policy::recurs(100))).unwrap();
        let starts = log.lock().unwrap();
        starts.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>()
    };
    let policy = Policy::spaced(100 * SECOND).jittered();
    let pauses = jittered(1, policy.clone());
    assert!(pauses.iter().all(|pause| (80 * SECOND..=120 * SECOND).contains(pause)), "{pauses:?}");
    assert!(pauses.iter().any(|pause| *pause < 90 * SECOND), "{pauses:?}");
    assert!(pauses.iter().any(|pause| *pause > 110 * SECOND), "{pauses:?}");
    assert_eq!(pauses, jittered(1, policy.clone()));
    assert_ne!(pauses, jittered(2, policy));
    let full = jittered(1, Policy::spaced(100 * SECOND).jittered_within(0.0..1.0));
    assert!(full.iter().all(|pause| *pause <= 100 * SECOND), "{full:?}");
    assert!(full.iter().any(|pause| *pause < 20 * SECOND), "{full:?}");
}

#[test]
fn nothing_overflows() {
    let longest = |policy: Policy| *policy.preview(200).last().unwrap();
    assert_eq!(longest(Policy::exponential(SECOND)), Duration::MAX);
    assert_eq!(longest(Policy::exponential_with(Duration::MAX, f64::MAX)), Duration::MAX);
    assert_eq!(longest(Policy::fibonacci(SECOND)), Duration::MAX);
    assert_eq!(longest(Policy::fixed_rate(Duration::ZERO)), Duration::ZERO);
    assert!(longest(Policy::fixed_rate(Duration::MAX)) <= Duration::MAX);
    let policy: Policy = Policy::spaced(Duration::MAX).up_to(Duration::MAX);
    assert_eq!(policy.preview(9), [Duration::MAX; 9]);
}

#[test]
fn a_policy_of_any_number_of_parts_is_asked_printed_and_cloned() {
    for parts in 1..20 {
        let mut policy: Policy = Policy::spaced(SECOND);
        let mut shown = "spaced(1s)".to_owned();
        for part in 1..parts {
            policy = policy.capped(u32::try_from(part).unwrap() * SECOND);
            shown += &format!(".capped({part}s)");
        }
        let twice = policy.clone().and_then(policy.clone()) & Policy::recurs(2);
        assert_eq!(format!("{policy:?}"), shown);
        assert_eq!(format!("{twice:?}"), format!("{shown}.and_then({shown}) & recurs(2)"));
        assert_eq!(twice.preview(9), [SECOND; 2]);
        let longer = Policy::recurs(1).and_then(twice.clone());
        assert_eq!(longer.preview(9), [Duration::ZERO, SECOND, SECOND]);
        assert_eq!(twice.preview(9), [SECOND; 2], "the clone has changed it");
    }
}

#[test]
fn runs_of_a_large_policy_do_not_share_counts() {
    let policy: Policy = (1..9).fold(Policy::recurs(2), |policy, n| policy.capped(n * SECOND));
    let starts = Starts::default();
    let rounds = starts.clone();
    let attempt = move || rounds.round(|_| Duration::ZERO).bind(|_| Fiber::<()>::fail(no()));
    let retry = Fiber::retry_with(policy, attempt);
    let test = TestScheduler::new();
    for _ in 0..3 {
        test.run(retry.clone()).failure().unwrap();
    }
    assert_eq!(starts.get().len(), 3 * 3);
}

#[test]
fn a_condition_is_dropped_with_the_last_policy_that_has_it() {
    /// Has no size, but a drop that counts.
    struct Counted;
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
    let shared = Arc::new(());
    let (counted, held) = (Counted, shared.clone());
    let policy: Policy = Policy::recurs(2)
        .while_input(move |_| size_of_val(&counted) == 0)
        .until_input(move |_| Arc::strong_count(&held) == 0);
    let other = policy.clone() & Policy::forever();
    drop(policy);
    assert_eq!((DROPPED.load(Ordering::Relaxed), Arc::strong_count(&shared)), (0, 2));
    let (fiber, attempts) = fails(u32::MAX);
    TestScheduler::new().run(fiber.retry(other)).failure().unwrap();
    assert_eq!(attempts.load(Ordering::Relaxed), 3);
    assert_eq!((DROPPED.load(Ordering::Relaxed), Arc::strong_count(&shared)), (1, 1));
}

#[test]
fn a_policy_is_sent_and_shared_whatever_it_looks_at() {
    fn check<T: Send + Sync + Clone + 'static>(_: &T) {}
    check(&Policy::<std::rc::Rc<()>>::forever().while_input(|_| true));
    check(&Policy::<Error>::forever());
}

#[test]
fn a_policy_is_printed_as_it_is_written() {
    let a = || -> Policy { Policy::exponential(SECOND) };
    let shown = [
        (
            a().capped(5 * SECOND).jittered() & Policy::recurs(3),
            "exponential(1s).capped(5s).jittered() & recurs(3)",
        ),
        ((a() | Policy::forever()) & Policy::recurs(3), "(exponential(1s) | forever()) & recurs(3)"),
        ((a() | a()).up_to(SECOND), "(exponential(1s) | exponential(1s)).up_to(1s)"),
        (a().and_then(a() | a()), "exponential(1s).and_then(exponential(1s) | exponential(1s))"),
        (a().until_input(|_| true), "exponential(1s).until_input(..)"),
        (Policy::exponential_with(SECOND, 1.5), "exponential_with(1s, 1.5)"),
        (Policy::fibonacci(SECOND).jittered_within(0.0..1.0), "fibonacci(1s).jittered_within(0.0..1.0)"),
        (Policy::fixed_rate(SECOND) | Policy::spaced(SECOND), "fixed_rate(1s) | spaced(1s)"),
    ];
    for (policy, expected) in shown {
        assert_eq!(format!("{policy:?}"), expected);
    }
}

// the algebra, over generated policies without jitter and conditions

/// The number of rounds that a law checks.
const MOST: usize = 12;

fn duration() -> impl Strategy<Value = Duration> {
    (0..5000u64).prop_map(Duration::from_millis)
}

fn policy() -> impl Strategy<Value = Policy> {
    let leaf = prop_oneof![
        Just(Policy::forever()),
        (0..8u64).prop_map(Policy::recurs),
        duration().prop_map(Policy::spaced),
        duration().prop_map(Policy::fixed_rate),
        duration().prop_map(Policy::exponential),
        duration().prop_map(Policy::fibonacci),
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        prop_oneof![
            (inner.clone(), duration()).prop_map(|(policy, longest)| policy.capped(longest)),
            (inner.clone(), duration()).prop_map(|(policy, total)| policy.up_to(4 * total)),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a | b),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a & b),
            (inner.clone(), inner).prop_map(|(a, b)| a.and_then(b)),
        ]
    })
}

/// A policy whose pauses do not depend on the time.
fn timeless() -> impl Strategy<Value = Policy> {
    policy().prop_filter("no up_to and no fixed_rate", |policy| {
        let shown = format!("{policy:?}");
        !shown.contains("up_to") && !shown.contains("fixed_rate")
    })
}

proptest! {
    #[test]
    fn preview_is_what_a_run_does(policy in policy()) {
        prop_assert_eq!(pauses_of_a_retry(policy.clone(), MOST), policy.preview(MOST));
    }

    #[test]
    fn union_and_intersection_commute(a in policy(), b in policy()) {
        prop_assert_eq!((a.clone() | b.clone()).preview(MOST), (b.clone() | a.clone()).preview(MOST));
        prop_assert_eq!((a.clone() & b.clone()).preview(MOST), (b & a).preview(MOST));
    }

    #[test]
    fn union_and_intersection_associate(a in policy(), b in policy(), c in policy()) {
        let (left, right) = ((a.clone() | b.clone()) | c.clone(), a.clone() | (b.clone() | c.clone()));
        prop_assert_eq!(left.preview(MOST), right.preview(MOST));
        prop_assert_eq!(((a.clone() & b.clone()) & c.clone()).preview(MOST), (a & (b & c)).preview(MOST));
    }

    #[test]
    fn a_policy_with_itself_is_itself(a in policy()) {
        prop_assert_eq!((a.clone() | a.clone()).preview(MOST), a.preview(MOST));
        prop_assert_eq!((a.clone() & a.clone()).preview(MOST), a.preview(MOST));
    }

    #[test]
    fn union_is_as_long_as_the_longer_and_intersection_as_the_shorter(a in timeless(), b in timeless()) {
        let (long, short) = (a.preview(MOST), b.preview(MOST));
        let (long, short) = if long.len() < short.len() { (short, long) } else { (long, short) };
        let pairs = || long.iter().zip(&short);
        let shorter: Vec<_> = pairs().map(|(x, y)| *x.min(y)).chain(long[short.len()..].to_vec()).collect();
        prop_assert_eq!((a.clone() | b.clone()).preview(MOST), shorter);
        prop_assert_eq!((a & b).preview(MOST), pairs().map(|(x, y)| *x.max(y)).collect::<Vec<_>>());
    }

    #[test]
    fn and_then_is_one_after_the_other(a in timeless(), b in timeless()) {
        let expected: Vec<_> = a.preview(MOST).into_iter().chain(b.preview(MOST)).take(MOST).collect();
        prop_assert_eq!(a.and_then(b).preview(MOST), expected);
    }

    #[test]
    fn recurs_with_nothing_is_the_unit_of_and_then(a in policy()) {
        prop_assert_eq!(a.clone().and_then(Policy::recurs(0)).preview(MOST), a.preview(MOST));
        prop_assert_eq!(Policy::recurs(0).and_then(a.clone()).preview(MOST), a.preview(MOST));
    }

    #[test]
    fn capped_never_exceeds(a in policy(), longest in duration(), seed: u64) {
        let policy = a.jittered().capped(longest) & Policy::recurs(MOST as u64);
        let starts = Arc::new(Mutex::new(Vec::new()));
        let log = starts.clone();
        let attempt = move || {
            let log = log.clone();
            Fiber::now().map(move |now| log.lock().unwrap().push(now)).bind(|()| Fiber::<()>::fail(no()))
        };
        TestScheduler::with_seed(seed).run(Fiber::retry_with(policy, attempt)).failure().unwrap();
        let starts = starts.lock().unwrap();
        prop_assert!(starts.windows(2).all(|pair| pair[1] - pair[0] <= longest));
    }

    #[test]
    fn up_to_bounds_the_last_start(a in policy(), total in duration(), took in duration()) {
        let policy = a.up_to(total) & Policy::recurs(MOST as u64);
        let test = TestScheduler::new();
        let last = Starts::default();
        let rounds = last.clone();
        let attempt = move || rounds.round(move |_| took).bind(|_| Fiber::<()>::fail(no()));
        test.run(Fiber::retry_with(policy, attempt)).failure().unwrap();
        let last = *last.get().last().unwrap();
        prop_assert!(last <= total);
        prop_assert_eq!(test.now() - Instant::EPOCH, last + took);
    }
}
