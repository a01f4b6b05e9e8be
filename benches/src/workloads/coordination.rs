//! Fibers that communicate: messages to and fro, many producers and one consumer.

use std::future::Future;
use std::ops::ControlFlow;

use fiber_core::sync::{Channel, Receiver, Sender};
use fiber_core::{Fiber, Run};

use crate::hosts::{Hosts, on_worker};
use crate::workload::{Column, Workload};

/// Messages in each direction.
const ROUNDS: u64 = 2_000;
/// Producers that share a channel.
const PRODUCERS: u64 = 4;
/// The items that each of them sends.
const ITEMS: u64 = 5_000;
/// The items of all producers.
const ALL: u64 = PRODUCERS * ITEMS;
/// The capacity of the producers' channel.
const ROOM: usize = 1_024;
/// The maximum number of items that a consumer takes at a time.
const BATCH: usize = 256;

/// All workloads of the topic.
pub fn all(hosts: &Hosts) -> Vec<Workload<'_>> {
    vec![
        ping_pong(hosts),
        ping_pong_on_one_thread(hosts),
        bounded(hosts),
        unbounded(hosts),
        in_batches(hosts),
    ]
}

/// An operation is a message: the other side wakes up and answers.
fn ping_pong(hosts: &Hosts) -> Workload<'_> {
    Workload::new("message to and fro, channels of capacity 1", 2 * ROUNDS, ROUNDS)
        .by(Column::Fiber, || on_worker(&hosts.pool, fiber_ping_pong()))
        .by(Column::OneWorker, || on_worker(&hosts.single, fiber_ping_pong()))
        .by(Column::Runtime, || hosts.on_runtime(fiber_ping_pong()))
        .by(Column::Tokio, || hosts.on_tokio(ping_pong_of(tokio_pair(), tokio_pair())))
        .by(Column::Kanal, || hosts.on_tokio(ping_pong_of(kanal_pair(), kanal_pair())))
        .by(Column::Flume, || hosts.on_tokio(ping_pong_of(flume_pair(), flume_pair())))
        .by(Column::AsyncChannel, || hosts.on_tokio(ping_pong_of(async_pair(), async_pair())))
}

fn ping_pong_on_one_thread(hosts: &Hosts) -> Workload<'_> {
    Workload::new("the same, all on one thread", 2 * ROUNDS, ROUNDS)
        .by(Column::Fiber, || hosts.here.run(fiber_ping_pong()).unwrap())
        .by(Column::Tokio, || hosts.on_one_thread(ping_pong_of(tokio_pair(), tokio_pair())))
        .by(Column::Kanal, || hosts.on_one_thread(ping_pong_of(kanal_pair(), kanal_pair())))
        .by(Column::Flume, || hosts.on_one_thread(ping_pong_of(flume_pair(), flume_pair())))
        .by(Column::AsyncChannel, || hosts.on_one_thread(ping_pong_of(async_pair(), async_pair())))
}

fn bounded(hosts: &Hosts) -> Workload<'_> {
    let name = format!("{PRODUCERS} producers, 1 consumer, bounded {ROOM}");
    Workload::new(name, ALL, sum())
        .by(Column::Fiber, || on_worker(&hosts.pool, fiber_funnel(Channel::bounded(ROOM))))
        .by(Column::OneWorker, || on_worker(&hosts.single, fiber_funnel(Channel::bounded(ROOM))))
        .by(Column::Runtime, || hosts.on_runtime(fiber_funnel(Channel::bounded(ROOM))))
        .by(Column::Tokio, || {
            let (sender, receiver) = tokio::sync::mpsc::channel(ROOM);
            hosts.on_tokio(funnel(sender, receiver))
        })
        .by(Column::Kanal, || {
            let (sender, receiver) = kanal::bounded_async(ROOM);
            hosts.on_tokio(funnel(sender, receiver))
        })
        .by(Column::Flume, || {
            let (sender, receiver) = flume::bounded(ROOM);
            hosts.on_tokio(funnel(sender, receiver))
        })
        .by(Column::AsyncChannel, || {
            let (sender, receiver) = async_channel::bounded(ROOM);
            hosts.on_tokio(funnel(sender, receiver))
        })
}

fn unbounded(hosts: &Hosts) -> Workload<'_> {
    Workload::new(format!("{PRODUCERS} producers, 1 consumer, unbounded"), ALL, sum())
        .by(Column::Fiber, || on_worker(&hosts.pool, fiber_funnel(Channel::unbounded())))
        .by(Column::OneWorker, || on_worker(&hosts.single, fiber_funnel(Channel::unbounded())))
        .by(Column::Runtime, || hosts.on_runtime(fiber_funnel(Channel::unbounded())))
        .by(Column::Tokio, || {
            let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
            hosts.on_tokio(funnel(sender, receiver))
        })
        .by(Column::Kanal, || {
            let (sender, receiver) = kanal::unbounded_async();
            hosts.on_tokio(funnel(sender, receiver))
        })
        .by(Column::Flume, || {
            let (sender, receiver) = flume::unbounded();
            hosts.on_tokio(funnel(sender, receiver))
        })
        .by(Column::AsyncChannel, || {
            let (sender, receiver) = async_channel::unbounded();
            hosts.on_tokio(funnel(sender, receiver))
        })
}

/// The consumer takes all available items; the library's producers send as many as there is room for.
fn in_batches(hosts: &Hosts) -> Workload<'_> {
    Workload::new(format!("the same, bounded {ROOM}, in batches"), ALL, sum())
        .by(Column::Fiber, || on_worker(&hosts.pool, fiber_batches()))
        .by(Column::OneWorker, || on_worker(&hosts.single, fiber_batches()))
        .by(Column::Runtime, || hosts.on_runtime(fiber_batches()))
        .by(Column::Tokio, || hosts.on_tokio(tokio_batches()))
}

/// The sum of all received items.
fn sum() -> u64 {
    PRODUCERS * (0..ITEMS).sum::<u64>()
}

// The fibers.

fn fiber_ping_pong() -> Fiber<u64, impl Run<Out = u64>> {
    let (ping, pings) = Channel::bounded(1);
    let (pong, pongs) = Channel::bounded(1);
    let answer = Fiber::for_each(0..ROUNDS, move |_| {
        let pong = pong.clone();
        pings.recv().bind(move |n: u64| pong.send(n + 1))
    });
    answer.fork().bind(move |answering| {
        let ask = Fiber::iterate(0, move |n| {
            let pongs = pongs.clone();
            ping.send(n).bind(move |()| {
                pongs
                    .recv()
                    .map(|n| if n == ROUNDS { ControlFlow::Break(n) } else { ControlFlow::Continue(n) })
            })
        });
        ask.bind(move |n| answering.join().map(move |()| n))
    })
}

fn fiber_funnel((sender, receiver): (Sender<u64>, Receiver<u64>)) -> Fiber<u64, impl Run<Out = u64>> {
    fiber_producers(sender, |sender| Fiber::for_each(0..ITEMS, move |n| sender.send(n))).bind(move |()| {
        Fiber::iterate((0, 0), move |(count, sum)| receiver.recv().map(move |n| taken(count + 1, sum + n)))
    })
}

fn fiber_batches() -> Fiber<u64, impl Run<Out = u64>> {
    let (sender, receiver) = Channel::bounded(ROOM);
    fiber_producers(sender, |sender| sender.send_all(0..ITEMS)).bind(move |()| {
        Fiber::iterate((0, 0), move |(count, sum)| {
            receiver
                .recv_many(BATCH)
                .map(move |items| taken(count + items.len() as u64, sum + items.into_iter().sum::<u64>()))
        })
    })
}

fn fiber_producers<R: Run<Out = ()>>(
    sender: Sender<u64>,
    produce: impl Fn(Sender<u64>) -> Fiber<(), R> + Send + 'static,
) -> Fiber<(), impl Run<Out = ()>> {
    Fiber::for_each(0..PRODUCERS, move |_| produce(sender.clone()).fork().map(drop))
}

/// The number of items that a consumer has received, and their sum.
fn taken(count: u64, sum: u64) -> ControlFlow<u64, (u64, u64)> {
    if count == ALL { ControlFlow::Break(sum) } else { ControlFlow::Continue((count, sum)) }
}

// The others, on tokio.

/// The sending end of some channel.
trait Sends: Clone + Send + Sync + 'static {
    fn put(&self, n: u64) -> impl Future<Output = ()> + Send;
}

/// The receiving end of some channel.
trait Receives: Send + 'static {
    fn take(&mut self) -> impl Future<Output = u64> + Send;
}

macro_rules! ends {
    ($($sender:ty => $send:ident, $receiver:ty => $recv:ident;)*) => {$(
        impl Sends for $sender {
            async fn put(&self, n: u64) {
                self.$send(n).await.expect("open");
            }
        }

        impl Receives for $receiver {
            async fn take(&mut self) -> u64 {
                self.$recv().await.expect("open")
            }
        }
    )*};
}

ends! {
    kanal::AsyncSender<u64> => send, kanal::AsyncReceiver<u64> => recv;
    flume::Sender<u64> => send_async, flume::Receiver<u64> => recv_async;
    async_channel::Sender<u64> => send, async_channel::Receiver<u64> => recv;
    tokio::sync::mpsc::Sender<u64> => send, tokio::sync::mpsc::Receiver<u64> => recv;
}

impl Sends for tokio::sync::mpsc::UnboundedSender<u64> {
    async fn put(&self, n: u64) {
        self.send(n).expect("open");
    }
}

impl Receives for tokio::sync::mpsc::UnboundedReceiver<u64> {
    async fn take(&mut self) -> u64 {
        self.recv().await.expect("open")
    }
}

fn tokio_pair() -> (tokio::sync::mpsc::Sender<u64>, tokio::sync::mpsc::Receiver<u64>) {
    tokio::sync::mpsc::channel(1)
}

fn kanal_pair() -> (kanal::AsyncSender<u64>, kanal::AsyncReceiver<u64>) {
    kanal::bounded_async(1)
}

fn flume_pair() -> (flume::Sender<u64>, flume::Receiver<u64>) {
    flume::bounded(1)
}

fn async_pair() -> (async_channel::Sender<u64>, async_channel::Receiver<u64>) {
    async_channel::bounded(1)
}

async fn ping_pong_of<S: Sends, R: Receives>((ping, mut pings): (S, R), (pong, mut pongs): (S, R)) -> u64 {
    let answering = tokio::spawn(async move {
        for _ in 0..ROUNDS {
            let n = pings.take().await;
            pong.put(n + 1).await;
        }
    });
    let mut n = 0;
    while n < ROUNDS {
        ping.put(n).await;
        n = pongs.take().await;
    }
    answering.await.expect("no panic");
    n
}

async fn funnel<S: Sends, R: Receives>(sender: S, mut receiver: R) -> u64 {
    for _ in 0..PRODUCERS {
        let sender = sender.clone();
        tokio::spawn(async move {
            for n in 0..ITEMS {
                sender.put(n).await;
            }
        });
    }
    let mut sum = 0;
    for _ in 0..ALL {
        sum += receiver.take().await;
    }
    sum
}

async fn tokio_batches() -> u64 {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(ROOM);
    for _ in 0..PRODUCERS {
        let sender = sender.clone();
        tokio::spawn(async move {
            for n in 0..ITEMS {
                sender.put(n).await;
            }
        });
    }
    let (mut sum, mut count, mut items) = (0, 0, Vec::with_capacity(BATCH));
    while count < ALL {
        count += receiver.recv_many(&mut items, BATCH).await as u64;
        sum += items.drain(..).sum::<u64>();
    }
    sum
}
