//! Loops over the items of a channel that keep their receiver: each item reaches the closure once, whatever ends the loop.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fiber_core::Fiber;
use fiber_core::sync::{Channel, Receiver, Sender};
use fiber_sched::Pool;
use fiber_test::TestScheduler;
use parking_lot::Mutex;

use crate::everywhere::{enumerate, explore, forget_after, with_a_victim};

type Ends = (Sender<u32>, Receiver<u32>);

/// The channels of the searches.
const OPEN: [fn() -> Ends; 3] = [Channel::rendezvous, || Channel::bounded(1), Channel::unbounded];

const SECOND: Duration = Duration::from_secs(1);

/// The items that reached a closure.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<u32>>>);

impl Seen {
    /// Notes each item at once, then yields.
    fn all(&self, receiver: Receiver<u32>) -> Fiber<()> {
        let seen = self.clone();
        receiver
            .for_each(move |item| {
                seen.0.lock().push(item);
                Fiber::yield_now()
            })
            .boxed()
    }

    fn sorted(&self) -> Vec<u32> {
        let mut seen = self.0.lock().clone();
        seen.sort_unstable();
        seen
    }
}

/// Sends the items, and notes those that were sent.
fn sends(sender: Sender<u32>, items: [u32; 3], sent: &Seen) -> Fiber<()> {
    let sent = sent.clone();
    Fiber::for_each(items, move |item| {
        let sent = sent.clone();
        sender.send(item).map(move |()| sent.0.lock().push(item))
    })
    .boxed()
}

#[test]
fn the_state_goes_from_item_to_item_in_order() {
    for open in OPEN {
        let (sender, receiver) = open();
        let fold =
            receiver.fold(String::new(), |all, n| Fiber::yield_now().map(move |()| format!("{all}{n}")));
        let send = sender.send_all(1..=5);
        drop(sender);
        let ((), all) = TestScheduler::new().run(send.zip(fold)).unwrap();
        assert_eq!(all, "12345");
    }
}

#[test]
fn a_closed_channel_gives_what_is_left_in_it() {
    let (sender, receiver) = Channel::unbounded();
    (1..=4).for_each(|n| sender.try_send(n).unwrap());
    sender.close();
    assert_eq!(fiber_sched::run(receiver.fold(0, |sum, n| Fiber::success(sum + n))).unwrap(), 10);
}

#[test]
fn the_first_failure_ends_the_loop_and_drops_the_receiver() {
    let (sender, receiver) = Channel::unbounded();
    (1..=3).for_each(|n| sender.try_send(n).unwrap());
    let fails = |n| if n == 2 { Fiber::fail(std::fmt::Error).boxed() } else { Fiber::success(()).boxed() };
    let error = fiber_sched::run(receiver.for_each(fails)).failure().expect("the second fails");
    assert!(error.is::<std::fmt::Error>() && format!("{error:#}").contains("for_each at"), "{error:#}");
    assert!(sender.is_closed());
}

#[test]
fn a_panic_of_the_closure_ends_the_loop_and_drops_the_receiver() {
    let (sender, receiver) = Channel::unbounded();
    sender.try_send(1).unwrap();
    let panics = receiver.fold(0, |_, n| -> Fiber<u32> { std::panic::resume_unwind(Box::new(n)) });
    assert!(fiber_sched::run(panics).is_panicked());
    assert!(sender.is_closed());
}

#[test]
fn a_loop_that_is_cancelled_while_it_waits_leaves_the_queue() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::rendezvous());
    let first = test.spawn(Seen::default().all(receiver.clone()));
    test.run_for(Duration::ZERO);
    let second = test.spawn(receiver.recv());
    test.run_for(Duration::ZERO);
    first.cancel_now();
    test.run_for(Duration::ZERO);
    assert!(first.outcome().is_cancelled());
    sender.try_send(7).expect("the second one waits");
    test.run_until_idle();
    assert_eq!(second.outcome().unwrap(), 7);
}

#[test]
fn a_loop_with_a_time_limit_ends_in_time_and_closes_the_channel() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::bounded(1));
    let slow = sender.clone();
    let send = Fiber::for_each(0..5, move |n| slow.send(n).bind(|()| Fiber::delay(SECOND)));
    let seen = Seen::default();
    let limited = seen.all(receiver).timeout_option(SECOND * 5 / 2);
    let ((), ended) = test.run(send.catch(|_| Fiber::success(())).zip(limited)).unwrap();
    assert_eq!((ended, seen.sorted()), (None, vec![0, 1, 2]));
    assert!(sender.is_closed());
}

#[test]
fn a_loop_whose_scheduler_forgets_it_gives_its_item_back() {
    let (sender, receiver) = Channel::unbounded();
    let (seen, other) = (Seen::default(), receiver.clone());
    forget_after(seen.all(receiver.clone()), || ());
    forget_after(seen.all(receiver), || sender.try_send(7).unwrap());
    assert_eq!((seen.sorted(), other.try_recv()), (vec![], Ok(7)));
    // The last receiver goes with its loop.
    forget_after(seen.all(other), || assert!(!sender.is_closed()));
    assert!(sender.is_closed());
}

/// One sender and two loops, one of which is cancelled, or all of them.
#[test]
fn what_is_sent_reaches_one_of_two_loops_once_whoever_is_cancelled_when() {
    for open in OPEN {
        explore(|| {
            let ((sender, receiver), sent, seen) = (open(), Seen::default(), Seen::default());
            let fibers =
                vec![sends(sender, [1, 2, 3], &sent), seen.all(receiver.clone()), seen.all(receiver.clone())];
            let check = Fiber::lazy(move || {
                seen.0.lock().extend(std::iter::from_fn(|| receiver.try_recv().ok()));
                assert_eq!(sent.sorted(), seen.sorted(), "sent, and seen");
            });
            Fiber::scope(move |_| with_a_victim(fibers)).map(drop).ensure(check)
        });
    }
}

/// A wait of a loop is over when a race around it has been decided.
#[test]
fn a_loop_that_loses_a_race_takes_nothing_that_it_has_not_seen() {
    for open in OPEN {
        enumerate(1, || {
            let ((sender, receiver), sent, seen) = (open(), Seen::default(), Seen::default());
            let race = seen.all(receiver.clone()).race(Fiber::yield_now()).map(drop);
            let send = sends(sender, [1, 2, 3], &sent);
            let rest = {
                let (seen, receiver) = (seen.clone(), receiver.clone());
                race.bind(move |()| seen.all(receiver))
            };
            drop(receiver);
            rest.zip(send).map(move |_| assert_eq!(seen.sorted(), [1, 2, 3], "of {:?}", sent.sorted()))
        });
    }
}

/// Loops with short time limits on threads, one after the other, until the channel is closed and empty.
#[test]
fn loops_that_time_out_on_threads_lose_nothing() {
    let items = if cfg!(debug_assertions) { 500 } else { 20_000 };
    let pool = Pool::builder().workers(3).build();
    for open in OPEN {
        let (sender, receiver) = open();
        let times: Arc<[AtomicUsize]> = (0..4 * items).map(|_| AtomicUsize::new(0)).collect();
        let counted = times.clone();
        let produce = (0..4).map(move |n| sender.send_all(n * items..(n + 1) * items).boxed());
        let consume = (0..2).map(move |_| until_closed(receiver.clone(), counted.clone()));
        let all = Fiber::parallel(produce.chain(consume)).timeout(60 * SECOND);
        assert!(pool.run(all).is_success());
        // Relaxed: all fibers have ended.
        assert!(times.iter().all(|times| times.load(Ordering::Relaxed) == 1));
    }
}

fn until_closed(receiver: Receiver<u32>, times: Arc<[AtomicUsize]>) -> Fiber<()> {
    Fiber::iterate((), move |()| {
        let times = times.clone();
        let count = move |item: u32| {
            times[item as usize].fetch_add(1, Ordering::Relaxed);
            Fiber::success(())
        };
        receiver.clone().for_each(count).timeout_option(Duration::from_micros(50)).map(|ended| match ended {
            Some(()) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        })
    })
    .boxed()
}
