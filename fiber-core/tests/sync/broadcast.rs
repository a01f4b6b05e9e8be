//! Broadcasts: each subscriber receives each value once, in order, or learns how many it has missed.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use fiber_core::sync::{Broadcast, Closed, Missed, SendError, Subscriber, TrySendError};
use fiber_core::{Fiber, Outcome, Run};
use fiber_test::{Spawned, TestScheduler};
use parking_lot::Mutex;
use proptest::prelude::*;

use crate::everywhere::{explore, with_a_victim};

fn begin<T: Send + 'static>(test: &TestScheduler, fiber: Fiber<T, impl Run<Out = T>>) -> Spawned<T> {
    let spawned = test.spawn(fiber);
    test.run_for(Duration::ZERO);
    spawned
}

fn ended<T: Send + 'static>(test: &TestScheduler, spawned: Spawned<T>) -> Outcome<T> {
    test.run_until_idle();
    spawned.outcome()
}

fn values(subscriber: &Subscriber<u32>) -> Vec<u32> {
    std::iter::from_fn(|| subscriber.try_recv()?.ok()).collect()
}

fn missed(outcome: Outcome<u32>) -> u64 {
    outcome.failure().unwrap().downcast::<Missed>().unwrap().count
}

#[test]
fn each_subscriber_sees_what_is_sent_after_it_has_subscribed() {
    let broadcast = Broadcast::lossless(8);
    broadcast.try_send(0).unwrap();
    let first = broadcast.subscribe();
    broadcast.try_send(1).unwrap();
    let second = broadcast.subscribe();
    broadcast.try_send(2).unwrap();
    assert_eq!((values(&first), values(&second)), (vec![1, 2], vec![2]));
    assert_eq!(broadcast.subscribers(), 2);
    drop(first);
    assert_eq!(broadcast.subscribers(), 1);
}

#[test]
fn all_who_wait_are_woken() {
    let (test, broadcast) = (TestScheduler::new(), Broadcast::lossy(1));
    let subscribers = [(); 3].map(|()| broadcast.subscribe());
    let waiting = subscribers.each_ref().map(|subscriber| begin(&test, subscriber.recv()));
    broadcast.try_send(7).unwrap();
    assert_eq!(waiting.map(|spawned| ended(&test, spawned).unwrap()), [7; 3]);
}

#[test]
fn a_slow_subscriber_is_told_how_many_it_has_missed() {
    let (test, broadcast) = (TestScheduler::new(), Broadcast::lossy(2));
    let (slow, quick) = (broadcast.subscribe(), broadcast.subscribe());
    for n in 0..5 {
        assert!(test.run(broadcast.send(n)).is_success(), "no sender waits");
        assert_eq!(test.run(quick.recv()).unwrap(), n);
    }
    assert_eq!(missed(test.run(slow.recv())), 3);
    assert_eq!(values(&slow), [3, 4]);
}

#[test]
fn a_slow_subscriber_slows_the_senders() {
    let (test, broadcast) = (TestScheduler::new(), Broadcast::lossless(2));
    let (slow, quick) = (broadcast.subscribe(), broadcast.subscribe());
    let sender = broadcast.clone();
    let send = begin(&test, Fiber::for_each(0..4, move |n| sender.send(n)));
    assert_eq!(values(&quick), [0, 1]);
    assert_eq!(broadcast.try_send(9), Err(TrySendError::Full(9)));
    assert!(send.is_pending());
    assert_eq!(slow.try_recv().unwrap().unwrap(), 0);
    test.run_until_idle();
    assert_eq!(values(&quick), [2]);
    assert_eq!(values(&slow), [1, 2, 3], "each makes room for another");
    assert!(ended(&test, send).is_success());
    assert_eq!(values(&quick), [3]);
}

#[test]
fn a_subscriber_that_goes_makes_room() {
    let (test, broadcast) = (TestScheduler::new(), Broadcast::lossless(1));
    let (first, second) = (broadcast.subscribe(), broadcast.subscribe());
    broadcast.try_send(0).unwrap();
    let waiting = [begin(&test, broadcast.send(1)), begin(&test, broadcast.send(2))];
    assert_eq!(values(&second), [0]);
    drop(first);
    test.run_until_idle();
    assert_eq!([waiting[0].is_pending(), waiting[1].is_pending()], [false, true]);
    // Without a subscriber, nothing is kept.
    drop(second);
    assert!(waiting.into_iter().all(|spawned| ended(&test, spawned).is_success()));
    assert_eq!(values(&broadcast.subscribe()), []);
}

#[test]
fn a_value_is_kept_until_the_last_has_received_it_who_gets_it_without_a_clone() {
    /// Panics when it is cloned too often.
    struct Precious(Arc<()>, Arc<Mutex<u32>>);
    impl Clone for Precious {
        fn clone(&self) -> Self {
            *self.1.lock() += 1;
            Precious(self.0.clone(), self.1.clone())
        }
    }
    let (alive, clones) = (Arc::new(()), Arc::new(Mutex::new(0)));
    let broadcast = Broadcast::lossless(4);
    let subscribers = [(); 3].map(|()| broadcast.subscribe());
    assert!(broadcast.try_send(Precious(alive.clone(), clones.clone())).is_ok());
    subscribers.iter().for_each(|subscriber| drop(subscriber.try_recv().unwrap().unwrap()));
    assert_eq!((Arc::strong_count(&alive), *clones.lock()), (1, 2));
    assert!(broadcast.try_send(Precious(alive.clone(), clones)).is_ok());
    drop(subscribers);
    assert_eq!(Arc::strong_count(&alive), 1);
}

#[test]
fn the_last_sender_closes_it_and_what_is_left_is_received() {
    let (test, broadcast) = (TestScheduler::new(), Broadcast::lossless(2));
    let (subscriber, waits) = (broadcast.subscribe(), broadcast.subscribe());
    let waiting = begin(&test, waits.recv());
    let send = broadcast.send(1);
    drop(broadcast);
    assert!(waiting.is_pending());
    assert!(test.run(send).is_success());
    assert_eq!(ended(&test, waiting).unwrap(), 1);
    assert!(test.run(waits.recv()).failure().unwrap().is::<Closed>());
    assert_eq!(test.run(subscriber.recv()).unwrap(), 1);
    assert!(test.run(subscriber.recv()).failure().unwrap().is::<Closed>());
}

#[test]
fn a_closed_broadcast_gives_the_value_back() {
    let (test, broadcast) = (TestScheduler::new(), Broadcast::lossless(1));
    let subscriber = broadcast.subscribe();
    broadcast.try_send(1).unwrap();
    let waiting = begin(&test, broadcast.send(2));
    broadcast.close();
    let unsent =
        |outcome: Outcome<()>| outcome.failure().unwrap().downcast::<SendError<u32>>().unwrap().into_inner();
    assert_eq!(unsent(ended(&test, waiting)), 2);
    assert_eq!(unsent(test.run(broadcast.send(3))), 3);
    assert_eq!(broadcast.try_send(4), Err(TrySendError::Closed(4)));
    assert_eq!(values(&subscriber), [1]);
}

#[test]
fn a_receive_that_is_cancelled_leaves_the_value_for_the_next() {
    let (test, broadcast) = (TestScheduler::new(), Broadcast::lossless(1));
    let subscriber = broadcast.subscribe();
    let waiting = begin(&test, subscriber.recv());
    broadcast.try_send(1).unwrap();
    waiting.cancel_now();
    assert!(ended(&test, waiting).is_cancelled());
    assert_eq!(values(&subscriber), [1]);
}

#[test]
fn the_value_of_a_sender_that_is_cancelled_is_never_received() {
    let (test, broadcast) = (TestScheduler::new(), Broadcast::lossless(1));
    let subscriber = broadcast.subscribe();
    broadcast.try_send(1).unwrap();
    let waiting = begin(&test, broadcast.send(2));
    waiting.cancel_now();
    assert!(ended(&test, waiting).is_cancelled());
    assert_eq!(values(&subscriber), [1]);
    broadcast.try_send(3).unwrap();
    assert_eq!(values(&subscriber), [3]);
}

/// Two subscribers and two senders, one of which is cancelled. Each of the other subscribers receives every value that was
/// sent, once, and the values of each sender in order.
#[test]
fn every_value_is_received_once_by_everyone_whoever_is_cancelled_when() {
    explore(|| {
        let broadcast = Broadcast::lossless(1);
        let sent = Arc::new(Mutex::new(Vec::new()));
        let listener = |subscriber: Subscriber<u32>| {
            Fiber::iterate((subscriber, Vec::new()), |(subscriber, mut all)| {
                subscriber.recv().map_outcome(move |outcome| match outcome {
                    Outcome::Success(value) => {
                        all.push(value);
                        Outcome::Success(ControlFlow::Continue((subscriber, all)))
                    }
                    Outcome::Failure(_) => Outcome::Success(ControlFlow::Break(all)),
                    Outcome::Panicked(panic) => Outcome::Panicked(panic),
                    Outcome::Cancelled => Outcome::Cancelled,
                })
            })
            .boxed()
        };
        let sender = |values: [u32; 2]| {
            let (broadcast, sent) = (broadcast.clone(), sent.clone());
            let send_all = Fiber::for_each(values, move |value| {
                let sent = sent.clone();
                broadcast.send(value).map(move |()| sent.lock().push(value))
            });
            send_all.map(|()| Vec::new()).boxed()
        };
        let fibers = vec![
            listener(broadcast.subscribe()),
            listener(broadcast.subscribe()),
            sender([1, 2]),
            sender([11, 12]),
        ];
        drop(broadcast);
        with_a_victim(fibers).map(move |outcomes| {
            let sent = sent.lock();
            for outcome in outcomes.into_iter().take(2) {
                let Some(received) = outcome.success() else { continue };
                let of = |tens: u32| received.iter().copied().filter(move |value| value / 10 == tens);
                assert!(of(0).is_sorted() && of(1).is_sorted(), "{received:?}");
                let mut all = [received.clone(), sent.clone()];
                all.iter_mut().for_each(|values| values.sort_unstable());
                assert_eq!(all[0], all[1], "received, and sent");
            }
        })
    });
}

#[test]
fn threads_broadcast_too() {
    const VALUES: u32 = 2_000;
    let broadcast = Broadcast::lossless(4);
    let subscribers = [(); 2].map(|()| broadcast.subscribe());
    let sums = std::thread::scope(|scope| {
        let threads = subscribers.map(|subscriber| {
            scope.spawn(move || {
                std::iter::from_fn(|| subscriber.blocking_recv().ok()).map(u64::from).sum::<u64>()
            })
        });
        (0..VALUES).for_each(|n| broadcast.blocking_send(n).unwrap());
        drop(broadcast);
        threads.map(|thread| thread.join().unwrap())
    });
    assert_eq!(sums, [(0..u64::from(VALUES)).sum(); 2]);
}

proptest! {
    /// The model: all values that were sent, and the position of each subscriber.
    #[test]
    fn a_lossy_broadcast_does_what_a_list_would(
        capacity in 1_usize..5,
        actions in prop::collection::vec((0_usize..4, any::<prop::sample::Index>()), 0..80),
    ) {
        let broadcast = Broadcast::lossy(capacity);
        let mut sent: Vec<u32> = Vec::new();
        let mut subscribers: Vec<(Subscriber<u32>, usize)> = Vec::new();
        for (action, index) in actions {
            match action {
                0 => subscribers.push((broadcast.subscribe(), sent.len())),
                1 => {
                    broadcast.try_send(sent.len() as u32).unwrap();
                    sent.push(sent.len() as u32);
                }
                2 if !subscribers.is_empty() => drop(subscribers.swap_remove(index.index(subscribers.len()))),
                _ if !subscribers.is_empty() => {
                    let (subscriber, next) = index.get_mut(&mut subscribers);
                    let oldest = sent.len().saturating_sub(capacity);
                    match subscriber.try_recv() {
                        None => prop_assert_eq!(*next, sent.len()),
                        Some(Ok(value)) => {
                            prop_assert!(*next >= oldest);
                            prop_assert_eq!(value, sent[*next]);
                            *next += 1;
                        }
                        Some(Err(error)) => {
                            let missed = error.downcast::<Missed>().unwrap().count as usize;
                            prop_assert_eq!(missed, oldest - *next);
                            *next = oldest;
                        }
                    }
                }
                _ => {}
            }
        }
    }
}
