//! Fibers that share state: locks, permits, notifications, replies.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex as Plain};

use fiber_core::sync::{Channel, Mutex, Notify, Semaphore, one_shot};
use fiber_core::{Fiber, Resume, Run};
use tokio::sync as tokio_sync;

use crate::hosts::{Hosts, on_worker};
use crate::workload::{Column, Workload};

/// How often one fiber takes an uncontended lock.
const ALONE: u64 = 10_000;
/// Fibers that share a lock.
const CROWD: u64 = 8;
/// How often each takes it.
const TURNS: u64 = 500;
/// The turns of all fibers.
const ALL: u64 = CROWD * TURNS;
/// The permits of the crowd's semaphore.
const PERMITS: usize = 2;
/// Signals or requests, and answers.
const ROUNDS: u64 = 2_000;

/// All workloads of the topic.
pub fn all(hosts: &Hosts) -> Vec<Workload<'_>> {
    vec![
        mutex_alone(hosts),
        mutex_shared(hosts),
        semaphore_alone(hosts),
        semaphore_shared(hosts),
        notifications(hosts),
        replies(hosts),
    ]
}

fn mutex_alone(hosts: &Hosts) -> Workload<'_> {
    Workload::new("mutex, uncontended", ALONE, ALONE)
        .by(Column::Fiber, || on_worker(&hosts.pool, lock_alone()))
        .by(Column::OneWorker, || on_worker(&hosts.single, lock_alone()))
        .by(Column::Plain, plain_alone)
        .by(Column::Tokio, || hosts.on_tokio(tokio_lock_alone()))
        .by(Column::AsyncLock, || hosts.on_tokio(async_lock_alone()))
}

fn mutex_shared(hosts: &Hosts) -> Workload<'_> {
    Workload::new(format!("mutex held over a yield, {CROWD} fibers"), ALL, ALL)
        .by(Column::Fiber, || on_worker(&hosts.pool, lock_shared()))
        .by(Column::OneWorker, || on_worker(&hosts.single, lock_shared()))
        .by(Column::Tokio, || hosts.on_tokio(tokio_lock_shared()))
        .by(Column::AsyncLock, || hosts.on_tokio(async_lock_shared()))
}

fn semaphore_alone(hosts: &Hosts) -> Workload<'_> {
    Workload::new("semaphore, uncontended", ALONE, ALONE)
        .by(Column::Fiber, || on_worker(&hosts.pool, acquire_alone()))
        .by(Column::OneWorker, || on_worker(&hosts.single, acquire_alone()))
        .by(Column::Tokio, || hosts.on_tokio(tokio_acquire_alone()))
        .by(Column::AsyncLock, || hosts.on_tokio(async_acquire_alone()))
}

fn semaphore_shared(hosts: &Hosts) -> Workload<'_> {
    Workload::new(format!("{PERMITS} permits held over a yield, {CROWD} fibers"), ALL, ALL)
        .by(Column::Fiber, || on_worker(&hosts.pool, acquire_shared()))
        .by(Column::OneWorker, || on_worker(&hosts.single, acquire_shared()))
        .by(Column::Tokio, || hosts.on_tokio(tokio_acquire_shared()))
        .by(Column::AsyncLock, || hosts.on_tokio(async_acquire_shared()))
}

/// An operation is a notification: the other side wakes up and answers.
fn notifications(hosts: &Hosts) -> Workload<'_> {
    Workload::new("notification to and fro", 2 * ROUNDS, ROUNDS)
        .by(Column::Fiber, || on_worker(&hosts.pool, notify_ping_pong()))
        .by(Column::OneWorker, || on_worker(&hosts.single, notify_ping_pong()))
        .by(Column::Tokio, || hosts.on_tokio(tokio_ping_pong()))
}

/// An operation is a request with its reply.
fn replies(hosts: &Hosts) -> Workload<'_> {
    Workload::new("request with a fresh one-shot reply", ROUNDS, ROUNDS)
        .by(Column::Fiber, || on_worker(&hosts.pool, requests()))
        .by(Column::OneWorker, || on_worker(&hosts.single, requests()))
        .by(Column::Tokio, || hosts.on_tokio(tokio_requests()))
}

// The fibers.

/// The state after one more of `turns` turns.
fn next(n: u64, turns: u64) -> ControlFlow<u64, u64> {
    if n == turns { ControlFlow::Break(n) } else { ControlFlow::Continue(n) }
}

fn lock_alone() -> Fiber<u64, impl Run<Out = u64>> {
    let mutex = Mutex::new(0);
    Fiber::iterate((), move |()| {
        mutex.lock().map(|mut count| {
            *count += 1;
            if *count == ALONE { ControlFlow::Break(*count) } else { ControlFlow::Continue(()) }
        })
    })
}

fn lock_shared() -> Fiber<u64, impl Run<Out = u64>> {
    let mutex = Mutex::new(0);
    let last = mutex.clone();
    let one = move |_| {
        let mutex = mutex.clone();
        Fiber::iterate(0, move |n| {
            let hold = mutex.lock().bind(|mut count| {
                Fiber::yield_now().map(move |()| {
                    *count += 1;
                })
            });
            hold.map(move |()| next(n + 1, TURNS))
        })
    };
    Fiber::parallel((0..CROWD).map(one)).bind(move |_| last.lock()).map(|count| *count)
}

fn acquire_alone() -> Fiber<u64, impl Run<Out = u64>> {
    let semaphore = Semaphore::new(1);
    Fiber::iterate(0, move |n| {
        semaphore.acquire(1).map(move |permit| {
            drop(permit);
            next(n + 1, ALONE)
        })
    })
}

fn acquire_shared() -> Fiber<u64, impl Run<Out = u64>> {
    let semaphore = Semaphore::new(PERMITS);
    let one = move |_| {
        let semaphore = semaphore.clone();
        Fiber::iterate(0, move |n| {
            let hold = semaphore.acquire(1).bind(|permit| Fiber::yield_now().map(move |()| drop(permit)));
            hold.map(move |()| next(n + 1, TURNS))
        })
    };
    Fiber::parallel((0..CROWD).map(one)).map(|counts| counts.into_iter().sum())
}

fn notify_ping_pong() -> Fiber<u64, impl Run<Out = u64>> {
    let (ping, pong) = (Notify::new(), Notify::new());
    let answers = Fiber::iterate(0, {
        let (ping, pong) = (ping.clone(), pong.clone());
        move |n| {
            let pong = pong.clone();
            ping.wait().map(move |()| {
                pong.notify_one();
                next(n + 1, ROUNDS)
            })
        }
    });
    let asks = Fiber::iterate(0, move |n| {
        ping.notify_one();
        pong.wait().map(move |()| next(n + 1, ROUNDS))
    });
    answers.zip(asks).map(|(_, rounds)| rounds)
}

fn requests() -> Fiber<u64, impl Run<Out = u64>> {
    let (requests, inbox) = Channel::bounded(1);
    let serves = Fiber::iterate(0, move |n| {
        inbox.recv().map(move |reply: Resume<u64>| {
            reply.send(n).expect("the client waits");
            next(n + 1, ROUNDS)
        })
    });
    let asks = Fiber::iterate((), move |()| {
        let (reply, answer) = one_shot();
        let asked = requests.send(reply).bind(move |()| answer);
        asked.map(|n| if n + 1 == ROUNDS { ControlFlow::Break(n + 1) } else { ControlFlow::Continue(()) })
    });
    serves.zip(asks).map(|(_, rounds)| rounds)
}

// Rust without any library.

fn plain_alone() -> u64 {
    let mutex = Plain::new(0);
    loop {
        let mut count = mutex.lock().expect("no thread panics");
        *count += 1;
        if *count == ALONE {
            return *count;
        }
    }
}

// tokio.

async fn tokio_lock_alone() -> u64 {
    let mutex = tokio_sync::Mutex::new(0);
    loop {
        let mut count = mutex.lock().await;
        *count += 1;
        if *count == ALONE {
            return *count;
        }
    }
}

async fn tokio_lock_shared() -> u64 {
    let mutex = Arc::new(tokio_sync::Mutex::new(0));
    let crowd = (0..CROWD).map(|_| {
        let mutex = mutex.clone();
        tokio::spawn(async move {
            for _ in 0..TURNS {
                let mut count = mutex.lock().await;
                tokio::task::yield_now().await;
                *count += 1;
            }
        })
    });
    for one in crowd.collect::<Vec<_>>() {
        one.await.expect("no panic");
    }
    *mutex.lock().await
}

async fn tokio_acquire_alone() -> u64 {
    let semaphore = tokio_sync::Semaphore::new(1);
    let mut n = 0;
    while n < ALONE {
        drop(semaphore.acquire().await.expect("open"));
        n += 1;
    }
    n
}

async fn tokio_acquire_shared() -> u64 {
    let semaphore = Arc::new(tokio_sync::Semaphore::new(PERMITS));
    let crowd = (0..CROWD).map(|_| {
        let semaphore = semaphore.clone();
        tokio::spawn(async move {
            for _ in 0..TURNS {
                let _permit = semaphore.acquire().await.expect("open");
                tokio::task::yield_now().await;
            }
            TURNS
        })
    });
    let mut sum = 0;
    for one in crowd.collect::<Vec<_>>() {
        sum += one.await.expect("no panic");
    }
    sum
}

async fn tokio_ping_pong() -> u64 {
    let (ping, pong) = (Arc::new(tokio_sync::Notify::new()), Arc::new(tokio_sync::Notify::new()));
    let answers = tokio::spawn({
        let (ping, pong) = (ping.clone(), pong.clone());
        async move {
            for _ in 0..ROUNDS {
                ping.notified().await;
                pong.notify_one();
            }
        }
    });
    let mut n = 0;
    while n < ROUNDS {
        ping.notify_one();
        pong.notified().await;
        n += 1;
    }
    answers.await.expect("no panic");
    n
}

async fn tokio_requests() -> u64 {
    let (requests, mut inbox) = tokio_sync::mpsc::channel::<tokio_sync::oneshot::Sender<u64>>(1);
    let serves = tokio::spawn(async move {
        let mut n = 0;
        while let Some(reply) = inbox.recv().await {
            reply.send(n).expect("the client waits");
            n += 1;
        }
    });
    let mut last = 0;
    while last + 1 < ROUNDS {
        let (reply, answer) = tokio_sync::oneshot::channel();
        requests.send(reply).await.expect("the server is there");
        last = answer.await.expect("the server answers");
    }
    drop(requests);
    serves.await.expect("no panic");
    last + 1
}

// async-lock, on tokio.

async fn async_lock_alone() -> u64 {
    let mutex = async_lock::Mutex::new(0);
    loop {
        let mut count = mutex.lock().await;
        *count += 1;
        if *count == ALONE {
            return *count;
        }
    }
}

async fn async_lock_shared() -> u64 {
    let mutex = Arc::new(async_lock::Mutex::new(0));
    let crowd = (0..CROWD).map(|_| {
        let mutex = mutex.clone();
        tokio::spawn(async move {
            for _ in 0..TURNS {
                let mut count = mutex.lock().await;
                tokio::task::yield_now().await;
                *count += 1;
            }
        })
    });
    for one in crowd.collect::<Vec<_>>() {
        one.await.expect("no panic");
    }
    *mutex.lock().await
}

async fn async_acquire_alone() -> u64 {
    let semaphore = async_lock::Semaphore::new(1);
    let mut n = 0;
    while n < ALONE {
        drop(semaphore.acquire().await);
        n += 1;
    }
    n
}

async fn async_acquire_shared() -> u64 {
    let semaphore = Arc::new(async_lock::Semaphore::new(PERMITS));
    let crowd = (0..CROWD).map(|_| {
        let semaphore = semaphore.clone();
        tokio::spawn(async move {
            for _ in 0..TURNS {
                let _permit = semaphore.acquire().await;
                tokio::task::yield_now().await;
            }
            TURNS
        })
    });
    let mut sum = 0;
    for one in crowd.collect::<Vec<_>>() {
        sum += one.await.expect("no panic");
    }
    sum
}
