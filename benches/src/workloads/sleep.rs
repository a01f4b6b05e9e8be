//! Timers: on the real clock and on virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::time::Duration;

use fiber_core::{Either, Fiber, Run};
use fiber_sched::Pool;
use fiber_test::TestScheduler;
use tokio::runtime::Builder;

use crate::hosts::{Hosts, on_worker};
use crate::workload::{Column, Workload, step};

/// Concurrently sleeping fibers, on the real clock.
const SLEEPERS: u64 = 10_000;
/// How long each sleeps: longer than starting all of them takes.
const NAP: Duration = Duration::from_millis(20);

/// Concurrently sleeping fibers, on virtual time.
const VIRTUAL_SLEEPERS: u64 = 1_000;
/// The number of sleeps of each.
const SLEEPS: u64 = 100;
/// Sleeps of a single fiber.
const SEQUENCE: u64 = 10_000;
/// Races of two sleeps.
const RACES: u64 = 1_000;
const TICK: Duration = Duration::from_millis(1);

/// All workloads of the topic.
pub fn all(hosts: &Hosts) -> Vec<Workload<'_>> {
    vec![concurrent(hosts), virtual_crowd(), virtual_sequence(), virtual_race()]
}

fn concurrent(hosts: &Hosts) -> Workload<'_> {
    Workload::new(format!("{SLEEPERS} sleeps of 20 ms at once, time beyond that"), SLEEPERS, SLEEPERS)
        .beyond(NAP)
        .by(Column::Fiber, || nap(&hosts.pool))
        .by(Column::OneWorker, || nap(&hosts.single))
        .by(Column::Tokio, || hosts.on_tokio(tokio_nap()))
}

fn virtual_crowd<'a>() -> Workload<'a> {
    let sleeps = VIRTUAL_SLEEPERS * SLEEPS;
    Workload::new(format!("virtual sleep, {VIRTUAL_SLEEPERS} fibers x {SLEEPS}"), sleeps, sleeps)
        .by(Column::Fiber, || TestScheduler::new().run(sleepers()).unwrap())
        .by(Column::Plain, bare_heap)
        .by(Column::Tokio, || paused(tokio_sleepers()))
}

fn virtual_sequence<'a>() -> Workload<'a> {
    Workload::new("virtual sleep, one fiber", SEQUENCE, SEQUENCE)
        .by(Column::Fiber, || TestScheduler::new().run(sleeper(SEQUENCE, TICK)).unwrap())
        .by(Column::Tokio, || paused(tokio_sleeper(SEQUENCE, TICK)))
}

fn virtual_race<'a>() -> Workload<'a> {
    Workload::new("race of two virtual sleeps", RACES, RACES)
        .by(Column::Fiber, || TestScheduler::new().run(races()).unwrap())
        .by(Column::Tokio, || paused(tokio_races()))
}

// The fibers.

fn nap(pool: &Pool) -> u64 {
    let naps = Fiber::parallel((0..SLEEPERS).map(|_| Fiber::delay(NAP)));
    on_worker(pool, naps).len() as u64
}

fn sleeper(sleeps: u64, pause: Duration) -> Fiber<u64, impl Run<Out = u64>> {
    Fiber::iterate(0, move |n| Fiber::delay(pause).map(move |()| next(n, sleeps)))
}

/// The state after one more of `turns` turns.
fn next(n: u64, turns: u64) -> ControlFlow<u64, u64> {
    let n = step(n);
    if n == turns { ControlFlow::Break(n) } else { ControlFlow::Continue(n) }
}

fn sleepers() -> Fiber<u64, impl Run<Out = u64>> {
    let all = Fiber::parallel((0..VIRTUAL_SLEEPERS).map(|n| sleeper(SLEEPS, pause(n))));
    all.map(|counts| counts.into_iter().sum())
}

/// Every sleeper has its own period.
fn pause(sleeper: u64) -> Duration {
    TICK + Duration::from_micros(sleeper)
}

fn races() -> Fiber<u64, impl Run<Out = u64>> {
    Fiber::iterate(0, |n| {
        Fiber::delay(TICK).race(Fiber::delay(2 * TICK)).map(move |winner| match winner {
            Either::Left(()) => next(n, RACES),
            Either::Right(()) => ControlFlow::Break(0),
        })
    })
}

// The minimum work of a timeline.

fn bare_heap() -> u64 {
    let mut heap: BinaryHeap<_> =
        (0..VIRTUAL_SLEEPERS).map(|n| Reverse((pause(n).as_nanos() as u64, n, 0))).collect();
    let mut sleeps = 0;
    while let Some(Reverse((now, n, slept))) = heap.pop() {
        sleeps = step(sleeps);
        if slept + 1 < SLEEPS {
            heap.push(Reverse((now + pause(n).as_nanos() as u64, n, slept + 1)));
        }
    }
    sleeps
}

// tokio.

async fn tokio_nap() -> u64 {
    let naps: Vec<_> = (0..SLEEPERS).map(|_| tokio::spawn(tokio::time::sleep(NAP))).collect();
    let mut awake = 0;
    for nap in naps {
        nap.await.expect("no panic");
        awake += 1;
    }
    awake
}

fn paused<F: Future>(future: F) -> F::Output {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().expect("tokio");
    runtime.block_on(future)
}

async fn tokio_sleeper(sleeps: u64, pause: Duration) -> u64 {
    let mut n = 0;
    while n < sleeps {
        tokio::time::sleep(pause).await;
        n = step(n);
    }
    n
}

async fn tokio_sleepers() -> u64 {
    let all: Vec<_> = (0..VIRTUAL_SLEEPERS).map(|n| tokio::spawn(tokio_sleeper(SLEEPS, pause(n)))).collect();
    let mut sum = 0;
    for one in all {
        sum += one.await.expect("no panic");
    }
    sum
}

async fn tokio_races() -> u64 {
    let mut n = 0;
    while n < RACES {
        tokio::select! {
            () = tokio::time::sleep(TICK) => n = step(n),
            () = tokio::time::sleep(2 * TICK) => return 0,
        }
    }
    n
}
