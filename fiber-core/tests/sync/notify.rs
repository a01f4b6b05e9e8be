//! Notifications: one wakes the oldest waiter or is stored for the next; a cancelled waiter does not consume one.
#![allow(clippy::disallowed_methods, reason = "foreign threads are what is tested")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fiber_core::sync::Notify;
use fiber_core::{Fiber, Outcome};
use fiber_sched::Pool;
use fiber_test::TestScheduler;
use parking_lot::Mutex;
use proptest::prelude::*;

use crate::everywhere::{enumerate, explore, forget_after, run_with_an_event_between, with_a_victim};

const ROUNDS: usize = 1000;

const TICK: Duration = Duration::from_secs(1);

#[test]
fn those_who_wait_are_notified_in_the_order_of_their_coming() {
    let (notify, test, order) = (Notify::new(), TestScheduler::new(), Arc::new(Mutex::new(Vec::new())));
    for n in 0..3 {
        let order = order.clone();
        drop(test.spawn(notify.wait().map(move |()| order.lock().push(n))));
        test.run_for(Duration::ZERO);
    }
    for n in 1..=3 {
        notify.notify_one();
        test.run_until_idle();
        assert_eq!(*order.lock(), (0..n).collect::<Vec<_>>());
    }
    assert!(!notify.try_wait());
}

#[test]
fn at_most_one_notification_is_left() {
    let notify = Notify::new();
    assert!(!notify.try_wait());
    notify.notify_one();
    notify.notify_one();
    assert!(notify.try_wait());
    assert!(!notify.try_wait());
}

#[test]
fn notify_all_leaves_nothing() {
    let (notify, test) = (Notify::new(), TestScheduler::new());
    notify.notify_all();
    assert!(!notify.try_wait());
    let waits = [(); 2].map(|()| test.spawn(notify.wait()));
    test.run_until_idle();
    notify.notify_all();
    assert!(!notify.try_wait());
    test.run_until_idle();
    assert!(waits.into_iter().all(|wait| wait.outcome().is_success()));
}

#[test]
fn a_waiter_that_is_cancelled_takes_no_notification_along() {
    let (notify, test) = (Notify::new(), TestScheduler::new());
    let first = test.spawn(notify.wait());
    test.run_for(Duration::ZERO);
    let second = test.spawn(notify.wait());
    test.run_for(Duration::ZERO);
    first.cancel_now();
    notify.notify_one();
    test.run_until_idle();
    assert!(first.outcome().is_cancelled() && second.outcome().is_success());
    assert!(!notify.try_wait());
}

#[test]
fn a_notification_on_its_way_to_a_fiber_that_is_cancelled_goes_to_the_next_one() {
    let (notify, test) = (Notify::new(), TestScheduler::new());
    let first = test.spawn(notify.wait());
    test.run_for(Duration::ZERO);
    let second = test.spawn(notify.wait());
    test.run_for(Duration::ZERO);
    notify.notify_one();
    first.cancel_now();
    test.run_until_idle();
    assert!(first.outcome().is_cancelled());
    assert!(second.outcome().is_success());
    assert!(!notify.try_wait());
}

#[test]
fn an_uncancelable_wait_takes_its_notification_though_it_is_cancelled() {
    let (notify, test) = (Notify::new(), TestScheduler::new());
    let first = test.spawn(notify.wait().uncancelable());
    test.run_for(Duration::ZERO);
    notify.notify_one();
    first.cancel_now();
    test.run_until_idle();
    assert!(first.outcome().is_success());
    assert!(!notify.try_wait());
}

/// Two waiters and two notifiers, one of which is cancelled. Every notification is consumed or stored.
fn notifications_are_kept() -> Fiber<()> {
    let (notify, given, taken) =
        (Notify::new(), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let wait = || {
        let taken = taken.clone();
        notify
            .wait()
            .map(move |()| {
                taken.fetch_add(1, Ordering::Relaxed);
            })
            .boxed()
    };
    let give = || {
        let (notify, given) = (notify.clone(), given.clone());
        // One step, so that the count is right.
        Fiber::lazy(move || {
            given.fetch_add(1, Ordering::Relaxed);
            notify.notify_one();
        })
        .boxed()
    };
    // A fiber that still waits when all others do is notified, because two notifications may have merged. Virtual time advances only then.
    let end = {
        let notify = notify.clone();
        Fiber::delay(TICK).map(move |()| notify.notify_all()).boxed()
    };
    let all = vec![wait(), give(), wait(), give(), end];
    let (given, taken, notify) = (given.clone(), taken.clone(), notify.clone());
    with_a_victim(all)
        .map(move |_| {
            let left = usize::from(notify.try_wait());
            let (given, taken) = (given.load(Ordering::Relaxed), taken.load(Ordering::Relaxed));
            // Two notifications in a row count as one.
            assert!(taken + left >= given.min(1), "{given} given, {taken} taken, {left} left");
        })
        .boxed()
}

#[test]
fn a_notification_is_never_lost_whoever_is_cancelled_when() {
    explore(notifications_are_kept);
}

#[test]
fn a_notification_reaches_the_other_if_one_of_two_is_cancelled_at_the_same_time() {
    enumerate(2, || {
        let notify = Notify::new();
        let gives = notify.clone();
        let (first, second) = (notify.wait().fork(), notify.wait().fork());
        let both = first.bind(move |first| second.map(move |second| (first, second)));
        both.bind(move |(first, second)| {
            let give = Fiber::yield_now().map(move |()| gives.notify_one());
            let cancel = Fiber::yield_now().bind(move |()| {
                first.cancel_now();
                first.outcome()
            });
            // The second waits for ever if the first consumes the notification, unless the first has really received it.
            give.zip(cancel).bind(move |(_, first)| match first {
                Outcome::Success(()) => second.cancel().boxed(),
                _ => second.outcome().map(|second| assert!(second.is_success())).boxed(),
            })
        })
    });
}

#[test]
fn a_fiber_whose_scheduler_forgets_it_passes_its_notification_on() {
    let notify = Notify::new();
    forget_after(notify.wait(), || ());
    assert!(!notify.try_wait());
    forget_after(notify.wait(), || {
        notify.notify_one();
        assert!(!notify.try_wait(), "it is on its way");
    });
    assert!(notify.try_wait());
    forget_after(notify.wait(), || notify.notify_all());
    assert!(!notify.try_wait(), "it was for those who waited");
}

#[derive(Clone, Debug)]
enum Action {
    Wait,
    Cancel(prop::sample::Index),
    One,
    All,
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        4 => Just(Action::Wait),
        1 => any::<prop::sample::Index>().prop_map(Action::Cancel),
        3 => Just(Action::One),
        1 => Just(Action::All),
    ]
}

proptest! {
    #[test]
    fn it_does_what_a_list_would(actions in prop::collection::vec(action(), 0..40)) {
        let (notify, test) = (Notify::new(), TestScheduler::new());
        let mut fibers = Vec::new();
        // The numbers of the waiters, the oldest first.
        let (mut waiting, mut is_left) = (Vec::new(), false);
        for action in actions {
            match action {
                Action::Wait => {
                    if std::mem::take(&mut is_left) { fibers.push((test.spawn(notify.wait()), false)); }
                    else {
                        waiting.push(fibers.len());
                        fibers.push((test.spawn(notify.wait()), true));
                    }
                }
                Action::Cancel(_) if waiting.is_empty() => {}
                Action::Cancel(index) => {
                    let number = waiting.remove(index.index(waiting.len()));
                    fibers[number].0.cancel_now();
                    fibers[number].1 = false;
                }
                Action::One => {
                    notify.notify_one();
                    if waiting.is_empty() { is_left = true; } else { fibers[waiting.remove(0)].1 = false; }
                }
                Action::All => {
                    notify.notify_all();
                    waiting.drain(..).for_each(|number| fibers[number].1 = false);
                }
            }
            test.run_until_idle();
            for (fiber, is_pending) in &fibers {
                prop_assert_eq!(fiber.is_pending(), *is_pending);
            }
        }
        prop_assert_eq!(notify.try_wait(), is_left);
    }
}

#[test]
fn threads_and_fibers_play_ping_pong() {
    let (ping, pong) = (Notify::new(), Notify::new());
    let pool = Pool::builder().workers(2).build();
    let player = pool.spawn(Fiber::for_each(0..ROUNDS, {
        let (ping, pong) = (ping.clone(), pong.clone());
        move |_| {
            let pong = pong.clone();
            ping.wait().map(move |()| pong.notify_one())
        }
    }));
    for _ in 0..ROUNDS {
        ping.notify_one();
        pong.blocking_wait();
    }
    assert!(pool.run(player.join()).is_success());
    assert!(!ping.try_wait() && !pong.try_wait());
}

#[test]
fn a_notification_that_comes_while_a_fiber_begins_to_wait_is_not_missed() {
    let notify = Notify::new();
    let gives = notify.clone();
    assert!(run_with_an_event_between(notify.wait(), move || gives.notify_one()).is_success());
    assert!(!notify.try_wait());
}
