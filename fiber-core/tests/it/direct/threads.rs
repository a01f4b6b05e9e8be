//! A direct fiber on its own thread has the same semantics.

use super::{Log, dig};
use fiber_core::error::{Abandoned, Cancelled, TimedOut};
use fiber_core::sync::Latch;
use fiber_core::{Context, Error, Fiber, Outcome, StackSupply, local_key};
use fiber_sched::{CurrentThread, Pool, Shutdown, block_on};
use std::future::{Future, IntoFuture, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::mpsc;
use std::task::Poll;
use std::thread;
use std::time::Duration;

/// A pool without stacks.
fn pool() -> Pool {
    Pool::builder().workers(2).name("none").stacks(StackSupply::default().most(0)).build()
}

fn is_own_thread() -> bool {
    thread::current().name().is_some_and(|name| name.starts_with("none-dedicated-"))
}

#[test]
fn it_waits_in_a_recursion() {
    let fiber = Fiber::direct(|d| {
        assert!(is_own_thread());
        d.wait(Fiber::success(dig(d, 0)?)).map(|n| n + 1)
    });
    assert_eq!(pool().run(fiber).unwrap(), 1);
}

#[test]
fn failures_and_panics_come_out_of_their_waits() {
    let pool = pool();
    let handled = Fiber::direct(|d| Ok(d.wait(Fiber::<u8>::fail(Error::msg("no"))).unwrap_or(7)));
    assert_eq!(pool.run(handled).unwrap(), 7);
    let failed = Fiber::direct(|d| d.wait(Fiber::<u8>::fail(Error::msg("no"))));
    assert_eq!(pool.run(failed).failure().unwrap().to_string(), "no");
    let panicked = Fiber::<()>::direct(|d| d.wait(Fiber::yield_now().map(|()| panic!("deep inside"))));
    let Outcome::Panicked(panic) = pool.run(panicked) else { panic!("it has to panic") };
    assert_eq!(panic.message(), "deep inside");
    let panicked = Fiber::<()>::direct(|_| panic!("out of tea"));
    assert!(pool.run(panicked).is_panicked());
}

#[test]
fn it_has_the_context_the_locals_and_the_deadline_of_its_fiber() {
    local_key! { static REQUEST: u64 = 0; }
    let fiber = Fiber::direct(|d| {
        let inside = d.wait(Fiber::current().map(|fiber| fiber.id()))?;
        let here = Context::current().map(|fiber| fiber.id());
        Ok((Context::local(&REQUEST), d.wait(Fiber::local(&REQUEST))?, here == Some(inside)))
    });
    assert_eq!(pool().run(fiber.with_local(&REQUEST, 7)).unwrap(), (7, 7, true));
    let late = Fiber::<()>::direct(|d| d.wait(Fiber::never())).timeout(Duration::from_millis(1));
    assert!(pool().run(late).failure().unwrap().is::<TimedOut>());
}

#[test]
fn one_that_has_moved_apart_is_asked_for_itself() {
    local_key! { static REQUEST: u64 = 0; }
    let (tell, told) = mpsc::channel();
    let block = Fiber::block(|| async move {
        let function = Fiber::<()>::direct(move |d| {
            let gone = d.wait(Fiber::<()>::never()).unwrap_err();
            let fiber = Context::current().expect("it runs in a fiber");
            tell.send((d.is_cancelled(), fiber.is_cancelled(), Context::local(&REQUEST))).unwrap();
            Err(gone)
        });
        let mut function = function.with_local(&REQUEST, 7).into_future();
        // Polled once, beside a wait: it moves apart. The block goes on, and drops it.
        let begun = poll_fn(|cx| Poll::Ready(Pin::new(&mut function).poll(cx).is_pending())).await;
        Fiber::delay(Duration::from_millis(10)).await?;
        drop(function);
        Ok::<_, Error>(begun)
    });
    // A scheduler without threads of its own has no stacks.
    assert!(CurrentThread::new().run(block).unwrap());
    assert_eq!(told.recv().unwrap(), (true, true, 7));
}

#[test]
fn each_wait_of_a_cancelled_fiber_fails_and_its_drops_run() {
    let (pool, log, latch) = (pool(), Log::default(), Latch::new(1));
    let (noted, begun) = (log.clone(), latch.clone());
    let fiber = pool.spawn(Fiber::<()>::direct(move |d| {
        let _held = noted.on_drop("held");
        begun.count_down();
        let first = d.wait(Fiber::<()>::never()).unwrap_err();
        assert!(first.is::<Cancelled>() && d.is_cancelled());
        assert!(d.wait(Fiber::delay(Duration::from_secs(1))).unwrap_err().is::<Cancelled>());
        d.wait(Fiber::yield_now().uncancelable())?;
        noted.add("cleaned up");
        Err(first)
    }));
    block_on(pool.spawn(latch.wait())).unwrap();
    fiber.cancel_now();
    assert!(block_on(fiber).is_cancelled());
    assert_eq!(log.all(), ["cleaned up", "held dropped"]);
}

#[test]
fn a_function_that_is_thrown_away_is_unwound() {
    let (pool, log, latch) = (pool(), Log::default(), Latch::new(1));
    let (noted, begun) = (log.clone(), latch.clone());
    let fiber = pool.spawn(Fiber::<()>::direct(move |d| {
        let _held = noted.on_drop("held");
        begun.count_down();
        _ = d.wait(Fiber::never().uncancelable()).map(|()| 1);
        noted.add("never");
        Ok(())
    }));
    block_on(pool.spawn(latch.wait())).unwrap();
    while fiber.context().waits_for() == fiber_core::scheduler::WaitsFor::Blocking {
        thread::yield_now();
    }
    assert!(pool.shutdown(Shutdown::within(Duration::from_millis(1))).is_err());
    fiber.context().abandon();
    assert!(block_on(fiber).failure().unwrap().is::<Abandoned>());
    while log.all().is_empty() {
        thread::yield_now();
    }
    assert_eq!(log.all(), ["held dropped"]);
}

#[test]
fn what_a_function_that_was_thrown_away_waits_for_is_dropped() {
    let (pool, log, latch) = (pool(), Log::default(), Latch::new(1));
    let (noted, begun) = (log.clone(), latch.clone());
    let (go_on, told) = std::sync::mpsc::channel::<()>();
    let fiber = pool.spawn(Fiber::<()>::direct(move |d| {
        begun.count_down();
        told.recv().unwrap();
        let held = noted.on_drop("fiber");
        d.wait(Fiber::lazy(move || drop(held)).uncancelable())
    }));
    block_on(pool.spawn(latch.wait())).unwrap();
    while fiber.context().waits_for() != fiber_core::scheduler::WaitsFor::Blocking {
        thread::yield_now();
    }
    // While it computes.
    fiber.context().abandon();
    assert!(block_on(fiber).failure().unwrap().is::<Abandoned>());
    go_on.send(()).unwrap();
    drop(pool);
    assert_eq!(log.all(), ["fiber dropped"]);
}

#[test]
fn a_function_that_goes_on_catching_its_unwinding_is_left_in_its_wait() {
    let (pool, log, latch) = (pool(), Log::default(), Latch::new(1));
    let (noted, begun) = (log.clone(), latch.clone());
    let fiber = pool.spawn(Fiber::<()>::direct(move |d| {
        begun.count_down();
        loop {
            let never = Fiber::<()>::never().uncancelable();
            let caught = catch_unwind(AssertUnwindSafe(|| d.wait(never)));
            noted.add(format!("caught {}, has to end {}", caught.is_err(), d.is_cancelled()));
        }
    }));
    block_on(pool.spawn(latch.wait())).unwrap();
    while fiber.context().waits_for() == fiber_core::scheduler::WaitsFor::Blocking {
        thread::yield_now();
    }
    assert!(pool.shutdown(Shutdown::within(Duration::from_millis(1))).is_err());
    fiber.context().abandon();
    assert!(block_on(fiber).failure().unwrap().is::<Abandoned>());
    while log.all().len() < 2 {
        thread::yield_now();
    }
    // Meanwhile it would catch more.
    (0..1000).for_each(|_| thread::yield_now());
    assert_eq!(log.all(), ["caught true, has to end true"; 2]);
}
