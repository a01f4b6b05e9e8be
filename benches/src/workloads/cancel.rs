//! Cancellation: tokens and trees of them, fibers that wait for ever, sleeps that lose a race.

use std::hint::black_box;
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use fiber_core::{CancelToken, Either, Fiber, Handle, Run};
use fiber_sched::Pool;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::hosts::{Hosts, on_worker};
use crate::workload::{Column, Workload, step};

/// Operations in one run, if no preparation is needed.
const TURNS: u64 = 1_000;
/// The number of live siblings of the child that is made and dropped: from a few to more than the nearest cache holds.
const SIBLINGS: [u64; 4] = [1, 100, 10_000, 100_000];
/// Tokens below the one that is cancelled.
const TOKENS: u64 = 100_000;
/// The depth of the lowest ones, where the tree is not flat.
const DEPTH: u64 = 10;
/// Fibers that are suspended when they are cancelled.
const SUSPENDED: u64 = 100_000;
/// Concurrent races, on the real clock.
const RACES: u64 = 10_000;
/// The sleep of the winners: longer than starting all races takes.
const NAP: Duration = Duration::from_millis(20);
/// Longer than any benchmark.
const LONG: Duration = Duration::from_secs(3_600);

/// All workloads of the topic.
pub fn all(hosts: &Hosts) -> Vec<Workload<'_>> {
    let mut all: Vec<_> = SIBLINGS.into_iter().map(child_among).collect();
    all.extend([flat_tree(), deep_tree(), is_cancelled(), suspended(hosts), sleepers(hosts)]);
    all
}

fn child_among<'a>(siblings: u64) -> Workload<'a> {
    let (ours, theirs) = (CancelToken::flat(siblings), CancellationToken::flat(siblings));
    // Work that a parent does once per many ends has to occur in every run, and more than once.
    let turns = TURNS.max(3 * siblings);
    Workload::new(format!("token: make and drop a child, live siblings: {siblings}"), turns, turns)
        .by(Column::Fiber, move || make_and_drop(&ours[0], turns))
        .by(Column::Tokio, move || make_and_drop(&theirs[0], turns))
}

fn flat_tree<'a>() -> Workload<'a> {
    Workload::new(format!("token: cancel a flat tree of {TOKENS}, per token"), TOKENS, TOKENS + 1)
        .by_parts(Column::Fiber, || CancelToken::flat(TOKENS), |tokens| tokens[0].cancel(), count_cancelled)
        .by_parts(
            Column::Tokio,
            || CancellationToken::flat(TOKENS),
            |tokens| tokens[0].cancel(),
            count_cancelled,
        )
}

fn deep_tree<'a>() -> Workload<'a> {
    let name = format!("token: cancel a tree of {TOKENS} that is {DEPTH} deep, per token");
    Workload::new(name, TOKENS, TOKENS + 1)
        .by_parts(Column::Fiber, CancelToken::deep, |tokens| tokens[0].cancel(), count_cancelled)
        .by_parts(Column::Tokio, CancellationToken::deep, |tokens| tokens[0].cancel(), count_cancelled)
}

fn is_cancelled<'a>() -> Workload<'a> {
    let (ours, theirs, flag) = (CancelToken::new(), CancellationToken::new(), AtomicBool::new(false));
    Workload::new("token: is it cancelled", TURNS, TURNS)
        .by(Column::Fiber, move || ask(|| black_box(&ours).is_cancelled()))
        // Relaxed: the minimum cost of such a check.
        .by(Column::Plain, move || ask(|| black_box(&flag).load(Ordering::Relaxed)))
        .by(Column::Tokio, move || ask(|| black_box(&theirs).is_cancelled()))
}

fn suspended(hosts: &Hosts) -> Workload<'_> {
    let (pool, single) = (&hosts.pool, &hosts.single);
    Workload::new(format!("cancel and join {SUSPENDED} suspended fibers"), SUSPENDED, SUSPENDED)
        .by_parts(Column::Fiber, || suspend(pool), |handles| cancel_and_join(pool, handles), cancelled)
        .by_parts(
            Column::OneWorker,
            || suspend(single),
            |handles| cancel_and_join(single, handles),
            cancelled,
        )
        .by_parts(
            Column::Tokio,
            || tokio_suspend(hosts),
            |handles| hosts.on_tokio(abort_and_join(mem::take(handles))),
            cancelled,
        )
}

fn sleepers(hosts: &Hosts) -> Workload<'_> {
    let name = format!("{RACES} races of a sleep of 20 ms and one of an hour, time beyond 20 ms");
    Workload::new(name, RACES, RACES)
        .beyond(NAP)
        .by(Column::Fiber, || on_worker(&hosts.pool, races()))
        .by(Column::OneWorker, || on_worker(&hosts.single, races()))
        .by(Column::Tokio, || hosts.on_tokio(tokio_races()))
}

// The tokens, ours and those of tokio-util.

trait Token: Sized {
    fn root() -> Self;
    fn child(&self) -> Self;
    fn is_cancelled(&self) -> bool;

    /// A root, which comes first, and its children.
    fn flat(children: u64) -> Vec<Self> {
        let mut tokens = vec![Self::root()];
        for _ in 0..children {
            tokens.push(tokens[0].child());
        }
        tokens
    }

    /// A root, which comes first, and chains of descendants below it.
    fn deep() -> Vec<Self> {
        let mut tokens = vec![Self::root()];
        for line in 0..TOKENS / DEPTH {
            tokens.push(tokens[0].child());
            let first = usize::try_from(line * DEPTH + 1).expect("a few");
            for depth in 1..DEPTH as usize {
                tokens.push(tokens[first + depth - 1].child());
            }
        }
        tokens
    }
}

impl Token for CancelToken {
    fn root() -> Self {
        CancelToken::new()
    }

    fn child(&self) -> Self {
        self.child()
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled()
    }
}

impl Token for CancellationToken {
    fn root() -> Self {
        CancellationToken::new()
    }

    fn child(&self) -> Self {
        self.child_token()
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled()
    }
}

fn make_and_drop<T: Token>(parent: &T, turns: u64) -> u64 {
    (0..turns).fold(0, |n, _| {
        drop(black_box(parent.child()));
        step(n)
    })
}

fn count_cancelled<T: Token>(tokens: Vec<T>, (): &()) -> u64 {
    tokens.iter().filter(|token| token.is_cancelled()).count() as u64
}

/// The number of negative answers.
fn ask(question: impl Fn() -> bool) -> u64 {
    (0..TURNS).map(|_| u64::from(!question())).sum()
}

// The fibers.

/// Fibers that have begun, and wait for ever.
fn suspend(pool: &Pool) -> Vec<Handle<()>> {
    let begun = Arc::new(AtomicU64::new(0));
    let fiber = |begun: Arc<AtomicU64>| {
        // Relaxed: only a count.
        Fiber::lazy(move || begun.fetch_add(1, Ordering::Relaxed)).bind(|_| Fiber::never())
    };
    let handles = (0..SUSPENDED).map(|_| pool.spawn(fiber(begun.clone()))).collect();
    await_all(&begun);
    handles
}

/// Waits until the last fiber has begun, and has had time to reach its wait.
fn await_all(begun: &AtomicU64) {
    // Relaxed: only a count.
    while begun.load(Ordering::Relaxed) < SUSPENDED {
        thread::sleep(Duration::from_millis(1));
    }
    thread::sleep(Duration::from_millis(1));
}

/// Cancels all, then waits for each. Returns how many were cancelled.
fn cancel_and_join(pool: &Pool, handles: &mut Vec<Handle<()>>) -> u64 {
    let handles = mem::take(handles);
    on_worker(
        pool,
        Fiber::defer(move || {
            handles.iter().for_each(Handle::cancel_now);
            join_all(handles)
        }),
    )
}

/// The timed work has already counted them.
fn cancelled<H>(_: Vec<H>, count: &u64) -> u64 {
    *count
}

fn join_all(handles: Vec<Handle<()>>) -> Fiber<u64, impl Run<Out = u64>> {
    let mut handles = handles.into_iter();
    Fiber::iterate(0, move |cancelled| {
        let handle = handles.next().expect("one more");
        let is_last = handles.len() == 0;
        handle.outcome().map(move |outcome| {
            let cancelled = cancelled + u64::from(outcome.is_cancelled());
            if is_last { ControlFlow::Break(cancelled) } else { ControlFlow::Continue(cancelled) }
        })
    })
}

/// The number of races that the short sleep has won.
fn races() -> Fiber<u64, impl Run<Out = u64>> {
    let races = (0..RACES).map(|_| Fiber::delay(LONG).race(Fiber::delay(NAP)));
    Fiber::parallel(races)
        .map(|winners| winners.iter().filter(|winner| matches!(winner, Either::Right(()))).count() as u64)
}

// tokio.

fn tokio_suspend(hosts: &Hosts) -> Vec<JoinHandle<()>> {
    let begun = Arc::new(AtomicU64::new(0));
    let task = |begun: Arc<AtomicU64>| async move {
        // Relaxed: only a count.
        begun.fetch_add(1, Ordering::Relaxed);
        std::future::pending().await
    };
    let handles = (0..SUSPENDED).map(|_| hosts.tokio.spawn(task(begun.clone()))).collect();
    await_all(&begun);
    handles
}

async fn abort_and_join(handles: Vec<JoinHandle<()>>) -> u64 {
    handles.iter().for_each(JoinHandle::abort);
    let mut cancelled = 0;
    for handle in handles {
        cancelled += u64::from(handle.await.is_err_and(|error| error.is_cancelled()));
    }
    cancelled
}

/// Both sleeps are in one task.
async fn tokio_races() -> u64 {
    let race = || async {
        tokio::select! {
            () = tokio::time::sleep(LONG) => 0,
            () = tokio::time::sleep(NAP) => 1,
        }
    };
    let races: Vec<_> = (0..RACES).map(|_| tokio::spawn(race())).collect();
    let mut naps = 0;
    for race in races {
        naps += race.await.expect("no panic");
    }
    naps
}
