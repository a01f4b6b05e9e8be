//! Ordinary code that waits, on its own stacks: switches and starts.

use fiber_core::{Fiber, Run};

use crate::hosts::{Hosts, on_worker};
use crate::may::spawn_on_may;
use crate::workload::{Column, Workload, step};

/// The number of fibers that yield to each other.
const CROWD: u64 = 200;
/// The number of yields of each.
const YIELDS: u64 = 1_000;
/// The number of fibers that wait at the same time.
const MANY: u64 = 10_000;

/// All workloads of the topic.
pub fn all(hosts: &Hosts) -> Vec<Workload<'_>> {
    vec![crowd(hosts), alone(hosts), ready(hosts), many(hosts)]
}

fn crowd(hosts: &Hosts) -> Workload<'_> {
    Workload::new(format!("direct: yield, {CROWD} x {YIELDS}"), CROWD * YIELDS, CROWD * YIELDS)
        .by(Column::Fiber, || on_worker(&hosts.pool, yields_of(CROWD, YIELDS)))
        .by(Column::OneWorker, || on_worker(&hosts.single, yields_of(CROWD, YIELDS)))
        .by(Column::May, || on_may(CROWD, YIELDS))
}

fn alone(hosts: &Hosts) -> Workload<'_> {
    Workload::new("direct: yield, one", YIELDS, YIELDS)
        .by(Column::Fiber, || on_worker(&hosts.pool, yields_of(1, YIELDS)))
        .by(Column::OneWorker, || on_worker(&hosts.single, yields_of(1, YIELDS)))
        .by(Column::May, || on_may(1, YIELDS))
}

fn ready(hosts: &Hosts) -> Workload<'_> {
    Workload::new("direct: wait for what is ready", YIELDS, YIELDS)
        .by(Column::Fiber, || on_worker(&hosts.pool, waits_of_ready()))
        .by(Column::OneWorker, || on_worker(&hosts.single, waits_of_ready()))
}

fn many(hosts: &Hosts) -> Workload<'_> {
    Workload::new(format!("direct: {MANY} start and yield once"), MANY, MANY)
        .by(Column::Fiber, || on_worker(&hosts.pool, yields_of(MANY, 1)))
        .by(Column::OneWorker, || on_worker(&hosts.single, yields_of(MANY, 1)))
        .by(Column::May, || on_may(MANY, 1))
}

fn yields_of(crowd: u64, yields: u64) -> Fiber<u64, impl Run<Out = u64>> {
    let one = move || {
        Fiber::direct(move |d| {
            let mut n = 0;
            while n < yields {
                d.wait(Fiber::yield_now())?;
                n = step(n);
            }
            Ok(n)
        })
    };
    Fiber::parallel((0..crowd).map(move |_| one())).map(|counts| counts.into_iter().sum())
}

fn waits_of_ready() -> Fiber<u64, impl Run<Out = u64>> {
    Fiber::direct(|d| {
        let mut n = 0;
        while n < YIELDS {
            n = d.wait(Fiber::lazy(move || step(n)))?;
        }
        Ok(n)
    })
}

fn on_may(crowd: u64, yields: u64) -> u64 {
    let one = move || {
        let mut n = 0;
        while n < yields {
            ::may::coroutine::yield_now();
            n = step(n);
        }
        n
    };
    let all = spawn_on_may(move || {
        let crowd: Vec<_> = (0..crowd).map(|_| spawn_on_may(one)).collect();
        crowd.into_iter().map(|one| one.join().expect("no panic")).sum()
    });
    all.join().expect("no panic")
}
