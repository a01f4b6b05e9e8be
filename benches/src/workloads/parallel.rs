//! Many at once, into one vector: of what is ready, and of what computes.

use fiber_core::{Fiber, Run};
use futures::executor::block_on;
use futures::future::{join_all, ready};
use rayon::prelude::*;

use crate::hosts::{Hosts, on_worker};
use crate::workload::{Column, Workload, step};

/// Ready fibers in one call.
const MANY: u64 = 10_000;
/// Computing fibers in one call.
const FEW: u64 = 200;
/// Steps of each: tens of microseconds.
const STEPS: u64 = 20_000;

/// All workloads of the topic.
pub fn all(hosts: &Hosts) -> Vec<Workload<'_>> {
    vec![of_ready(hosts), of_computing(hosts)]
}

fn of_ready(hosts: &Hosts) -> Workload<'_> {
    Workload::new(format!("parallel of {MANY} ready fibers"), MANY, MANY * (MANY + 1) / 2)
        .by(Column::Fiber, || on_worker(&hosts.pool, ready_fibers()))
        .by(Column::OneWorker, || on_worker(&hosts.single, ready_fibers()))
        .by(Column::Async, || block_on(ready_futures()))
        .by(Column::Tokio, || hosts.on_tokio(spawned((0..MANY).map(|n| async move { step(n) }))))
        .by(Column::Rayon, || hosts.rayon.install(rayon_collect))
}

fn of_computing(hosts: &Hosts) -> Workload<'_> {
    let name = format!("parallel of {FEW} fibers that compute {STEPS} steps, per step");
    Workload::new(name, FEW * STEPS, FEW * STEPS)
        .by(Column::Fiber, || on_worker(&hosts.pool, computing_fibers()))
        .by(Column::OneWorker, || on_worker(&hosts.single, computing_fibers()))
        .by(Column::Plain, || (0..FEW).map(|_| compute()).sum())
        .by(Column::Tokio, || hosts.on_tokio(spawned((0..FEW).map(|_| async { compute() }))))
        .by(Column::Rayon, || hosts.rayon.install(|| (0..FEW).into_par_iter().map(|_| compute()).sum()))
}

fn compute() -> u64 {
    (0..STEPS).fold(0, |n, _| step(n))
}

fn ready_fibers() -> Fiber<u64, impl Run<Out = u64>> {
    let all = Fiber::parallel((0..MANY).map(|n| Fiber::success(step(n))));
    all.map(|values| values.into_iter().sum())
}

fn computing_fibers() -> Fiber<u64, impl Run<Out = u64>> {
    let all = Fiber::parallel((0..FEW).map(|_| Fiber::lazy(compute)));
    all.map(|values| values.into_iter().sum())
}

async fn ready_futures() -> u64 {
    join_all((0..MANY).map(|n| ready(step(n)))).await.into_iter().sum()
}

async fn spawned<F>(futures: impl Iterator<Item = F>) -> u64
where
    F: Future<Output = u64> + Send + 'static,
{
    let handles: Vec<_> = futures.map(tokio::spawn).collect();
    let mut values = Vec::with_capacity(handles.len());
    for handle in handles {
        values.push(handle.await.expect("no panic"));
    }
    values.into_iter().sum()
}

fn rayon_collect() -> u64 {
    let values: Vec<u64> = (0..MANY).into_par_iter().map(step).collect();
    values.into_iter().sum()
}
