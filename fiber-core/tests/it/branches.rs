//! race, race_all, zip, parallel and timeout: the winner, the awaited branches, and the resulting errors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{Counter, Queue};
use fiber_core::error::TimedOut;
use fiber_core::{Either, Error, Fiber};
use fiber_test::TestScheduler;

const SECOND: Duration = Duration::from_secs(1);

fn after<T: Send + 'static>(seconds: u32, value: T) -> Fiber<T> {
    Fiber::delay(seconds * SECOND).map(move |()| value).boxed()
}

fn fails_after(seconds: u32, message: &'static str) -> Fiber<u32> {
    Fiber::delay(seconds * SECOND).bind(move |()| Fiber::fail(Error::msg(message))).boxed()
}

#[test]
fn the_first_to_end_wins_and_the_loser_is_awaited() {
    let test = TestScheduler::new();
    let loser = Fiber::<()>::never().ensure(Fiber::delay(5 * SECOND));
    assert_eq!(test.run(after(1, "fast").race(loser)).unwrap(), Either::Left("fast"));
    assert_eq!(test.now().as_nanos(), 6_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn the_first_to_end_wins_even_by_failing() {
    let outcome = TestScheduler::new().run(fails_after(1, "lost").race(after(2, ())));
    assert_eq!(outcome.failure().unwrap().to_string(), "lost");
}

#[test]
fn losing_a_race_does_not_cancel_the_parent() {
    let test = TestScheduler::new();
    let fiber = after(1, 1).race(after(2, 2)).bind(|_| after(1, "alive"));
    assert_eq!(test.run(fiber).unwrap(), "alive");
}

#[test]
fn of_a_cancelled_race_the_first_to_end_wins_on_either_side() {
    let ends = |race: Fiber<()>| {
        let test = TestScheduler::new();
        let fiber = test.spawn(race);
        test.run_for(SECOND);
        fiber.cancel_now();
        test.run_until_idle();
        fiber.outcome()
    };
    let late = || after(5, ()).uncancelable();
    assert!(ends(late().race(Fiber::<()>::never()).map(drop).boxed()).is_cancelled());
    assert!(ends(Fiber::<()>::never().race(late()).map(drop).boxed()).is_cancelled());
    assert!(ends(Fiber::race_all([late().boxed(), Fiber::never().boxed()]).boxed()).is_cancelled());
}

#[test]
fn a_cancelled_race_of_both_outcomes_gives_what_a_side_has_made() {
    let test = TestScheduler::new();
    let fiber = test.spawn(Fiber::<()>::never().race_with(after(5, "made").uncancelable()));
    test.run_for(SECOND);
    fiber.cancel_now();
    test.run_until_idle();
    let raced = fiber.outcome().unwrap();
    assert!(raced.first.is_cancelled());
    assert_eq!(raced.second.unwrap(), Either::Right("made"));
}

#[test]
fn a_race_is_cancelled_with_both_sides() {
    let test = TestScheduler::new();
    let finalized = Counter::default();
    let side = || Fiber::<()>::never().ensure(finalized.count());
    let fiber = test.spawn(side().race(side()));
    test.run_until_idle();
    fiber.cancel_now();
    test.run_until_idle();
    assert!(fiber.outcome().is_cancelled());
    assert_eq!(finalized.get(), 2);
    test.assert_no_leaks();
}

#[test]
fn a_loser_that_fails_while_it_is_cancelled_is_not_lost() {
    let test = TestScheduler::new();
    let loser =
        Fiber::<u32>::never().map_outcome(|_| fiber_core::Outcome::<u32>::Failure(Error::msg("bad end")));
    assert_eq!(test.run(after(1, 1).race(loser.clone())).unwrap(), Either::Left(1));
    assert!(test.unobserved()[0].contains("bad end"));
    let error = test.run(fails_after(1, "first").race(loser)).failure().unwrap();
    assert_eq!(error.suppressed()[0].to_string(), "bad end");
}

#[test]
fn a_branch_that_was_decided_before_it_started_never_runs() {
    let started = Counter::default();
    // The left side runs first, here; the right one is claimed back.
    let fiber = Fiber::success("ready").race(started.count());
    assert_eq!(Queue::run(fiber).unwrap(), Either::Left("ready"));
    assert_eq!(started.get(), 0);
}

#[test]
fn race_all_gives_the_first_of_many_and_cancels_the_others() {
    let test = TestScheduler::new();
    let finalized = Counter::default();
    let runners: Vec<_> = (1..=10).map(|n| after(n, n).ensure(finalized.count()).boxed()).collect();
    assert_eq!(test.run(Fiber::race_all(runners)).unwrap(), 1);
    assert_eq!(finalized.get(), 10);
    assert_eq!(test.now().as_nanos(), 1_000_000_000);
    test.assert_no_leaks();
}

/// An iterator of three fibers that counts how often it is pulled.
fn counted(pulled: &Counter) -> impl Iterator<Item = Fiber<u32>> + Clone + Send + use<> {
    let pulled = pulled.clone();
    (1..=3).inspect(move |_| pulled.add()).map(|n| after(n, n))
}

#[test]
fn race_all_and_first_success_pull_their_iterator_when_they_run() {
    let pulled = Counter::default();
    let (race, first) = (Fiber::race_all(counted(&pulled)), Fiber::first_success(counted(&pulled)));
    drop((race.clone(), first.clone()));
    assert_eq!(pulled.get(), 0);
    assert_eq!(TestScheduler::new().run(race).unwrap(), 1);
    assert_eq!(pulled.get(), 3);
    assert_eq!(TestScheduler::new().run(first).unwrap(), 1);
    assert_eq!(pulled.get(), 6);
}

#[test]
fn a_panic_of_an_iterator_of_branches_is_the_outcome_and_no_branch_starts() {
    let started = Counter::default();
    let broken = || {
        let started = started.clone();
        (0..3).map(move |n| if n < 2 { started.count() } else { panic!("the iterator is broken") })
    };
    for fiber in [Fiber::race_all(broken()).boxed(), Fiber::first_success(broken()).boxed()] {
        assert!(TestScheduler::new().run(fiber).is_panicked());
    }
    assert_eq!(started.get(), 0);
}

#[test]
fn a_branch_on_the_right_that_never_started_has_no_effect() {
    let started = Counter::default();
    let slow = || started.count().bind(|()| Fiber::delay(SECOND));
    assert_eq!(Queue::run(Fiber::success('l').race(slow())).unwrap(), Either::Left('l'));
    assert_eq!(started.get(), 0);
    assert_eq!(Queue::run(slow().race(Fiber::success('r'))).unwrap(), Either::Right('r'));
    assert_eq!(started.get(), 1);
}

#[test]
fn parallel_starts_none_after_a_failure_at_which_the_turn_ends() {
    for seed in 0..200 {
        let started = Counter::default();
        let counted = (0..3).map(|_| started.count().boxed());
        let fibers: Vec<Fiber<()>> =
            [Fiber::fail(Error::msg("no")).boxed()].into_iter().chain(counted).collect();
        let steps = crate::support::Steps::lending(seed);
        let handle = steps.spawn(Fiber::parallel(fibers).limit(1));
        steps.run(usize::MAX);
        assert!(handle.try_outcome().unwrap().is_failure());
        assert_eq!(started.get(), 0, "seed {seed}");
    }
}

#[test]
fn race_all_of_nothing_fails_instead_of_hanging() {
    let outcome = TestScheduler::new().run(Fiber::<()>::race_all(Vec::<Fiber<()>>::new()));
    assert!(outcome.failure().unwrap().to_string().contains("no fibers"));
}

#[test]
fn zip_takes_the_time_of_the_longer_one() {
    let test = TestScheduler::new();
    assert_eq!(test.run(after(2, 'a').zip(after(3, 'b'))).unwrap(), ('a', 'b'));
    assert_eq!(test.now().as_nanos(), 3_000_000_000);
}

#[test]
fn zip_fails_with_the_first_error_and_cancels_the_other_side() {
    let test = TestScheduler::new();
    let finalized = Counter::default();
    let slow = after(60, ()).ensure(finalized.count());
    let error = test.run(slow.zip(fails_after(1, "broken"))).failure().unwrap();
    assert_eq!(error.to_string(), "broken");
    assert_eq!(finalized.get(), 1);
    assert_eq!(test.now().as_nanos(), 1_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn zip_suppresses_the_second_error_into_the_first() {
    let first = fails_after(1, "first").ensure(Fiber::delay(SECOND));
    let second = Fiber::<u32>::never()
        .ensure(Fiber::fail(Error::msg("ignored")))
        .map_outcome(|_| fiber_core::Outcome::<u32>::Failure(Error::msg("second")));
    let error = TestScheduler::new().run(second.zip(first)).failure().unwrap();
    // The second side is cancelled only when the first has ended, finalizer included.
    assert_eq!(error.to_string(), "first");
    assert_eq!(error.suppressed()[0].to_string(), "second");
}

#[test]
fn parallel_of_nothing_succeeds_with_nothing() {
    assert!(TestScheduler::new().run(Fiber::parallel(Vec::<Fiber<u32>>::new())).unwrap().is_empty());
    assert!(Queue::run(Fiber::parallel(Vec::<Fiber<u32>>::new()).limit(3)).unwrap().is_empty());
}

#[test]
fn parallel_keeps_the_order_whatever_ends_first() {
    let test = TestScheduler::new();
    let fibers: Vec<_> = [5, 1, 3, 2, 4].into_iter().map(|n| after(n, n)).collect();
    assert_eq!(test.run(Fiber::parallel(fibers)).unwrap(), [5, 1, 3, 2, 4]);
    assert_eq!(test.now().as_nanos(), 5_000_000_000);
}

#[test]
fn parallel_runs_at_most_the_limit_at_a_time_and_pulls_lazily() {
    let test = TestScheduler::new();
    let (pulled, running) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let fibers = (0..10).map({
        let (pulled, running) = (pulled.clone(), running.clone());
        move |n| {
            pulled.fetch_add(1, Ordering::Relaxed);
            let (enter, leave) = (running.clone(), running.clone());
            Fiber::lazy(move || assert!(enter.fetch_add(1, Ordering::Relaxed) < 3))
                .bind(move |()| after(1, n))
                .map(move |n| {
                    leave.fetch_sub(1, Ordering::Relaxed);
                    n
                })
        }
    });
    let spawned = test.spawn(Fiber::parallel(fibers).limit(3));
    test.run_for(SECOND / 2);
    assert_eq!(pulled.load(Ordering::Relaxed), 3);
    test.run_until_idle();
    assert_eq!(spawned.outcome().unwrap(), (0..10).collect::<Vec<_>>());
    assert_eq!(test.now().as_nanos(), 4_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn parallel_starts_no_more_after_a_failure_and_cancels_the_rest() {
    let test = TestScheduler::new();
    let started = Counter::default();
    let finalized = Counter::default();
    let fibers = (0..10).map({
        let (started, finalized) = (started.clone(), finalized.clone());
        move |n| {
            let body = if n == 1 { fails_after(1, "broken") } else { after(60, n) };
            started.count().bind(move |()| body).ensure(finalized.count())
        }
    });
    let error = test.run(Fiber::parallel(fibers).limit(3)).failure().unwrap();
    assert_eq!(error.to_string(), "broken");
    assert_eq!((started.get(), finalized.get()), (3, 3));
    assert_eq!(test.now().as_nanos(), 1_000_000_000);
    test.assert_no_leaks();
}

#[test]
#[should_panic(expected = "at least 1")]
fn a_limit_of_zero_is_refused_where_it_is_written() {
    drop(Fiber::parallel(vec![Fiber::success(1)]).limit(0));
}

#[test]
fn ten_thousand_in_parallel_under_a_permuted_order_keep_their_places() {
    let test = TestScheduler::with_seed(3);
    let values = test.run(Fiber::parallel((0..10_000).map(|n| Fiber::yield_now().map(move |()| n)))).unwrap();
    assert!(values.into_iter().eq(0..10_000));
    test.assert_no_leaks();
}

#[test]
fn a_timeout_cancels_awaits_and_says_after_how_long_and_where() {
    let test = TestScheduler::new();
    let slow = Fiber::<()>::never().ensure(Fiber::delay(SECOND)).timeout(2 * SECOND);
    let error = test.run(slow).failure().unwrap();
    let timed_out = error.downcast_ref::<TimedOut>().unwrap();
    assert_eq!(timed_out.after(), 2 * SECOND);
    assert!(timed_out.location().file().ends_with("branches.rs"));
    assert_eq!(test.now().as_nanos(), 3_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn a_timeout_of_something_in_time_leaves_no_timer() {
    let test = TestScheduler::new();
    let fiber = after(1, "in time").timeout(60 * SECOND);
    assert_eq!(test.run(fiber).unwrap(), "in time");
    test.assert_no_leaks();
    assert_eq!(test.now().as_nanos(), 1_000_000_000);
}

#[test]
fn a_timeout_of_something_ready_sets_no_timer() {
    let test = TestScheduler::new();
    let fiber = Fiber::success(1).timeout(60 * SECOND);
    assert_eq!(test.run(fiber).unwrap(), 1);
    assert_eq!(test.pending_timers(), 0);
}

#[test]
fn a_fiber_that_succeeds_while_its_timeout_cancels_it_succeeds() {
    let test = TestScheduler::new();
    let stubborn = after(3, "saved").uncancelable().timeout(SECOND);
    assert_eq!(test.run(stubborn).unwrap(), "saved");
    assert_eq!(test.now().as_nanos(), 3_000_000_000);
}

#[test]
fn a_cancelled_timeout_is_cancelled_not_timed_out() {
    let test = TestScheduler::new();
    let fiber = test.spawn(Fiber::<()>::never().timeout(60 * SECOND));
    test.run_for(SECOND);
    fiber.cancel_now();
    test.run_until_idle();
    assert!(fiber.outcome().is_cancelled());
    assert_eq!(test.pending_timers(), 0);
    test.assert_no_leaks();
}

#[test]
fn an_inner_timeout_is_not_mistaken_for_an_outer_one() {
    let test = TestScheduler::new();
    let inner = Fiber::<u8>::never().timeout(SECOND);
    let outer = inner.timeout_option(60 * SECOND);
    let error = test.run(outer).failure().unwrap();
    assert_eq!(error.downcast_ref::<TimedOut>().unwrap().after(), SECOND);
}

#[test]
fn timeout_to_runs_the_fallback_after_the_fiber_has_ended() {
    let test = TestScheduler::new();
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = |name: &'static str| {
        let order = order.clone();
        Fiber::lazy(move || order.lock().unwrap().push(name))
    };
    let fiber = Fiber::<()>::never().ensure(note("clean-up")).timeout_to(SECOND, note("fallback"));
    assert!(test.run(fiber).is_success());
    assert_eq!(*order.lock().unwrap(), ["clean-up", "fallback"]);
}

#[test]
fn an_error_tells_its_way_through_forks_and_branches() {
    let fiber =
        fails_after(1, "deep").zip(after(1, ())).fork().bind(|child| child.join()).timeout(60 * SECOND);
    let error = TestScheduler::new().run(fiber).failure().unwrap();
    let operators: Vec<_> = error.trace().iter().map(|frame| frame.operator()).collect();
    assert_eq!(operators, ["fail", "zip", "fork", "timeout"]);
    let printed = format!("{error:?}");
    assert!(printed.starts_with("deep\n") && printed.contains("branches.rs:"), "{printed}");
    assert_eq!(error.to_string(), "deep");
}

#[test]
fn a_failure_that_a_handler_passes_on_in_a_cancelled_branch_is_not_lost() {
    let passes_on = fails_after(2, "late").uncancelable().catch(|error| Fiber::fail(error.context("in b")));
    let error = TestScheduler::new().run(fails_after(1, "early").zip(passes_on)).failure().unwrap();
    assert_eq!(error.suppressed()[0].to_string(), "in b: late");
}

#[test]
fn a_slow_iterator_of_parallel_keeps_nobody_from_failing() {
    use std::sync::mpsc;
    let pool = fiber_sched::Pool::builder().workers(2).build();
    let (failed, has_failed) = mpsc::channel::<()>();
    // The second pull comes when the first fiber has ended; it lasts until the third one has failed and its failure was handled.
    let watch = Fiber::<u32>::never().on_cancel(Fiber::lazy(move || failed.send(()).unwrap()));
    let mut fibers = vec![
        Fiber::success(1).boxed(),
        watch.boxed(),
        Fiber::yield_now().bind(|()| Fiber::fail(Error::msg("broken"))).boxed(),
    ]
    .into_iter();
    let mut pulled = 0;
    let slow = std::iter::from_fn(move || {
        pulled += 1;
        if pulled == 4 {
            has_failed.recv().unwrap();
        }
        fibers.next()
    });
    assert_eq!(pool.run(Fiber::parallel(slow).limit(3)).failure().unwrap().to_string(), "broken");
}
