//! Suspensions that resume at once: yields, wake-ups below many layers, races and timeouts that suspend.

use std::ops::ControlFlow;
use std::time::Duration;

use fiber_core::{Either, Fiber, Run};
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::hosts::{Hosts, on_worker};
use crate::workload::{Column, Workload, step};

/// Fibers that yield to each other.
const CROWD: u64 = 200;
/// The number of yields of each.
const CROWD_YIELDS: u64 = 1_000;
/// The number of yields of a single fiber: enough that its start from outside, which wakes a worker, does not count.
const YIELDS: u64 = 10_000;
/// Erased calls around a wait.
const LAYERS: u64 = 100;
/// Longer than any benchmark.
const LONG: Duration = Duration::from_secs(3_600);

/// All workloads of the topic.
pub fn all(hosts: &Hosts) -> Vec<Workload<'_>> {
    vec![crowd(hosts), alone(hosts), below_layers(hosts), race(hosts), timeout(hosts)]
}

fn crowd(hosts: &Hosts) -> Workload<'_> {
    Workload::new(
        format!("yield, {CROWD} fibers x {CROWD_YIELDS}"),
        CROWD * CROWD_YIELDS,
        CROWD * CROWD_YIELDS,
    )
    .by(Column::Fiber, || on_worker(&hosts.pool, yielding_crowd()))
    .by(Column::OneWorker, || on_worker(&hosts.single, yielding_crowd()))
    .by(Column::Runtime, || hosts.on_runtime(yielding_crowd()))
    .by(Column::Tokio, || hosts.on_tokio(tokio_crowd()))
}

fn alone(hosts: &Hosts) -> Workload<'_> {
    Workload::new("yield, one fiber", YIELDS, YIELDS)
        .by(Column::Fiber, || on_worker(&hosts.pool, yields(YIELDS)))
        .by(Column::OneWorker, || on_worker(&hosts.single, yields(YIELDS)))
        .by(Column::Runtime, || hosts.on_runtime(yields(YIELDS)))
        .by(Column::Tokio, || hosts.on_tokio(tokio_yields(YIELDS)))
}

fn below_layers(hosts: &Hosts) -> Workload<'_> {
    Workload::new(format!("yield below {LAYERS} erased calls"), YIELDS, YIELDS + LAYERS)
        .by(Column::Fiber, || on_worker(&hosts.pool, layered()))
        .by(Column::OneWorker, || on_worker(&hosts.single, layered()))
        .by(Column::Runtime, || hosts.on_runtime(layered()))
        .by(Column::Tokio, || hosts.on_tokio(tokio_layered()))
}

fn race(hosts: &Hosts) -> Workload<'_> {
    Workload::new("race of two that suspend once", YIELDS, YIELDS)
        .by(Column::Fiber, || on_worker(&hosts.pool, races()))
        .by(Column::OneWorker, || on_worker(&hosts.single, races()))
        .by(Column::Runtime, || hosts.on_runtime(races()))
        .by(Column::Tokio, || hosts.on_tokio(tokio_races()))
}

fn timeout(hosts: &Hosts) -> Workload<'_> {
    Workload::new("timeout around what suspends once", YIELDS, YIELDS)
        .by(Column::Fiber, || on_worker(&hosts.pool, timeouts()))
        .by(Column::OneWorker, || on_worker(&hosts.single, timeouts()))
        .by(Column::Runtime, || hosts.on_runtime(timeouts()))
        .by(Column::Tokio, || hosts.on_tokio(tokio_timeouts()))
}

// The fibers.

/// Yields `count` times.
fn yields(count: u64) -> Fiber<u64, impl Run<Out = u64>> {
    Fiber::iterate(0, move |n| Fiber::yield_now().map(move |()| next(n, count)))
}

/// The state after one more turn.
fn next(n: u64, count: u64) -> ControlFlow<u64, u64> {
    let n = step(n);
    if n == count { ControlFlow::Break(n) } else { ControlFlow::Continue(n) }
}

fn yielding_crowd() -> Fiber<u64, impl Run<Out = u64>> {
    Fiber::parallel((0..CROWD).map(|_| yields(CROWD_YIELDS))).map(|counts| counts.into_iter().sum())
}

fn layered() -> Fiber<u64> {
    (0..LAYERS).fold(yields(YIELDS).boxed(), |below, _| below.map(step).boxed())
}

fn races() -> Fiber<u64, impl Run<Out = u64>> {
    Fiber::iterate(0, |n| {
        let once = move || Fiber::yield_now().map(move |()| next(n, YIELDS));
        once().race(once()).map(Either::into_inner)
    })
}

fn timeouts() -> Fiber<u64, impl Run<Out = u64>> {
    Fiber::iterate(0, |n| Fiber::yield_now().timeout(LONG).map(move |()| next(n, YIELDS)))
}

// tokio.

async fn tokio_yields(count: u64) -> u64 {
    let mut n = 0;
    while n < count {
        tokio::task::yield_now().await;
        n = step(n);
    }
    n
}

async fn tokio_crowd() -> u64 {
    let crowd: Vec<_> = (0..CROWD).map(|_| tokio::spawn(tokio_yields(CROWD_YIELDS))).collect();
    let mut sum = 0;
    for one in crowd {
        sum += one.await.expect("no panic");
    }
    sum
}

fn tokio_layered() -> BoxFuture<'static, u64> {
    (0..LAYERS).fold(tokio_yields(YIELDS).boxed(), |below, _| async { step(below.await) }.boxed())
}

/// Both sides are tasks, corresponding to fibers; the loser is aborted and awaited.
async fn tokio_races() -> u64 {
    let mut n = 0;
    while n < YIELDS {
        let once = move || {
            tokio::spawn(async move {
                tokio::task::yield_now().await;
                step(n)
            })
        };
        let (mut left, mut right) = (once(), once());
        let winner = tokio::select! {
            n = &mut left => { right.abort(); drop(right.await); n }
            n = &mut right => { left.abort(); drop(left.await); n }
        };
        n = winner.expect("no panic");
    }
    n
}

async fn tokio_timeouts() -> u64 {
    let mut n = 0;
    while n < YIELDS {
        tokio::time::timeout(LONG, tokio::task::yield_now()).await.expect("in time");
        n = step(n);
    }
    n
}
