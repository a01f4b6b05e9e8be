//! Races in unusual places: a side holds its race from its event to its end, and must not hold it longer, or wait for it when it cannot be
//! interrupted.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fiber_core::sync::{Channel, Notify, Receiver, Semaphore};
use fiber_core::{Either, Fiber};
use fiber_test::TestScheduler;

use super::{HOUR, SECOND};
use crate::support::Tireless;

/// Runs a side that receives an item, and cannot be interrupted, against a second. The item comes after two seconds.
fn receives_after_it_has_lost(side: impl FnOnce(Receiver<u32>) -> Fiber<u32>) {
    let test = TestScheduler::new();
    let (sender, receiver) = Channel::unbounded();
    let race = test.spawn(side(receiver.clone()).race(Fiber::delay(SECOND)));
    test.run_for(2 * SECOND);
    assert!(race.is_pending(), "the loser cannot be interrupted");
    sender.try_send(1).unwrap();
    test.run_for(SECOND);
    assert!(matches!(race.try_outcome().unwrap().unwrap(), Either::Right(())));
    assert!(receiver.try_recv().is_err(), "it is received");
    test.assert_no_leaks();
}

#[test]
fn a_loser_that_cannot_be_interrupted_receives_within_a_limit() {
    receives_after_it_has_lost(|receiver| receiver.recv().timeout(HOUR).uncancelable().boxed());
}

#[test]
fn a_loser_that_cannot_be_interrupted_receives_in_a_race_of_its_own() {
    receives_after_it_has_lost(|receiver| {
        let race = receiver.recv().race(Fiber::<u32>::never().named("a branch"));
        race.map(Either::into_inner).uncancelable().boxed()
    });
}

#[test]
fn a_loser_that_cannot_be_interrupted_receives_in_a_race_within_a_race() {
    receives_after_it_has_lost(|receiver| {
        let never = || Fiber::<u32>::never().named("a branch");
        let inner = receiver.recv().boxed().race(never()).map(Either::into_inner).boxed();
        inner.race(never()).map(Either::into_inner).timeout(HOUR).uncancelable().boxed()
    });
}

#[test]
fn a_loser_that_cannot_be_interrupted_receives_what_the_winner_has_sent() {
    let test = TestScheduler::new();
    let ((first, from_first), (second, from_second)) = (Channel::unbounded(), Channel::unbounded());
    first.try_send(7).unwrap();
    let left = from_second.clone();
    let loser = from_second.recv().bind(move |item| from_second.recv().map(move |next| (item, next)));
    let winner =
        from_first.recv().map(move |item| [item, item + 1].map(|item| second.try_send(item).unwrap()));
    let race = loser.uncancelable().race(winner);
    assert!(matches!(test.run(race).unwrap(), Either::Right(_)));
    assert!(left.try_recv().is_err(), "both are received");
}

#[test]
fn a_finalizer_of_a_loser_waits_within_a_limit() {
    let test = TestScheduler::new();
    let side = Fiber::<()>::never().ensure(Fiber::delay(5 * SECOND).timeout(10 * SECOND));
    assert_eq!(test.run(side.race(Fiber::delay(SECOND))).unwrap(), Either::Right(()));
    assert_eq!(test.now().as_nanos(), 6_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn a_finalizer_of_a_loser_waits_in_a_race_of_its_own() {
    let test = TestScheduler::new();
    let finalizer = Fiber::delay(5 * SECOND).race(Fiber::<()>::never().named("a branch")).map(drop);
    let side = Fiber::<()>::never().ensure(finalizer);
    assert_eq!(test.run(side.race(Fiber::delay(SECOND))).unwrap(), Either::Right(()));
    assert_eq!(test.now().as_nanos(), 6_000_000_000);
    test.assert_no_leaks();
}

/// A race that is won by an item at once. Its loser then runs a finalizer.
fn cleans_after_an_item(finalizer: Fiber<()>) -> Fiber<u32> {
    let (sender, receiver) = Channel::unbounded();
    sender.try_send(7).unwrap();
    let loser = Fiber::never().ensure(finalizer).boxed();
    loser.race(Fiber::yield_now().bind(move |()| receiver.recv())).map(Either::into_inner).boxed()
}

#[test]
fn a_delay_wins_while_a_loser_inside_of_the_other_side_waits_in_its_finalizer() {
    let test = TestScheduler::new();
    let race = cleans_after_an_item(Fiber::delay(10 * SECOND).boxed()).race(Fiber::delay(SECOND));
    assert!(matches!(test.run(race).unwrap(), Either::Right(())));
    assert_eq!(test.now().as_nanos(), 10_000_000_000);
}

#[test]
fn a_time_limit_keeps_what_was_won_while_a_loser_waits_in_its_finalizer() {
    let test = TestScheduler::new();
    let race = cleans_after_an_item(Fiber::delay(10 * SECOND).boxed()).timeout(SECOND);
    assert_eq!(test.run(race).unwrap(), 7);
    assert_eq!(test.now().as_nanos(), 10_000_000_000);
}

/// The finalizer of a loser inside of one side waits, by `pause` after `pause`, for a step of the other side.
fn waits_for_the_other_side(pause: fn() -> Fiber<()>) -> Fiber<Either<u32, ()>> {
    let (told, has_stepped) = (Notify::new(), Arc::new(AtomicBool::new(false)));
    let steps = {
        let has_stepped = has_stepped.clone();
        told.wait().bind(move |()| {
            has_stepped.store(true, Ordering::Relaxed);
            Fiber::never()
        })
    };
    let looks = move |()| {
        let goes_on = if has_stepped.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        };
        pause().map(move |()| goes_on)
    };
    let finalizer = Fiber::lazy(move || told.notify_one()).bind(move |()| Fiber::iterate((), looks));
    cleans_after_an_item(finalizer.boxed()).race(steps).boxed()
}

#[test]
fn a_finalizer_that_yields_until_another_side_of_an_outer_race_has_run_ends() {
    let outcome = TestScheduler::new().run(waits_for_the_other_side(|| Fiber::yield_now().boxed()));
    assert_eq!(outcome.unwrap(), Either::Left(7));
}

#[test]
fn a_finalizer_that_computes_until_another_side_of_an_outer_race_has_run_ends() {
    let outcome = Tireless::new().run(waits_for_the_other_side(|| Fiber::success(()).boxed()));
    assert_eq!(outcome.unwrap(), Either::Left(7));
}

#[test]
fn a_side_whose_waits_are_always_ready_loses_to_a_delay() {
    let permits = Semaphore::new(1);
    let takes = move |count| permits.acquire(1).map(move |_| ControlFlow::<(), u64>::Continue(count + 1));
    let outcome = Tireless::new().run(Fiber::iterate(0, takes).race(Fiber::delay(10 * SECOND)));
    assert_eq!(outcome.unwrap(), Either::Right(()));
}

#[test]
fn a_side_that_computes_after_its_event_loses_to_a_delay() {
    let (sender, receiver) = Channel::unbounded();
    sender.try_send(0_u64).unwrap();
    let counts =
        |count| Fiber::iterate(count, |count| Fiber::success(ControlFlow::<(), u64>::Continue(count + 1)));
    let outcome = Tireless::new().run(receiver.recv().bind(counts).race(Fiber::delay(10 * SECOND)));
    assert_eq!(outcome.unwrap(), Either::Right(()));
}

#[test]
fn an_event_wins_a_thousand_races_around_it() {
    let test = TestScheduler::new();
    let (sender, receiver) = Channel::unbounded();
    let never = || Fiber::<u32>::never().boxed();
    let around = |side: Fiber<u32>, _| side.race(never()).map(Either::into_inner).boxed();
    let race = test.spawn((0..1_000).fold(receiver.recv().boxed(), around));
    test.run_for(SECOND);
    sender.try_send(7).unwrap();
    test.run_for(SECOND);
    assert_eq!(race.outcome().unwrap(), 7);
    test.assert_no_leaks();
}
