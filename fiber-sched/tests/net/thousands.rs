//! Ten thousand connections at the same time, which end in every possible way.

use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use fiber_core::net::{TcpListener, TcpStream, copy};
use fiber_core::sync::{Latch, Semaphore};
use fiber_core::{Fiber, Handle, Outcome, fiber};
use fiber_sched::{Pool, Settings};

use super::{alone, descriptors, eventually, live_bytes};

/// In debug builds, enough to see that the test works.
const MOST: usize = if cfg!(debug_assertions) { 500 } else { 10_000 };

/// Descriptors that are not connections: the harness, the polls, the listener.
const OTHERS: usize = 200;

/// The number of connections that are made at the same time: fewer than fit into the queue of a listener. One that does not fit is tried
/// again by the system after a second.
const AT_A_TIME: usize = 100;

/// The library keeps free blocks of memory for the next round, in batches of 16 KiB of each size. A round may need some batches more than
/// the one before, however many connections it has.
const KEPT: usize = 256 << 10;

/// The number of connections within the limit of descriptors; both ends are in this process.
fn connections() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find(|line| line.starts_with("Max open files"));
    let limit = line.and_then(|line| line.split_whitespace().nth(3)?.parse().ok()).unwrap_or(1024_usize);
    let possible = limit.saturating_sub(OTHERS) / 2;
    if possible < MOST {
        println!("{possible} connections instead of {MOST}: the limit of descriptors is {limit}");
    }
    possible.min(MOST)
}

/// The behaviour of a client once all are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// Asks, and reads the answer.
    Asks,
    /// Closes its direction, and reads to the end of the other one.
    HalfCloses,
    /// Disconnects silently, in the middle of an answer.
    Resets,
    /// Waits for an answer that never comes, until it is cancelled.
    Stalls,
    /// Writes and reads nothing, until it is cancelled.
    Floods,
}

impl Manner {
    fn of(n: usize) -> Self {
        [Manner::Asks, Manner::HalfCloses, Manner::Resets, Manner::Stalls, Manner::Floods][n % 5]
    }

    fn ends_by_itself(self) -> bool {
        !matches!(self, Manner::Stalls | Manner::Floods)
    }
}

fn question(n: usize) -> Vec<u8> {
    (0..1 + n * 37 % 20_000).map(|at| (at * 31 + n) as u8).collect()
}

/// A connection that the server has accepted, for it has echoed a byte.
fn greeted(at: SocketAddr) -> Fiber<TcpStream> {
    fiber! {
        let! stream = TcpStream::connect(at);
        do! stream.write_all([0]);
        let! (n, _) = stream.read([0]);
        assert_eq!(n, 1);
        stream
    }
}

/// The bytes that were echoed.
fn client(n: usize, at: SocketAddr, door: Semaphore, all: Latch) -> Fiber<Vec<u8>> {
    fiber! {
        let! stream = door.with_permits(1, greeted(at));
        all.count_down();
        do! all.wait();
        match Manner::of(n) {
            Manner::Asks => {
                let question = question(n);
                let length = question.len();
                let! _ = stream.write_all(question) and! answer = stream.buffered().read_exact(length);
                answer
            }
            Manner::HalfCloses => {
                let writes = stream.clone();
                let sends = stream.write_all(question(n)).map(move |_| writes.shutdown(Shutdown::Write));
                let! ended = sends and! answer = stream.buffered().rest();
                ended?;
                answer
            }
            Manner::Resets => {
                stream.set_linger(Some(Duration::ZERO))?;
                do! stream.write_all(question(n)).map(drop).catch(|_| Fiber::success(()));
                Vec::new()
            }
            Manner::Stalls => {
                do! stream.read([0; 16]).map(drop);
                unreachable!("there is no writer")
            }
            Manner::Floods => loop {
                do! stream.write_all(vec![7; 10_000]).map(drop);
            },
        }
    }
}

/// All of them at the same time. Those that stay get all their bytes, and the others are cancelled.
fn visit(count: usize, at: SocketAddr) -> Fiber<()> {
    let (door, all) = (Semaphore::new(AT_A_TIME), Latch::new(count));
    let clients: Vec<_> = (0..count).map(|n| client(n, at, door.clone(), all.clone())).collect();
    fiber! {
        let! clients = Fiber::fork_all(clients);
        do! all.wait();
        for (n, client) in clients.into_iter().enumerate() {
            let client: Handle<Vec<u8>> = client;
            if !Manner::of(n).ends_by_itself() {
                do! client.cancel();
            }
            let! outcome = client.outcome();
            match (Manner::of(n), outcome) {
                (Manner::Asks | Manner::HalfCloses, Outcome::Success(answer)) => {
                    assert!(answer == question(n), "client {n} has other bytes");
                }
                (Manner::Resets, Outcome::Success(_)) | (Manner::Stalls | Manner::Floods, Outcome::Cancelled) => {}
                (manner, outcome) => panic!("client {n}, which {manner:?}: {outcome:?}"),
            }
        }
    }
}

#[test]
fn nothing_is_left_of_thousands_of_connections() {
    let _alone = alone();
    let count = connections();
    let before = descriptors();
    // The first round also fills caches that the threads of the process keep.
    for (polls, is_first) in [(1, true), (1, false), (2, false)] {
        let (live, _) = live_bytes::live_and_most();
        let served = Arc::new(AtomicUsize::new(0));
        let ended = Arc::new(AtomicUsize::new(0));
        let settings = Settings::new().on_unobserved(|_| ());
        let pool = Pool::builder().workers(2).polls(polls).settings(settings).build();
        let (begins, ends) = (served.clone(), ended.clone());
        let visits = TcpListener::bind(([127, 0, 0, 1], 0)).bind(move |listener| {
            let at = listener.local_addr().expect("it is bound");
            let serves = listener.serve(2 * count, move |stream, _| {
                begins.fetch_add(1, SeqCst);
                let ends = ends.clone();
                let echo = copy(stream.clone(), stream).map(drop);
                echo.ensure(Fiber::lazy(move || _ = ends.fetch_add(1, SeqCst))).boxed()
            });
            serves.race(visit(count, at)).map(drop)
        });
        pool.run(visits).unwrap();
        assert_eq!(served.load(SeqCst), count, "every client was served once");
        assert_eq!(ended.load(SeqCst), count, "and every connection has ended");
        eventually("no fiber is left", || pool.dump().is_empty());
        drop(pool);
        eventually("the descriptors are closed", || descriptors() == before);
        let (left, _) = live_bytes::live_and_most();
        let per_connection = left.saturating_sub(live + KEPT) / count;
        assert!(
            is_first || per_connection < 64,
            "{per_connection} bytes for each connection are left in memory"
        );
    }
}
