//! Counts the items that channels lose when receivers are cancelled at random, and prints a Markdown table.
//!
//! There are as many receivers as items; each receives one, on two workers. While the items are sent, every second
//! receiver is cancelled, in a random order. Then the channel is closed, and the rest is received. An item that was sent
//! and not received is lost.

use std::future::Future;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use benches::Hosts;
use fiber_core::Fiber;
use fiber_core::sync::Channel;

const ITEMS: usize = 10_000;
const RUNS: usize = 20;

/// How often each item was received.
type Times = Arc<[AtomicUsize]>;

fn main() {
    let hosts = Hosts::start();
    println!("| items lost of {ITEMS}, {RUNS} runs | fewest | most | received twice |");
    println!("|---|---:|---:|---:|");
    row("fiber, unbounded", |seed| by_fibers(&hosts, seed, Channel::unbounded()));
    row("fiber, rendezvous", |seed| by_fibers(&hosts, seed, Channel::rendezvous()));
    row("tokio, unbounded, behind a mutex", |seed| {
        let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
        let receiver = Arc::new(tokio::sync::Mutex::new(receiver));
        let receive = move || {
            let receiver = receiver.clone();
            async move { receiver.lock().await.recv().await }
        };
        by_tasks(
            &hosts,
            seed,
            move |n| {
                let sender = sender.clone();
                async move { sender.send(n).expect("open") }
            },
            receive,
        )
    });
    row("kanal, unbounded", |seed| {
        let (sender, receiver) = kanal::unbounded_async();
        by_tasks(
            &hosts,
            seed,
            move |n| {
                let sender = sender.clone();
                async move { sender.send(n).await.expect("open") }
            },
            move || {
                let receiver = receiver.clone();
                async move { receiver.recv().await.ok() }
            },
        )
    });
    row("flume, unbounded", |seed| {
        let (sender, receiver) = flume::unbounded();
        by_tasks(
            &hosts,
            seed,
            move |n| {
                let sender = sender.clone();
                async move { sender.send(n).expect("open") }
            },
            move || {
                let receiver = receiver.clone();
                async move { receiver.recv_async().await.ok() }
            },
        )
    });
    row("async-channel, unbounded", |seed| {
        let (sender, receiver) = async_channel::unbounded();
        by_tasks(
            &hosts,
            seed,
            move |n| {
                let sender = sender.clone();
                async move { sender.send(n).await.expect("open") }
            },
            move || {
                let receiver = receiver.clone();
                async move { receiver.recv().await.ok() }
            },
        )
    });
}

fn row(name: &str, run: impl Fn(u64) -> Times) {
    let counts = |run: Times, matches: fn(usize) -> bool| {
        // Relaxed: all receivers have ended.
        run.iter().filter(|times| matches(times.load(Ordering::Relaxed))).count()
    };
    let runs: Vec<Times> = (0..RUNS).map(|seed| run(seed as u64)).collect();
    let lost: Vec<usize> = runs.iter().map(|run| counts(run.clone(), |times| times == 0)).collect();
    let doubled: usize = runs.iter().map(|run| counts(run.clone(), |times| times > 1)).sum();
    let (fewest, most) = (lost.iter().min().expect("runs"), lost.iter().max().expect("runs"));
    println!("| {name} | {fewest} | {most} | {doubled} |");
}

fn times() -> Times {
    (0..ITEMS).map(|_| AtomicUsize::new(0)).collect()
}

fn count(times: &Times, item: usize) {
    // Relaxed: read after all receivers have ended.
    times[item].fetch_add(1, Ordering::Relaxed);
}

/// The receivers to be cancelled, in a random order.
fn victims<T>(mut receivers: Vec<T>, mut seed: u64) -> (Vec<T>, Vec<T>) {
    let victims = (0..ITEMS / 2).map(|_| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let chosen = (seed >> 33) as usize % receivers.len();
        receivers.swap_remove(chosen)
    });
    (victims.collect(), receivers)
}

fn by_fibers(
    hosts: &Hosts,
    seed: u64,
    (sender, receiver): (fiber_core::sync::Sender<usize>, fiber_core::sync::Receiver<usize>),
) -> Times {
    let times = times();
    let receive = || {
        let times = times.clone();
        receiver.recv().map(move |item| count(&times, item))
    };
    let receivers: Vec<_> = (0..ITEMS).map(|_| hosts.pool.spawn(receive())).collect();
    let send = hosts.pool.spawn(Fiber::for_each(0..ITEMS, move |n| sender.send(n)));
    let (cancelled, others) = victims(receivers, seed);
    cancelled.iter().for_each(|receiver| receiver.cancel_now());
    let rest = receive();
    let rest = Fiber::iterate(rest, |rest| {
        let again = rest.clone();
        rest.map(move |()| ControlFlow::Continue(again)).catch(|_| Fiber::success(ControlFlow::Break(())))
    });
    hosts.pool.run(rest.zip(send.join())).unwrap();
    let all = cancelled.into_iter().chain(others).map(|receiver| receiver.outcome());
    drop(hosts.pool.run(Fiber::parallel(all)).unwrap());
    times
}

fn by_tasks<S, R>(
    hosts: &Hosts,
    seed: u64,
    send: impl Fn(usize) -> S + Send + 'static,
    receive: impl Fn() -> R + Send + 'static,
) -> Times
where
    S: Future<Output = ()> + Send + 'static,
    R: Future<Output = Option<usize>> + Send + 'static,
{
    let times = times();
    let counted = |received: R| {
        let times = times.clone();
        async move {
            let item = received.await;
            item.into_iter().for_each(|item| count(&times, item));
            item.is_some()
        }
    };
    let receivers: Vec<_> = (0..ITEMS).map(|_| hosts.tokio.spawn(counted(receive()))).collect();
    let send = hosts.tokio.spawn(async move {
        for n in 0..ITEMS {
            send(n).await;
        }
    });
    let (cancelled, others) = victims(receivers, seed);
    cancelled.iter().for_each(|receiver| receiver.abort());
    hosts.tokio.block_on(async {
        send.await.expect("no panic");
        while counted(receive()).await {}
        for receiver in cancelled.into_iter().chain(others) {
            drop(receiver.await);
        }
    });
    times
}
