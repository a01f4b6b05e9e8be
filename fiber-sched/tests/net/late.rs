//! Data that has come in time, on threads that look late.

use std::io::Write;
use std::net;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use fiber_core::net::TcpListener;
use fiber_core::{Fiber, fiber};
use fiber_sched::{AffinityPool, CurrentThread, Pool, TokioScheduler, block_on};
use tokio::runtime::Builder;

use super::alone;

/// More than one look at a poll gives.
const CONNECTIONS: usize = 150;

/// For each read.
const LIMIT: Duration = Duration::from_millis(50);

/// How often it is tried on a busy machine.
const TRIES: usize = 20;

/// Fibers wait for data, each with a limit. It comes while all workers compute, and they do so until the limits are over. Gives the number of
/// reads that have timed out. `None`: the data came too late.
fn timed_out(workers: usize) -> Fiber<Option<usize>> {
    fiber! {
        let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
        let (mut clients, mut servers) = (Vec::new(), Vec::new());
        for _ in 0..CONNECTIONS {
            clients.push(net::TcpStream::connect(listener.local_addr()?)?);
            let! (server, _) = listener.accept();
            servers.push(server);
        }
        let begin = Instant::now();
        let reads = servers.into_iter().map(|server| server.read([0]).timeout_option(LIMIT));
        let! reads = Fiber::parallel(reads).fork();
        do! Fiber::delay(LIMIT / 10);
        let (computing, mut clients) = (Arc::new(AtomicUsize::new(0)), Some(clients));
        let computes = (0..workers).map(move |_| {
            let (computing, clients) = (computing.clone(), clients.take());
            Fiber::lazy(move || {
                computing.fetch_add(1, SeqCst);
                while computing.load(SeqCst) < workers && begin.elapsed() < LIMIT / 2 {}
                clients.iter().flatten().for_each(|mut client| client.write_all(&[1]).unwrap());
                let is_in_time = begin.elapsed() < LIMIT;
                while begin.elapsed() < 2 * LIMIT {}
                (is_in_time, clients)
            })
        });
        let! computed = Fiber::parallel(computes);
        let! read = reads.join();
        let is_in_time = computed.iter().all(|(is_in_time, _)| *is_in_time);
        is_in_time.then(|| read.iter().filter(|read| read.is_none()).count())
    }
}

fn none_times_out(host: &str, run: impl Fn() -> Option<usize>) {
    let count = (0..TRIES).find_map(|_| run());
    assert!(count.is_none_or(|count| count == 0), "{host}: {count:?} of {CONNECTIONS} reads have timed out");
}

#[test]
fn what_has_come_in_time_is_read_although_its_thread_looks_late() {
    let _alone = alone();
    none_times_out("CurrentThread", || CurrentThread::new().run(timed_out(1)).unwrap());
    none_times_out("AffinityPool", || {
        let pool = AffinityPool::builder().workers(1).pinned(false).build();
        block_on(pool.spawn(timed_out(1))).unwrap()
    });
    for (workers, polls) in [(1, 1), (2, 1), (2, 2)] {
        none_times_out("Pool", || {
            let pool = Pool::builder().workers(workers).polls(polls).build();
            block_on(pool.spawn(timed_out(workers))).unwrap()
        });
    }
    none_times_out("TokioScheduler", || {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let fibers = TokioScheduler::new(runtime.handle());
        runtime.block_on(fibers.spawn(timed_out(1)).into_future()).unwrap()
    });
}
