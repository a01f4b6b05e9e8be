//! Promises, one-shots and references: completed once, for all waiters; a value that is not received is returned.
#![allow(clippy::disallowed_methods, reason = "foreign threads are what is tested")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fiber_core::error::{Abandoned, Cancelled};
use fiber_core::sync::{Promise, PromiseFailed, Ref, one_shot};
use fiber_core::{Error, Fiber, Outcome};
use fiber_sched::Pool;
use fiber_test::{Explore, TestScheduler};

use crate::everywhere::{enumerate, explore, forget_after, run_with_an_event_between, with_a_victim};

const ROUNDS: usize = 1000;

#[test]
fn all_who_wait_before_and_after_get_the_first_value() {
    let (promise, test) = (Promise::new(), TestScheduler::new());
    let early = [(); 2].map(|()| test.spawn(promise.wait()));
    test.run_until_idle();
    assert!(promise.try_outcome().is_none() && !promise.is_completed());
    assert!(promise.success(1));
    assert!(!promise.success(2));
    assert!(!promise.fail(Error::msg("late")) && !promise.cancel());
    test.run_until_idle();
    assert_eq!(early.map(|early| early.outcome().unwrap()), [1, 1]);
    assert_eq!(test.run(promise.wait()).unwrap(), 1);
    assert_eq!(promise.blocking_wait().unwrap(), 1);
    assert_eq!(promise.try_outcome().unwrap().unwrap(), 1);
}

#[test]
fn all_who_wait_share_the_error() {
    let (promise, test) = (Promise::<u8>::new(), TestScheduler::new());
    let waits = [(); 2].map(|()| test.spawn(promise.wait()));
    test.run_until_idle();
    assert!(promise.fail(Error::new(std::fmt::Error).context("writing")));
    test.run_until_idle();
    let errors = waits.map(|wait| wait.outcome().failure().unwrap());
    for error in &errors {
        assert_eq!(error.to_string(), "writing: an error occurred when formatting an argument");
        assert!(error.downcast_ref::<PromiseFailed>().unwrap().error().is::<std::fmt::Error>());
        assert!(error.trace()[0].location().file().ends_with("promise.rs"));
    }
}

#[test]
fn those_who_wait_for_a_promise_that_is_cancelled_fail_but_are_not_cancelled() {
    let (promise, test) = (Promise::<u8>::new(), TestScheduler::new());
    assert!(promise.cancel());
    let error = test.run(promise.wait()).failure().unwrap();
    assert!(error.is::<Cancelled>());
}

#[test]
fn a_promise_takes_every_outcome() {
    let test = TestScheduler::new();
    std::panic::set_hook(Box::new(|_| {}));
    let of = |outcome: Outcome<u8>| {
        let promise = Promise::new();
        assert!(promise.outcome(outcome));
        test.run(promise.wait())
    };
    assert_eq!(of(Outcome::Success(3)).unwrap(), 3);
    assert_eq!(of(Outcome::Failure(Error::msg("no"))).failure().unwrap().to_string(), "no");
    assert!(of(Outcome::Cancelled).failure().unwrap().is::<Cancelled>());
    let panic = test.run(Fiber::<u8>::lazy(|| panic!("torn")));
    assert_eq!(of(panic).failure().unwrap().to_string(), "panic: torn");
}

#[test]
fn those_who_wait_fail_when_the_last_handle_is_dropped() {
    let (promise, test) = (Promise::<u8>::new(), TestScheduler::new());
    let other = promise.clone();
    let waits = test.spawn(promise.wait());
    let unborn = promise.wait();
    test.run_until_idle();
    drop(promise);
    test.run_until_idle();
    assert!(waits.is_pending());
    drop(other);
    test.run_until_idle();
    assert!(waits.outcome().failure().unwrap().is::<Abandoned>());
    assert!(test.run(unborn).failure().unwrap().is::<Abandoned>());
}

#[test]
fn a_completed_promise_stays_completed_without_handles() {
    let promise = Promise::new();
    let waits = promise.wait();
    promise.success(5);
    drop(promise);
    assert_eq!(TestScheduler::new().run(waits).unwrap(), 5);
}

#[test]
fn a_panic_of_the_clone_harms_only_the_one_who_waits() {
    struct Torn(Arc<AtomicUsize>);
    impl Clone for Torn {
        fn clone(&self) -> Self {
            assert!(self.0.fetch_add(1, Ordering::Relaxed) > 0, "the first clone is torn");
            Torn(self.0.clone())
        }
    }
    std::panic::set_hook(Box::new(|_| {}));
    let (promise, test) = (Promise::new(), TestScheduler::new());
    let waits = [(); 2].map(|()| test.spawn(promise.wait()));
    test.run_until_idle();
    promise.success(Torn(Arc::default()));
    test.run_until_idle();
    assert_eq!(waits.map(|wait| wait.outcome().is_panicked()).map(usize::from).iter().sum::<usize>(), 1);
}

#[test]
fn a_promise_is_completed_once_and_nobody_waits_for_ever_whoever_is_cancelled_when() {
    explore(|| {
        let promise = Promise::new();
        let firsts = Arc::new(AtomicUsize::new(0));
        let complete = |n: usize| {
            let (promise, firsts) = (promise.clone(), firsts.clone());
            let complete =
                Fiber::lazy(move || firsts.fetch_add(usize::from(promise.success(n)), Ordering::Relaxed));
            complete.map(move |_| n).boxed()
        };
        // If the program is cancelled before all have begun, no fiber may be left to complete it.
        let wait = || {
            let wait = promise.wait().map_outcome(|outcome| match outcome {
                Outcome::Failure(error) if error.is::<Abandoned>() => Outcome::Cancelled,
                other => other,
            });
            wait.boxed()
        };
        let all = vec![wait(), complete(1), wait(), complete(2)];
        drop(promise);
        let firsts = firsts.clone();
        with_a_victim(all).map(move |outcomes| {
            let mut waited = [&outcomes[0], &outcomes[2]].into_iter().filter_map(|outcome| match outcome {
                Outcome::Success(value) => Some(*value),
                Outcome::Cancelled => None,
                other => panic!("{other:?}"),
            });
            assert_eq!(firsts.load(Ordering::Relaxed), 1);
            let first = waited.next();
            assert!(waited.all(|value| Some(value) == first));
        })
    });
}

#[test]
fn those_who_wait_for_a_promise_and_are_forgotten_leave_it() {
    let promise = Promise::new();
    forget_after(promise.wait(), || ());
    forget_after(promise.wait(), || assert!(promise.success(1)));
}

#[test]
fn threads_and_fibers_wait_for_the_same_promise() {
    let pool = Pool::builder().workers(2).build();
    for round in 0..ROUNDS {
        let promise = Promise::new();
        let fibers = [(); 2].map(|()| pool.spawn(promise.wait()));
        let completers = [round, round + 1].map(|n| {
            let promise = promise.clone();
            pool.spawn(Fiber::lazy(move || promise.success(n)))
        });
        let value = promise.blocking_wait().unwrap();
        for fiber in fibers {
            assert_eq!(pool.run(fiber.join()).unwrap(), value);
        }
        let firsts = completers.map(|completer| pool.run(completer.join()).unwrap());
        assert_eq!(firsts.into_iter().filter(|first| *first).count(), 1);
    }
}

#[test]
fn a_value_that_is_sent_to_one_who_was_cancelled_is_handed_back() {
    let test = TestScheduler::new();
    let (reply, answer) = one_shot();
    let waits = test.spawn(answer);
    test.run_until_idle();
    waits.cancel_now();
    // It has not had a turn to leave yet.
    assert_eq!(reply.send("value"), Err("value"));
    test.run_until_idle();
    assert!(waits.outcome().is_cancelled());
}

#[test]
fn a_value_that_is_sent_to_one_who_is_gone_is_handed_back() {
    let (reply, answer) = one_shot();
    drop(answer);
    assert!(reply.is_closed());
    assert_eq!(reply.send(1), Err(1));
    let (reply, answer) = one_shot();
    forget_after(answer, || ());
    assert_eq!(reply.send(1), Err(1));
}

#[test]
fn one_who_waits_for_a_dropped_resume_fails() {
    let test = TestScheduler::new();
    let (reply, answer) = one_shot::<u8>();
    let waits = test.spawn(answer);
    test.run_until_idle();
    drop(reply);
    test.run_until_idle();
    assert!(waits.outcome().failure().unwrap().is::<Abandoned>());
}

#[test]
fn a_value_that_was_sent_arrives_though_the_fiber_is_cancelled_before_it_begins_to_wait() {
    let test = TestScheduler::new();
    let (reply, answer) = one_shot();
    let unstarted = test.spawn(answer);
    assert_eq!(reply.send(1), Ok(()));
    unstarted.cancel_now();
    test.run_until_idle();
    assert_eq!(unstarted.outcome().unwrap(), 1);
    let (reply, answer) = one_shot();
    let unstarted = test.spawn(answer.boxed().named("answer"));
    assert_eq!(reply.send(2), Ok(()));
    unstarted.cancel_now();
    test.run_until_idle();
    assert_eq!(unstarted.outcome().unwrap(), 2);
    let (reply, answer) = one_shot();
    let busy = Fiber::delay(Duration::from_secs(1)).uncancelable();
    let on_its_way = test.spawn(busy.bind(move |()| answer));
    test.run_for(Duration::ZERO);
    assert_eq!(reply.send(3), Ok(()));
    on_its_way.cancel_now();
    test.run_until_idle();
    assert_eq!(on_its_way.outcome().unwrap(), 3);
}

#[test]
fn a_value_that_was_sent_reaches_the_steps_behind_a_wait_that_a_cancelled_fiber_has_not_begun() {
    let test = TestScheduler::new();
    let (reply, answer) = one_shot();
    let busy = Fiber::delay(Duration::from_secs(1)).uncancelable();
    let on_its_way = test.spawn(busy.bind(move |()| answer.map(|value: u32| value + 1)));
    test.run_for(Duration::ZERO);
    assert_eq!(reply.send(3), Ok(()));
    on_its_way.cancel_now();
    test.run_until_idle();
    assert_eq!(on_its_way.outcome().unwrap(), 4);
}

#[test]
fn one_who_was_cancelled_before_it_waits_for_a_dropped_resume_is_cancelled() {
    let test = TestScheduler::new();
    let (reply, answer) = one_shot::<u8>();
    let busy = Fiber::delay(Duration::from_secs(1)).uncancelable();
    let on_its_way = test.spawn(busy.bind(move |()| answer));
    test.run_for(Duration::ZERO);
    drop(reply);
    on_its_way.cancel_now();
    test.run_until_idle();
    assert!(on_its_way.outcome().is_cancelled());

    // The whole program is cancelled: a child that has not started drops what it would have sent.
    let program = || {
        let (reply, answer) = one_shot();
        let replies = Fiber::delay(Duration::from_secs(1)).map(move |()| reply.success(1));
        replies.fork().bind(move |_child| answer)
    };
    Explore::cancel_everywhere().program_only().no_regressions().check(program);
    // A branch that has not started is reached before the one that waits.
    let program = || {
        let (reply, answer) = one_shot();
        Fiber::delay(Duration::from_secs(1)).map(move |()| reply.success(1)).zip(answer)
    };
    Explore::cancel_everywhere().program_only().no_regressions().check(program);
}

#[test]
fn one_who_is_cancelled_together_with_the_last_handle_of_a_promise_is_cancelled() {
    Explore::cancel_everywhere().program_only().no_regressions().check(|| {
        let promise = Promise::new();
        let kept = promise.wait();
        Fiber::delay(Duration::from_secs(1)).map(move |()| promise.success(1)).zip(kept)
    });
}

#[test]
fn a_value_is_received_or_handed_back_and_never_both_or_lost() {
    enumerate(3, || {
        let (reply, answer) = one_shot();
        answer.fork().bind(move |waits| {
            let sent = Fiber::yield_now().map(move |()| reply.send(7));
            let cancelled = Fiber::yield_now().bind(move |()| {
                waits.cancel_now();
                waits.outcome()
            });
            sent.zip(cancelled).map(|(sent, received)| assert_eq!(sent.is_ok(), received.is_success()))
        })
    });
}

#[test]
fn replies_cross_threads() {
    let pool = Pool::builder().workers(2).build();
    for round in 0..ROUNDS {
        let (reply, answer) = one_shot();
        let receiver = pool.spawn(answer);
        let context = receiver.context().clone();
        let canceller = pool.spawn(Fiber::lazy(move || {
            if round % 2 == 0 {
                context.cancel()
            }
        }));
        let sent = reply.send(round);
        let received = pool.run(receiver.outcome()).unwrap();
        assert_eq!(sent.is_ok(), received.is_success());
        assert!(round % 2 == 0 || sent.is_ok());
        assert!(pool.run(canceller.join()).is_success());
    }
}

#[test]
fn changes_of_a_reference_are_whole_and_none_is_lost() {
    explore(|| {
        let pair = Ref::new((0, 0));
        let add = || pair.update(|&(a, b)| (a + 1, b + 1)).boxed();
        let read = pair.read().map(|pair| assert_eq!(pair.0, pair.1)).boxed();
        let take = pair.modify(|&(a, b)| ((a + 1, b + 1), ())).boxed();
        let last = pair.clone();
        with_a_victim(vec![add(), read, take, add()]).map(move |outcomes| {
            let changes = [0, 2, 3].into_iter().filter(|&n| outcomes[n].is_success()).count();
            assert_eq!(*last.load(), (changes, changes));
        })
    });
}

#[test]
fn a_change_that_meets_another_one_is_computed_again() {
    let (count, other) = (Ref::new(1), Ref::new(0));
    let (meets, calls) = (count.clone(), other.clone());
    let change = count.modify(move |&n| {
        calls.store(*calls.load() + 1);
        if *calls.load() == 1 {
            meets.store(10);
        }
        (n + 1, n)
    });
    assert_eq!(TestScheduler::new().run(change).unwrap(), 10);
    assert_eq!((*count.load(), *other.load()), (11, 2));
}

#[test]
fn changes_of_a_reference_by_many_threads_are_all_kept() {
    let count = Ref::new(0);
    let pool = Pool::builder().workers(2).build();
    let adders = [(); 2].map(|()| {
        let count = count.clone();
        pool.spawn(Fiber::for_each(0..ROUNDS, move |_| count.update(|n| n + 1)))
    });
    for _ in 0..ROUNDS {
        assert!(pool.run(count.modify(|&n| (n + 1, n))).is_success());
    }
    for adder in adders {
        assert!(pool.run(adder.join()).is_success());
    }
    assert_eq!(*count.load(), 3 * ROUNDS);
}

#[test]
fn a_reference_that_is_set_has_the_new_value_and_a_panic_leaves_the_old_one() {
    std::panic::set_hook(Box::new(|_| {}));
    let (name, test) = (Ref::new("a".to_owned()), TestScheduler::new());
    let set = name.set("b".to_owned());
    assert_eq!(*name.load(), "a", "nothing has run yet");
    assert!(test.run(set).is_success());
    assert!(test.run(name.update(|_| panic!("torn"))).is_panicked());
    assert_eq!(*test.run(name.read()).unwrap(), "b");
    name.store("c".to_owned());
    assert_eq!(*name.load(), "c");
}

#[test]
fn a_value_that_comes_while_a_fiber_begins_to_wait_is_not_missed() {
    let promise = Promise::new();
    let completes = promise.clone();
    let waits = promise.wait();
    assert_eq!(run_with_an_event_between(waits, move || assert!(completes.success(1))).unwrap(), 1);
    let (reply, answer) = one_shot();
    assert_eq!(run_with_an_event_between(answer, move || assert!(reply.send(2).is_ok())).unwrap(), 2);
}
