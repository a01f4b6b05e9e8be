//! Many branches whose results go into one vector: ready ones, and ones that compute.

use std::ops::ControlFlow;

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

/// The steps of a branch that is worth a worker, their approximate duration, and the number of repetitions in a run.
const COARSE: [(u64, &str, u64); 3] = [(6_500, "10 us", 100), (33_000, "50 us", 20), (2_000_000, "3 ms", 1)];
/// Coarse branches of one `parallel`.
const BRANCHES: u64 = 8;

/// All workloads of the topic.
pub fn all(hosts: &Hosts) -> Vec<Workload<'_>> {
    let mut all = vec![of_ready(hosts), of_computing(hosts)];
    all.extend(COARSE.map(|(steps, time, turns)| coarse_zip(hosts, steps, time, turns)));
    all.extend(COARSE.map(|(steps, time, turns)| coarse_parallel(hosts, steps, time, turns)));
    all
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
        .by(Column::Plain, || (0..FEW).map(|_| compute(STEPS)).sum())
        .by(Column::Tokio, || hosts.on_tokio(spawned((0..FEW).map(|_| async { compute(STEPS) }))))
        .by(Column::Rayon, || hosts.rayon.install(|| (0..FEW).into_par_iter().map(|_| compute(STEPS)).sum()))
}

fn coarse_zip<'a>(hosts: &'a Hosts, steps: u64, time: &str, turns: u64) -> Workload<'a> {
    let all = 2 * steps * turns;
    let branch = move || compute(steps);
    Workload::new(format!("zip of two that compute for {time}, per step"), all, all)
        .by(Column::Fiber, move || on_worker(&hosts.pool, zips(steps, turns)))
        .by(Column::OneWorker, move || on_worker(&hosts.single, zips(steps, turns)))
        .by(Column::Plain, move || (0..2 * turns).map(|_| branch()).sum())
        .by(Column::Tokio, move || {
            hosts.on_tokio(in_turn(turns, move || spawned((0..2).map(move |_| async move { branch() }))))
        })
        .by(Column::Rayon, move || {
            let zip = || rayon::join(branch, branch);
            hosts.rayon.install(|| (0..turns).map(|_| zip()).map(|(a, b)| a + b).sum())
        })
}

fn coarse_parallel<'a>(hosts: &'a Hosts, steps: u64, time: &str, turns: u64) -> Workload<'a> {
    let all = BRANCHES * steps * turns;
    let branch = move || compute(steps);
    Workload::new(format!("parallel of {BRANCHES} that compute for {time}, per step"), all, all)
        .by(Column::Fiber, move || on_worker(&hosts.pool, parallels(steps, turns)))
        .by(Column::OneWorker, move || on_worker(&hosts.single, parallels(steps, turns)))
        .by(Column::Plain, move || (0..BRANCHES * turns).map(|_| branch()).sum())
        .by(Column::Tokio, move || {
            let all = move || spawned((0..BRANCHES).map(move |_| async move { branch() }));
            hosts.on_tokio(in_turn(turns, all))
        })
        .by(Column::Rayon, move || {
            let all = || (0..BRANCHES).into_par_iter().map(|_| branch()).sum::<u64>();
            hosts.rayon.install(|| (0..turns).map(|_| all()).sum())
        })
}

fn compute(steps: u64) -> u64 {
    (0..steps).fold(0, |n, _| step(n))
}

fn ready_fibers() -> Fiber<u64, impl Run<Out = u64>> {
    let all = Fiber::parallel((0..MANY).map(|n| Fiber::success(step(n))));
    all.map(|values| values.into_iter().sum())
}

fn computing_fibers() -> Fiber<u64, impl Run<Out = u64>> {
    let all = Fiber::parallel((0..FEW).map(|_| Fiber::lazy(|| compute(STEPS))));
    all.map(|values| values.into_iter().sum())
}

/// The sum of the results of this many fibers, one after the other.
fn one_by_one<R: Run<Out = u64>>(
    turns: u64,
    make: impl Fn() -> Fiber<u64, R> + Send + 'static,
) -> Fiber<u64, impl Run<Out = u64>> {
    Fiber::iterate((turns, 0), move |(left, sum)| {
        make().map(move |n| match left {
            1 => ControlFlow::Break(sum + n),
            _ => ControlFlow::Continue((left - 1, sum + n)),
        })
    })
}

fn zips(steps: u64, turns: u64) -> Fiber<u64, impl Run<Out = u64>> {
    let branch = move || Fiber::lazy(move || compute(steps));
    one_by_one(turns, move || branch().zip(branch()).map(|(a, b)| a + b))
}

fn parallels(steps: u64, turns: u64) -> Fiber<u64, impl Run<Out = u64>> {
    let branch = move |_| Fiber::lazy(move || compute(steps));
    one_by_one(turns, move || Fiber::parallel((0..BRANCHES).map(branch)).map(|all| all.into_iter().sum()))
}

/// Awaits one future after the other.
async fn in_turn<F: Future<Output = u64>>(turns: u64, make: impl Fn() -> F) -> u64 {
    let mut sum = 0;
    for _ in 0..turns {
        sum += make().await;
    }
    sum
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
