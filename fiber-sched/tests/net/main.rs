//! The network of the operating system under the schedulers. Its view by programs is tested in fiber-core/tests/net.

#[cfg(target_os = "linux")]
mod early;
mod exhausted;
mod idle;
mod late;
#[path = "../../../fiber-test/tests/live_bytes/mod.rs"]
mod live_bytes;
mod on_tokio;
mod slow;
mod thousands;

use std::io::{Read, Write};
use std::net;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use fiber_core::net::{TcpListener, TcpStream, copy};
use fiber_core::{Either, Fiber, fiber};
use fiber_sched::{AffinityPool, CurrentThread, Pool, Settings, Shutdown, block_on};

/// Fails a test that would hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// One test at a time, because descriptors belong to the process.
fn alone() -> MutexGuard<'static, ()> {
    static TEST: Mutex<()> = Mutex::new(());
    TEST.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The number of descriptors of the process. 0 if it cannot be determined.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// Waits until it is true.
#[track_caller]
fn eventually(what: &str, is_true: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_true() {
        assert!(Instant::now() < end, "{what}");
        thread::yield_now();
    }
}

fn pool(workers: usize) -> Pool {
    Pool::builder().workers(workers).settings(Settings::new().on_unobserved(|_| ())).build()
}

/// Two ends of a connection.
fn connected() -> Fiber<(TcpStream, TcpStream)> {
    fiber! {
        let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
        let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
        (client, server)
    }
}

/// Sends one byte to and fro until it may end.
fn rally(stream: TcpStream, count: Arc<AtomicUsize>, begins: bool) -> Fiber<()> {
    fiber! {
        if begins { do! stream.write_all([0]); }
        loop {
            let! (n, ball) = stream.read([0]);
            if n == 0 { break }
            count.fetch_add(1, SeqCst);
            do! stream.write_all(ball);
        }
    }
}

/// Some connections with a rally at each.
fn rallies(count: &Arc<AtomicUsize>) -> impl Iterator<Item = Fiber<()>> {
    (0..4).map(|_| {
        let count = count.clone();
        let both = connected().bind(move |(client, server)| {
            rally(client, count.clone(), true).zip(rally(server, count, false))
        });
        both.map(drop).boxed()
    })
}

#[test]
fn a_computation_delays_no_other_connection_of_a_quiet_pool() {
    let _alone = alone();
    for workers in [1, 2, 4] {
        let (report, reports) = mpsc::channel();
        let settings = Settings::new().on_stuck(move |stuck| _ = report.send(*stuck));
        let pool = Pool::builder().workers(workers).settings(settings).build();
        let listener = pool.run(TcpListener::bind(([127, 0, 0, 1], 0))).unwrap();
        let connected = || {
            let client = net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            client.set_read_timeout(Some(PATIENCE)).unwrap();
            (client, pool.run(listener.accept()).unwrap().0)
        };
        let ((mut begins, computing), (mut client, other)) = (connected(), connected());
        let ((begun, has_begun), (release, released)) = (mpsc::channel(), mpsc::channel());
        let computes = pool.spawn(computing.read([0]).map(move |_| {
            begun.send(()).unwrap();
            released.recv_timeout(PATIENCE).is_ok()
        }));
        drop(pool.spawn(other.read([0]).bind(move |(_, byte)| other.write_all(byte))));
        // The workers sleep for good.
        thread::sleep(Duration::from_millis(100));
        begins.write_all(&[0]).unwrap();
        has_begun.recv_timeout(PATIENCE).unwrap();
        client.write_all(&[7]).unwrap();
        client.read_exact(&mut [0]).unwrap();
        release.send(()).unwrap();
        assert!(block_on(computes).unwrap());
        // The place of the only worker was given to another thread.
        assert!(workers > 1 || reports.recv_timeout(PATIENCE).is_ok());
    }
}

#[test]
fn a_pool_without_sockets_opens_no_poll() {
    let _alone = alone();
    let before = descriptors();
    let pool = pool(2);
    pool.run(Fiber::delay(Duration::from_millis(2))).unwrap();
    block_on(pool.spawn(Fiber::lazy(|| 1).zip(Fiber::yield_now()))).unwrap();
    assert_eq!(descriptors(), before);
}

#[test]
fn all_descriptors_are_closed_with_the_pool() {
    let _alone = alone();
    let before = descriptors();
    for polls in [1, 2] {
        let pool = Pool::builder().workers(2).polls(polls).build();
        let open = pool.run(connected()).unwrap();
        assert!(before == 0 || descriptors() > before);
        drop(open);
        drop(pool);
        eventually("the descriptors are closed", || descriptors() == before);
    }
    let pool = AffinityPool::builder().workers(2).pinned(false).build();
    pool.run(connected()).unwrap();
    drop(pool);
    let here = CurrentThread::new();
    here.run(connected()).unwrap();
    drop(here);
    eventually("the descriptors are closed", || descriptors() == before);
}

#[test]
fn a_shutdown_abandons_those_who_wait_at_sockets_and_closes_them() {
    let _alone = alone();
    let before = descriptors();
    let pool = pool(2);
    let stuck = pool.spawn(fiber! {
        let! (_client, server) = connected();
        do! server.read([0; 8]).map(drop).uncancelable();
    });
    eventually("it waits", || pool.dump().to_string().contains("data from a socket"));
    let unfinished = pool.shutdown(Shutdown::within(Duration::from_millis(10))).unwrap_err();
    assert!(unfinished.to_string().contains("waits for data from a socket"), "{unfinished}");
    assert!(!block_on(stuck).is_success());
    eventually("the descriptors are closed", || descriptors() == before);
}

#[test]
fn a_dump_names_the_sockets_at_which_fibers_wait() {
    let _alone = alone();
    for polls in [1, 2] {
        let pool = Pool::builder().workers(2).polls(polls).build();
        let listener = pool.run(TcpListener::bind(([127, 0, 0, 1], 0))).unwrap();
        let at = listener.local_addr().unwrap();
        let ((client, server), from) = {
            let both = TcpStream::connect(at).zip(listener.accept());
            let (client, (server, from)) = pool.run(both).unwrap();
            ((client, server), from)
        };
        let waits = [
            pool.spawn(client.read([0; 8]).map(drop).named("client")),
            pool.spawn(server.read([0; 8]).map(drop).timeout(PATIENCE).named("server")),
            pool.spawn(listener.accept().map(drop).named("listener")),
        ];
        let lines = [
            format!("waits for data from a socket, the TcpStream to {at} (wait 1)"),
            format!("waits for data from a socket, the TcpStream from {from} (wait 1)"),
            format!("the TcpListener at {at} (wait 1)"),
        ];
        eventually("all of them wait", || {
            let dump = pool.dump().to_string();
            lines.iter().all(|line| dump.contains(line))
        });
        let dump = pool.dump();
        let client = dump.fibers().find(|fiber| fiber.name() == Some("client")).unwrap();
        assert_eq!(client.socket(), Some(&*format!("TcpStream to {at}")));
        waits.iter().for_each(|wait| wait.cancel_now());
        eventually("no fiber waits any more", || !pool.dump().to_string().contains("Tcp"));
    }
}

#[test]
fn sockets_that_outlive_their_pool_fail() {
    let _alone = alone();
    let first = pool(1);
    let (client, server) = first.run(connected()).unwrap();
    drop(first);
    let second = pool(1);
    assert!(second.run(client.read([0; 8]).map(drop)).is_failure());
    assert!(second.run(server.write_all("x").map(drop)).is_failure());
}

#[test]
fn who_waits_at_a_socket_is_woken_by_tasks_and_timers_too() {
    let _alone = alone();
    for workers in [1, 2] {
        let pool = pool(workers);
        let (client, server) = pool.run(connected()).unwrap();
        let waits = pool.spawn(server.read([0; 8]).map(drop));
        for _ in 0..100 {
            // From outside, and by a timer, while the poll has no events.
            block_on(pool.spawn(Fiber::delay(Duration::from_micros(300)))).unwrap();
            block_on(pool.spawn(Fiber::success(()))).unwrap();
        }
        pool.run(client.write_all("x").map(drop)).unwrap();
        block_on(waits).unwrap();
    }
}

/// The system gives this to listeners, unless it is told otherwise.
fn longest_queue() -> usize {
    let limit = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap_or_default();
    limit.trim().parse().unwrap_or(128)
}

/// Whoever does not fit into the queue is not connected until there is room.
#[test]
fn the_queue_of_a_listener_is_as_long_as_the_system_allows() {
    let _alone = alone();
    let clients = longest_queue().min(400);
    let program = fiber! {
        let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
        let at = listener.local_addr()?;
        // Nobody accepts.
        let! streams = Fiber::parallel((0..clients).map(move |_| TcpStream::connect(at))).timeout(PATIENCE / 6);
        streams.len()
    };
    assert_eq!(CurrentThread::new().run(program).unwrap(), clients);
}

#[test]
fn a_first_socket_finds_workers_that_sleep_elsewhere() {
    let _alone = alone();
    for round in 0..20 {
        let pool = Pool::builder().workers(1 + round % 3).polls(1 + round % 2).build();
        // Often, all of them have fallen asleep by now.
        thread::sleep(Duration::from_millis(round as u64));
        // It starts on this thread.
        let (client, server) = pool.run(connected()).unwrap();
        pool.run(client.write_all("x").zip(server.read([0]))).unwrap();
    }
}

/// A fiber computes until others have got answers, which requires that another thread serves their sockets.
#[test]
fn a_busy_worker_does_not_keep_sockets_from_the_others() {
    let _alone = alone();
    for (workers, polls) in [(1, 1), (2, 1), (2, 2), (3, 2)] {
        let pool = Pool::builder().workers(workers).polls(polls).build();
        let count = Arc::new(AtomicUsize::new(0));
        let seen = count.clone();
        let rallies: Vec<_> = rallies(&count).map(|rally| pool.spawn(rally)).collect();
        eventually("they play", || count.load(SeqCst) > 100);
        let computes = pool.spawn(Fiber::lazy(move || {
            let before = seen.load(SeqCst);
            eventually("they go on", || seen.load(SeqCst) > before + 1000);
        }));
        assert!(block_on(computes).is_success(), "{workers} workers, {polls} polls");
        rallies.iter().for_each(|rally| rally.cancel_now());
    }
}

/// As many polls as workers, so that each worker serves one alone.
#[test]
fn sockets_of_every_poll_wake_a_pool_that_fell_asleep_in_any_order() {
    let _alone = alone();
    for round in 0..150 {
        let pool = Pool::builder().workers(2).polls(2).build();
        let listener = pool.run(TcpListener::bind(([127, 0, 0, 1], 0))).unwrap();
        let clients: Vec<_> = (0..8)
            .map(|_| {
                let client = net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
                client.set_read_timeout(Some(PATIENCE)).unwrap();
                // The worker that accepts it makes the socket, in its own poll.
                let accept = listener.accept();
                let echo = accept.bind(|(socket, _)| copy(socket.clone(), socket)).map(drop);
                drop(pool.spawn(echo));
                client
            })
            .collect();
        for (n, mut client) in clients.iter().enumerate() {
            client.write_all(&[7]).unwrap();
            client.read_exact(&mut [0]).unwrap();
            // Workers fall asleep beside one that computes.
            let time = Duration::from_micros(50 * ((round + n) % 8) as u64);
            block_on(pool.spawn(Fiber::lazy(move || {
                let begin = Instant::now();
                while begin.elapsed() < time {}
            })))
            .unwrap();
        }
        clients.iter().for_each(|mut client| {
            client.write_all(&[7]).unwrap();
            client.read_exact(&mut [0]).unwrap();
        });
    }
}

/// The worker that made a socket computes, so no thread sleeps in the poll of that socket.
#[test]
fn a_socket_whose_worker_computes_is_looked_after_by_others() {
    let _alone = alone();
    for _ in 0..10 {
        let pool = Pool::builder().workers(3).polls(3).build();
        let count = Arc::new(AtomicUsize::new(0));
        let computes = fiber! {
            let! (client, server) = connected();
            let seen = count.clone();
            let plays = rally(client, count.clone(), true).zip(rally(server, count, false));
            let! rally = plays.map(drop).fork();
            // In one turn.
            do! Fiber::lazy(move || eventually("they play", || seen.load(SeqCst) > 100));
            rally.cancel_now();
        };
        block_on(pool.spawn(computes)).unwrap();
    }
}

#[test]
fn a_pool_with_idle_connections_sleeps() {
    let _alone = alone();
    let pool = pool(2);
    let open = pool.run(Fiber::parallel((0..10).map(|_| connected()))).unwrap();
    let waits: Vec<_> = open.iter().map(|(_, server)| pool.spawn(server.read([0; 8]).map(drop))).collect();
    let wake_ups = || pool.metrics().total(|worker| worker.wake_ups);
    let pause = Duration::from_millis(120);
    let mut before = wake_ups();
    let end = Instant::now() + PATIENCE;
    loop {
        thread::sleep(pause);
        let after = wake_ups();
        if after == before {
            break;
        }
        assert!(Instant::now() < end, "the workers wake again and again");
        before = after;
    }
    drop(waits);
}

/// Connections come and go, stall and are reset, while their fibers are cancelled.
#[test]
fn nothing_is_left_of_a_storm() {
    let _alone = alone();
    let before = descriptors();
    for (workers, polls) in [(1, 1), (2, 1), (2, 2)] {
        let pool = Pool::builder()
            .workers(workers)
            .polls(polls)
            .settings(Settings::new().on_unobserved(|_| ()))
            .build();
        let storm = fiber! {
            let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
            let at = listener.local_addr()?;
            let clients = Fiber::parallel((0..300u64).map(move |n| client(at, n))).limit(40);
            let serves = listener.serve(25, |stream, _| copy(stream.clone(), stream).map(drop).boxed());
            let! first = serves.race(clients);
            let Either::Right(answered) = first else { panic!("the server has ended") };
            answered.into_iter().filter(|is_answered| *is_answered).count()
        };
        assert_eq!(pool.run(storm).unwrap(), 100, "who stays is answered");
        drop(pool);
        eventually("the descriptors are closed", || descriptors() == before);
    }
}

/// A third of them asks and waits for the answer; the others disconnect half-way, or are cancelled.
fn client(at: std::net::SocketAddr, n: u64) -> Fiber<bool> {
    let asks = fiber! {
        let! stream = TcpStream::connect(at);
        let question = vec![n as u8; 1 + 977 * n as usize % 70_000];
        let length = question.len();
        let writes = stream.write_all(question);
        let! _ = writes and! answer = stream.buffered().read_exact(length);
        answer.len() == length
    };
    let leaves = fiber! {
        let! stream = TcpStream::connect(at);
        do! stream.write_all(vec![1; 1000]);
        if n.is_multiple_of(2) { stream.set_linger(Some(Duration::ZERO))?; }
        false
    };
    match n % 3 {
        0 => asks,
        1 => leaves,
        _ => asks.timeout_option(Duration::from_micros(50 * (n % 20))).map(|_| false).boxed(),
    }
}

#[test]
fn fibers_of_one_pool_use_sockets_of_another_one() {
    let _alone = alone();
    let (one, other) = (pool(1), pool(2));
    let (client, server) = one.run(connected()).unwrap();
    let reads = other.spawn(server.buffered().read_exact(3));
    let writes = one.spawn(client.write_all("abc"));
    assert_eq!(block_on(reads).unwrap(), b"abc");
    block_on(writes).unwrap();
}

#[test]
fn a_spinning_fiber_beside_a_socket_yields_to_it() {
    let _alone = alone();
    let here = CurrentThread::new();
    let done = Arc::new(AtomicBool::new(false));
    let seen = done.clone();
    let spins = Fiber::iterate((), move |()| {
        let is_over = seen.load(SeqCst);
        Fiber::yield_now()
            .map(move |()| if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    let talks = connected().bind(move |(client, server)| {
        let sends = Fiber::delay(Duration::from_millis(1)).bind(move |()| client.write_all("x"));
        sends.zip(server.read([0])).map(move |_| done.store(true, SeqCst))
    });
    here.run(spins.zip(talks)).unwrap();
}

/// On Linux, the close of a socket with such a setting blocks, although the socket is non-blocking.
#[test]
fn no_close_waits_for_what_was_not_sent() {
    let _alone = alone();
    let program = fiber! {
        let! (client, server) = connected();
        // Until the server has to read.
        let mut takes = true;
        while takes {
            let! written = client.write_all(vec![0; 1 << 20]).timeout_option(Duration::from_millis(20));
            takes = written.is_some();
        }
        client.set_linger(Some(Duration::from_secs(30)))?;
        let begin = Instant::now();
        drop(client);
        assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
        // It is sent nevertheless.
        do! server.read_exact(vec![0; 1 << 20]);
    };
    CurrentThread::new().run(program).unwrap();
}
