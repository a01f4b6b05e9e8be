//! Awaited fibers: in place, beside others, in wrappers with their own wakers, and dropped half-way.

use std::collections::BTreeSet;
use std::future::{IntoFuture, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use crate::support::Counter;
use fiber_core::error::{Abandoned, Cancelled};
use fiber_core::scheduler::{Cx, Wait, Wakeup};
use fiber_core::sync::{Channel, one_shot};
use fiber_core::{Error, Fiber, Outcome, fiber, local_key, uncancelable};
use fiber_sched::{CurrentThread, Pool};
use fiber_test::{Explore, TestScheduler, event};

const SECOND: Duration = Duration::from_secs(1);

local_key! {
    static NAME: char = '-';
}

fn id() -> Fiber<String> {
    Fiber::current().map(|context| context.id()).boxed()
}

fn later<T: Send + 'static>(value: T) -> Fiber<T> {
    Fiber::delay(SECOND).map(move |()| value).boxed()
}

/// Polls both until both are ready.
pub(crate) async fn both<A: Future, B: Future>(a: A, b: B) -> (A::Output, B::Output) {
    let (mut a, mut b) = (pin!(a), pin!(b));
    let (mut first, mut second) = (None, None);
    poll_fn(move |cx| {
        if first.is_none()
            && let Poll::Ready(end) = a.as_mut().poll(cx)
        {
            first = Some(end);
        }
        if second.is_none()
            && let Poll::Ready(end) = b.as_mut().poll(cx)
        {
            second = Some(end);
        }
        match (first.take(), second.take()) {
            (Some(first), Some(second)) => Poll::Ready((first, second)),
            (one, other) => {
                (first, second) = (one, other);
                Poll::Pending
            }
        }
    })
    .await
}

/// Polls both until the first is ready, and drops the other.
async fn first_of<T>(a: impl Future<Output = T>, b: impl Future<Output = T>) -> T {
    let (mut a, mut b) = (pin!(a), pin!(b));
    poll_fn(
        |cx| if let Poll::Ready(end) = a.as_mut().poll(cx) { Poll::Ready(end) } else { b.as_mut().poll(cx) },
    )
    .await
}

/// Polls its future only after it was woken, by its own waker, like a set of futures.
struct Gate<F> {
    future: Pin<Box<F>>,
    signal: Arc<Signal>,
}

struct Signal {
    is_woken: AtomicBool,
    outer: Mutex<Option<Waker>>,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Ordering::SeqCst);
        let outer = self.outer.lock().unwrap().take();
        if let Some(outer) = outer {
            outer.wake();
        }
    }
}

fn gate<F: Future>(future: F) -> Gate<F> {
    let signal = Signal { is_woken: AtomicBool::new(true), outer: Mutex::new(None) };
    Gate { future: Box::pin(future), signal: Arc::new(signal) }
}

impl<F: Future> Future for Gate<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        *self.signal.outer.lock().unwrap() = Some(cx.waker().clone());
        if !self.signal.is_woken.swap(false, Ordering::SeqCst) {
            return Poll::Pending;
        }
        let waker = Waker::from(self.signal.clone());
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }
}

async fn ids() -> Result<Vec<String>, Error> {
    let before = id().await?;
    let waited = Fiber::delay(SECOND).bind(|()| id()).await?;
    Ok(vec![before, waited, id().await?])
}

#[test]
fn an_awaited_fiber_runs_in_place() {
    let test = TestScheduler::new();
    let seen = test.run(fiber! { (do! id(), ids().await?, id().await?) }).unwrap();
    assert_eq!(seen.1, vec![seen.0.clone(); 3]);
    assert_eq!(seen.2, seen.0);
    let outside = test.run(id().zip(Fiber::from_future(ids()))).unwrap();
    assert_eq!(outside.1, vec![outside.1[0].clone(); 3], "the context is that of the branch");
    test.assert_no_leaks();
}

#[test]
fn an_awaited_fiber_runs_in_place_in_a_wrapper_with_a_waker_of_its_own() {
    let test = TestScheduler::new();
    let (outside, inside, waited) = test
        .run(fiber! {
            let outside = do! id();
            let inside = gate(id().into_future()).await?;
            let waited = gate(async { later(1).await? ; later(2).await }).await?;
            (outside, inside, waited)
        })
        .unwrap();
    assert_eq!(inside, outside);
    assert_eq!(waited, 2);
    assert_eq!(test.now().as_nanos(), 2_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn gated_futures_take_their_turns() {
    Explore::exhaustive().check(|| {
        fiber! {
            let sum = |n: u32| async move {
                let a = Fiber::lazy(move || n).await?;
                Fiber::yield_now().await?;
                Ok::<_, Error>(a + Fiber::lazy(move || n).await?)
            };
            let (a, b) = both(gate(sum(1)), gate(sum(2))).await;
            assert_eq!((a?, b?), (2, 4));
        }
    });
}

#[test]
fn two_that_are_awaited_at_the_same_time_wait_at_the_same_time() {
    let test = TestScheduler::new();
    let fiber = fiber! {
        let (a, b) = both(later('a').into_future(), later('b').into_future()).await;
        (a?, b?)
    };
    assert_eq!(test.run(fiber).unwrap(), ('a', 'b'));
    assert_eq!(test.now().as_nanos(), 1_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn two_that_are_awaited_at_the_same_time_end_in_every_schedule() {
    Explore::exhaustive().check(|| {
        let step = || Fiber::yield_now().map(|()| 1);
        let program = fiber! {
            let (a, b) = both(step().into_future(), async { Ok::<_, Error>(step().await? + step().await?) }).await;
            a? + b?
        };
        program.map(|sum| assert_eq!(sum, 3))
    });
}

#[test]
fn one_that_is_dropped_half_way_has_ended_when_the_block_ends() {
    let test = TestScheduler::new().record();
    let slow = Fiber::<()>::never().ensure(Fiber::delay(SECOND).bind(|()| event("finalized")));
    let fiber = fiber! {
        first_of(slow.into_future(), Fiber::delay(SECOND).into_future()).await?;
        do! event("goes on");
    };
    assert!(test.run(fiber.bind(|()| event("after"))).is_success());
    test.trace().assert_order(&["goes on", "finalized", "after"]);
    assert_eq!(test.now().as_nanos(), 2_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn beside_the_finalizer_of_a_dropped_one_the_next_one_runs_in_place_and_its_value_reaches_the_block() {
    let test = TestScheduler::new();
    let arrived = Counter::default();
    let arrives = arrived.clone();
    let slow = Fiber::<()>::never().ensure(later(()));
    let fiber = test.spawn(fiber! {
        first_of(slow.into_future(), later(()).into_future()).await?;
        let value = Fiber::delay(5 * SECOND).map(|()| 7).uncancelable().await?;
        arrives.add();
        value
    });
    test.run_for(3 * SECOND);
    fiber.cancel_now();
    test.run_until_idle();
    assert_eq!((arrived.get(), fiber.outcome().unwrap()), (1, 7));
    test.assert_no_leaks();
}

/// A fiber that an awaited one had made in the context of the block before it moved apart is cancelled with it.
#[test]
fn whatever_the_dropped_one_waits_in_is_cancelled() {
    let never = || Fiber::<()>::never();
    let inner = |fiber: Fiber<()>| fiber! { do! fiber; };
    let waits: [(&str, fn() -> Fiber<()>); 6] = [
        ("race", || Fiber::<()>::never().race(Fiber::<()>::never()).map(drop).boxed()),
        ("zip", || Fiber::<()>::never().zip(Fiber::<()>::never()).map(drop).boxed()),
        ("parallel", || Fiber::parallel((0..2).map(|_| Fiber::<()>::never())).map(drop).boxed()),
        ("timeout", || Fiber::<()>::never().timeout(3600 * SECOND).boxed()),
        ("scope", || Fiber::scope(|_| Fiber::<()>::never()).boxed()),
        ("loop", || {
            Fiber::for_each(0..2, |_| Fiber::<()>::never().race(Fiber::<()>::never()).map(drop)).boxed()
        }),
    ];
    for (name, make) in waits {
        for wrapped in [false, true] {
            let test = TestScheduler::new();
            let fiber = if wrapped { inner(make()) } else { make() };
            let program = fiber! {
                first_of(fiber.into_future(), Fiber::delay(SECOND).into_future()).await?;
            };
            assert!(test.run(program).is_success(), "{name}");
            assert_eq!(test.now().as_nanos(), 1_000_000_000, "{name}");
            test.assert_no_leaks();
        }
    }
    let nested = fiber! {
        let inner = Fiber::from_future(async move {
            both(never().into_future(), never().into_future()).await.0
        });
        first_of(inner.into_future(), Fiber::delay(SECOND).into_future()).await?;
    };
    let test = TestScheduler::new();
    assert!(test.run(nested).is_success());
    test.assert_no_leaks();
}

#[test]
fn an_uncancelable_region_that_moves_apart_may_still_be_restored_in_its_parts() {
    let test = TestScheduler::new();
    let region = uncancelable(|restore| {
        Fiber::delay(SECOND).bind(move |()| restore.apply(Fiber::<()>::never()).ensure(event("given back")))
    });
    let fiber = fiber! {
        first_of(region.into_future(), Fiber::delay(2 * SECOND).into_future()).await?;
    };
    assert!(test.run(fiber).is_success());
    assert_eq!(test.now().as_nanos(), 2_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn an_uncancelable_region_that_is_dropped_goes_on_to_its_end() {
    let test = TestScheduler::new();
    let counter = Counter::default();
    let region = Fiber::delay(3 * SECOND).bind({
        let counted = counter.count();
        move |()| counted
    });
    let region = region.uncancelable();
    let fiber = fiber! {
        first_of(region.into_future(), Fiber::delay(SECOND).into_future()).await?;
    };
    assert!(test.run(fiber).is_success());
    assert_eq!((counter.get(), test.now().as_nanos()), (1, 3_000_000_000));
}

#[test]
fn a_part_of_a_region_that_is_restored_beside_another_one_is_cancelled() {
    let test = TestScheduler::new();
    let region = uncancelable(|restore| {
        let restored = restore.apply(Fiber::<()>::never());
        fiber! { both(Fiber::delay(SECOND).into_future(), restored.into_future()).await.0? }
    });
    let spawned = test.spawn(region);
    test.run_for(SECOND / 2);
    spawned.cancel_now();
    test.run_until_idle();
    assert!(spawned.outcome().is_cancelled());
    test.assert_no_leaks();
}

#[test]
fn one_that_is_dropped_behind_its_own_region_is_cancelled_also_in_a_region_of_the_block() {
    let test = TestScheduler::new();
    let endless = Fiber::delay(SECOND).uncancelable().bind(|()| Fiber::<()>::never());
    let block = fiber! { first_of(endless.into_future(), Fiber::delay(2 * SECOND).into_future()).await?; };
    assert!(test.run(block.uncancelable()).is_success());
    test.assert_no_leaks();
}

#[test]
fn an_awaited_fiber_keeps_its_locals_and_its_regions_to_itself() {
    let test = TestScheduler::new();
    let named = |name| Fiber::delay(SECOND).bind(|()| Fiber::local(&NAME)).with_local(&NAME, name);
    let fiber = fiber! {
        let beside = async {
            let before = Fiber::local(&NAME).await?;
            let own = named('b').await?;
            Ok::<_, Error>((before, own, Fiber::local(&NAME).await?))
        };
        let (a, b) = both(named('a').uncancelable().into_future(), beside).await;
        (a?, b?, do! Fiber::local(&NAME))
    };
    assert_eq!(test.run(fiber).unwrap(), ('a', ('-', 'b', '-'), '-'));
}

#[test]
fn what_an_awaited_fiber_forks_belongs_to_the_block() {
    let test = TestScheduler::new().record();
    let fork = |name| Fiber::<()>::never().ensure(event(name)).fork();
    let block = fiber! {
        let in_place = fork("in place").await?;
        let (apart, ()) = both(
            async { Fiber::yield_now().await?; fork("apart").await },
            async { Fiber::yield_now().await.unwrap() },
        )
        .await;
        let handles = (in_place, apart?);
        do! Fiber::delay(SECOND);
        assert!(!handles.0.is_finished() && !handles.1.is_finished());
    };
    assert!(test.run(block.bind(|()| event("after"))).is_success());
    let trace = test.trace();
    trace.assert_order(&["in place", "after"]);
    trace.assert_order(&["apart", "after"]);
    test.assert_no_leaks();
}

#[test]
fn a_forked_handle_is_awaited_in_the_block() {
    let fiber = fiber! {
        let handle = later(6).fork().await?;
        handle.await.into_result()? * 7
    };
    assert_eq!(TestScheduler::new().run(fiber).unwrap(), 42);
}

#[test]
fn a_fiber_that_is_awaited_beside_a_foreign_future_yields_to_it() {
    let test = TestScheduler::new();
    let woken = Arc::new(Mutex::new((false, None::<Waker>)));
    let foreign = woken.clone();
    let fiber = fiber! {
        let wait = poll_fn(|cx| {
            let mut woken = foreign.lock().unwrap();
            woken.1 = Some(cx.waker().clone());
            if woken.0 { Poll::Ready(Ok(())) } else { Poll::Pending }
        });
        first_of(Fiber::<()>::never().into_future(), wait).await?;
    };
    let waking = Fiber::delay(SECOND).map(move |()| {
        let mut woken = woken.lock().unwrap();
        woken.0 = true;
        woken.1.take().unwrap().wake();
    });
    assert!(test.run(fiber.zip(waking)).is_success());
    test.assert_no_leaks();
}

#[test]
fn a_future_that_is_sent_away_while_it_waits_ends_with_its_block() {
    let test = TestScheduler::new();
    let (send, receive) = mpsc::channel();
    let block = fiber! {
        let mut taken = Fiber::<()>::never().into_future();
        poll_fn(|cx| Poll::Ready(Pin::new(&mut taken).poll(cx).is_pending())).await;
        send.send(taken)?;
    };
    assert!(test.run(block).is_success());
    test.assert_no_leaks();
    let second = fiber! { receive.recv()?.await?; };
    assert!(test.run(second).failure().unwrap().is::<Cancelled>());
}

#[test]
fn nests_of_futures_are_cancelled_everywhere() {
    Explore::cancel_everywhere().check(|| {
        let step = || Fiber::yield_now().ensure(Fiber::yield_now());
        fiber! {
            let inner = async move {
                let (a, b) = both(step().into_future(), gate(step().into_future())).await;
                a.and(b)
            };
            let (a, b) = both(inner, fiber! { step().await?; do! step(); }.into_future()).await;
            a.and(b)?;
            do! step();
        }
    });
}

#[test]
fn an_awaited_fiber_is_found_by_an_executor_that_blocks_inside_a_block() {
    let pool = Pool::builder().workers(2).build();
    let fiber =
        fiber! { fiber_sched::block_on(async { Fiber::delay(Duration::from_millis(1)).map(|()| 5).await })? };
    assert_eq!(pool.run(fiber).unwrap(), 5);
}

#[test]
fn many_blocks_await_beside_each_other_on_a_pool() {
    let pool = Pool::builder().workers(2).build();
    let one = |n: u64| {
        fiber! {
            let wait = || Fiber::yield_now().map(|()| 1);
            let (a, b) = both(gate(wait().into_future()), async { wait().await.unwrap() + wait().await.unwrap() }).await;
            let c = first_of(wait().into_future(), Fiber::<u64>::never().into_future()).await?;
            n + a? + b + c
        }
    };
    let sum = pool.run(Fiber::parallel((0..2_000).map(one)).map(|all| all.into_iter().sum::<u64>()));
    assert_eq!(sum.unwrap(), (0..2_000).sum::<u64>() + 4 * 2_000);
}

/// The compiler checks the auto traits of a block with lifetimes erased (rust-lang/rust#110338).
#[test]
fn fibers_of_static_references_are_awaited() {
    local_key! {
        static WORD: &'static str = "default";
    }
    async fn words() -> Result<Vec<&'static str>, Error> {
        let one = Fiber::delay(SECOND).map(|()| "one").await?;
        let two = Fiber::local(&WORD).with_local(&WORD, one).bind(Fiber::success).await?;
        Ok(vec![one, two])
    }
    let fiber = fiber! {
        let mut all = words().await?;
        let! three = Fiber::local(&WORD).with_local(&WORD, "three");
        all.push(three);
        all.push(Fiber::yield_now().bind(|()| Fiber::local(&WORD)).await?);
        all
    };
    assert_eq!(TestScheduler::new().run(fiber).unwrap(), ["one", "one", "three", "default"]);
}

#[test]
fn a_wrapper_with_a_waker_of_its_own_costs_no_turn() {
    let turns = |fiber: Fiber<()>| {
        let test = TestScheduler::new().record();
        assert!(test.run(fiber).is_success());
        test.trace().turns().len()
    };
    async fn delays() -> Result<(), Error> {
        Fiber::delay(SECOND).await?;
        Fiber::delay(SECOND).await
    }
    let plain = turns(Fiber::from_future(delays()).boxed());
    assert_eq!(turns(Fiber::from_future(gate(delays())).boxed()), plain);
    // One more, before the first wait.
    let binds = turns(Fiber::delay(SECOND).bind(|()| Fiber::delay(SECOND)).boxed());
    assert_eq!(plain, binds + 1);
}

#[test]
fn a_block_that_pauses_when_it_moves_apart_goes_on_there() {
    Explore::cancel_everywhere().check(|| {
        let inner = Fiber::from_future(async {
            let (a, b) = both(Fiber::delay(SECOND).into_future(), Fiber::success(()).into_future()).await;
            a.and(b)?;
            Fiber::success(()).await
        });
        fiber! { first_of(inner.into_future(), Fiber::success(()).into_future()).await?; }
    });
}

#[test]
fn a_block_that_moves_apart_between_two_waits_is_cancelled_and_awaited() {
    let test = TestScheduler::new();
    let inner = fiber! {
        Fiber::success(()).await?;
        Fiber::success(()).await?;
        do! Fiber::<()>::never();
    };
    let fiber = fiber! { first_of(inner.into_future(), Fiber::yield_now().into_future()).await?; };
    assert!(test.run(fiber).is_success());
    test.assert_no_leaks();
}

#[test]
fn a_cancellation_does_not_reach_what_a_finalizer_awaits_nor_what_that_forks() {
    Explore::cancel_everywhere().program_only().check(|| {
        let close = Fiber::from_future(async move {
            let forks = async {
                Fiber::yield_now().fork().bind(|handle| Fiber::yield_now().bind(|()| handle.join())).await
            };
            let (a, b) = both(forks, Fiber::yield_now().into_future()).await;
            a.and(b)
        });
        close.catch(|error| -> Fiber<()> { panic!("a finalizer was interrupted: {error}") }).uncancelable()
    });
}

/// The outcome of its first poll.
async fn polled_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(Pin::new(&mut *future).poll(cx))).await
}

#[test]
fn a_future_that_is_polled_and_then_put_into_a_wrapper_wakes_the_wrapper() {
    let test = TestScheduler::new();
    let fiber = fiber! {
        let mut future = later(5).into_future();
        assert!(polled_once(&mut future).await.is_pending());
        gate(future).await?
    };
    assert_eq!(test.run(fiber).unwrap(), 5);
    test.assert_no_leaks();
}

#[test]
fn a_future_that_is_polled_and_then_sent_to_another_fiber_wakes_that_one() {
    let pool = Pool::builder().workers(2).build();
    let (send, receive) = mpsc::channel();
    let (go_on, may_go_on) = std::sync::mpsc::channel();
    let one = fiber! {
        let mut future = Fiber::delay(Duration::from_millis(1)).into_future();
        assert!(polled_once(&mut future).await.is_pending());
        send.send(future)?;
        // The other fiber polls it while this block is still being polled.
        may_go_on.recv()?;
        do! Fiber::<()>::never();
    };
    let two = fiber! {
        let mut future = receive.recv()?;
        assert!(polled_once(&mut future).await.is_pending());
        go_on.send(())?;
        future.await?;
    };
    assert!(pool.run(one.race(two).timeout(60 * SECOND)).is_success());
}

/// Waits for the fiber of a future in place. When it has ended, returns the future without having polled it again.
async fn ended<F: Future + Unpin>(mut future: F) -> F {
    let mut has_begun = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut has_begun, true) {
            return Poll::Ready(());
        }
        assert!(Pin::new(&mut future).poll(cx).is_pending());
        Poll::Pending
    })
    .await;
    future
}

#[test]
fn a_future_that_is_not_polled_when_its_fiber_has_ended_keeps_the_outcome() {
    let test = TestScheduler::new();
    let (send, receive) = mpsc::channel();
    let block = fiber! {
        let at_once = ended(later(1).into_future()).await;
        let later_on = ended(later(2).into_future()).await;
        assert!(send.send(ended(later(3).into_future()).await).is_ok());
        let failed = ended(Fiber::delay(SECOND).bind(|()| Fiber::<()>::fail("no")).into_future()).await;
        (at_once.await?, later(4).await?, later_on.await?, failed.await.unwrap_err().to_string())
    };
    assert_eq!(test.run(block).unwrap(), (1, 4, 2, "no".to_owned()));
    let elsewhere = fiber! { receive.recv()?.await? };
    assert_eq!(test.run(elsewhere).unwrap(), 3);
    test.assert_no_leaks();
}

/// Counts its drop.
struct Bomb(Counter);

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.add();
    }
}

#[test]
fn an_outcome_that_no_poll_takes_is_dropped_with_its_future_or_when_it_arrives() {
    let test = TestScheduler::new();
    let dropped = Counter::default();
    let bomb = || {
        let bomb = Bomb(dropped.clone());
        later(()).map(move |()| bomb).into_future()
    };
    let run = |block: Fiber<()>, expected: usize| {
        assert!(test.run(block).is_success());
        assert_eq!(dropped.get(), expected);
        test.assert_no_leaks();
    };

    // In the poll that follows the end.
    let (future, seen) = (bomb(), dropped.clone());
    run(fiber! { drop(ended(future).await); assert_eq!(seen.get(), 1); }, 1);
    // In a later poll, and with the block.
    let (future, second, seen) = (bomb(), bomb(), dropped.clone());
    run(
        fiber! {
            let (future, _second) = (ended(future).await, ended(second).await);
            do! later(());
            drop(future);
            assert_eq!(seen.get(), 2);
        },
        3,
    );
    // Elsewhere, before the end: the outcome is dropped when it arrives.
    let (future, seen, (send, receive)) = (bomb(), dropped.clone(), mpsc::channel());
    let block = fiber! {
        let mut future = Some(future);
        poll_fn(|cx| {
            let Some(mut future) = future.take() else { return Poll::Ready(()) };
            assert!(Pin::new(&mut future).poll(cx).is_pending());
            assert!(send.send(future).is_ok());
            Poll::Pending
        })
        .await;
        assert_eq!(seen.get(), 4);
    };
    let elsewhere = fiber! { drop(receive.recv()?); };
    run(block.zip(elsewhere).map(|_| ()).boxed(), 4);
}

/// Begins to wait for the fiber in place, gives its future to `keep`, and waits for its end.
async fn leave(fiber: Fiber<()>, mut keep: impl FnMut(<Fiber<()> as IntoFuture>::IntoFuture)) {
    let begun = Counter::default();
    let counted = begun.clone();
    let mut future = Some(Fiber::lazy(move || counted.add()).bind(|()| fiber).boxed().into_future());
    poll_fn(|cx| {
        let Some(mut polled) = future.take() else { return Poll::Ready(()) };
        assert!(Pin::new(&mut polled).poll(cx).is_pending());
        if begun.get() == 0 {
            // The block yields before.
            future = Some(polled);
        } else {
            keep(polled);
        }
        Poll::Pending
    })
    .await;
}

#[test]
fn a_reduced_exploration_sees_all_answers_of_a_future_that_another_fiber_polls() {
    let answers = |explore: Explore| {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let explored = explore.check(|| {
            let ((send, receive), seen) = (Channel::bounded(1), seen.clone());
            let one = fiber! {
                leave(Fiber::yield_now().boxed(), |future| assert!(send.try_send(future).is_ok())).await;
                do! Fiber::yield_now();
            };
            let other = fiber! {
                let! mut future = receive.recv();
                let answer = polled_once(&mut future).await;
                seen.lock().unwrap().push(answer.is_ready());
            };
            one.zip(other)
        });
        let orders = explored.traces().or(explored.orders()).unwrap();
        let seen = seen.lock().unwrap();
        // After a reduced exploration, further orders are drawn at random.
        seen.iter().copied().take(usize::try_from(orders).unwrap()).collect::<BTreeSet<_>>()
    };
    assert_eq!(answers(Explore::exhaustive()).len(), 2);
    assert_eq!(answers(Explore::exhaustive().reduced()).len(), 2);
}

#[test]
fn an_executor_that_blocks_inside_a_block_finds_what_has_ended_in_place() {
    let test = TestScheduler::new();
    let block = fiber! {
        let future = ended(later(5).into_future()).await;
        CurrentThread::new().run(Fiber::from_future(future)).unwrap()
    };
    assert_eq!(test.run(block).unwrap(), 5);
    test.assert_no_leaks();
}

#[test]
fn a_future_elsewhere_ends_when_the_block_of_its_fiber_is_abandoned() {
    for is_polled_before in [true, false] {
        let test = TestScheduler::new();
        let (send, receive) = mpsc::channel();
        let block = fiber! { leave(Fiber::never().boxed(), |future| send.send(future).unwrap()).await; };
        let block = test.context().spawn(block);
        test.run_until_idle();
        let elsewhere = fiber! { receive.recv()?.await.unwrap_err().is::<Abandoned>() };
        let elsewhere = test.context().spawn(elsewhere);
        if is_polled_before {
            test.run_until_idle();
        }
        block.context().abandon();
        test.run_until_idle();
        assert!(block.try_outcome().unwrap().failure().unwrap().is::<Abandoned>());
        assert!(elsewhere.try_outcome().unwrap().unwrap());
        test.assert_no_leaks();
    }
}

#[test]
fn a_future_that_another_thread_awaits_or_drops_while_its_fiber_ends_in_place_has_one_outcome() {
    let pool = Pool::builder().workers(2).build();
    let dropped = Counter::default();
    for round in 0..2_000 {
        let (send, receive) = one_shot();
        let mut send = Some(send);
        let bomb = Bomb(dropped.clone());
        let mut future = Some(Fiber::yield_now().map(move |()| bomb).into_future());
        let block = fiber! {
            poll_fn(|cx| {
                let Some(mut future) = future.take() else { return Poll::Ready(()) };
                if Pin::new(&mut future).poll(cx).is_pending() {
                    assert!(send.take().unwrap().send(future).is_ok());
                }
                Poll::Pending
            })
            .await;
        };
        let other = fiber! {
            let! future = receive;
            if round % 2 == 0 {
                future.await?;
            }
        };
        let other = other.fork().bind(|other| block.zip(other.join()));
        assert!(pool.run(other.timeout(60 * SECOND)).is_success());
        assert_eq!(dropped.get(), round + 1);
    }
}

/// Polls its future again if it was woken meanwhile, but not for ever, like a set of futures.
async fn eagerly<F: Future>(future: F) -> F::Output {
    let mut gate = gate(future);
    poll_fn(move |cx| {
        for _ in 0..3 {
            if let Poll::Ready(end) = Pin::new(&mut gate).poll(cx) {
                return Poll::Ready(end);
            }
            if !gate.signal.is_woken.load(Ordering::SeqCst) {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

#[test]
fn a_block_whose_wrappers_poll_eagerly_is_not_told_of_its_cancellation() {
    Explore::cancel_everywhere().program_only().check(|| {
        let twice = || async {
            let first = Fiber::delay(SECOND).await;
            assert!(first.is_ok());
            let second = Fiber::delay(SECOND).await;
            assert!(second.is_ok());
            second
        };
        fiber! {
            let (a, b) = both(eagerly(twice()), eagerly(twice())).await;
            a.and(b)?;
        }
    });
}

/// Code that blocks the thread until a fiber has ended cannot be left and polled in another turn.
#[test]
fn an_executor_that_blocks_inside_a_block_ends() {
    let pool = Pool::builder().workers(2).build();
    let polled = fiber! {
        let mut future = Fiber::delay(Duration::from_millis(1)).into_future();
        assert!(polled_once(&mut future).await.is_pending());
        fiber_sched::block_on(future)?;
    };
    assert!(pool.run(polled).is_success(), "one that was polled before");
    let many = || {
        fiber! {
            fiber_sched::block_on(async { for _ in 0..10_000 { Fiber::success(()).await? } Ok::<_, Error>(()) })?;
        }
    };
    assert!(pool.run(many()).is_success(), "when the budget is spent");
    assert!(TestScheduler::new().run(many()).is_success(), "where each wait is a scheduling point");
    let (send, receive) = mpsc::channel();
    let endless: Fiber<()> = fiber! {
        send.send(())?;
        fiber_sched::block_on(Fiber::<()>::never())?;
    };
    let endless = pool.spawn(endless);
    receive.recv().unwrap();
    assert!(pool.run(endless.cancel()).is_success(), "when it is cancelled");
}

/// Cancels a fiber as it registers, and waits for ever.
struct CancelsAndWaits(mpsc::Receiver<fiber_core::Context>);

impl Wait for CancelsAndWaits {
    type Out = ();

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<()>> {
        None
    }

    fn register(&mut self, _: &Cx<'_>, _: Wakeup) -> Option<Outcome<()>> {
        self.0.recv().unwrap().cancel();
        None
    }

    fn deregister(&mut self, _: &Cx<'_>) {}
}

/// The fiber that the executor waits for does not park, and is told so in the turn whose thread is blocked.
#[test]
fn an_executor_that_blocks_inside_a_block_ends_if_that_is_cancelled_while_it_begins_to_wait() {
    let pool = Pool::builder().workers(2).build();
    let (send, receive) = mpsc::channel();
    let waits = CancelsAndWaits(receive);
    let blocks: Fiber<()> = fiber! {
        fiber_sched::block_on(Fiber::wait(waits))?;
    };
    let blocks = pool.spawn(blocks);
    send.send(blocks.context().clone()).unwrap();
    assert!(fiber_sched::block_on(blocks).is_cancelled());
}

/// Polls a future once, and leaves it alone.
async fn begin(mut future: Pin<&mut impl Future>) {
    poll_fn(|cx| {
        let _ = future.as_mut().poll(cx);
        Poll::Ready(())
    })
    .await;
}

#[test]
fn the_attempts_of_a_hedge_that_is_dropped_half_way_have_ended_when_the_block_ends() {
    let finalized = Counter::default();
    let ends = finalized.clone();
    let block = Fiber::block(move || async move {
        let attempt = move || Fiber::<()>::never().ensure(Fiber::delay(SECOND)).ensure(ends.count());
        let hedge = Fiber::hedge(SECOND, 3, attempt);
        first_of(hedge.into_future(), Fiber::delay(SECOND * 3 / 2).into_future()).await
    });
    let test = TestScheduler::new();
    test.run(block).unwrap();
    assert_eq!((finalized.get(), test.now().as_nanos()), (2, 2_500_000_000));
    test.assert_no_leaks();
}

#[test]
fn a_part_that_has_moved_apart_keeps_its_locals_when_the_block_sets_others() {
    let block = || {
        Fiber::block(|| async {
            let limited = Fiber::delay(2 * SECOND).bind(|()| Fiber::local(&NAME)).timeout(9 * SECOND);
            let hedged = Fiber::hedge(SECOND, 2, || Fiber::local(&NAME).bind(|name| later(name).bind(later)));
            let (mut limited, mut hedged) = (pin!(limited.into_future()), pin!(hedged.into_future()));
            begin(limited.as_mut()).await;
            begin(hedged.as_mut()).await;
            let own = Fiber::delay(3 * SECOND).bind(|()| Fiber::local(&NAME)).with_local(&NAME, 'b').await?;
            Ok::<_, Error>((limited.await?, hedged.await?, own))
        })
    };
    assert_eq!(TestScheduler::new().run(block()).unwrap(), ('-', '-', 'b'));
    assert_eq!(TestScheduler::new().run(block().with_local(&NAME, 'a')).unwrap(), ('a', 'a', 'b'));
}
