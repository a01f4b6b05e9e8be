//! Streams of futures in fibers, and ticks as a stream.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use fiber_core::error::NoScheduler;
use fiber_core::stream::{Items, Ticks, ticks};
use fiber_core::sync::{Channel, Receiver};
use fiber_core::{Either, Error, Fiber, fiber};
use fiber_test::{Explore, TestScheduler};
use futures_core::Stream;
use futures_util::stream;
use parking_lot::Mutex;

const SECOND: Duration = Duration::from_secs(1);
const MILLI: Duration = Duration::from_millis(1);

/// A stream of another library: nothing of it is known but that it wakes its last waker.
#[derive(Clone, Default)]
struct Foreign(Arc<Mutex<Shared>>);

#[derive(Default)]
struct Shared {
    items: Vec<u32>,
    waker: Option<Waker>,
    is_over: bool,
}

impl Foreign {
    fn change(&self, change: impl FnOnce(&mut Shared)) {
        let mut shared = self.0.lock();
        change(&mut shared);
        let waker = shared.waker.take();
        drop(shared);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Has each item a moment after the one before.
    fn filled(&self, items: std::ops::Range<u32>) -> Fiber<()> {
        let foreign = self.clone();
        fiber! {
            for item in items {
                do! Fiber::delay(MILLI);
                foreign.change(|shared| shared.items.insert(0, item));
            }
            foreign.change(|shared| shared.is_over = true);
        }
    }
}

impl Stream for Foreign {
    type Item = u32;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<u32>> {
        let mut shared = self.0.lock();
        match shared.items.pop() {
            None if !shared.is_over => {
                shared.waker = Some(cx.waker().clone());
                Poll::Pending
            }
            item => Poll::Ready(item),
        }
    }
}

/// All items, each of which is waited for in small parts of time, so that most waits lose.
fn received_in_races(items: Items<u32>) -> Fiber<Vec<u32>> {
    fiber! {
        let mut received = Vec::new();
        loop {
            let! first = items.next().race(Fiber::delay(MILLI));
            match first {
                Either::Left(None) => break received,
                Either::Left(Some(item)) => received.push(item),
                Either::Right(()) => {}
            }
            let! other = Fiber::yield_now().race(items.next());
            match other {
                Either::Right(None) => break received,
                Either::Right(Some(item)) => received.push(item),
                Either::Left(()) => {}
            }
            let! third = items.next().timeout_option(MILLI);
            match third {
                Some(None) => break received,
                Some(Some(item)) => received.push(item),
                None => {}
            }
        }
    }
}

#[test]
fn a_wait_for_an_item_that_loses_a_race_has_taken_none() {
    Explore::default().check(|| {
        let foreign = Foreign::default();
        let received = received_in_races(Items::of(foreign.clone()));
        let both = received.zip(foreign.filled(0..4));
        both.map(|(received, ())| assert_eq!(received, [0, 1, 2, 3]))
    });
}

#[test]
fn a_wait_for_an_item_that_loses_a_race_on_threads_has_taken_none() {
    let pool = fiber_sched::Pool::builder().workers(2).build();
    for _ in 0..20 {
        let foreign = Foreign::default();
        let received = received_in_races(Items::of(foreign.clone()));
        let both = received.zip(foreign.filled(0..10));
        assert_eq!(pool.run(both).unwrap().0, (0..10).collect::<Vec<_>>());
    }
}

#[test]
fn a_cancelled_wait_for_an_item_leaves_the_stream_to_the_next_one() {
    Explore::default().check(|| {
        let foreign = Foreign::default();
        let items = Items::of(foreign.clone());
        fiber! {
            let (sender, received) = Channel::unbounded();
            let kept = sender.clone();
            let! first = items.next().map(move |item| kept.try_send(item).unwrap()).fork();
            let! other = items.next().map(move |item| sender.try_send(item).unwrap()).fork();
            let! _filled = foreign.filled(0..2).fork();
            do! first.cancel();
            do! other.ended();
            let! rest = items.next();
            let mut all: Vec<u32> = received.recv_many(2).await?.into_iter().flatten().collect();
            all.extend(rest);
            all.sort_unstable();
            assert_eq!(all, [0, 1]);
        }
    });
}

#[test]
fn the_items_of_a_stream_go_to_one_of_the_fibers_that_share_it() {
    Explore::default().check(|| {
        let items = Items::of(stream::iter(0..6));
        let takes = |items: Items<u32>| {
            fiber! {
                let mut taken = Vec::new();
                while let Some(item) = do! items.next() {
                    taken.push(item);
                }
                taken
            }
        };
        takes(items.clone()).zip(takes(items)).map(|(mut all, other)| {
            all.extend(other);
            all.sort_unstable();
            assert_eq!(all, (0..6).collect::<Vec<u32>>());
        })
    });
}

#[test]
fn items_that_are_shared_are_explored_in_full() {
    let explored = Explore::exhaustive().reduced().check(|| {
        let items = Items::of(stream::iter(0..2));
        let take = |items: Items<u32>| items.next().map(|item| assert!(item.is_some()));
        take(items.clone()).zip(take(items))
    });
    assert!(explored.is_complete() && !explored.is_undeclared(), "{explored}");
}

/// Whether the wait begins in a block or in a task.
#[test]
fn a_stream_of_items_that_awaits_fibers_fails_everywhere() {
    let items = Items::of(ticks(SECOND));
    let test = TestScheduler::new();
    let in_a_block = items.clone();
    let first = test.run(fiber! { do! in_a_block.next() }).unwrap();
    assert!(first.unwrap().unwrap_err().is::<NoScheduler>());
    assert!(test.run(items.next()).unwrap().is_none());
}

#[test]
fn ticks_are_sent_into_a_channel() {
    let (sender, receiver) = Channel::bounded(1);
    let third = fiber! {
        let! _sends = sender.send_stream(ticks(SECOND)).fork();
        for _ in 0..2 { drop(do! receiver.recv()); }
        let! third = receiver.recv();
        third?.as_nanos()
    };
    assert_eq!(TestScheduler::new().run(third).unwrap(), 3_000_000_000);
}

#[test]
fn a_panic_of_a_stream_is_that_of_the_fiber_and_the_stream_stays_usable() {
    let mut polls = 0;
    let items = Items::of(stream::poll_fn(move |_| {
        polls += 1;
        assert!(polls > 1, "the first poll");
        Poll::Ready(Some(polls))
    }));
    let test = TestScheduler::new();
    assert!(matches!(test.run(items.next()), fiber_core::Outcome::Panicked(_)));
    assert_eq!(test.run(items.next()).unwrap(), Some(2));
}

#[test]
fn a_channel_behind_a_stream_is_a_channel_again() {
    Explore::default().check(|| {
        let (sender, receiver): (_, Receiver<u32>) = Channel::bounded(1);
        let send = sender.send_all(0..3);
        drop(sender);
        let received = received_in_races(Items::of(receiver.into_stream()));
        received.zip(send).map(|(received, ())| assert_eq!(received, [0, 1, 2]))
    });
}

async fn next(ticks: &mut Ticks) -> Option<Result<u64, Error>> {
    let tick = poll_fn(|cx| Pin::new(&mut *ticks).poll_next(cx)).await;
    tick.map(|tick| tick.map(|at| at.as_nanos() / 1_000_000))
}

#[test]
fn ticks_come_at_multiples_and_those_that_were_missed_come_as_one() {
    let fiber = Fiber::from_future(async {
        let (mut ticks, mut seen) = (ticks(SECOND), Vec::new());
        Fiber::delay(SECOND / 2).await?;
        for pause in [0, 250, 3100, 0] {
            seen.push(next(&mut ticks).await.unwrap()?);
            Fiber::delay(pause * MILLI).await?;
        }
        seen.push(next(&mut ticks).await.unwrap()?);
        Ok::<_, Error>(seen)
    });
    let test = TestScheduler::new();
    // The third is at 3.5 s, and the next poll at 6.6 s.
    assert_eq!(test.run(fiber).unwrap(), [1500, 2500, 3500, 6500, 7500]);
    test.assert_no_leaks();
}

#[test]
fn a_tick_that_was_not_waited_for_to_the_end_still_comes_in_time() {
    let fiber = Fiber::from_future(async {
        let mut ticks = ticks(SECOND);
        for _ in 0..3 {
            // The poll is dropped, and the stream is not.
            let mut pause = IntoFuture::into_future(Fiber::delay(SECOND / 4));
            let first = poll_fn(|cx| {
                let tick = Pin::new(&mut ticks).poll_next(cx);
                if tick.is_ready() { Poll::Ready(true) } else { Pin::new(&mut pause).poll(cx).map(|_| false) }
            });
            assert!(!first.await);
        }
        next(&mut ticks).await.expect("it has no end")
    });
    let test = TestScheduler::new();
    assert_eq!(test.run(fiber).unwrap(), 1000);
    test.assert_no_leaks();
}

#[test]
fn ticks_that_pass_after_a_poll_that_was_dropped_come_as_one() {
    let fiber = Fiber::from_future(async {
        let (mut ticks, mut seen) = (ticks(SECOND), Vec::new());
        let begins = poll_fn(|cx| Poll::Ready(Pin::new(&mut ticks).poll_next(cx).is_ready()));
        assert!(!begins.await);
        Fiber::delay(3500 * MILLI).await?;
        for _ in 0..2 {
            seen.push(next(&mut ticks).await.unwrap()?);
        }
        Ok::<_, Error>(seen)
    });
    let test = TestScheduler::new();
    assert_eq!(test.run(fiber).unwrap(), [3000, 4000]);
    assert_eq!(test.now().as_nanos(), 4_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn ticks_outside_of_any_fiber_fail_and_end() {
    let mut ticks = ticks(SECOND);
    let error = fiber_sched::block_on(next(&mut ticks)).unwrap().unwrap_err();
    assert!(error.is::<NoScheduler>());
    assert!(fiber_sched::block_on(next(&mut ticks)).is_none());
}

#[test]
fn a_future_that_always_finds_an_item_lets_others_run_and_is_cancelled() {
    /// As many items as a future does not take in one turn.
    const MANY: u32 = 10_000;

    let (sender, receiver) = Channel::unbounded();
    (0..MANY).for_each(|item| sender.try_send(item).unwrap());
    drop(sender);
    let mut items = receiver.clone().into_stream();
    let takes = Fiber::from_future(async move {
        while poll_fn(|cx| Pin::new(&mut items).poll_next(cx)).await.is_some() {}
        Ok::<(), Error>(())
    });
    let test = TestScheduler::new();
    assert_eq!(test.run(takes.race(Fiber::yield_now())).unwrap(), Either::Right(()));
    let next = test.run(receiver.recv()).unwrap();
    assert!((1..MANY).contains(&next), "the rest, from {next}, is for others");
}
