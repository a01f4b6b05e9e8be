//! A cancellation reaches a fiber that has one end of a primitive, and one that waits at the other end. The first drops its end. The second ends as
//! cancelled all the same, in whichever order the threads get there.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use fiber_core::sync::{Broadcast, Channel, Promise, Watch, one_shot};
use fiber_core::{Fiber, Handle, Outcome, fiber};
use fiber_sched::{Pool, block_on};
use fiber_test::TestScheduler;
use parking_lot::Mutex;

/// Cancellations of each pair.
const ROUNDS: u32 = if cfg!(debug_assertions) { 3_000 } else { 20_000 };

/// What the first fiber drops when it ends, and the wait of the second.
type Pair = fn() -> (Box<dyn Send>, Fiber<()>);

const PAIRS: [(&str, Pair); 12] = [
    ("recv", || {
        let (sender, receiver) = Channel::<u32>::bounded(1);
        (Box::new(sender), receiver.recv().map(drop).boxed())
    }),
    ("next", || {
        let (sender, receiver) = Channel::<u32>::unbounded();
        (Box::new(sender), receiver.next().map(drop).boxed())
    }),
    ("fold", || {
        let (sender, receiver) = Channel::<u32>::rendezvous();
        (Box::new(sender), receiver.for_each(|_| Fiber::success(())).boxed())
    }),
    ("recv_many", || {
        let (sender, receiver) = Channel::<u32>::bounded(1);
        (Box::new(sender), receiver.recv_many(8).map(drop).boxed())
    }),
    ("send", || {
        let (sender, receiver) = Channel::rendezvous();
        (Box::new(receiver), sender.send(1).boxed())
    }),
    ("send_all", || {
        let (sender, receiver) = Channel::bounded(1);
        (Box::new(receiver), sender.send_all([1, 2, 3]).boxed())
    }),
    ("broadcast", || {
        let broadcast = Broadcast::<u32>::lossless(1);
        let subscriber = broadcast.subscribe();
        (Box::new(broadcast), subscriber.recv().map(drop).boxed())
    }),
    ("watch", || {
        let watch = Watch::new(1);
        let watcher = watch.watch();
        (Box::new(watch), watcher.changed().map(drop).boxed())
    }),
    ("promise", || {
        let promise = Promise::<u32>::new();
        let wait = promise.wait().map(drop).boxed();
        (Box::new(promise), wait)
    }),
    ("promise, given up", || {
        let promise = Promise::<u32>::new();
        let wait = promise.wait().map(drop).boxed();
        (Box::new(GivenUp(promise)), wait)
    }),
    ("one_shot", || {
        let (resume, reply) = one_shot::<u32>();
        (Box::new(resume), reply.map(drop).boxed())
    }),
    ("callback", || {
        let kept = Arc::new(Mutex::new(None));
        let place = kept.clone();
        (Box::new(kept), Fiber::callback(move |resume| *place.lock() = Some(resume)).boxed())
    }),
];

struct GivenUp(Promise<u32>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Both fibers, below one. Counts those of the second that do not end as cancelled.
fn both(pair: Pair, others: Arc<AtomicU32>) -> Fiber<()> {
    fiber! {
        let (end, wait) = pair();
        let! _first = Fiber::<()>::never().map(move |()| drop(end)).fork();
        let! _second = counted(wait, others).fork();
        do! Fiber::never()
    }
    .boxed()
}

fn counted(wait: Fiber<()>, others: Arc<AtomicU32>) -> Fiber<()> {
    let count = move |outcome: Outcome<()>| {
        if !outcome.is_cancelled() {
            others.fetch_add(1, Ordering::Relaxed);
        }
        Outcome::Success(())
    };
    wait.map_outcome(count).boxed()
}

#[test]
fn the_other_end_is_cancelled_too_on_threads() {
    let pool = Pool::builder().workers(2).build();
    for (name, pair) in PAIRS {
        let others = Arc::new(AtomicU32::new(0));
        for _ in 0..ROUNDS {
            let handle = pool.spawn(both(pair, others.clone()));
            block_on(pool.spawn(Fiber::yield_now())).unwrap();
            _ = block_on(pool.spawn(handle.cancel()));
        }
        assert_eq!(others.load(Ordering::Relaxed), 0, "of {ROUNDS} waits: {name}");
    }
}

#[test]
fn a_join_of_a_fiber_that_is_cancelled_too_is_cancelled_on_threads() {
    let pool = Pool::builder().workers(2).build();
    let others = Arc::new(AtomicU32::new(0));
    for _ in 0..ROUNDS {
        let counter = others.clone();
        let handle: Handle<()> = pool.spawn(fiber! {
            let! first = Fiber::<()>::never().fork();
            let! _second = counted(first.join().boxed(), counter).fork();
            do! Fiber::never()
        });
        block_on(pool.spawn(Fiber::yield_now())).unwrap();
        _ = block_on(pool.spawn(handle.cancel()));
    }
    assert_eq!(others.load(Ordering::Relaxed), 0, "of {ROUNDS} joins");
}

/// A cancellation that has gone by does not reach what a finalizer does, in parts and scopes neither.
#[test]
fn in_a_finalizer_the_end_of_a_channel_is_its_end() {
    let around: [fn(Fiber<()>) -> Fiber<()>; 5] = [
        |next| next,
        |next| next.timeout(Duration::from_secs(1)).boxed(),
        |next| Fiber::yield_now().zip(next).map(drop).boxed(),
        |next| Fiber::parallel([next, Fiber::yield_now().boxed()]).map(drop).boxed(),
        |next| Fiber::scope(|_| next.fork().bind(|next| next.join())).boxed(),
    ];
    for (index, around) in around.into_iter().enumerate() {
        let test = TestScheduler::new();
        let seen = Arc::new(Mutex::new(None));
        let saw = seen.clone();
        let (sender, receiver) = Channel::<u32>::bounded(1);
        drop(sender);
        let next = Fiber::yield_now().bind(move |()| receiver.next());
        let finalizer = around(next.map(move |item| *saw.lock() = Some(item)).boxed());
        test.run(fiber! {
            let! cancelled = Fiber::<()>::never().ensure(finalizer).fork();
            do! Fiber::yield_now();
            do! cancelled.cancel()
        })
        .unwrap();
        assert_eq!(*seen.lock(), Some(None), "{index}");
    }
}
