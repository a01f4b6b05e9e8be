//! Schedules of small programs, one after the other: the speed of the search for concurrency bugs.
//!
//! A schedule includes making the program anew and checking its result. Between its steps every fiber can be
//! preempted by any other, like the peers' tasks and threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fiber_core::{Fiber, Run};
use fiber_test::{Explore, Search};
use loom::sync::atomic::AtomicU64 as LoomU64;
use shuttle::scheduler::{
    DfsScheduler, PctScheduler, RandomScheduler, RoundRobinScheduler, Scheduler, UrwRandomScheduler,
};
use tokio::runtime::Builder;

use crate::hosts::Hosts;
use crate::workload::{Column, Operation, Workload, step};

/// Schedules of a run: enough that the setup of an exploration does not count.
const SCHEDULES: u64 = 1_000;
/// The random seed of the peers.
const SEED: u64 = 0;
/// The depth of shuttle's PCT: as many priority changes as ours makes on average.
const DEPTH: usize = 4;
/// One for each of the two cores of the machine that the goals were set on.
const THREADS: usize = 2;
/// The maximum number of threads of a loom model, including the one that starts the others.
const LOOM_THREADS: u64 = loom::MAX_THREADS as u64;

/// A program: `Fiber::parallel` of fibers that count their steps.
#[derive(Clone, Copy)]
struct Shape {
    name: &'static str,
    fibers: u64,
    /// The number of steps of each fiber, which is one more than its binds.
    steps: u64,
}

const PAIR: Shape = Shape { name: "2 fibers of 10 binds", fibers: 2, steps: 11 };
const CROWD: Shape = Shape { name: "10 fibers of 10 binds", fibers: 10, steps: 11 };
const TRIO: Shape = Shape { name: "3 fibers of 2 steps", fibers: 3, steps: 2 };

impl Shape {
    fn steps_of_all(self) -> u64 {
        self.fibers * self.steps
    }
}

/// All workloads of the topic.
pub fn all(_: &Hosts) -> Vec<Workload<'_>> {
    [of_program(PAIR, ten_binds), of_program(CROWD, ten_binds), of_program(TRIO, two_steps)]
        .into_iter()
        .flatten()
        .collect()
}

fn of_program<'a, R: Run<Out = u64>>(shape: Shape, fiber: fn() -> Fiber<u64, R>) -> Vec<Workload<'a>> {
    vec![
        fifo(shape, fiber),
        random_walk(shape, fiber),
        pct(shape, fiber),
        urw(shape, fiber),
        exhaustive(shape, fiber),
        on_two_threads(shape, fiber),
    ]
}

fn row<'a>(shape: Shape, search: &str) -> Workload<'a> {
    let steps = SCHEDULES * shape.steps_of_all();
    Workload::new(format!("explore {}: {search}", shape.name), SCHEDULES, steps).of(Operation::Schedule)
}

fn fifo<'a, R: Run<Out = u64>>(shape: Shape, fiber: fn() -> Fiber<u64, R>) -> Workload<'a> {
    row(shape, "first in, first out")
        .by(Column::Fiber, move || ours(&only(Search::Fifo), shape, fiber))
        .by(Column::Tokio, move || paused(shape))
        .by(Column::Shuttle, move || shuttled(RoundRobinScheduler::new(SCHEDULES as usize), shape))
}

fn random_walk<'a, R: Run<Out = u64>>(shape: Shape, fiber: fn() -> Fiber<u64, R>) -> Workload<'a> {
    let scheduler = || RandomScheduler::new_from_seed(SEED, SCHEDULES as usize);
    row(shape, "random walk")
        .by(Column::Fiber, move || ours(&only(Search::RandomWalk), shape, fiber))
        .by(Column::Shuttle, move || shuttled(scheduler(), shape))
}

fn pct<'a, R: Run<Out = u64>>(shape: Shape, fiber: fn() -> Fiber<u64, R>) -> Workload<'a> {
    let scheduler = || PctScheduler::new_from_seed(SEED, DEPTH, SCHEDULES as usize);
    row(shape, "random priorities (PCT)")
        .by(Column::Fiber, move || ours(&only(Search::Pct), shape, fiber))
        .by(Column::Shuttle, move || shuttled(scheduler(), shape))
}

fn urw<'a, R: Run<Out = u64>>(shape: Shape, fiber: fn() -> Fiber<u64, R>) -> Workload<'a> {
    let scheduler = || UrwRandomScheduler::new_from_seed(SEED, SCHEDULES as usize);
    row(shape, "weighted random walk (URW)")
        .by(Column::Fiber, move || ours(&only(Search::Urw), shape, fiber))
        .by(Column::Shuttle, move || shuttled(scheduler(), shape))
}

fn exhaustive<'a, R: Run<Out = u64>>(shape: Shape, fiber: fn() -> Fiber<u64, R>) -> Workload<'a> {
    let all = move |most| ours(&Explore::exhaustive().schedules(most), shape, fiber);
    let dfs = move |most| shuttled(DfsScheduler::new(Some(most as usize), false), shape);
    let row = row(shape, "exhaustive")
        .by(Column::Fiber, move || over_again(shape, all))
        .by(Column::Shuttle, move || over_again(shape, dfs));
    if shape.fibers < LOOM_THREADS {
        row.by(Column::Loom, move || over_again(shape, |most| modelled(most, shape)))
    } else {
        row
    }
}

fn on_two_threads<'a, R: Run<Out = u64>>(shape: Shape, fiber: fn() -> Fiber<u64, R>) -> Workload<'a> {
    let portfolio = move |threads| {
        over_again(shape, |most| ours(&Explore::default().schedules(most).threads(threads), shape, fiber))
    };
    row(shape, &format!("portfolio, {THREADS} threads"))
        .by(Column::Fiber, move || portfolio(THREADS))
        .by(Column::OneWorker, move || portfolio(1))
}

/// Repeats an exploration until all the schedules of a row have run: small programs have fewer.
fn over_again(shape: Shape, explore: impl Fn(u64) -> u64) -> u64 {
    let of_one = shape.steps_of_all();
    let mut steps = 0;
    while steps < SCHEDULES * of_one {
        steps += explore(SCHEDULES - steps / of_one);
    }
    steps
}

// The fibers. All explorations return the number of steps under all schedules together.

fn only(search: Search) -> Explore {
    Explore::default().only(search).schedules(SCHEDULES)
}

fn ours<R: Run<Out = u64>>(explore: &Explore, shape: Shape, fiber: fn() -> Fiber<u64, R>) -> u64 {
    let steps = Arc::new(AtomicU64::new(0));
    let program = || {
        let steps = steps.clone();
        let all = Fiber::parallel((0..shape.fibers).map(move |_| fiber()));
        all.map(move |counts| count(&steps, counts.into_iter().sum()))
    };
    explore.try_check(program).expect("nothing is wrong with the program");
    steps.load(Ordering::Relaxed)
}

/// Relaxed: read when all threads are done.
fn count(steps: &AtomicU64, more: u64) {
    steps.fetch_add(more, Ordering::Relaxed);
}

fn two_steps() -> Fiber<u64, impl Run<Out = u64>> {
    Fiber::lazy(|| step(0)).bind(|n| Fiber::success(step(n)))
}

fn ten_binds() -> Fiber<u64, impl Run<Out = u64>> {
    Fiber::lazy(|| step(0))
        .bind(|n| Fiber::success(step(n)))
        .bind(|n| Fiber::success(step(n)))
        .bind(|n| Fiber::success(step(n)))
        .bind(|n| Fiber::success(step(n)))
        .bind(|n| Fiber::success(step(n)))
        .bind(|n| Fiber::success(step(n)))
        .bind(|n| Fiber::success(step(n)))
        .bind(|n| Fiber::success(step(n)))
        .bind(|n| Fiber::success(step(n)))
        .bind(|n| Fiber::success(step(n)))
}

// tokio: a new runtime for each, which always has the same schedule.

fn paused(shape: Shape) -> u64 {
    (0..SCHEDULES).map(|_| paused_once(shape)).sum()
}

fn paused_once(shape: Shape) -> u64 {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().expect("tokio");
    runtime.block_on(async move {
        let tasks: Vec<_> = (0..shape.fibers).map(|_| tokio::spawn(tokio_steps(shape))).collect();
        let mut sum = 0;
        for task in tasks {
            sum += task.await.expect("no panic");
        }
        sum
    })
}

async fn tokio_steps(shape: Shape) -> u64 {
    let mut n = step(0);
    while n < shape.steps {
        tokio::task::yield_now().await;
        n = step(n);
    }
    n
}

// shuttle: also tasks. Its scheduler determines how many schedules there are.

fn shuttled(scheduler: impl Scheduler + 'static, shape: Shape) -> u64 {
    let steps = Arc::new(AtomicU64::new(0));
    let seen = steps.clone();
    let runner = shuttle::Runner::new(scheduler, shuttle::Config::default());
    runner.run(move || count(&seen, shuttle::future::block_on(shuttle_tasks(shape))));
    steps.load(Ordering::Relaxed)
}

async fn shuttle_tasks(shape: Shape) -> u64 {
    let tasks: Vec<_> = (0..shape.fibers).map(|_| shuttle::future::spawn(shuttle_steps(shape))).collect();
    let mut sum = 0;
    for task in tasks {
        sum += task.await.expect("no panic");
    }
    sum
}

async fn shuttle_steps(shape: Shape) -> u64 {
    let mut n = step(0);
    while n < shape.steps {
        shuttle::future::yield_now().await;
        n = step(n);
    }
    n
}

// loom: threads, which can be preempted only at atomic operations.

fn modelled(most: u64, shape: Shape) -> u64 {
    let steps = Arc::new(AtomicU64::new(0));
    let seen = steps.clone();
    let mut model = loom::model::Builder::new();
    // loom counts from 1, and checks the limit whenever it would save its position.
    model.max_permutations = Some(most as usize + 1);
    model.checkpoint_interval = most as usize + 1;
    model.check(move || count(&seen, loom_threads(shape)));
    steps.load(Ordering::Relaxed)
}

fn loom_threads(shape: Shape) -> u64 {
    let counter = Arc::new(LoomU64::new(0));
    let threads: Vec<_> = (0..shape.fibers)
        .map(|_| {
            let counter = counter.clone();
            loom::thread::spawn(move || (0..shape.steps).for_each(|_| loom_step(&counter)))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    counter.load(Ordering::SeqCst)
}

fn loom_step(counter: &LoomU64) {
    counter.fetch_add(1, Ordering::SeqCst);
}
