//! Channels and cancellation: every sent item is received once, or still in the channel.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fiber_core::sync::{Channel, Closed, Receiver, SendError, Sender};
use fiber_core::{Either, Error, Fiber, Run, fiber};
use fiber_sched::Pool;
use fiber_test::TestScheduler;
use parking_lot::Mutex;

use crate::everywhere::{enumerate, explore, with_a_victim};

type Ends = (Sender<u32>, Receiver<u32>);

/// The items that went in, and those that came out.
#[derive(Clone, Default)]
struct Ledger(Arc<Mutex<(Vec<u32>, Vec<u32>)>>);

impl Ledger {
    fn sent(&self, items: impl IntoIterator<Item = u32>) {
        self.0.lock().0.extend(items);
    }

    fn received(&self, items: impl IntoIterator<Item = u32>) {
        self.0.lock().1.extend(items);
    }

    /// Every item that went in has come out, or is still in.
    fn check(&self, receiver: &Receiver<u32>) {
        self.received(std::iter::from_fn(|| receiver.try_recv().ok()));
        let (sent, received) = &mut *self.0.lock();
        sent.sort_unstable();
        received.sort_unstable();
        assert_eq!(sent, received, "sent, and received");
    }

    /// Sends one item after the other.
    fn producer(&self, sender: &Sender<u32>, items: [u32; 2]) -> Fiber<()> {
        let (ledger, sender) = (self.clone(), sender.clone());
        Fiber::for_each(items, move |item| {
            let ledger = ledger.clone();
            sender.send(item).map(move |()| ledger.sent([item]))
        })
        .boxed()
    }

    /// Receives until the channel is closed.
    fn consumer<R: Run<Out = Vec<u32>>>(
        &self,
        receiver: &Receiver<u32>,
        receive: fn(&Receiver<u32>) -> Fiber<Vec<u32>, R>,
    ) -> Fiber<()> {
        let (ledger, receiver) = (self.clone(), receiver.clone());
        Fiber::iterate((), move |()| {
            let ledger = ledger.clone();
            let next = receive(&receiver).map(move |items| {
                ledger.received(items);
                ControlFlow::Continue(())
            });
            next.catch(until_closed)
        })
        .boxed()
    }

    /// Runs the fibers, one of which is cancelled, and checks the ledger, even if all of them are cancelled.
    fn watched(self, fibers: Vec<Fiber<()>>, receiver: Receiver<u32>) -> Fiber<()> {
        let all = Fiber::scope(move |_| with_a_victim(fibers)).map(drop);
        all.ensure(Fiber::lazy(move || self.check(&receiver))).boxed()
    }
}

fn until_closed(error: Error) -> Fiber<ControlFlow<()>> {
    assert!(error.is::<Closed>(), "{error}");
    Fiber::success(ControlFlow::Break(())).boxed()
}

fn one(receiver: &Receiver<u32>) -> Fiber<Vec<u32>> {
    receiver.recv().map(|item| vec![item]).boxed()
}

fn many(receiver: &Receiver<u32>) -> Fiber<Vec<u32>> {
    receiver.recv_many(2).boxed()
}

/// The first item of two concurrent receives.
fn raced(receiver: &Receiver<u32>) -> Fiber<Vec<u32>> {
    receiver.recv().race(receiver.recv()).map(|item| vec![Either::into_inner(item)]).boxed()
}

/// Two producers and two consumers, one of which is cancelled.
fn contended(open: fn() -> Ends, receive: fn(&Receiver<u32>) -> Fiber<Vec<u32>>) -> Fiber<()> {
    let (ledger, (sender, receiver)) = (Ledger::default(), open());
    let mut fibers: Vec<_> = [[1, 2], [3, 4]].map(|items| ledger.producer(&sender, items)).into();
    fibers.extend((0..2).map(|_| ledger.consumer(&receiver, receive)));
    ledger.watched(fibers, receiver)
}

#[test]
fn a_rendezvous_loses_nothing() {
    explore(|| contended(Channel::rendezvous, one));
}

#[test]
fn a_bounded_channel_loses_nothing() {
    explore(|| contended(|| Channel::bounded(1), one));
}

#[test]
fn an_unbounded_channel_loses_nothing() {
    explore(|| contended(Channel::unbounded, one));
}

#[test]
fn receiving_many_loses_nothing() {
    explore(|| contended(|| Channel::bounded(1), many));
    explore(|| contended(Channel::rendezvous, many));
}

#[test]
fn two_receives_that_race_lose_nothing() {
    explore(|| contended(|| Channel::bounded(1), raced));
    explore(|| contended(Channel::unbounded, raced));
}

/// An item that sends and receives in its own channel as it is dropped. Counts those that live.
struct Restless {
    ends: Arc<Mutex<Option<(Sender<Restless>, Receiver<Restless>)>>>,
    live: Arc<AtomicUsize>,
    descendants: u32,
}

impl Restless {
    fn new(&Restless { ref ends, ref live, descendants }: &Restless) -> Self {
        live.fetch_add(1, Ordering::Relaxed);
        Restless { ends: ends.clone(), live: live.clone(), descendants }
    }
}

impl Drop for Restless {
    fn drop(&mut self) {
        self.live.fetch_sub(1, Ordering::Relaxed);
        let ends = self.ends.lock().clone();
        if let (Some((sender, receiver)), Some(descendants)) = (ends, self.descendants.checked_sub(1)) {
            self.descendants = descendants;
            drop(sender.try_send(Restless::new(self)));
            drop(receiver.try_recv());
        }
    }
}

#[test]
fn items_that_use_their_channel_as_they_are_dropped_are_dropped_once() {
    for open in [Channel::rendezvous, || Channel::bounded(1), || Channel::sliding(1)] {
        explore(move || {
            let (sender, receiver) = open();
            let (ends, live) =
                (Arc::new(Mutex::new(Some((sender.clone(), receiver.clone())))), Arc::default());
            let parent = Restless { ends: ends.clone(), live, descendants: 2 };
            let live = parent.live.clone();
            live.fetch_add(1, Ordering::Relaxed);
            let second = Duration::from_secs(1);
            let fibers = vec![
                sender.send(Restless::new(&parent)).timeout_option(second).map(drop).boxed(),
                sender
                    .send(Restless::new(&parent))
                    .race(receiver.recv())
                    .map(drop)
                    .timeout_option(second)
                    .map(drop)
                    .boxed(),
                receiver.recv().race(receiver.recv()).map(drop).timeout_option(second).map(drop).boxed(),
                sender.send(Restless::new(&parent)).race(Fiber::delay(second)).map(drop).boxed(),
            ];
            drop((parent, sender, receiver));
            // An item in the channel keeps it, also after a cancellation.
            let close = Fiber::lazy(move || {
                let ends = ends.lock().take();
                drop(ends);
            });
            let closed = with_a_victim(fibers).map(drop).ensure(close);
            closed.map(move |()| assert_eq!(live.load(Ordering::Relaxed), 0, "items that live"))
        });
    }
}

#[test]
fn no_schedule_of_one_sender_and_two_receivers_loses_the_item() {
    for open in [Channel::rendezvous, Channel::unbounded] as [fn() -> Ends; 2] {
        enumerate(2, || {
            let (sender, receiver) = open();
            fiber! {
                let! first = receiver.recv().fork();
                let! second = receiver.recv().fork();
                let! send = sender.send(7).fork();
                first.cancel_now();
                let! first = first.outcome();
                do! send;
                receiver.close();
                let! second = second.outcome();
                let all = [first.success(), second.success(), receiver.try_recv().ok()];
                assert_eq!(all.into_iter().flatten().collect::<Vec<_>>(), [7], "{all:?}");
            }
        });
    }
}

/// A sender of many: the number of items that got in is known only if it ends, so the items are counted where they are dropped.
#[test]
fn of_what_is_sent_at_once_nothing_is_received_twice_and_nothing_out_of_order() {
    let program = |open: fn() -> Ends| {
        let (sender, receiver) = open();
        let received = Ledger::default();
        let send = sender.send_all(1..=5).catch(|error| {
            assert!(error.is::<SendError<Vec<u32>>>());
            Fiber::success(())
        });
        drop(sender);
        let fibers = vec![send.boxed(), received.consumer(&receiver, one)];
        // When the consumer is cancelled, it drops the last receiver, which ends the sender.
        drop(receiver);
        with_a_victim(fibers).map(move |outcomes| {
            let received = &received.0.lock().1;
            let in_order: Vec<u32> = (1..).take(received.len()).collect();
            assert_eq!(*received, in_order);
            assert!(outcomes.iter().any(|outcome| !outcome.is_success()) || received.len() == 5);
        })
    };
    explore(move || program(|| Channel::bounded(2)));
    explore(move || program(Channel::rendezvous));
}

/// A pseudo-random number generator.
fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

/// As many receivers as items, on two threads. About half of the receivers are cancelled at random while the items are
/// sent, and the remaining items are received at the end.
#[test]
fn ten_thousand_receivers_are_cancelled_at_random_and_no_item_is_lost_or_doubled() {
    const ITEMS: usize = 10_000;
    let pool = Pool::builder().workers(2).build();
    for (open, seed) in
        [(Channel::unbounded as fn() -> Ends, 1), (|| Channel::bounded(8), 2), (Channel::rendezvous, 3)]
    {
        let (sender, receiver) = open();
        let times: Arc<[AtomicUsize]> = (0..ITEMS).map(|_| AtomicUsize::new(0)).collect();
        let count = |times: Arc<[AtomicUsize]>| {
            // Relaxed: read after all fibers have ended.
            move |item| {
                times[item as usize].fetch_add(1, Ordering::Relaxed);
            }
        };
        let mut receivers: Vec<_> =
            (0..ITEMS).map(|_| pool.spawn(receiver.recv().map(count(times.clone())))).collect();
        let send = pool.spawn(sender.send_all(0..ITEMS as u32));
        drop(sender);
        let mut seed = seed;
        let cancelled = (0..ITEMS / 2).map(|_| {
            let chosen = next(&mut seed) as usize % receivers.len();
            let receiver = receivers.swap_remove(chosen);
            receiver.cancel_now();
            receiver
        });
        let cancelled: Vec<_> = cancelled.collect();
        let rest = {
            let (times, receiver) = (times.clone(), receiver.clone());
            Fiber::iterate((), move |()| {
                let next = receiver.recv().map(count(times.clone())).map(ControlFlow::Continue);
                next.catch(until_closed)
            })
        };
        assert!(pool.run(rest).is_success());
        assert!(pool.run(send.join()).is_success());
        let all = receivers.into_iter().chain(cancelled).map(|handle| handle.outcome());
        assert!(pool.run(Fiber::parallel(all)).is_success());
        let wrong = times.iter().filter(|times| times.load(Ordering::Relaxed) != 1).count();
        assert_eq!(wrong, 0, "of {ITEMS} items, this many were lost or doubled");
    }
}

#[test]
fn an_iterator_without_end_lets_others_run_and_can_be_cancelled() {
    let (sender, receiver) = Channel::sliding(4);
    let endless = || sender.send_all(0..).map(drop);
    let test = TestScheduler::new();
    let both = test.spawn(endless().race(Fiber::yield_now()));
    test.run_until_idle();
    assert!(both.outcome().is_success());
    // Virtual time advances only when no fiber can run, so this one is real.
    let pool = Pool::builder().workers(1).build();
    assert!(pool.run(endless().timeout(Duration::from_millis(1))).is_failure());
    assert!(receiver.try_recv().is_ok());
}
