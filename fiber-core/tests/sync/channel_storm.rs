//! Channels under every way in which an operation can be given up: what was sent is received once, and what was not sent is dropped.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fiber_core::sync::{Channel, Closed, Receiver, Sender};
use fiber_core::{Either, Error, Fiber, Handle, Outcome};
use fiber_sched::Pool;
use fiber_test::Explore;
use parking_lot::Mutex;

/// How a fiber sends or receives an item.
#[derive(Clone, Copy, Debug)]
enum Way {
    Plain,
    Timeout,
    RaceOfTwo,
    RaceOfThree,
    CancelledFork,
    /// With a clone of the end, which is dropped meanwhile.
    DroppedEnd,
}

const WAYS: [Way; 6] =
    [Way::Plain, Way::Timeout, Way::RaceOfTwo, Way::RaceOfThree, Way::CancelledFork, Way::DroppedEnd];
const CAPACITIES: [usize; 5] = [0, 1, 2, 7, usize::MAX];
/// Senders, and receivers.
const CROWDS: [(u32, u32); 4] = [(1, 1), (1, 6), (4, 4), (6, 1)];

/// An item. Counts those that live.
struct Item {
    sender: u32,
    number: u32,
    live: Arc<AtomicUsize>,
}

impl Drop for Item {
    fn drop(&mut self) {
        self.live.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A channel, and what its fibers have seen.
#[derive(Clone)]
struct Storm {
    pause: Duration,
    live: Arc<AtomicUsize>,
    /// The numbers that each sender has sent, and those that came from it, in the order in which they came.
    sent: Arc<Mutex<BTreeMap<u32, Vec<u32>>>>,
    received: Arc<Mutex<BTreeMap<u32, Vec<u32>>>>,
}

impl Storm {
    fn new(pause: Duration) -> Self {
        Storm { pause, live: Arc::default(), sent: Arc::default(), received: Arc::default() }
    }

    fn item(&self, sender: u32, number: u32) -> Item {
        self.live.fetch_add(1, Ordering::Relaxed);
        Item { sender, number, live: self.live.clone() }
    }

    /// All senders and receivers.
    fn run(
        &self,
        [send, receive]: [Way; 2],
        (senders, receivers): (u32, u32),
        capacity: usize,
        items: u32,
    ) -> Fiber<()> {
        let storm = self.clone();
        Fiber::defer(move || {
            let (to, from) =
                if capacity == usize::MAX { Channel::unbounded() } else { Channel::bounded(capacity) };
            let sends = (0..senders).map({
                let storm = storm.clone();
                move |sender| storm.clone().sends(send, to.clone(), sender, items)
            });
            let receives = (0..receivers).map(move |_| storm.clone().receives(receive, from.clone()));
            Fiber::parallel(sends.chain(receives)).map(drop)
        })
        .boxed()
    }

    /// Sends so many items.
    fn sends(self, way: Way, to: Sender<Item>, sender: u32, items: u32) -> Fiber<()> {
        Fiber::for_each(0..items, move |number| {
            let sent = self.sent.clone();
            let send = give_up(way, || to.send(self.item(sender, number)).boxed(), &to, self.pause);
            send.map(move |done| {
                if done.is_some() {
                    sent.lock().entry(sender).or_default().push(number);
                }
            })
        })
        .boxed()
    }

    /// Receives until the channel is closed and empty.
    fn receives(self, way: Way, from: Receiver<Item>) -> Fiber<()> {
        let received = self.received.clone();
        let all = Fiber::for_each(0_u32.., move |number| {
            // Some schedules cancel a fork before it starts, every time.
            let way = if number % 2 == 0 { way } else { Way::Plain };
            let received = received.clone();
            give_up(way, || from.recv().boxed(), &from, self.pause).map(move |item| {
                if let Some(item) = item {
                    received.lock().entry(item.sender).or_default().push(item.number);
                }
            })
        });
        all.catch(
            |error: Error| {
                if error.is::<Closed>() { Fiber::success(()).boxed() } else { Fiber::fail(error).boxed() }
            },
        )
        .boxed()
    }

    /// What was sent is what was received. The items of a sender come in order, unless a receiver has given one back.
    fn check(&self, is_in_order: bool) {
        assert_eq!(self.live.load(Ordering::Relaxed), 0, "each item is dropped once");
        let (sent, mut received) = (self.sent.lock().clone(), self.received.lock().clone());
        if !is_in_order {
            received.values_mut().for_each(|numbers| numbers.sort_unstable());
        }
        assert_eq!(sent, received);
    }
}

/// An operation that may be given up. `None`: it was, and nothing has happened.
fn give_up<T: Send + 'static, E: Clone + Send + Sync + 'static>(
    way: Way,
    operation: impl Fn() -> Fiber<T>,
    end: &E,
    pause: Duration,
) -> Fiber<Option<T>> {
    match way {
        Way::Plain => operation().map(Some).boxed(),
        Way::Timeout => operation().timeout_option(pause).boxed(),
        Way::RaceOfTwo => operation().race(Fiber::delay(pause)).map(left).boxed(),
        // Only one of the operations may succeed, which each could.
        Way::RaceOfThree => operation()
            .race(operation().race(operation()))
            .map(|won| match won {
                Either::Left(done) => Some(done),
                Either::Right(Either::Left(done) | Either::Right(done)) => Some(done),
            })
            .boxed(),
        Way::CancelledFork => operation()
            .fork()
            .bind(|handle: Handle<T>| {
                Fiber::yield_now().bind(move |()| {
                    handle.cancel_now();
                    handle.outcome()
                })
            })
            .bind(|outcome| match outcome {
                Outcome::Cancelled => Fiber::success(None).boxed(),
                outcome => Fiber::from_outcome(outcome.map(Some)).boxed(),
            })
            .boxed(),
        Way::DroppedEnd => {
            let end = end.clone();
            operation()
                .map(Some)
                .zip(Fiber::yield_now().map(move |()| drop(end)))
                .map(|(done, ())| done)
                .boxed()
        }
    }
}

fn left<A, B>(won: Either<A, B>) -> Option<A> {
    match won {
        Either::Left(value) => Some(value),
        Either::Right(_) => None,
    }
}

/// Each pair of ways, in each crowd, on channels of each capacity.
fn everything(mut run: impl FnMut([Way; 2], (u32, u32), usize)) {
    for send in WAYS {
        for receive in WAYS {
            for crowd in CROWDS {
                CAPACITIES.into_iter().for_each(|capacity| run([send, receive], crowd, capacity));
            }
        }
    }
}

/// With one plain receiver, nothing comes back.
fn is_in_order(receive: Way, receivers: u32) -> bool {
    receivers == 1 && matches!(receive, Way::Plain | Way::DroppedEnd)
}

#[test]
fn what_is_sent_on_threads_is_received_once() {
    let pool = Pool::builder().workers(4).build();
    let items = if cfg!(debug_assertions) { 10 } else { 100 };
    everything(|ways, crowd, capacity| {
        let storm = Storm::new(Duration::from_micros(20));
        let ended = pool.run(storm.run(ways, crowd, capacity, items).timeout(Duration::from_secs(60)));
        assert!(ended.is_success(), "{ways:?}, {crowd:?}, capacity {capacity}: {ended:?}");
        storm.check(is_in_order(ways[1], crowd.1));
    });
}

#[test]
fn what_is_sent_is_received_once_in_every_schedule() {
    let schedules = if cfg!(debug_assertions) { 8 } else { 60 };
    everything(|ways, (senders, receivers), capacity| {
        let crowd = (senders.min(2), receivers.min(2));
        Explore::default().schedules(schedules).check(move || {
            let storm = Storm::new(Duration::from_millis(1));
            storm.run(ways, crowd, capacity, 3).map(move |()| storm.check(is_in_order(ways[1], crowd.1)))
        });
    });
}
