//! Futures as fibers and fibers as futures.

use std::cell::RefCell;
use std::future::{Future, IntoFuture, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use crate::support::Counter;
use fiber_core::error::{Cancelled, NoScheduler, TimedOut};
use fiber_core::scheduler::WaitsFor;
use fiber_core::{Error, Fiber, Outcome, Run, Scope};
use fiber_sched::Pool;
use fiber_test::{Explore, TestScheduler, event};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn fibers_are_awaited_in_a_loop_over_mutable_state() {
    let test = TestScheduler::new();
    let fiber = Fiber::from_future(async {
        let mut seen = Vec::new();
        for n in 1..=3 {
            Fiber::delay(n * SECOND).await?;
            seen.push(n);
        }
        Ok::<_, Error>(seen)
    });
    assert_eq!(test.run(fiber).unwrap(), [1, 2, 3]);
    assert_eq!(test.now().as_nanos(), 6_000_000_000);
    test.assert_no_leaks();
}

#[test]
fn a_thread_local_wakes_a_block_while_its_thread_ends() {
    struct WakesAtEnd(Waker, Arc<AtomicBool>);
    impl Drop for WakesAtEnd {
        fn drop(&mut self) {
            self.1.store(true, SeqCst);
            self.0.wake_by_ref();
        }
    }
    thread_local!(static HELD: RefCell<Option<WakesAtEnd>> = const { RefCell::new(None) });

    let (wakers, told) = mpsc::channel();
    let ready = Arc::<AtomicBool>::default();
    let seen = ready.clone();
    let wait = poll_fn(move |task| {
        _ = wakers.send(task.waker().clone());
        if seen.load(SeqCst) { Poll::Ready(Ok::<_, Error>(())) } else { Poll::Pending }
    });
    let pool = Pool::builder().workers(1).build();
    let block = pool.spawn(Fiber::from_future(wait));
    let fiber = block.context().clone();
    let parked = move || {
        let waker = told.recv().unwrap();
        while fiber.waits_for() == WaitsFor::Nothing {
            std::thread::yield_now();
        }
        waker
    };
    let thread = std::thread::Builder::new().spawn(move || {
        HELD.set(Some(WakesAtEnd(parked(), ready)));
        // Those of the library begin later, so they end before.
        HELD.with_borrow(|held| held.as_ref().unwrap().0.wake_by_ref());
        parked();
    });
    thread.unwrap().join().unwrap();
    assert!(fiber_sched::block_on(block).is_success());
}

#[test]
fn a_failure_of_an_awaited_fiber_is_an_err() {
    let fiber = Fiber::from_future(async {
        let error = Fiber::<()>::fail(Error::msg("no")).await.unwrap_err();
        Ok::<_, Error>(error.to_string())
    });
    assert_eq!(TestScheduler::new().run(fiber).unwrap(), "no");
}

#[test]
fn a_cancelled_future_is_dropped_and_cancels_the_fiber_that_it_awaits() {
    let test = TestScheduler::new();
    let finalized = Counter::default();
    let finalizer = finalized.count();
    let fiber = test.spawn(Fiber::from_future(async move { Fiber::<()>::never().ensure(finalizer).await }));
    test.run_until_idle();
    fiber.cancel_now();
    test.run_until_idle();
    assert!(fiber.outcome().is_cancelled());
    assert_eq!(finalized.get(), 1);
    test.assert_no_leaks();
}

#[test]
fn dropping_the_future_of_an_awaited_fiber_cancels_it() {
    let test = TestScheduler::new();
    let finalized = Counter::default();
    let finalizer = finalized.count();
    let fiber = Fiber::from_future(async move {
        let mut given_up = Fiber::<()>::never().ensure(finalizer).into_future();
        let mut pause = Fiber::delay(SECOND).into_future();
        poll_fn(|cx| {
            assert!(Pin::new(&mut given_up).poll(cx).is_pending());
            Pin::new(&mut pause).poll(cx)
        })
        .await
    });
    let fiber = fiber.map(move |()| finalized.get());
    assert_eq!(test.run(fiber).unwrap(), 1, "it ends before the future around it");
    test.assert_no_leaks();
}

#[test]
fn an_awaited_fiber_ends_before_the_finalizer_around_the_future() {
    let test = TestScheduler::new().record();
    let slow_to_end = || Fiber::<()>::never().ensure(Fiber::delay(SECOND).bind(|()| event("inner")));
    let fiber = Fiber::from_future(async move { slow_to_end().await }).ensure(event("outer"));
    let spawned = test.spawn(fiber);
    test.run_for(SECOND);
    spawned.cancel_now();
    test.run_until_idle();
    assert!(spawned.outcome().is_cancelled());
    test.trace().assert_order(&["inner", "outer"]);
}

/// Waits for both.
async fn both<T, R>(fibers: [Fiber<T, R>; 2]) -> Result<Vec<T>, Error>
where
    T: Send + 'static,
    R: Run<Out = T>,
{
    let mut running = Vec::from(fibers.map(IntoFuture::into_future));
    let mut ended = Vec::new();
    poll_fn(|cx| {
        running.retain_mut(|one| match Pin::new(one).poll(cx) {
            Poll::Ready(end) => {
                ended.push(end);
                false
            }
            Poll::Pending => true,
        });
        if running.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    ended.into_iter().collect()
}

fn delays() -> [Fiber<()>; 2] {
    [Fiber::delay(SECOND).boxed(), Fiber::delay(2 * SECOND).boxed()]
}

/// The second fiber may end as cancelled before the future itself has a turn.
#[test]
fn a_future_is_not_told_of_its_own_cancellation() {
    Explore::cancel_everywhere().program_only().check(|| {
        let future = Fiber::from_future(async { both(delays()).await });
        future.map(drop).catch(|error| -> Fiber<()> { panic!("a cancelled fiber failed: {error}") })
    });
}

#[test]
fn a_future_that_awaits_a_handle_is_not_told_of_its_own_cancellation() {
    Explore::cancel_everywhere().program_only().check(|| {
        let future = Fiber::scope(|scope: Scope| {
            Fiber::from_future(async move {
                let handle = scope.fork(Fiber::delay(SECOND)).await?;
                handle.await.into_result()
            })
        });
        future.catch(|error| -> Fiber<()> { panic!("a cancelled fiber failed: {error}") })
    });
}

#[test]
fn a_future_that_is_timed_out_fails_with_timed_out_in_every_schedule() {
    Explore::default().check(|| {
        let future = Fiber::from_future(async { both(delays()).await }).timeout(SECOND);
        future.map_outcome(|outcome| match outcome {
            Outcome::Failure(error) if error.is::<TimedOut>() => Outcome::Success(()),
            outcome => panic!("{outcome:?}"),
        })
    });
}

#[test]
fn an_awaited_fiber_that_is_taken_to_another_future_tells_it_that_it_was_cancelled() {
    let test = TestScheduler::new();
    let (send, receive) = mpsc::channel();
    let first = test.spawn(Fiber::from_future(async move {
        let mut taken = Fiber::<()>::never().boxed().into_future();
        poll_fn(|cx| Poll::Ready(Pin::new(&mut taken).poll(cx).is_pending())).await;
        send.send(taken).unwrap();
        Fiber::<()>::never().await
    }));
    test.run_until_idle();
    let second = test.spawn(Fiber::from_future(async move { receive.recv().unwrap().await }));
    test.run_until_idle();
    first.cancel_now();
    test.run_until_idle();
    assert!(second.outcome().failure().unwrap().is::<Cancelled>());
}

#[test]
fn the_trace_of_an_error_names_the_await_that_it_passed() {
    let line = line!() + 1;
    let fiber = Fiber::from_future(async { Fiber::<()>::fail(Error::msg("no")).await });
    let error = TestScheduler::new().run(fiber).failure().unwrap();
    let passed: Vec<_> =
        error.trace().iter().map(|frame| (frame.operator(), frame.location().line())).collect();
    assert_eq!(passed, [("fail", line), ("await", line), ("from_future", line)]);
}

#[test]
fn a_future_that_wakes_itself_lets_others_run() {
    struct YieldTimes(u32);
    impl Future for YieldTimes {
        type Output = Result<&'static str, Error>;
        fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
            if self.0 == 0 {
                return Poll::Ready(Ok("done"));
            }
            self.0 -= 1;
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    }
    let test = TestScheduler::new();
    let fiber = Fiber::from_future(YieldTimes(1000)).zip(Fiber::lazy(|| "other"));
    assert_eq!(test.run(fiber).unwrap(), ("done", "other"));
}

#[test]
fn a_fiber_awaited_outside_of_any_fiber_fails_with_advice() {
    let error = fiber_sched::block_on(async { Fiber::success(1).await }).unwrap_err();
    assert!(error.is::<NoScheduler>());
    assert!(error.to_string().contains("spawn it"));
}

#[test]
fn a_handle_is_awaited_by_any_executor() {
    let pool = Pool::builder().workers(2).build();
    let handle = pool.spawn(Fiber::delay(Duration::from_millis(1)).map(|()| 5));
    assert_eq!(fiber_sched::block_on(async { handle.await }).unwrap(), 5);
}

#[test]
#[should_panic(expected = "polled after it was ready")]
fn the_future_of_a_handle_that_has_given_the_outcome_does_not_wait_again() {
    let pool = Pool::builder().workers(1).build();
    let mut future = pool.spawn(Fiber::success(1)).into_future();
    assert_eq!(fiber_sched::block_on(&mut future).unwrap(), 1);
    drop(fiber_sched::block_on(&mut future));
}

#[test]
fn a_handle_wakes_the_task_that_has_polled_it_last() {
    let test = TestScheduler::new();
    let [one, other] = [(); 2].map(|()| Arc::new(Signal::default()));
    let [of_one, of_other] = [&one, &other].map(|signal| Waker::from(signal.clone()));
    let mut handle = test.context().spawn(Fiber::delay(SECOND).map(|()| 7)).into_future();
    let mut poll = |waker: &Waker| Pin::new(&mut handle).poll(&mut Context::from_waker(waker));
    for _ in 0..3 {
        assert!(poll(&of_one).is_pending());
        assert_eq!(Arc::strong_count(&one), 3, "the test, its waker, and the fiber");
    }
    assert!(poll(&of_other).is_pending());
    assert_eq!([&one, &other].map(Arc::strong_count), [2, 3]);
    test.run_until_idle();
    assert_eq!([&one, &other].map(|signal| signal.0.load(SeqCst)), [false, true]);
    assert!(matches!(poll(&of_one), Poll::Ready(Outcome::Success(7))));
}

/// Whether it was woken.
#[derive(Default)]
struct Signal(AtomicBool);

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.0.store(true, SeqCst);
    }
}

#[test]
fn a_finalizer_may_be_written_as_a_future() {
    let test = TestScheduler::new();
    let closed = Counter::default();
    let seen = closed.clone();
    let close = Fiber::from_future(async move {
        Fiber::delay(SECOND).await?;
        seen.add();
        Ok::<_, Error>(())
    });
    let spawned = test.spawn(Fiber::<()>::never().ensure(close));
    test.run_for(SECOND);
    spawned.cancel_now();
    test.run_until_idle();
    assert_eq!(closed.get(), 1);
    test.assert_no_leaks();
}

#[test]
fn a_panic_that_crosses_an_await_keeps_its_trace_and_what_it_suppressed() {
    let inner = Fiber::lazy(|| -> () { panic!("defect") }).ensure(Fiber::fail(Error::msg("close failed")));
    let outcome = TestScheduler::new().run(Fiber::<()>::from_future(async { inner.await }));
    let fiber_core::Outcome::Panicked(panic) = outcome else { panic!("no panic came out") };
    assert_eq!(panic.message(), "defect");
    assert_eq!(panic.suppressed()[0].to_string(), "close failed");
    assert!(panic.trace().iter().any(|frame| frame.operator() == "lazy"));
}
