//! Waits in places that move: into fibers of their own, out of regions, or to other threads.

use std::sync::Arc;

use fiber_core::error::Cancelled;
use fiber_core::sync::Channel;
use fiber_core::{Either, Fiber, Outcome};
use fiber_test::{Explore, TestScheduler};

use super::{HOUR, SECOND, forever};

fn fails() -> Fiber<()> {
    Fiber::delay(SECOND).bind(|()| Fiber::fail(std::fmt::Error)).boxed()
}

/// Ends after a second, so that nothing has to be awaited for longer.
fn ends_after_a_second<T: std::fmt::Debug + Send + 'static>(
    fiber: Fiber<T>,
    is_right: impl FnOnce(&Outcome<T>) -> bool,
) {
    let test = TestScheduler::new();
    let outcome = test.run(fiber);
    assert!(is_right(&outcome), "{outcome:?}");
    assert_eq!(test.now().as_nanos(), 1_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn a_race_in_an_uncancelable_region_cancels_its_loser() {
    let ends = || Fiber::delay(SECOND).bind(|()| Fiber::success(1));
    ends_after_a_second(forever::<()>().race(ends()).uncancelable().boxed(), Outcome::is_success);
    ends_after_a_second(ends().race(forever::<()>()).uncancelable().boxed(), Outcome::is_success);
}

#[test]
fn a_zip_in_an_uncancelable_region_cancels_the_rest_when_it_fails() {
    ends_after_a_second(forever::<()>().zip(fails()).uncancelable().boxed(), Outcome::is_failure);
    ends_after_a_second(fails().zip(forever::<()>()).uncancelable().boxed(), Outcome::is_failure);
}

#[test]
fn a_race_in_a_finalizer_times_out() {
    let race = forever::<()>().race(forever::<()>()).map(drop).timeout(SECOND);
    ends_after_a_second(
        Fiber::success(1).ensure(race.catch(|_| Fiber::success(()))).boxed(),
        Outcome::is_success,
    );
}

#[test]
fn a_zip_that_fails_in_a_race_or_in_a_limit_ends_it() {
    ends_after_a_second(forever::<()>().zip(fails()).race(forever::<()>()).boxed(), Outcome::is_failure);
    ends_after_a_second(fails().zip(forever::<()>()).race(forever::<()>()).boxed(), Outcome::is_failure);
    let is_own =
        |outcome: &Outcome<_>| matches!(outcome, Outcome::Failure(error) if error.is::<std::fmt::Error>());
    ends_after_a_second(fails().zip(forever::<()>()).timeout(HOUR).boxed(), is_own);
}

#[test]
fn a_loser_that_waits_uncancelably_for_its_own_child_ends_with_it() {
    let waits = forever::<()>().fork().bind(|child| child.join().uncancelable());
    ends_after_a_second(waits.race(Fiber::delay(SECOND)).boxed(), Outcome::is_success);
}

#[test]
fn of_nested_races_the_first_event_wins() {
    let hour = || Fiber::delay(HOUR);
    let wins = |fiber| {
        ends_after_a_second(fiber, |outcome| matches!(outcome, Outcome::Success(true)));
    };
    let second = || Fiber::delay(SECOND);
    wins(hour().race(hour().race(second())).map(|won| won == Either::Right(Either::Right(()))).boxed());
    wins(hour().race(second().race(hour())).map(|won| won == Either::Right(Either::Left(()))).boxed());
    wins(hour().race(second()).race(hour()).map(|won| won == Either::Left(Either::Right(()))).boxed());
    let two = hour().race(hour()).race(second().race(hour()));
    wins(two.map(|won| won == Either::Right(Either::Left(()))).boxed());
}

#[test]
fn a_nested_race_behind_a_program_drops_each_side_once() {
    let value = Arc::new(String::from("a string on the heap"));
    let (sender, receiver) = Channel::<usize>::bounded(1);
    let kept = value.clone();
    let inner = Fiber::delay(SECOND).map(move |()| kept.len()).race(receiver.recv().map(move |length| {
        drop(sender);
        length
    }));
    let race = forever::<usize>().bind(Fiber::success).race(inner);
    ends_after_a_second(race.boxed(), |outcome| {
        matches!(outcome, Outcome::Success(Either::Right(Either::Left(20))))
    });
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn a_cancellation_from_above_is_not_a_timeout() {
    let waits = forever::<()>().fork().bind(|child| child.join()).timeout(HOUR);
    let cancels = waits.fork().bind(|child| {
        Fiber::delay(SECOND).bind(move |()| {
            child.cancel_now();
            child.join()
        })
    });
    ends_after_a_second(
        cancels.boxed(),
        |outcome| matches!(outcome, Outcome::Failure(error) if error.is::<Cancelled>()),
    );
}

#[test]
fn an_uncancelable_race_is_sheltered_from_the_cancellation_of_its_fiber() {
    let race = Fiber::delay(SECOND).bind(|()| Fiber::success(1)).race(forever::<()>()).uncancelable();
    let cancels = race.fork().bind(|child| {
        Fiber::delay(SECOND / 2).bind(move |()| {
            child.cancel_now();
            child.join()
        })
    });
    ends_after_a_second(cancels.boxed(), |outcome| matches!(outcome, Outcome::Success(Either::Left(1))));
}

#[test]
fn a_limit_that_cannot_interrupt_a_receive_leaves_it_its_place_in_the_queue() {
    let (sender, receiver) = Channel::<u32>::unbounded();
    let first = receiver.recv().timeout(HOUR).uncancelable().timeout(SECOND);
    let second = Fiber::delay(SECOND / 2).bind({
        let receiver = receiver.clone();
        move |()| receiver.recv()
    });
    let send = Fiber::delay(2 * SECOND).map(move |()| {
        sender.try_send(1).unwrap();
        sender.try_send(2).unwrap();
    });
    let ((first, second), ()) = TestScheduler::new().run(first.zip(second).zip(send)).unwrap();
    assert_eq!((first, second), (1, 2));
}

#[test]
fn nested_races_in_regions_end_in_every_schedule_and_wherever_they_are_cancelled() {
    let program = || {
        let (sender, receiver) = Channel::<u32>::rendezvous();
        let (other, kept) = (receiver.clone(), receiver.clone());
        let meets = sender
            .send(1)
            .named("a branch")
            .race(other.recv().timeout(HOUR).boxed())
            .map(drop)
            .uncancelable();
        let waits =
            receiver.recv().named("a branch").race(forever::<u32>()).map(Either::into_inner).timeout(SECOND);
        let race =
            meets.race(waits.ensure(Fiber::delay(SECOND).timeout(HOUR).race(forever::<()>()).map(drop)));
        let partner = Fiber::delay(2 * SECOND).map(move |()| {
            // The loser cannot be interrupted, if it has begun to wait.
            let _ = sender.try_send(2);
            let _ = kept.try_recv();
        });
        race.map(drop).catch(|_| Fiber::success(())).zip(partner.uncancelable()).map(drop)
    };
    Explore::default().schedules(300).may_be_unobserved().check(program);
    Explore::cancel_everywhere().schedules(50).may_be_unobserved().check(program);
}
