//! How late sleeps end, and how long it takes to wake an idle pool: the median and the 99th percentile, as a Markdown
//! table.
//!
//! Every round measures each contender once, so that a slow moment of the machine affects all. With an argument: only the
//! rows whose name contains it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use async_io::Timer;
use benches::{Column, Hosts};
use fiber_core::net::TcpListener;
use fiber_core::{Fiber, fiber};
use fiber_sched::{Pool, block_on};
use futures::StreamExt;
use futures::stream::FuturesUnordered;

/// The number of consecutive sleeps of a contender in a round.
const SEQUENCE: usize = 25;
/// The number of concurrent sleeps.
const CROWD: u64 = 100_000;
/// They are due within this time.
const WINDOW: Duration = Duration::from_millis(100);
/// The delay of the first of them: later than the last has begun.
const LEAD: Duration = Duration::from_secs(1);
/// An idle pool has fallen asleep after this time.
const PAUSE: Duration = Duration::from_millis(2);

/// The lateness of each sleep or wake-up of a round.
type Latencies = Vec<Duration>;

struct Row<'a> {
    name: String,
    rounds: usize,
    contenders: Vec<(Column, Box<dyn FnMut() -> Latencies + 'a>)>,
}

fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let hosts = Hosts::start();
    let columns = [Column::Fiber, Column::Plain, Column::Tokio, Column::AsyncIo];
    println!(
        "| latency (us: median / 99th percentile) | {} |",
        columns.map(|column| column.to_string()).join(" | ")
    );
    println!("|---|{}", "---:|".repeat(columns.len()));
    for row in rows(&hosts).into_iter().filter(|row| row.name.contains(&filter)) {
        eprintln!("{}", row.name);
        let name = row.name.clone();
        let results = row.measure();
        let cell = |column| results.iter().find(|(at, _)| *at == column).map(|(_, cell)| format!(" {cell}"));
        println!("| {name} |{} |", columns.map(|column| cell(column).unwrap_or_default()).join(" |"));
    }
}

fn rows(hosts: &Hosts) -> Vec<Row<'_>> {
    let (millis, micros) = (Duration::from_millis(1), Duration::from_micros(100));
    let (sleeps, wakes) = (listening(), listening());
    vec![
        sequence("sleep of 1 ms, lateness", hosts, millis),
        sequence("sleep of 100 us, lateness", hosts, micros),
        Row::new(format!("{CROWD} sleeps due within 100 ms, lateness"), 5)
            .by(Column::Fiber, || fiber_crowd(hosts, deadlines()))
            .by(Column::Tokio, || tokio_crowd(hosts, deadlines()))
            .by(Column::AsyncIo, || async_io_crowd(deadlines())),
        wake(hosts),
        Row::new("sleep of 1 ms in a pool with a socket, lateness", 31)
            .by(Column::Fiber, move || block_on(sleeps.spawn(fiber_sequence(millis))).unwrap()),
        Row::new("wake of an idle pool with a socket from outside", 31).by(Column::Fiber, move || {
            woken(|start| block_on(wakes.spawn(Fiber::lazy(move || start.elapsed()))).unwrap())
        }),
    ]
}

/// A pool like that of the hosts, one of whose workers sleeps in a poll from now on.
fn listening() -> Pool {
    let pool = Pool::builder().workers(2).build();
    let listens = TcpListener::bind(([127, 0, 0, 1], 0));
    let listener = block_on(pool.spawn(listens)).unwrap();
    drop(pool.spawn(listener.accept().map(drop)));
    pool
}

fn sequence<'a>(name: &str, hosts: &'a Hosts, nap: Duration) -> Row<'a> {
    Row::new(name, 31)
        .by(Column::Fiber, move || block_on(hosts.pool.spawn(fiber_sequence(nap))).unwrap())
        .by(Column::Plain, move || (0..SEQUENCE).map(|_| lateness_of(nap, || thread::sleep(nap))).collect())
        .by(Column::Tokio, move || hosts.on_tokio(tokio_sequence(nap)))
        .by(Column::AsyncIo, move || async_io::block_on(async_io_sequence(nap)))
}

fn wake(hosts: &Hosts) -> Row<'_> {
    let parked = Parked::start();
    Row::new("wake of an idle pool from outside", 31)
        .by(Column::Fiber, || {
            woken(|start| block_on(hosts.pool.spawn(Fiber::lazy(move || start.elapsed()))).unwrap())
        })
        .by(Column::Plain, move || woken(|start| parked.wake(start)))
        .by(Column::Tokio, || {
            woken(|start| {
                let task = hosts.tokio.spawn(async move { start.elapsed() });
                hosts.tokio.block_on(task).expect("no panic")
            })
        })
}

impl<'a> Row<'a> {
    fn new(name: impl Into<String>, rounds: usize) -> Self {
        Row { name: name.into(), rounds, contenders: Vec::new() }
    }

    fn by(mut self, column: Column, round: impl FnMut() -> Latencies + 'a) -> Self {
        self.contenders.push((column, Box::new(round)));
        self
    }

    /// The cells of the contenders, after a warm-up round.
    fn measure(mut self) -> Vec<(Column, String)> {
        let mut latencies = vec![Vec::new(); self.contenders.len()];
        for round in 0..=self.rounds {
            for ((_, contender), latencies) in self.contenders.iter_mut().zip(&mut latencies) {
                let new = contender();
                if round > 0 {
                    latencies.extend(new);
                }
            }
        }
        self.contenders
            .iter()
            .zip(latencies)
            .map(|((column, _), latencies)| (*column, cell(latencies)))
            .collect()
    }
}

/// `12.3 / 45.6`.
fn cell(mut latencies: Latencies) -> String {
    latencies.sort_unstable();
    let percentile = |n: usize| latencies[(latencies.len() - 1) * n / 100].as_nanos() as f64 / 1e3;
    format!("{:.1} / {:.1}", percentile(50), percentile(99))
}

/// The lateness of an event.
///
/// # Panics
/// If it is early, which is a bug of the sleep.
fn lateness(deadline: Instant) -> Duration {
    Instant::now().checked_duration_since(deadline).expect("never early")
}

fn lateness_of(nap: Duration, sleep: impl FnOnce()) -> Duration {
    let deadline = Instant::now() + nap;
    sleep();
    lateness(deadline)
}

// Sleeps of one fiber, task or thread.

fn fiber_sequence(nap: Duration) -> Fiber<Latencies> {
    fiber! {
        let mut latencies = Vec::with_capacity(SEQUENCE);
        while latencies.len() < SEQUENCE {
            let deadline = Instant::now() + nap;
            do! Fiber::delay(nap);
            latencies.push(lateness(deadline));
        }
        latencies
    }
}

async fn tokio_sequence(nap: Duration) -> Latencies {
    let mut latencies = Vec::with_capacity(SEQUENCE);
    while latencies.len() < SEQUENCE {
        let deadline = Instant::now() + nap;
        tokio::time::sleep(nap).await;
        latencies.push(lateness(deadline));
    }
    latencies
}

async fn async_io_sequence(nap: Duration) -> Latencies {
    let mut latencies = Vec::with_capacity(SEQUENCE);
    while latencies.len() < SEQUENCE {
        let deadline = Instant::now() + nap;
        Timer::after(nap).await;
        latencies.push(lateness(deadline));
    }
    latencies
}

// A crowd.

/// Spread evenly over the window, in a scrambled order.
fn deadlines() -> impl Iterator<Item = Instant> {
    let first = Instant::now() + LEAD;
    // Every number below the size of the crowd occurs once, because this factor is coprime to the size.
    (0..CROWD).map(move |n| first + WINDOW.mul_f64((n * 61_803 % CROWD) as f64 / CROWD as f64))
}

fn fiber_crowd(hosts: &Hosts, deadlines: impl Iterator<Item = Instant> + Send + 'static) -> Latencies {
    let sleepers = deadlines.map(|deadline| {
        let left = Fiber::lazy(move || deadline.saturating_duration_since(Instant::now()));
        left.bind(Fiber::delay).map(move |()| lateness(deadline))
    });
    block_on(hosts.pool.spawn(Fiber::parallel(sleepers))).unwrap()
}

fn tokio_crowd(hosts: &Hosts, deadlines: impl Iterator<Item = Instant> + Send + 'static) -> Latencies {
    hosts.on_tokio(async move {
        let sleepers: Vec<_> = deadlines
            .map(|deadline| {
                tokio::spawn(async move {
                    tokio::time::sleep_until(deadline.into()).await;
                    lateness(deadline)
                })
            })
            .collect();
        let mut latencies = Vec::with_capacity(sleepers.len());
        for sleeper in sleepers {
            latencies.push(sleeper.await.expect("no panic"));
        }
        latencies
    })
}

/// On one thread: async-io has no multi-threaded executor.
fn async_io_crowd(deadlines: impl Iterator<Item = Instant>) -> Latencies {
    let sleepers: FuturesUnordered<_> = deadlines
        .map(|deadline| async move {
            Timer::at(deadline).await;
            lateness(deadline)
        })
        .collect();
    async_io::block_on(sleepers.collect())
}

// Wake-ups.

fn woken(wake: impl Fn(Instant) -> Duration) -> Latencies {
    let wake = || {
        thread::sleep(PAUSE);
        wake(Instant::now())
    };
    (0..SEQUENCE).map(|_| wake()).collect()
}

/// A thread that waits to be unparked, and reports how long that took.
struct Parked {
    epoch: Instant,
    /// When it was woken, in nanoseconds since the epoch. 0: not yet.
    since: Arc<AtomicU64>,
    latencies: Receiver<Duration>,
    thread: Option<JoinHandle<()>>,
}

/// Instead of a time: asks the thread to end.
const END: u64 = u64::MAX;

impl Parked {
    fn start() -> Self {
        let epoch = Instant::now();
        let since = Arc::new(AtomicU64::new(0));
        let (sender, latencies) = channel();
        let woken = since.clone();
        let thread = thread::spawn(move || {
            loop {
                // Acquire: pairs with the store of `wake`, although it publishes nothing besides the number.
                match woken.swap(0, Ordering::Acquire) {
                    0 => thread::park(),
                    END => return,
                    since => _ = sender.send(epoch.elapsed() - Duration::from_nanos(since)),
                }
            }
        });
        Parked { epoch, since, latencies, thread: Some(thread) }
    }

    fn wake(&self, start: Instant) -> Duration {
        self.tell((start - self.epoch).as_nanos() as u64);
        self.latencies.recv().expect("the thread lives")
    }

    fn tell(&self, since: u64) {
        // Release: see the thread.
        self.since.store(since, Ordering::Release);
        self.thread.iter().for_each(|thread| thread.thread().unpark());
    }
}

impl Drop for Parked {
    fn drop(&mut self) {
        self.tell(END);
        self.thread.take().into_iter().for_each(|thread| thread.join().expect("no panic"));
    }
}
