//! Channels: waiters, the order of service, and the effects of closing.

use std::sync::Arc;
use std::time::Duration;

use fiber_core::sync::{Channel, Closed, Receiver, SendError, TryRecvError, TrySendError};
use fiber_core::{Error, Fiber};
use fiber_test::{Spawned, TestScheduler};
use parking_lot::Mutex;

/// Runs `fiber` until it waits.
fn begin<T: Send + 'static>(
    test: &TestScheduler,
    fiber: Fiber<T, impl fiber_core::Run<Out = T>>,
) -> Spawned<T> {
    let spawned = test.spawn(fiber);
    test.run_for(Duration::ZERO);
    spawned
}

/// Runs until nothing can run, and returns the outcome.
fn ended<T: Send + 'static>(test: &TestScheduler, spawned: Spawned<T>) -> fiber_core::Outcome<T> {
    test.run_until_idle();
    spawned.outcome()
}

fn drained<T: Send + 'static>(receiver: &Receiver<T>) -> Vec<T> {
    std::iter::from_fn(|| receiver.try_recv().ok()).collect()
}

fn is_closed<T>(outcome: fiber_core::Outcome<T>) -> bool {
    outcome.failure().is_some_and(|error| error.is::<Closed>())
}

fn unsent<T: 'static>(error: Error) -> T {
    error.downcast::<SendError<T>>().expect("a send error").into_inner()
}

/// Counts its drops.
#[derive(Clone)]
struct Tracked(Arc<()>);

impl Tracked {
    fn new() -> (Self, impl Fn() -> usize) {
        let tracked = Tracked(Arc::new(()));
        let weak = Arc::downgrade(&tracked.0);
        (tracked, move || weak.strong_count())
    }
}

#[test]
fn items_come_out_in_the_order_in_which_they_went_in() {
    let test = TestScheduler::new();
    let (sender, receiver) = Channel::bounded(3);
    let all = Arc::new(Mutex::new(Vec::new()));
    let seen = all.clone();
    let receive = Fiber::for_each(0..20, move |_| {
        let seen = seen.clone();
        receiver.recv().map(move |item| seen.lock().push(item))
    });
    let send = Fiber::for_each(0..20, move |n| sender.send(n));
    assert!(test.run(send.zip(receive)).is_success());
    assert_eq!(*all.lock(), (0..20).collect::<Vec<_>>());
}

#[test]
fn receivers_are_served_in_the_order_in_which_they_came() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::unbounded());
    let waiting: Vec<_> = (0..4).map(|_| begin(&test, receiver.recv())).collect();
    waiting[1].cancel_now();
    (0..3).for_each(|n| sender.try_send(n).unwrap());
    test.run_until_idle();
    let outcomes: Vec<_> = waiting.into_iter().map(|spawned| spawned.outcome().success()).collect();
    assert_eq!(outcomes, [Some(0), None, Some(1), Some(2)]);
}

#[test]
fn senders_are_let_in_in_the_order_in_which_they_came() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::bounded(1));
    let waiting: Vec<_> = (0..4).map(|n| begin(&test, sender.send(n))).collect();
    waiting[2].cancel_now();
    test.run_until_idle();
    assert_eq!(drained(&receiver), [0, 1, 3]);
    test.run_until_idle();
    assert!(waiting.into_iter().enumerate().all(|(n, spawned)| spawned.outcome().is_success() == (n != 2)));
}

#[test]
fn nobody_gets_ahead_of_those_who_wait() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::bounded(1));
    sender.try_send(0).unwrap();
    let waiting = begin(&test, sender.send(1));
    assert_eq!(receiver.try_recv(), Ok(0));
    // The slot is already taken, although the sender has not run since.
    assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
    assert_eq!(receiver.try_recv(), Ok(1));
    assert!(ended(&test, waiting).is_success());

    let waiting = begin(&test, receiver.recv());
    sender.try_send(3).unwrap();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty), "it is the waiting receiver's");
    assert_eq!(ended(&test, waiting).unwrap(), 3);
}

#[test]
fn a_full_channel_makes_its_senders_wait() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::bounded(2));
    let all = begin(&test, sender.send_all(0..5));
    assert_eq!((sender.len(), all.is_pending()), (2, true));
    assert_eq!((receiver.try_recv(), sender.len()), (Ok(0), 2));
    test.run_until_idle();
    assert!(all.is_pending());
    assert_eq!(drained(&receiver), [1, 2, 3]);
    test.run_until_idle();
    assert_eq!(drained(&receiver), [4]);
    assert!(ended(&test, all).is_success());
}

#[test]
fn a_rendezvous_holds_nothing() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::rendezvous());
    assert_eq!(sender.capacity(), Some(0));
    assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
    let waiting = begin(&test, sender.send(2));
    assert_eq!((receiver.len(), waiting.is_pending()), (0, true));
    assert_eq!(receiver.try_recv(), Ok(2));
    assert!(ended(&test, waiting).is_success());
    let waiting = begin(&test, receiver.recv());
    assert_eq!(sender.try_send(3), Ok(()));
    assert_eq!(ended(&test, waiting).unwrap(), 3);
}

#[test]
fn a_sliding_channel_drops_the_oldest_item() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::sliding(2));
    let (first, live) = Tracked::new();
    sender.try_send(Some(first)).unwrap();
    sender.try_send(None).unwrap();
    assert_eq!(live(), 1);
    assert!(test.run(sender.send(None)).is_success());
    assert_eq!((live(), receiver.len()), (0, 2));
    assert!(test.run(sender.send_all((0..5).map(|_| None))).is_success());
    assert_eq!(receiver.len(), 2);
}

#[test]
fn a_dropping_channel_drops_the_item_that_comes_too_much() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::dropping(1));
    assert!(test.run(sender.send_all(1..4)).is_success());
    assert!(test.run(sender.send(4)).is_success());
    assert_eq!(sender.try_send(5), Err(TrySendError::Full(5)), "a `try_send` reports it");
    assert_eq!(drained(&receiver), [1]);
}

#[test]
fn many_are_received_at_a_time() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::bounded(2));
    let all = begin(&test, sender.send_all(0..3));
    assert_eq!(
        test.run(receiver.recv_many(10)).unwrap(),
        [0, 1, 2],
        "with the item of the sender that waits"
    );
    assert!(ended(&test, all).is_success());
    let waiting = begin(&test, receiver.recv_many(2));
    (3..6).for_each(|n| sender.try_send(n).unwrap());
    assert_eq!(ended(&test, waiting).unwrap(), [3, 4]);
    assert_eq!(drained(&receiver), [5]);
}

#[test]
#[should_panic(expected = "a limit of 0 lets no item out")]
fn a_limit_of_0_is_refused() {
    drop(Channel::<u8>::unbounded().1.recv_many(0));
}

#[test]
fn what_is_in_a_closed_channel_is_still_received() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::bounded(2));
    let all = begin(&test, sender.send_all(0..9));
    assert!(sender.close());
    assert!(!receiver.close(), "it was closed already");
    assert!(sender.is_closed() && receiver.is_closed());
    let left: Vec<i32> = unsent(ended(&test, all).failure().unwrap());
    assert_eq!(left, [2], "what was read, and was not sent");
    assert_eq!(sender.try_send(9), Err(TrySendError::Closed(9)));
    assert_eq!(test.run(receiver.recv()).unwrap(), 0);
    assert_eq!(test.run(receiver.recv_many(9)).unwrap(), [1]);
    assert!(is_closed(test.run(receiver.recv())));
    assert!(is_closed(test.run(receiver.recv_many(9))));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
}

#[test]
fn a_closed_channel_keeps_receivers_waiting_while_an_item_may_come_back() {
    for is_cancelled in [false, true] {
        let (test, (sender, receiver)) = (TestScheduler::new(), Channel::unbounded());
        let first = begin(&test, receiver.recv());
        let second = begin(&test, receiver.recv());
        let third = begin(&test, receiver.recv());
        // Passed to the first one, which has not taken it yet.
        sender.try_send("on its way").unwrap();
        sender.close();
        assert!(second.is_pending() && third.is_pending());
        if is_cancelled {
            first.cancel_now();
        }
        let (first, second, third) = (ended(&test, first), ended(&test, second), ended(&test, third));
        let received = if is_cancelled { second } else { first };
        assert_eq!(received.unwrap(), "on its way");
        assert!(is_closed(third), "and it was woken");
    }
}

#[test]
fn a_send_into_a_closed_channel_gives_the_item_back() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::bounded(1));
    sender.try_send(String::from("in")).unwrap();
    let waiting = begin(&test, sender.send("waits".into()));
    receiver.close();
    assert_eq!(unsent::<String>(ended(&test, waiting).failure().unwrap()), "waits");
    let error = test.run(sender.send("late".into())).failure().unwrap();
    assert_eq!(error.to_string(), "the channel is closed, so nothing can be sent");
    assert!(error.trace()[0].to_string().contains("send at "), "{:?}", error.trace());
    assert_eq!(unsent::<String>(error), "late");
    assert_eq!(unsent::<String>(sender.blocking_send("thread".into()).unwrap_err()), "thread");
}

#[test]
fn the_last_sender_closes_the_channel() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::<u32>::unbounded());
    let waiting = [begin(&test, receiver.recv()), begin(&test, receiver.recv())];
    let other = sender.clone();
    drop(sender);
    assert!(!receiver.is_closed());
    let lazy = other.send(1);
    drop(other);
    assert!(!receiver.is_closed(), "the send has still to come");
    assert!(test.run(lazy).is_success());
    let [first, second] = waiting.map(|spawned| ended(&test, spawned));
    assert_eq!(first.unwrap(), 1);
    assert!(is_closed(second));
}

#[test]
fn the_last_receiver_closes_the_channel_and_drops_what_is_in_it() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::bounded(1));
    let (item, live) = Tracked::new();
    sender.try_send(item.clone()).unwrap();
    let waiting = begin(&test, sender.send(item));
    drop(receiver);
    assert_eq!(live(), 1);
    let error = ended(&test, waiting).failure().unwrap();
    assert_eq!(live(), 1, "it is in the error");
    drop(error);
    assert_eq!(live(), 0);
}

#[test]
fn the_item_of_a_sender_that_is_cancelled_is_dropped() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::rendezvous());
    let (item, live) = Tracked::new();
    let waiting = begin(&test, sender.send(item));
    assert_eq!(live(), 1);
    waiting.cancel_now();
    test.run_until_idle();
    assert_eq!(live(), 0);
    assert!(matches!(receiver.try_recv(), Err(TryRecvError::Empty)));
}

#[test]
fn an_item_that_is_in_stays_in_and_its_sender_succeeds() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::bounded(1));
    sender.try_send(1).unwrap();
    let waiting = begin(&test, sender.send(2));
    assert_eq!(receiver.try_recv(), Ok(1));
    waiting.cancel_now();
    assert!(ended(&test, waiting).is_success());
    assert_eq!(receiver.try_recv(), Ok(2));
}

#[test]
fn a_sender_that_is_cancelled_does_not_fail_even_if_the_channel_was_closed_before() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::rendezvous());
    let waiting = [begin(&test, sender.send(1)), begin(&test, sender.send_all(2..4))];
    receiver.close();
    waiting.iter().for_each(Spawned::cancel_now);
    assert!(waiting.into_iter().all(|spawned| ended(&test, spawned).is_cancelled()));
}

#[test]
fn a_sender_of_many_that_is_cancelled_sends_no_more() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::bounded(1));
    let all = begin(&test, sender.send_all(0..9));
    assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(0), Ok(1)));
    all.cancel_now();
    assert!(ended(&test, all).is_cancelled());
    assert_eq!(drained(&receiver), []);
}

#[test]
fn a_receiver_that_is_cancelled_passes_on_what_is_on_its_way() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::unbounded());
    let [first, second] = [begin(&test, receiver.recv()), begin(&test, receiver.recv())];
    sender.try_send(1).unwrap();
    first.cancel_now();
    assert!(ended(&test, first).is_cancelled());
    assert_eq!(ended(&test, second).unwrap(), 1);
    // There is no next waiter: the item goes to the front.
    let last = begin(&test, receiver.recv());
    sender.try_send(2).unwrap();
    sender.try_send(3).unwrap();
    last.cancel_now();
    test.run_until_idle();
    assert_eq!(drained(&receiver), [2, 3]);
}

#[test]
fn an_item_that_comes_back_into_a_full_channel_makes_no_room() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::bounded(1));
    let waiting = begin(&test, receiver.recv());
    sender.try_send(1).unwrap();
    sender.try_send(2).unwrap();
    waiting.cancel_now();
    test.run_until_idle();
    assert_eq!(receiver.len(), 2);
    let next = begin(&test, sender.send(3));
    assert_eq!((receiver.try_recv(), receiver.len()), (Ok(1), 1));
    assert_eq!(sender.try_send(4), Err(TrySendError::Full(4)));
    assert_eq!(drained(&receiver), [2, 3]);
    assert!(ended(&test, next).is_success());
}

#[test]
fn an_item_that_comes_back_into_a_full_sliding_channel_is_the_oldest() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::sliding(1));
    let waiting = begin(&test, receiver.recv());
    sender.try_send(1).unwrap();
    sender.try_send(2).unwrap();
    waiting.cancel_now();
    test.run_until_idle();
    assert_eq!(drained(&receiver), [2]);
}

#[test]
fn the_channel_is_not_exhausted_while_an_item_may_come_back() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::unbounded());
    let [first, second, third] = [(); 3].map(|()| begin(&test, receiver.recv()));
    sender.try_send(1).unwrap();
    drop(sender);
    first.cancel_now();
    test.run_until_idle();
    assert_eq!(ended(&test, second).unwrap(), 1);
    assert!(is_closed(ended(&test, third)));
}

#[test]
fn a_receiver_whose_scheduler_forgets_it_gives_the_item_back() {
    let (sender, receiver) = Channel::unbounded();
    let forgotten = TestScheduler::new();
    let waiting = begin(&forgotten, receiver.recv());
    sender.try_send(1).unwrap();
    sender.try_send(2).unwrap();
    assert_eq!(receiver.len(), 1);
    drop(waiting);
    drop(forgotten);
    assert_eq!(drained(&receiver), [1, 2]);
}

#[test]
fn a_sender_whose_scheduler_forgets_it_leaves_the_queue() {
    let (sender, receiver) = Channel::bounded(1);
    sender.try_send(1).unwrap();
    {
        let forgotten = TestScheduler::new();
        drop(begin(&forgotten, sender.send(2)));
    }
    assert_eq!(drained(&receiver), [1]);
    assert_eq!(sender.try_send(3), Ok(()));
}

#[test]
fn a_description_of_a_send_can_be_run_again() {
    let (sender, receiver) = Channel::unbounded();
    let send = sender.send("again");
    assert!(fiber_sched::run(send.clone().zip(send)).is_success());
    let receive = receiver.recv();
    assert_eq!(fiber_sched::run(receive.clone().zip(receive)).unwrap(), ("again", "again"));
}

#[test]
fn a_panic_of_the_iterator_is_the_outcome_and_what_was_sent_stays_in() {
    let (test, (sender, receiver)) = (TestScheduler::new(), Channel::bounded(1));
    let items = (0..3).inspect(|&n| assert!(n < 2, "no more"));
    let all = begin(&test, sender.send_all(items));
    assert_eq!(receiver.try_recv(), Ok(0));
    assert!(ended(&test, all).is_panicked());
    assert_eq!(drained(&receiver), [1]);
}

#[test]
fn a_report_names_the_channel() {
    let (_sender, receiver) = Channel::<u8>::unbounded();
    let receiver = receiver.named("orders");
    let deadlock = TestScheduler::new().try_run(receiver.recv()).unwrap_err().to_string();
    assert!(deadlock.contains("an item"), "{deadlock}");
    let (sender, _receiver) = Channel::rendezvous();
    let deadlock = TestScheduler::new().try_run(sender.send(1)).unwrap_err().to_string();
    assert!(deadlock.contains("room for an item"), "{deadlock}");
}

#[test]
fn threads_and_fibers_share_a_channel() {
    const ITEMS: u64 = 2_000;
    let (sender, receiver) = Channel::bounded(4);
    let pool = fiber_sched::Pool::builder().workers(2).build();
    let received = std::thread::scope(|scope| {
        let from_thread = sender.clone();
        scope.spawn(move || (0..ITEMS).for_each(|n| from_thread.blocking_send(n).unwrap()));
        let in_thread = receiver.clone();
        let by_thread =
            scope.spawn(move || std::iter::from_fn(|| in_thread.blocking_recv().ok()).sum::<u64>());
        let sum = Arc::new(Mutex::new(0));
        let total = sum.clone();
        let in_fiber = Fiber::iterate((), move |()| {
            let total = total.clone();
            let next = receiver.recv().map(move |n| {
                *total.lock() += n;
                std::ops::ControlFlow::Continue(())
            });
            next.catch(|_| Fiber::success(std::ops::ControlFlow::Break(())))
        });
        assert!(
            pool.run(sender.send_all(ITEMS..2 * ITEMS).map(move |()| drop(sender)).zip(in_fiber))
                .is_success()
        );
        let by_fiber = *sum.lock();
        by_fiber + by_thread.join().unwrap()
    });
    assert_eq!(received, (0..2 * ITEMS).sum());
}
