//! Storms of direct fibers, which look for hangs, lost outcomes, fibers on the wrong thread, and missing drops.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::Duration;

use fiber_core::sync::{Channel, Mutex};
use fiber_core::{Direct, Error, Fiber, Handle, StackSupply};
use fiber_sched::{AffinityPool, Pool, Shutdown, block_on};

/// In debug builds, enough to see that the test works.
const ROUNDS: usize = if cfg!(debug_assertions) { 20 } else { 300 };
const TICK: Duration = Duration::from_micros(50);

/// Counts live values, and checks the thread of their drops.
struct Live(Arc<AtomicUsize>, ThreadId);

impl Live {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Live(count.clone(), thread::current().id())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // Not a panic: it would be a second one.
        if thread::current().id() == self.1 {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// A recursion that waits in many ways; `n` chooses.
fn wander(d: &Direct<'_>, n: usize, depth: usize) -> Result<usize, Error> {
    let (home, seen) = (thread::current().id(), Cell::new(n));
    match (n + depth) % 7 {
        0 => d.wait(Fiber::delay(TICK))?,
        1 => d.wait(Fiber::yield_now())?,
        2 => d.wait(Fiber::yield_now().race(Fiber::delay(TICK)).map(drop))?,
        3 => d.wait(Fiber::yield_now().zip(Fiber::yield_now()).map(drop))?,
        4 => d.wait(Fiber::delay(TICK).timeout_option(TICK / 2).map(drop))?,
        5 => d.wait(Fiber::yield_now().fork().bind(|child| child.join()))?,
        _ => d.wait(Fiber::success(()))?,
    }
    assert_eq!(thread::current().id(), home, "a direct fiber has changed its thread");
    assert_eq!(seen.get(), n);
    if depth == 0 { Ok(n) } else { wander(d, n, depth - 1) }
}

fn wanderer(count: &Arc<AtomicUsize>, n: usize) -> Fiber<usize> {
    let count = count.clone();
    Fiber::direct(move |d| {
        let _live = Live::new(&count);
        wander(d, n, 12)
    })
    .boxed()
}

/// Ends about a third of the fibers early.
fn end(handle: Handle<usize>, n: usize) {
    match n % 3 {
        0 => {
            handle.cancel_now();
            let outcome = block_on(handle);
            assert!(outcome.is_cancelled() || outcome.is_success(), "{outcome:?}");
        }
        _ => assert_eq!(block_on(handle).unwrap(), n),
    }
}

#[test]
fn all_end_and_drop_what_they_hold() {
    for (workers, stacks) in [(1, 1000), (2, 1000), (4, 1000), (2, 10)] {
        let pool = Pool::builder().workers(workers).stacks(StackSupply::default().most(stacks)).build();
        let count = Arc::new(AtomicUsize::new(0));
        for _ in 0..ROUNDS {
            let handles: Vec<_> = (0..50).map(|n| pool.spawn(wanderer(&count, n))).collect();
            handles.into_iter().enumerate().for_each(|(n, handle)| end(handle, n));
        }
        drop(pool);
        assert_eq!(count.load(Ordering::SeqCst), 0);
    }
}

#[test]
fn on_an_affinity_pool_too() {
    let pool = AffinityPool::builder().workers(2).pinned(false).build();
    let count = Arc::new(AtomicUsize::new(0));
    for _ in 0..ROUNDS {
        let handles: Vec<_> = (0..50).map(|n| pool.spawn_on(n, wanderer(&count, n))).collect();
        handles.into_iter().enumerate().for_each(|(n, handle)| end(handle, n));
    }
    drop(pool);
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

#[test]
fn a_pool_that_stops_in_the_middle_leaves_nothing() {
    for round in 0..ROUNDS {
        let pool = Pool::builder().workers(2).build();
        let count = Arc::new(AtomicUsize::new(0));
        let handles: Vec<_> = (0..20).map(|n| pool.spawn(wanderer(&count, n))).collect();
        let stubborn: Vec<_> = (0..5).map(|n| pool.spawn(wanderer(&count, n).uncancelable())).collect();
        thread::sleep(TICK * u32::try_from(round % 8).unwrap());
        // Sometimes too short: then the fibers are dropped.
        _ = pool.shutdown(Shutdown::within(TICK * 4));
        for handle in handles.into_iter().chain(stubborn) {
            handle.context().abandon();
            drop(block_on(handle));
        }
        // The workers end by themselves.
        while count.load(Ordering::SeqCst) > 0 {
            thread::yield_now();
        }
    }
}

#[test]
fn they_hand_a_lock_and_items_to_each_other() {
    for workers in [1, 2, 4] {
        let pool = Pool::builder().workers(workers).build();
        let sum = Arc::new(Mutex::new(0));
        let (sender, receiver) = Channel::bounded(3);
        let producers = (0..8).map(|_| {
            let sender = sender.clone();
            pool.spawn(Fiber::direct(move |d| (0..ROUNDS).try_for_each(|n| d.wait(sender.send(n)))))
        });
        let producers: Vec<_> = producers.collect();
        drop(sender);
        let consumers = (0..4).map(|_| {
            let (receiver, sum) = (receiver.clone(), sum.clone());
            pool.spawn(Fiber::direct(move |d| {
                while let Ok(n) = d.wait(receiver.recv()) {
                    let mut sum = d.wait(sum.lock())?;
                    *sum += n;
                }
                Ok(())
            }))
        });
        let consumers: Vec<_> = consumers.collect();
        assert!(producers.into_iter().all(|producer| block_on(producer).is_success()));
        assert!(consumers.into_iter().all(|consumer| block_on(consumer).is_success()));
        let total = block_on(pool.spawn(Fiber::direct(move |d| Ok(*d.wait(sum.lock())?)))).unwrap();
        assert_eq!(total, 8 * ROUNDS * (ROUNDS - 1) / 2);
    }
}
