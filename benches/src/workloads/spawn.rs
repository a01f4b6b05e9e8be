//! New fibers: from inside, from outside, one after the other, and as a tree.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use fiber_core::{Fiber, Handle, Run};
use fiber_sched::Pool;
use futures::FutureExt;
use futures::executor::block_on;
use futures::future::BoxFuture;

use crate::hosts::{Hosts, on_worker};
use crate::workload::{Column, Workload, step};

/// Fibers that exist at the same time.
const MANY: u64 = 10_000;
/// Fibers that fork each other in a chain.
const CHAIN: u64 = 1_000;
/// Fibers that are forked and awaited one after the other: enough to make the start from outside cheap.
const IN_TURN: u64 = 20_000;
/// fib(18): a tree of 4,180 forks.
const FIBONACCI: u64 = 18;
const FIBONACCI_VALUE: u64 = 2_584;
const FIBONACCI_FORKS: u64 = 4_180;
/// A tree whose type is that of the whole tree: the number of levels, and of forks.
const LEVELS: u32 = 8;
const STATIC_FORKS: u64 = (1 << LEVELS) - 1;
const STATIC_LEAVES: u64 = 1 << LEVELS;
/// Such trees in one run.
const TREES: u64 = 100;

/// All workloads of the topic.
pub fn all(hosts: &Hosts) -> Vec<Workload<'_>> {
    vec![
        from_inside(hosts),
        from_outside(hosts),
        each_the_next(hosts),
        one_at_a_time(hosts),
        tree(hosts),
        zip_tree(hosts),
        static_zip_tree(hosts),
    ]
}

/// The sum of the results of the trivial children.
const SUM: u64 = MANY * (MANY + 1) / 2;

fn from_inside(hosts: &Hosts) -> Workload<'_> {
    Workload::new(format!("fork and join {MANY}, from inside"), MANY, SUM)
        .by(Column::Fiber, || on_worker(&hosts.pool, fork_all().bind(join_all)))
        .by(Column::OneWorker, || on_worker(&hosts.single, fork_all().bind(join_all)))
        .by(Column::Runtime, || hosts.on_runtime(fork_all().bind(join_all)))
        .by(Column::Tokio, || hosts.on_tokio(spawn_and_join_all()))
        .by(Column::Rayon, || hosts.rayon.install(rayon_scope))
}

fn from_outside(hosts: &Hosts) -> Workload<'_> {
    Workload::new(format!("spawn and await {MANY}, from outside"), MANY, SUM)
        .by(Column::Fiber, || spawn_from_outside(&hosts.pool))
        .by(Column::OneWorker, || spawn_from_outside(&hosts.single))
        .by(Column::Tokio, || tokio_from_outside(&hosts.tokio))
        .by(Column::Rayon, || rayon_from_outside(&hosts.rayon))
}

fn each_the_next(hosts: &Hosts) -> Workload<'_> {
    Workload::new(format!("each forks and awaits the next, {CHAIN} links"), CHAIN, CHAIN)
        .by(Column::Fiber, || on_worker(&hosts.pool, fork_next(CHAIN, 0)))
        .by(Column::OneWorker, || on_worker(&hosts.single, fork_next(CHAIN, 0)))
        .by(Column::Runtime, || hosts.on_runtime(fork_next(CHAIN, 0)))
        .by(Column::Tokio, || hosts.on_tokio(spawn_next(CHAIN, 0)))
        .by(Column::Rayon, || rayon_chain(&hosts.rayon))
}

fn one_at_a_time(hosts: &Hosts) -> Workload<'_> {
    Workload::new("fork one, await it", IN_TURN, IN_TURN)
        .by(Column::Fiber, || on_worker(&hosts.pool, fork_in_turn()))
        .by(Column::OneWorker, || on_worker(&hosts.single, fork_in_turn()))
        .by(Column::Runtime, || hosts.on_runtime(fork_in_turn()))
        .by(Column::Tokio, || hosts.on_tokio(spawn_in_turn()))
}

fn tree(hosts: &Hosts) -> Workload<'_> {
    Workload::new(format!("recursive fork and join, fib({FIBONACCI})"), FIBONACCI_FORKS, FIBONACCI_VALUE)
        .by(Column::Fiber, || on_worker(&hosts.pool, fibonacci(FIBONACCI)))
        .by(Column::OneWorker, || on_worker(&hosts.single, fibonacci(FIBONACCI)))
        .by(Column::Runtime, || hosts.on_runtime(fibonacci(FIBONACCI)))
        .by(Column::Tokio, || hosts.on_tokio(tokio_fibonacci(FIBONACCI)))
        .by(Column::Rayon, || hosts.rayon.install(|| rayon_fibonacci(FIBONACCI)))
}

fn zip_tree(hosts: &Hosts) -> Workload<'_> {
    let name = format!("recursive zip of erased fibers, fib({FIBONACCI})");
    Workload::new(name, FIBONACCI_FORKS, FIBONACCI_VALUE)
        .by(Column::Fiber, || on_worker(&hosts.pool, fibonacci_by_zip(FIBONACCI)))
        .by(Column::OneWorker, || on_worker(&hosts.single, fibonacci_by_zip(FIBONACCI)))
        .by(Column::Plain, || plain_fibonacci(FIBONACCI))
        .by(Column::Rayon, || hosts.rayon.install(|| rayon_fibonacci(FIBONACCI)))
}

fn static_zip_tree(hosts: &Hosts) -> Workload<'_> {
    let name = format!("zip of static fibers, a tree of {STATIC_FORKS}");
    let answer = TREES * STATIC_LEAVES;
    Workload::new(name, TREES * STATIC_FORKS, answer)
        .by(Column::Fiber, || on_worker(&hosts.pool, static_trees()))
        .by(Column::OneWorker, || on_worker(&hosts.single, static_trees()))
        .by(Column::Plain, || (0..TREES).map(|_| plain_tree(LEVELS)).sum())
        .by(Column::Rayon, || hosts.rayon.install(|| (0..TREES).map(|_| rayon_tree(LEVELS)).sum()))
}

// The fibers.

fn child(n: u64) -> Fiber<u64, impl Run<Out = u64>> {
    Fiber::lazy(move || step(n))
}

fn fork_all() -> Fiber<Vec<Handle<u64>>, impl Run<Out = Vec<Handle<u64>>>> {
    Fiber::iterate(Vec::with_capacity(MANY as usize), |mut handles| {
        child(handles.len() as u64).fork().map(move |handle| {
            handles.push(handle);
            if handles.len() as u64 == MANY {
                ControlFlow::Break(handles)
            } else {
                ControlFlow::Continue(handles)
            }
        })
    })
}

fn join_all(handles: Vec<Handle<u64>>) -> Fiber<u64, impl Run<Out = u64>> {
    // In order, like the peers.
    let mut handles = handles.into_iter();
    Fiber::iterate(0, move |sum| {
        let handle = handles.next().expect("one more");
        let is_last = handles.len() == 0;
        handle.join().map(
            move |n| {
                if is_last { ControlFlow::Break(sum + n) } else { ControlFlow::Continue(sum + n) }
            },
        )
    })
}

fn spawn_from_outside(pool: &Pool) -> u64 {
    let handles: Vec<_> = (0..MANY).map(|n| pool.spawn(child(n))).collect();
    block_on(async {
        let mut sum = 0;
        for handle in handles {
            sum += handle.await.unwrap();
        }
        sum
    })
}

fn fork_next(left: u64, n: u64) -> Fiber<u64> {
    if left == 0 {
        Fiber::success(n).boxed()
    } else {
        Fiber::defer(move || fork_next(left - 1, step(n)).fork().bind(Handle::join)).boxed()
    }
}

fn fork_in_turn() -> Fiber<u64, impl Run<Out = u64>> {
    Fiber::iterate(0, |n| {
        child(n)
            .fork()
            .bind(Handle::join)
            .map(|n| if n == IN_TURN { ControlFlow::Break(n) } else { ControlFlow::Continue(n) })
    })
}

fn fibonacci(n: u64) -> Fiber<u64> {
    if n < 2 {
        return Fiber::success(n).boxed();
    }
    let left = Fiber::defer(move || fibonacci(n - 1)).fork();
    left.bind(move |left| fibonacci(n - 2).bind(move |b| left.join().map(move |a| a + b))).boxed()
}

fn fibonacci_by_zip(n: u64) -> Fiber<u64> {
    if n < 2 {
        return Fiber::success(n).boxed();
    }
    let (left, right) =
        (Fiber::defer(move || fibonacci_by_zip(n - 1)), Fiber::defer(move || fibonacci_by_zip(n - 2)));
    left.zip(right).map(|(a, b)| a + b).boxed()
}

/// For each name, a tree that is the `zip` of two trees of the previous name.
macro_rules! trees {
    ($below:ident) => {};
    ($below:ident $this:ident $($above:ident)*) => {
        fn $this() -> Fiber<u64, impl Run<Out = u64>> {
            $below().zip($below()).map(|(a, b)| a + b)
        }
        trees!($this $($above)*);
    };
}

/// One tree after the other.
fn static_trees() -> Fiber<u64, impl Run<Out = u64>> {
    Fiber::iterate(0, |sum| {
        tree_of_8().map(move |leaves| {
            let sum = sum + leaves;
            if sum == TREES * STATIC_LEAVES { ControlFlow::Break(sum) } else { ControlFlow::Continue(sum) }
        })
    })
}

fn tree_of_0() -> Fiber<u64, impl Run<Out = u64>> {
    child(0)
}

trees!(tree_of_0 tree_of_1 tree_of_2 tree_of_3 tree_of_4 tree_of_5 tree_of_6 tree_of_7 tree_of_8);

// Without any library.

fn plain_fibonacci(n: u64) -> u64 {
    if black_box(n) < 2 { n } else { plain_fibonacci(n - 1) + plain_fibonacci(n - 2) }
}

fn plain_tree(levels: u32) -> u64 {
    if levels == 0 { step(0) } else { plain_tree(levels - 1) + plain_tree(levels - 1) }
}

// tokio.

async fn spawn_and_join_all() -> u64 {
    let handles: Vec<_> = (0..MANY).map(|n| tokio::spawn(async move { step(n) })).collect();
    let mut sum = 0;
    for handle in handles {
        sum += handle.await.expect("no panic");
    }
    sum
}

fn tokio_from_outside(runtime: &tokio::runtime::Runtime) -> u64 {
    let handles: Vec<_> = (0..MANY).map(|n| runtime.spawn(async move { step(n) })).collect();
    block_on(async {
        let mut sum = 0;
        for handle in handles {
            sum += handle.await.expect("no panic");
        }
        sum
    })
}

fn spawn_next(left: u64, n: u64) -> BoxFuture<'static, u64> {
    async move {
        if left == 0 { n } else { tokio::spawn(spawn_next(left - 1, step(n))).await.expect("no panic") }
    }
    .boxed()
}

async fn spawn_in_turn() -> u64 {
    let mut n = 0;
    while n < IN_TURN {
        n = tokio::spawn(async move { step(n) }).await.expect("no panic");
    }
    n
}

fn tokio_fibonacci(n: u64) -> BoxFuture<'static, u64> {
    async move {
        if n < 2 {
            return n;
        }
        let left = tokio::spawn(tokio_fibonacci(n - 1));
        let b = tokio_fibonacci(n - 2).await;
        left.await.expect("no panic") + b
    }
    .boxed()
}

// rayon: jobs that cannot wait.

fn rayon_scope() -> u64 {
    let sum = AtomicU64::new(0);
    rayon::scope(|scope| {
        for n in 0..MANY {
            let sum = &sum;
            // Relaxed: the end of the scope orders the sum before it is read.
            scope.spawn(move |_| _ = sum.fetch_add(step(n), Ordering::Relaxed));
        }
    });
    sum.into_inner()
}

fn rayon_from_outside(pool: &rayon::ThreadPool) -> u64 {
    let (done, end) = mpsc::channel();
    let left = Arc::new(AtomicU64::new(MANY));
    let sum = Arc::new(AtomicU64::new(0));
    for n in 0..MANY {
        let (done, left, sum) = (done.clone(), left.clone(), sum.clone());
        pool.spawn(move || {
            // Relaxed: the decrement publishes it.
            sum.fetch_add(step(n), Ordering::Relaxed);
            // AcqRel: the last one sees what all others have added.
            if left.fetch_sub(1, Ordering::AcqRel) == 1 {
                done.send(sum.load(Ordering::Relaxed)).expect("the end is awaited");
            }
        });
    }
    end.recv().expect("an end")
}

/// A job of rayon cannot wait for the next; the scope does.
fn rayon_chain(pool: &rayon::ThreadPool) -> u64 {
    let end = AtomicU64::new(0);
    pool.scope(|scope| rayon_next(scope, CHAIN, 0, &end));
    end.into_inner()
}

fn rayon_next<'a>(scope: &rayon::Scope<'a>, left: u64, n: u64, end: &'a AtomicU64) {
    if left == 0 {
        // Relaxed: the end of the scope orders it before it is read.
        end.store(n, Ordering::Relaxed);
    } else {
        scope.spawn(move |scope| rayon_next(scope, left - 1, step(n), end));
    }
}

fn rayon_fibonacci(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = rayon::join(|| rayon_fibonacci(n - 1), || rayon_fibonacci(n - 2));
    a + b
}

fn rayon_tree(levels: u32) -> u64 {
    if levels == 0 {
        return step(0);
    }
    let (a, b) = rayon::join(|| rayon_tree(levels - 1), || rayon_tree(levels - 1));
    a + b
}
