//! Ready values should cost nothing: running them, and combinators of them.

use std::ops::ControlFlow;
use std::time::Duration;

use fiber_core::{Either, Fiber, Run};
use futures::executor::block_on;
use futures::future::{self, ready};

use crate::hosts::{Hosts, on_worker};
use crate::workload::{Column, Workload, step};

/// Operations in one run: enough to make the start from outside cheap.
const TURNS: u64 = 20_000;
/// Longer than any benchmark.
const LONG: Duration = Duration::from_secs(3_600);

/// All workloads of the topic.
pub fn all(hosts: &Hosts) -> Vec<Workload<'_>> {
    vec![run(hosts), zip(hosts), race(hosts), timeout(hosts)]
}

fn run(hosts: &Hosts) -> Workload<'_> {
    Workload::new("run a ready fiber (`Pool::run`)", TURNS, TURNS)
        .by(Column::Fiber, || repeat(|n| hosts.pool.run(Fiber::success(step(n))).unwrap()))
        .by(Column::OneWorker, || repeat(|n| hosts.single.run(Fiber::success(step(n))).unwrap()))
        .by(Column::Async, || repeat(|n| block_on(ready(step(n)))))
        .by(Column::Tokio, || repeat(|n| hosts.tokio.block_on(ready(step(n)))))
}

fn zip(hosts: &Hosts) -> Workload<'_> {
    Workload::new("zip of two ready fibers", TURNS, TURNS)
        .by(Column::Fiber, || on_worker(&hosts.pool, zips()))
        .by(Column::OneWorker, || on_worker(&hosts.single, zips()))
        .by(Column::Async, || block_on(futures_zips()))
        .by(Column::Tokio, || hosts.on_tokio(tokio_zips()))
        .by(Column::Rayon, || hosts.rayon.install(|| repeat(rayon_zip)))
}

fn race(hosts: &Hosts) -> Workload<'_> {
    Workload::new("race of two ready fibers", TURNS, TURNS)
        .by(Column::Fiber, || on_worker(&hosts.pool, races()))
        .by(Column::OneWorker, || on_worker(&hosts.single, races()))
        .by(Column::Async, || block_on(futures_races()))
        .by(Column::Tokio, || hosts.on_tokio(tokio_races()))
}

fn timeout(hosts: &Hosts) -> Workload<'_> {
    Workload::new("timeout around a ready fiber", TURNS, TURNS)
        .by(Column::Fiber, || on_worker(&hosts.pool, timeouts()))
        .by(Column::OneWorker, || on_worker(&hosts.single, timeouts()))
        .by(Column::Tokio, || hosts.on_tokio(tokio_timeouts()))
}

/// Passes each turn the result of the previous one.
fn repeat(turn: impl Fn(u64) -> u64) -> u64 {
    (0..TURNS).fold(0, |n, _| turn(n))
}

// The fibers.

/// The state after a turn with the result `n`.
fn next(n: u64) -> ControlFlow<u64, u64> {
    if n == TURNS { ControlFlow::Break(n) } else { ControlFlow::Continue(n) }
}

fn zips() -> Fiber<u64, impl Run<Out = u64>> {
    Fiber::iterate(0, |n| Fiber::success(step(n)).zip(Fiber::success(step(n))).map(|(a, b)| next(a.max(b))))
}

fn races() -> Fiber<u64, impl Run<Out = u64>> {
    Fiber::iterate(0, |n| {
        Fiber::success(step(n)).race(Fiber::success(step(n))).map(|winner| next(Either::into_inner(winner)))
    })
}

fn timeouts() -> Fiber<u64, impl Run<Out = u64>> {
    Fiber::iterate(0, |n| Fiber::success(step(n)).timeout(LONG).map(next))
}

// The futures: one task, without parallelism.

async fn futures_zips() -> u64 {
    let mut n = 0;
    for _ in 0..TURNS {
        let (a, b) = future::join(ready(step(n)), ready(step(n))).await;
        n = a.max(b);
    }
    n
}

async fn tokio_zips() -> u64 {
    let mut n = 0;
    for _ in 0..TURNS {
        let (a, b) = tokio::join!(ready(step(n)), ready(step(n)));
        n = a.max(b);
    }
    n
}

async fn futures_races() -> u64 {
    let mut n = 0;
    for _ in 0..TURNS {
        n = future::select(ready(step(n)), ready(step(n))).await.factor_first().0;
    }
    n
}

async fn tokio_races() -> u64 {
    let mut n = 0;
    for _ in 0..TURNS {
        n = tokio::select! { a = ready(step(n)) => a, b = ready(step(n)) => b };
    }
    n
}

async fn tokio_timeouts() -> u64 {
    let mut n = 0;
    for _ in 0..TURNS {
        n = tokio::time::timeout(LONG, ready(step(n))).await.expect("in time");
    }
    n
}

fn rayon_zip(n: u64) -> u64 {
    let (a, b) = rayon::join(|| step(n), || step(n));
    a.max(b)
}
