//! `within`: what has arrived when the time is up, and what becomes of the rest.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fiber_core::error::DeadlineExceeded;
use fiber_core::{Error, Fiber, Instant, Outcome, Run};
use fiber_sched::Pool;
use fiber_test::{Explore, TestScheduler};

use crate::support::{Counter, Steps};

const SECOND: Duration = Duration::from_secs(1);

fn after<T: Send + 'static>(seconds: u32, value: T) -> Fiber<T> {
    Fiber::delay(seconds * SECOND).map(move |()| value).boxed()
}

fn fails_after<T: Send + 'static>(seconds: u32, message: &'static str) -> Fiber<T> {
    Fiber::delay(seconds * SECOND).bind(move |()| Fiber::fail(Error::msg(message))).boxed()
}

/// The outcome, and the seconds that it took. Nothing is left.
fn run<T: Send + 'static, R: Run<Out = T>>(fiber: Fiber<T, R>) -> (Outcome<T>, u64) {
    let test = TestScheduler::new();
    let outcome = test.run(fiber);
    test.assert_no_leaks();
    (outcome, test.now().as_nanos() / 1_000_000_000)
}

#[test]
fn the_order_is_that_of_the_iterator_and_not_of_the_arrivals() {
    let (outcome, seconds) = run(Fiber::parallel([4, 9, 2, 3, 8].map(|n| after(n, n))).within(5 * SECOND));
    assert_eq!(outcome.unwrap(), [(0, 4), (2, 2), (3, 3)]);
    assert_eq!(seconds, 5);
}

#[test]
fn if_all_end_in_time_it_ends_with_the_last_one() {
    let (outcome, seconds) = run(Fiber::parallel([2, 3, 1].map(|n| after(n, n))).within(5 * SECOND));
    assert_eq!(outcome.unwrap(), [(0, 2), (1, 3), (2, 1)]);
    assert_eq!(seconds, 3);
    let (outcome, seconds) = run(Fiber::validate([2, 1].map(|n| after(n, n))).within(5 * SECOND));
    assert_eq!((outcome.unwrap(), seconds), (vec![(0, 2), (1, 1)], 2));
    let (outcome, seconds) = run(Fiber::parallel(Vec::<Fiber<u32>>::new()).within(5 * SECOND));
    assert_eq!((outcome.unwrap(), seconds), (vec![], 0));
}

#[test]
fn if_nothing_has_arrived_it_gives_nothing() {
    let (outcome, seconds) = run(Fiber::parallel([7, 8].map(|n| after(n, n))).within(5 * SECOND));
    assert_eq!((outcome.unwrap(), seconds), (vec![], 5));
}

#[test]
fn what_is_ready_arrives_also_in_no_time() {
    let fibers = [Fiber::success(1).boxed(), after(1, 2), Fiber::success(3).boxed()];
    assert_eq!(run(Fiber::parallel(fibers).within(Duration::ZERO)).0.unwrap(), [(0, 1), (2, 3)]);
}

#[test]
fn it_waits_for_the_finalizers_of_the_rest() {
    let cleaned = Counter::default();
    let cleanup = Fiber::delay(20 * SECOND).bind({
        let cleaned = cleaned.clone();
        move |()| cleaned.count()
    });
    let slow = Fiber::never().ensure(cleanup).boxed();
    let (outcome, seconds) = run(Fiber::parallel([after(1, 'a'), slow]).within(5 * SECOND));
    assert_eq!(outcome.unwrap(), [(0, 'a')]);
    assert_eq!((seconds, cleaned.get()), (25, 1));
}

#[test]
fn one_that_succeeds_while_it_is_cancelled_has_succeeded() {
    let stubborn = after(7, 'b').uncancelable().boxed();
    let (outcome, seconds) = run(Fiber::parallel([after(9, 'a'), stubborn]).within(5 * SECOND));
    assert_eq!((outcome.unwrap(), seconds), (vec![(1, 'b')], 7));
    let both = Fiber::parallel([after(6, 'a').uncancelable(), after(7, 'b').uncancelable()]);
    assert_eq!(run(both.within(5 * SECOND)).0.unwrap(), [(0, 'a'), (1, 'b')]);
}

#[test]
fn a_failure_in_time_ends_all_at_once() {
    let fibers = [after(1, 'a'), fails_after(2, "no"), after(9, 'c')];
    let (outcome, seconds) = run(Fiber::parallel(fibers).within(5 * SECOND));
    let error = outcome.failure().unwrap();
    assert_eq!((error.to_string().as_str(), seconds), ("no", 2));
    let trace = format!("{error:#}");
    assert!(trace.contains("parallel at") && trace.contains("within at"), "{trace}");
}

#[test]
fn a_failure_while_the_rest_is_cancelled_is_not_lost() {
    let fails = fails_after(7, "too late").uncancelable().boxed();
    let (outcome, seconds) = run(Fiber::parallel([after(1, 'a'), fails]).within(5 * SECOND));
    assert_eq!((outcome.failure().unwrap().to_string().as_str(), seconds), ("too late", 7));
}

#[test]
fn a_failure_that_validate_keeps_is_given_when_the_time_is_up() {
    let fibers = [after(1, 'a'), fails_after(2, "no"), after(9, 'c')];
    let (outcome, seconds) = run(Fiber::validate(fibers).within(5 * SECOND));
    assert_eq!((outcome.failure().unwrap().to_string().as_str(), seconds), ("no", 5));
}

#[test]
fn a_failure_that_is_a_value_arrives_as_one() {
    let fibers = [after(1, 'a'), fails_after(2, "no"), after(9, 'c')].map(Fiber::attempt);
    let (outcome, seconds) = run(Fiber::parallel(fibers).within(5 * SECOND));
    let arrived =
        outcome.unwrap().into_iter().map(|(index, value)| (index, value.map_err(|error| error.to_string())));
    assert_eq!(arrived.collect::<Vec<_>>(), [(0, Ok('a')), (1, Err("no".to_owned()))]);
    assert_eq!(seconds, 5);
}

#[test]
fn a_panic_is_not_hidden_by_what_has_arrived() {
    let panics = Fiber::delay(2 * SECOND).map(|()| panic!("a defect")).boxed();
    let (outcome, seconds) = run(Fiber::parallel([after(1, 'a'), panics, after(9, 'c')]).within(5 * SECOND));
    assert!(outcome.is_panicked(), "{outcome:?}");
    assert_eq!(seconds, 2);
}

#[test]
fn a_cancellation_from_outside_gives_nothing_and_drops_what_has_arrived() {
    let (test, used, value) = (TestScheduler::new(), Counter::default(), Arc::new(()));
    let slow = Fiber::never().ensure(Fiber::delay(3 * SECOND)).boxed();
    let (uses, fibers) = (used.clone(), [after(1, value.clone()), slow]);
    let fiber = Fiber::parallel(fibers).within(60 * SECOND).map(move |_| uses.add());
    let spawned = test.spawn(fiber);
    test.run_for(2 * SECOND);
    spawned.cancel_now();
    test.run_for(2 * SECOND);
    assert!(spawned.is_pending());
    test.run_for(SECOND);
    assert!(spawned.outcome().is_cancelled());
    assert_eq!((used.get(), Arc::strong_count(&value)), (0, 1));
    test.assert_no_leaks();
}

#[test]
fn with_a_limit_no_more_are_pulled_when_the_time_is_up() {
    let pulled = Counter::default();
    let counts = pulled.clone();
    let fibers = (0..).map(move |n| {
        counts.add();
        after(2, n)
    });
    let (outcome, seconds) = run(Fiber::parallel(fibers).limit(2).within(5 * SECOND));
    assert_eq!((outcome.unwrap(), seconds), (vec![(0, 0), (1, 1), (2, 2), (3, 3)], 5));
    assert_eq!(pulled.get(), 6);
}

#[test]
fn a_deadline_around_it_comes_first_and_gives_nothing() {
    let fiber = Fiber::parallel([after(1, 'a'), after(9, 'b')]).within(5 * SECOND);
    let limited = fiber.with_deadline(Instant::EPOCH + 3 * SECOND);
    assert!(run(limited).0.failure().unwrap().is::<DeadlineExceeded>());
}

#[test]
fn the_inner_one_of_two_gives_what_it_has() {
    let inner = |name| Fiber::parallel([after(1, name), after(9, name)]).within(2 * SECOND);
    let outer = Fiber::parallel([inner('a').boxed(), after(6, vec![(0, 'x')]), inner('b').boxed()])
        .within(5 * SECOND);
    assert_eq!(run(outer).0.unwrap(), [(0, vec![(0, 'a')]), (2, vec![(0, 'b')])]);
}

#[test]
fn in_an_uncancelable_region_the_time_is_up_as_elsewhere() {
    let fiber = Fiber::parallel([after(1, 'a'), after(9, 'b')]).within(5 * SECOND).uncancelable();
    let (outcome, seconds) = run(fiber);
    assert_eq!((outcome.unwrap(), seconds), (vec![(0, 'a')], 5));
}

#[test]
fn of_the_wanted_successes_it_gives_those_that_have_come_in_their_order() {
    let (outcome, seconds) =
        run(Fiber::first_successes(3, [4, 9, 2, 8].map(|n| after(n, n))).within(5 * SECOND));
    assert_eq!((outcome.unwrap(), seconds), (vec![2, 4], 5));
    let (outcome, seconds) =
        run(Fiber::first_successes(2, [4, 9, 2, 8].map(|n| after(n, n))).within(5 * SECOND));
    assert_eq!((outcome.unwrap(), seconds), (vec![2, 4], 4));
}

#[test]
fn of_the_wanted_successes_failures_count_only_if_too_many_have_failed() {
    let fibers = || [after(1, 'a'), fails_after(2, "first"), after(9, 'c'), fails_after(3, "second")];
    let (outcome, seconds) = run(Fiber::first_successes(2, fibers()).within(5 * SECOND));
    assert_eq!((outcome.unwrap(), seconds), (vec!['a'], 5));
    let (outcome, seconds) = run(Fiber::first_successes(3, fibers()).within(5 * SECOND));
    let error = outcome.failure().unwrap();
    assert_eq!((error.to_string().as_str(), seconds), ("first", 3));
    assert_eq!(error.suppressed()[0].to_string(), "second");
    // Too many fail while they are cancelled.
    let late = || fails_after(7, "late").uncancelable().boxed();
    let (outcome, seconds) = run(Fiber::first_successes(2, [after(1, 'a'), late()]).within(5 * SECOND));
    assert_eq!((outcome.failure().unwrap().to_string().as_str(), seconds), ("late", 7));
    let (outcome, _) =
        run(Fiber::first_successes(2, [after(1, 'a'), late(), after(9, 'c')]).within(5 * SECOND));
    assert_eq!(outcome.unwrap(), ['a']);
}

#[test]
fn of_the_wanted_successes_nothing_is_given_after_a_cancellation_from_outside() {
    let value = Arc::new(());
    for seconds in [3, 60] {
        let (test, fibers) = (TestScheduler::new(), [after(1, value.clone()), after(90, value.clone())]);
        let spawned = test.spawn(Fiber::first_successes(2, fibers).within(seconds * SECOND));
        test.run_for(2 * SECOND);
        spawned.cancel_now();
        test.run_until_idle();
        assert!(spawned.outcome().is_cancelled());
        test.assert_no_leaks();
    }
    assert_eq!(Arc::strong_count(&value), 1);
}

/// Its drop is counted.
struct Value(u32, Counter);

impl Drop for Value {
    fn drop(&mut self) {
        self.1.add();
    }
}

/// Members that end before, at and after the end of the time, each of which counts the values that it makes.
fn members(made: &Counter, dropped: &Counter, number: u32) -> Fiber<Vec<(usize, Value)>> {
    let fibers = (0..4).map({
        let (made, dropped) = (made.clone(), dropped.clone());
        move |n: u32| {
            let (made, dropped) = (made.clone(), dropped.clone());
            let delay = Duration::from_micros(u64::from((number + 3 * n) % 5));
            let value = move |()| {
                made.add();
                Value(n, dropped)
            };
            match (number + n) % 7 {
                0 => Fiber::success(()).map(value).boxed(),
                1 => Fiber::delay(delay).uncancelable().map(value).boxed(),
                2 => Fiber::delay(delay).map(value).ensure(Fiber::yield_now()).boxed(),
                3 => Fiber::yield_now().bind(|()| Fiber::yield_now()).map(value).boxed(),
                _ => Fiber::delay(delay).map(value).boxed(),
            }
        }
    });
    let limit = Duration::from_micros(u64::from(number % 4));
    let parallel = Fiber::parallel(fibers);
    if number.is_multiple_of(3) {
        parallel.limit(2).within(limit).boxed()
    } else {
        parallel.within(limit).boxed()
    }
}

/// Each value that was given is that of its index, and the indexes increase.
fn check(given: &[(usize, Value)]) {
    assert!(given.iter().all(|(index, value)| *index == value.0 as usize));
    assert!(given.is_sorted_by(|one, next| one.0 < next.0));
}

#[test]
fn under_every_schedule_each_value_that_was_made_is_given_with_its_index() {
    for number in 0..12 {
        Explore::default().schedules(100).check(move || {
            let (made, dropped) = (Counter::default(), Counter::default());
            members(&made, &dropped, number).map(move |given| {
                check(&given);
                assert_eq!((made.get(), dropped.get()), (given.len(), 0));
            })
        });
    }
}

/// Without observers, a limit has no node as long as its body waits in place.
#[test]
fn on_schedulers_of_every_kind_each_value_that_was_made_is_given() {
    for seed in 0..300 {
        let (budget, number) = (1 + (seed % 3) as u32, seed as u32);
        for steps in [Steps::new(seed, budget), Steps::new(seed, budget).blind(), Steps::lending(seed)] {
            let (made, dropped) = (Counter::default(), Counter::default());
            let limited = [members(&made, &dropped, number), members(&made, &dropped, number + 1)];
            let handle = steps.spawn(Fiber::parallel(limited));
            steps.run(usize::MAX);
            let given = handle.try_outcome().unwrap().unwrap();
            given.iter().for_each(|given| check(given));
            assert_eq!((made.get(), dropped.get()), (given.iter().map(Vec::len).sum(), 0), "seed {seed}");
        }
    }
}

#[test]
fn on_threads_each_value_that_was_made_is_given() {
    let pool = Pool::builder().workers(2).build();
    let (made, dropped, given) = (Counter::default(), Counter::default(), Arc::new(AtomicUsize::new(0)));
    let round = {
        let (made, dropped, given) = (made.clone(), dropped.clone(), given.clone());
        move |number| {
            let given = given.clone();
            members(&made, &dropped, number).map(move |values| {
                check(&values);
                given.fetch_add(values.len(), Ordering::Relaxed);
            })
        }
    };
    let rounds = |first: u32| Fiber::for_each(first..first + 300, round.clone());
    assert!(pool.run(rounds(0).zip(rounds(1_000)).timeout(120 * SECOND)).is_success());
    let made = made.get();
    // Of those that were given.
    assert_eq!((given.load(Ordering::Relaxed), dropped.get()), (made, made));
    assert!(made > 0);
}

#[test]
fn progress_is_a_closure_on_each_fiber_which_sees_every_end() {
    let test = TestScheduler::new();
    let ended = Arc::<Mutex<Vec<(u32, bool)>>>::default();
    let bar = ended.clone();
    let pages = (1..=4).map(move |page| {
        let bar = bar.clone();
        after(page, page).map_outcome(move |outcome| {
            bar.lock().unwrap().push((page, outcome.is_success()));
            outcome
        })
    });
    let pages = test.spawn(Fiber::parallel(pages).limit(2).within(5 * SECOND / 2));
    let seen = || ended.lock().unwrap().clone();
    test.run_for(SECOND);
    assert_eq!(seen(), [(1, true)]);
    test.run_for(SECOND);
    assert_eq!(seen(), [(1, true), (2, true)]);
    test.run_for(SECOND / 2);
    let mut cancelled = seen().split_off(2);
    cancelled.sort_unstable();
    assert_eq!(cancelled, [(3, false), (4, false)]);
    assert_eq!(pages.outcome().unwrap(), [(0, 1), (1, 2)]);
    test.assert_no_leaks();
}
