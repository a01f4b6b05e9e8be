//! Hedges: when an attempt is made and starts, and which end decides.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use fiber_core::error::Abandoned;
use fiber_core::scheduler::TaskKind;
use fiber_core::sync::{Channel, CircuitBreaker, CircuitOpen};
use fiber_core::{Context, Either, Error, Fiber, Outcome, Policy, Run};
use fiber_test::{Explore, TestScheduler};

use crate::support::{Counter, Queue};

const SECOND: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct NotFound;

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("404")
    }
}

impl std::error::Error for NotFound {}

/// Whether another attempt may help.
fn is_transient(error: &Error) -> bool {
    !error.is::<NotFound>() && !error.is::<CircuitOpen>()
}

/// Gives the fibers one after the other.
fn attempts<T: Send + 'static>(all: Vec<Fiber<T>>) -> impl FnMut() -> Fiber<T> + Send + 'static {
    let mut all = all.into_iter();
    move || all.next().expect("there are no more attempts")
}

fn fails_after(delay: Duration, text: &'static str) -> Fiber<u32> {
    Fiber::delay(delay).try_map(move |()| Err(Error::msg(text))).boxed()
}

fn succeeds_after(delay: Duration, value: u32) -> Fiber<u32> {
    Fiber::delay(delay).map(move |()| value).boxed()
}

/// Runs a fiber, and says how long it took.
fn timed<T: Send + 'static, R: Run<Out = T>>(fiber: Fiber<T, R>) -> (Outcome<T>, Duration) {
    let test = TestScheduler::new();
    let outcome = test.run(fiber);
    test.assert_no_leaks();
    assert!(test.unobserved().is_empty(), "{:?}", test.unobserved());
    (outcome, Duration::from_nanos(test.now().as_nanos()))
}

#[test]
fn an_attempt_is_made_when_it_starts() {
    let made = Counter::default();
    let make = {
        let made = made.clone();
        move || {
            made.add();
            Fiber::delay(10 * SECOND)
        }
    };
    let test = TestScheduler::new();
    let hedge = test.spawn(Fiber::hedge(4 * SECOND, 5, make));
    let mut seen = Vec::new();
    for _ in 0..11 {
        test.run_for(Duration::ZERO);
        seen.push(made.get());
        test.run_for(SECOND);
    }
    assert!(hedge.outcome().is_success());
    assert_eq!(seen, [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3]);
    test.assert_no_leaks();
}

#[test]
fn one_that_succeeds_at_once_is_the_only_one() {
    let made = Counter::default();
    let counter = made.clone();
    let hedge = Fiber::hedge(SECOND, 3, move || {
        counter.add();
        Fiber::success(1)
    });
    assert_eq!(timed(hedge).0.unwrap(), 1);
    assert_eq!(made.get(), 1);
}

#[test]
fn after_a_failure_the_next_one_starts_at_once() {
    let all = vec![fails_after(Duration::ZERO, "a"), fails_after(SECOND, "b"), succeeds_after(SECOND, 3)];
    let (outcome, took) = timed(Fiber::hedge(60 * SECOND, 3, attempts(all)));
    assert_eq!((outcome.unwrap(), took), (3, 2 * SECOND));
}

#[test]
fn the_failure_of_any_attempt_starts_the_next_one() {
    // The first fails while the second runs.
    let all = vec![fails_after(12 * SECOND, "a"), succeeds_after(60 * SECOND, 2), succeeds_after(SECOND, 3)];
    let (outcome, took) = timed(Fiber::hedge(10 * SECOND, 3, attempts(all)));
    assert_eq!((outcome.unwrap(), took), (3, 13 * SECOND));
}

#[test]
fn a_pause_begins_with_the_attempt_before() {
    // The second starts at 3 s, after a failure; the third at 13 s, and not at 20 s or 10 s.
    let all = vec![fails_after(3 * SECOND, "a"), succeeds_after(60 * SECOND, 2), succeeds_after(SECOND, 3)];
    let (outcome, took) = timed(Fiber::hedge(10 * SECOND, 3, attempts(all)));
    assert_eq!((outcome.unwrap(), took), (3, 14 * SECOND));
}

#[test]
fn if_all_have_failed_it_gives_all_errors() {
    let all = ["a", "b", "c", "d"].map(|text| fails_after(SECOND, text)).into();
    let (outcome, took) = timed(Fiber::hedge(60 * SECOND, 4, attempts(all)));
    let error = outcome.failure().unwrap();
    let others: Vec<_> = error.suppressed().iter().map(Error::to_string).collect();
    assert_eq!((error.to_string(), others), ("a".to_owned(), ["b", "c", "d"].map(str::to_owned).to_vec()));
    assert_eq!(took, 4 * SECOND);
}

#[test]
fn a_panic_of_the_factory_ends_it_and_the_attempts_that_run() {
    let finalized = Counter::default();
    let mut first = Some(Fiber::<u32>::never().ensure(Fiber::delay(SECOND)).ensure(finalized.count()));
    let hedge = Fiber::hedge(SECOND, 3, move || first.take().expect("no second attempt").boxed());
    let (outcome, took) = timed(hedge);
    assert!(outcome.is_panicked());
    assert_eq!((finalized.get(), took), (1, 2 * SECOND));
}

#[test]
fn a_cancellation_reaches_all_attempts_and_makes_no_more() {
    let (made, finalized) = (Counter::default(), Counter::default());
    let make = {
        let (made, finalized) = (made.clone(), finalized.clone());
        move || {
            made.add();
            Fiber::<()>::never().ensure(Fiber::delay(SECOND)).ensure(finalized.count())
        }
    };
    let test = TestScheduler::new();
    let hedge = test.spawn(Fiber::hedge(SECOND, 9, make));
    test.run_for(SECOND + SECOND / 2);
    hedge.cancel_now();
    test.run_until_idle();
    assert!(hedge.outcome().is_cancelled());
    assert_eq!((made.get(), finalized.get()), (2, 2));
    test.assert_no_leaks();
}

#[test]
fn of_a_cancelled_hedge_a_late_success_wins_and_the_first_failure_stays_the_first() {
    let end_of = |late: Fiber<u32>| {
        let all = vec![
            fails_after(SECOND / 2, "early"),
            fails_after(4 * SECOND, "late").uncancelable().boxed(),
            late,
        ];
        let test = TestScheduler::new();
        let hedge = test.spawn(Fiber::hedge(SECOND, 3, attempts(all)));
        test.run_for(2 * SECOND);
        hedge.cancel_now();
        test.run_until_idle();
        test.assert_no_leaks();
        hedge.outcome()
    };
    assert_eq!(end_of(succeeds_after(5 * SECOND, 3).uncancelable().boxed()).unwrap(), 3);
    let error = end_of(Fiber::never().boxed()).failure().unwrap();
    let suppressed: Vec<_> = error.suppressed().iter().map(Error::to_string).collect();
    assert_eq!((error.to_string(), suppressed), ("early".into(), vec!["late".into()]));
}

#[test]
fn a_final_failure_ends_it_and_awaits_the_others() {
    let finalized = Counter::default();
    let slow = Fiber::<u32>::never().ensure(Fiber::delay(SECOND)).ensure(finalized.count()).boxed();
    let not_found = Fiber::delay(SECOND).try_map(|()| Err(NotFound)).boxed();
    let all = vec![fails_after(SECOND, "a"), slow, not_found];
    // "a" fails at 1 s, which starts the slow one; the final one starts at 6 s.
    let hedge = Fiber::hedge(5 * SECOND, 9, attempts(all)).while_error(is_transient);
    let (outcome, took) = timed(hedge);
    let error = outcome.failure().unwrap();
    assert!(error.is::<NotFound>());
    assert_eq!(error.suppressed().iter().map(Error::to_string).collect::<Vec<_>>(), ["a"]);
    assert_eq!((finalized.get(), took), (1, 8 * SECOND));
}

#[test]
fn an_open_breaker_answers_at_once() {
    let breaker = CircuitBreaker::new(1, 60 * SECOND).counting(is_transient);
    let ask = move || breaker.protect(fails_after(Duration::ZERO, "down")).boxed();
    let (outcome, took) = timed(Fiber::hedge(SECOND, 3, ask).while_error(is_transient));
    let error = outcome.failure().unwrap();
    assert!(error.is::<CircuitOpen>(), "the second attempt is refused, and is the last: {error:?}");
    assert_eq!(error.suppressed()[0].to_string(), "down");
    assert_eq!(took, Duration::ZERO);
}

#[test]
fn one_predicate_serves_a_retry_a_hedge_and_a_breaker() {
    let made = Counter::default();
    let policy = Policy::recurs(3).while_input(is_transient);
    let breaker = CircuitBreaker::new(1, SECOND).counting(is_transient);
    let ask = {
        let made = made.clone();
        move || {
            made.add();
            Fiber::<()>::fail(NotFound).context("page 7").boxed()
        }
    };
    let attempt = move || breaker.protect(Fiber::hedge(SECOND, 3, ask.clone()).while_error(is_transient));
    let (outcome, took) = timed(Fiber::retry_with(policy, attempt));
    assert_eq!(outcome.failure().unwrap().to_string(), "page 7: 404");
    assert_eq!((made.get(), took), (1, Duration::ZERO));
}

#[test]
fn a_panic_of_the_condition_is_the_outcome() {
    let all = vec![fails_after(SECOND, "a"), succeeds_after(SECOND, 2)];
    let hedge = Fiber::hedge(SECOND, 2, attempts(all)).while_error(|_| panic!("no judgement"));
    let (outcome, took) = timed(hedge);
    let Outcome::Panicked(panic) = outcome else { panic!("{outcome:?}") };
    assert_eq!((panic.message(), panic.suppressed()[0].to_string()), ("no judgement", "a".to_owned()));
    assert_eq!(took, SECOND);
}

#[test]
fn after_a_panic_the_next_one_starts_and_the_panic_is_not_lost() {
    let test = TestScheduler::new();
    let all = vec![Fiber::lazy(|| panic!("a defect")).boxed(), succeeds_after(SECOND, 2)];
    assert_eq!(test.run(Fiber::hedge(60 * SECOND, 2, attempts(all))).unwrap(), 2);
    assert_eq!(test.now().as_nanos(), 1_000_000_000);
    assert!(test.unobserved()[0].contains("a defect"));
}

#[test]
fn a_failure_of_an_attempt_that_is_cancelled_is_reported_or_suppressed() {
    let slow = || fails_after(3 * SECOND, "torn").uncancelable().boxed();
    let test = TestScheduler::new();
    let won = Fiber::hedge(SECOND, 3, attempts(vec![slow(), succeeds_after(SECOND / 2, 2)]));
    assert_eq!(test.run(won).unwrap(), 2);
    assert!(test.unobserved()[0].contains("torn"), "{:?}", test.unobserved());
    let lost = Fiber::hedge(SECOND, 3, attempts(vec![slow(), fails_after(SECOND / 2, "definite")]));
    let error = test.run(lost.while_error(|_| false)).failure().unwrap();
    assert_eq!((error.to_string(), error.suppressed()[0].to_string()), ("definite".into(), "torn".into()));
}

#[test]
fn a_description_runs_more_than_once() {
    let hedge = Fiber::hedge(SECOND, 2, || fails_after(SECOND, "down")).while_error(|_| true);
    for _ in 0..2 {
        assert_eq!(timed(hedge.clone()).0.failure().unwrap().suppressed().len(), 1);
    }
}

#[test]
fn every_failure_starts_one_attempt_in_every_schedule() {
    let program = || {
        let made = Counter::default();
        let counter = made.clone();
        let make = move || {
            counter.add();
            Fiber::yield_now().try_map(|()| Err::<(), _>(Error::msg("down")))
        };
        Fiber::hedge(60 * SECOND, 3, make).map_outcome(move |outcome| {
            let error = outcome.failure().unwrap();
            assert_eq!((made.get(), error.suppressed().len()), (3, 2));
            Outcome::Success(())
        })
    };
    Explore::default().schedules(300).check(program);
}

#[test]
fn one_that_waits_for_its_timer_does_not_keep_the_other_side_of_a_race_from_winning() {
    let made = Counter::default();
    let counter = made.clone();
    let slow = move || {
        counter.add();
        Fiber::yield_now().bind(|()| Fiber::<u32>::never())
    };
    let race = Fiber::hedge(SECOND, 3, slow).race(Fiber::delay(SECOND * 3 / 2).boxed());
    let (outcome, took) = timed(race);
    assert_eq!((outcome.unwrap(), took), (Either::Right(()), SECOND * 3 / 2));
    assert_eq!(made.get(), 2);
}

#[test]
fn of_two_items_that_come_as_the_timer_is_due_one_is_left_in_every_schedule() {
    let program = || {
        let (sender, receiver) = Channel::bounded(2);
        let attempts = receiver.clone();
        let hedge = Fiber::hedge(SECOND, 2, move || attempts.recv());
        let send = Fiber::delay(SECOND).bind(move |()| {
            let second = sender.clone();
            sender.send(1).bind(move |()| second.send(2).map(move |()| second))
        });
        hedge
            .zip(send)
            .bind(move |(one, _sender)| receiver.recv().map(move |other| assert_eq!(one + other, 3)))
    };
    Explore::default().schedules(500).lateness(SECOND).check(program);
}

#[test]
fn a_hedge_whose_timer_is_dropped_is_abandoned_and_leaves_no_context() {
    let queue = Arc::new(Queue::default());
    let root = Context::root(queue.clone());
    let hedge = root.spawn(Fiber::hedge(SECOND, 2, || Fiber::<()>::never().boxed()));
    queue.pop().expect("the hedge").run();
    while let Some(task) = queue.pop() {
        if task.kind() == TaskKind::Timer { drop(task) } else { task.run() }
    }
    assert!(hedge.try_outcome().unwrap().failure().unwrap().is::<Abandoned>());
    root.cancel();
    drop(root);
    // Each context keeps the scheduler.
    assert_eq!(Arc::strong_count(&queue), 1);
}
