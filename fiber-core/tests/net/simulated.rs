//! Behaviour that only the simulated network has.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use fiber_core::net::{TcpListener, TcpStream};
use fiber_core::{Fiber, Run, fiber};
use fiber_test::{Explore, TestScheduler, network};

use crate::worlds::{Tried, connected};

const AT: ([u8; 4], u16) = ([10, 0, 0, 1], 80);

fn at() -> SocketAddr {
    AT.into()
}

#[test]
fn a_deadlock_names_the_sockets() {
    let both_read = fiber! {
        let! listener = TcpListener::bind(AT);
        let! client = TcpStream::connect(AT) and! (server, _) = listener.accept();
        let reads = |stream: TcpStream, name| stream.read([0; 8]).map(drop).named(name);
        let! () = reads(client, "client") and! () = reads(server, "server");
    };
    let report = TestScheduler::new().try_run(both_read).unwrap_err().to_string();
    assert!(report.contains("waits for data from TcpStream `127.0.0.1:49152 -> 10.0.0.1:80`"), "{report}");
    assert!(report.contains("waits for data from TcpStream `10.0.0.1:80 -> 127.0.0.1:49152`"), "{report}");
    let accepts = TcpListener::bind(AT).bind(|listener| listener.accept());
    let report = TestScheduler::new().try_run(accepts).unwrap_err().to_string();
    assert!(report.contains("waits for a connection of TcpListener `10.0.0.1:80`"), "{report}");
}

/// The operators that a failure has passed, all of this file.
fn passed<T: Send + 'static, R: Run<Out = T>>(fiber: Fiber<T, R>) -> Vec<&'static str> {
    let error = TestScheduler::new().run(fiber).failure().unwrap();
    assert!(error.trace().iter().all(|frame| frame.location().file() == file!()), "{error:#}");
    error.trace().iter().map(|frame| frame.operator()).collect()
}

#[test]
fn a_failure_passes_the_operation_of_the_socket() {
    assert_eq!(passed(TcpStream::connect(AT)), ["connect"]);
    let twice = TcpListener::bind(AT).bind(|first| TcpListener::bind(AT).map(move |_| drop(first)));
    assert_eq!(passed(twice), ["bind", "map"]);
    let ended = |read: fn(TcpStream) -> Fiber<()>| {
        connected().bind(move |(client, server)| {
            drop(server);
            read(client)
        })
    };
    assert_eq!(passed(ended(|client| client.read_exact([0; 1]).map(drop).boxed())), ["read_exact", "map"]);
    let buffered = |client: TcpStream| client.buffered().read_exact(1).map(drop).boxed();
    assert_eq!(passed(ended(buffered)), ["read_exact", "map"]);
    let waits = connected().bind(|(client, server)| {
        let ends = Fiber::delay(Duration::from_secs(1)).map(move |()| drop(server));
        client.read_exact([0; 1]).zip(ends)
    });
    assert_eq!(passed(waits), ["read_exact", "zip"]);
}

#[test]
fn a_full_connection_is_named_too() {
    fn writes(client: TcpStream) -> Fiber<()> {
        client.write_all("too much").map(drop).boxed()
    }
    fn waits_for_room(client: TcpStream) -> Fiber<()> {
        // A write that waits is the first to notice.
        writes(client.clone())
            .timeout_option(Duration::from_millis(1))
            .bind(move |_| client.writable())
            .boxed()
    }
    for wait in [writes, waits_for_room] {
        let test = TestScheduler::new();
        test.network().set_capacity(4);
        let waits = connected().bind(move |(client, server)| wait(client).map(move |()| drop(server)));
        let report = test.try_run(waits).unwrap_err().to_string();
        assert!(report.contains("waits for room for data in TcpStream `127.0.0.1:"), "{report}");
    }
}

#[test]
fn packets_take_their_time() {
    let test = TestScheduler::new();
    test.network().set_latency(Duration::from_millis(10));
    let ping = fiber! {
        let! (client, server) = connected();
        do! client.write_all("x");
        do! server.read([0]).map(drop);
    };
    let (outcome, time) = test.run_timed(ping);
    outcome.unwrap();
    assert_eq!(time, Duration::from_millis(30), "there and back, and there");
}

#[test]
fn some_schedule_reads_less_than_was_written() {
    let whole = || {
        fiber! {
            let! (client, server) = connected();
            let! _ = client.write_all("whole") and! (n, _) = server.read([0; 16]);
            assert_eq!(n, 5, "short");
        }
    };
    TestScheduler::new().run(whole()).unwrap();
    let failure = Explore::default().no_regressions().try_check(whole).unwrap_err();
    assert!(failure.to_string().contains("short"), "{failure}");
    let schedule = failure.schedule().to_string();
    assert!(!schedule.is_empty());
    Explore::replay(&schedule).no_regressions().try_check(whole).unwrap_err();
}

#[test]
fn a_write_is_short_when_there_is_little_room() {
    let test = TestScheduler::new();
    test.network().set_capacity(3);
    let writes = connected().bind(|(client, server)| client.write("abcde").map(move |(n, _)| (n, server).0));
    assert_eq!(test.run(writes).unwrap(), 3);
}

#[test]
fn a_reset_fails_both_ends() {
    let program = fiber! {
        let! network = network();
        let! listener = TcpListener::bind(AT);
        let! client = TcpStream::connect(AT) and! (server, _) = listener.accept();
        do! client.write_all("lost");
        network.reset(at());
        let! read = server.read([0; 8]).map(drop).tried();
        let! write = client.write("x").map(drop).tried();
        (read, write)
    };
    let (read, write) = TestScheduler::new().run(program).unwrap();
    for failed in [read, write] {
        let error = failed.unwrap_err();
        assert_eq!(error.downcast_ref::<io::Error>().unwrap().kind(), io::ErrorKind::ConnectionReset);
    }
}

#[test]
fn a_reset_wakes_those_who_wait() {
    let program = fiber! {
        let! network = network();
        let! listener = TcpListener::bind(AT);
        let! client = TcpStream::connect(AT) and! (_server, _) = listener.accept();
        let breaks = Fiber::delay(Duration::from_secs(1)).map(move |()| network.reset(at()));
        let! read = client.read([0; 8]).map(drop).tried() and! () = breaks;
        read
    };
    assert!(TestScheduler::new().run(program).unwrap().is_err());
}

#[test]
fn what_is_cut_arrives_when_it_is_healed() {
    let program = fiber! {
        let! network = network();
        let! listener = TcpListener::bind(AT);
        let! client = TcpStream::connect(AT) and! (server, _) = listener.accept();
        network.cut(at());
        do! client.write_all("late");
        let! early = server.read([0; 8]).timeout_option(Duration::from_secs(60));
        assert!(early.is_none());
        let! nobody = TcpStream::connect(AT).timeout_option(Duration::from_secs(60));
        assert!(nobody.is_none(), "no answer comes");
        network.heal(at());
        let! read = server.buffered().read_exact(4);
        read
    };
    let test = TestScheduler::new();
    assert_eq!(test.run(program).unwrap(), b"late");
    test.assert_no_leaks();
}

#[test]
fn a_host_has_the_name_that_the_test_gives() {
    let test = TestScheduler::new();
    test.network().set_host("db", [10, 0, 0, 9].into());
    let address = test.run(fiber_core::net::resolve("db", 5432)).unwrap();
    assert_eq!(address, ["10.0.0.9:5432".parse().unwrap()]);
    let unknown = test.run(fiber_core::net::resolve("dc", 5432)).failure().unwrap().to_string();
    assert!(unknown.starts_with("resolving dc: failed to lookup address information: "), "{unknown}");
}

#[test]
fn the_same_seed_gives_the_same_network() {
    let run = |seed| {
        let test = TestScheduler::with_seed(seed);
        test.network().set_jitter(Duration::from_millis(100));
        let (outcome, time) = test.run_timed(fiber! {
            let! (client, server) = connected();
            for _ in 0..10 {
                let! _ = client.write_all("ping") and! () = server.read([0; 4]).map(drop);
            }
        });
        outcome.unwrap();
        time
    };
    assert_eq!(run(3), run(3));
    assert!((0..5).any(|seed| run(seed) != run(9)));
}

#[test]
fn a_program_that_is_cancelled_anywhere_closes_its_sockets() {
    fiber_test::assert_cancel_safe(|| {
        fiber! {
            let! (client, server) = connected();
            let! _ = client.write_all("question") and! () = server.buffered().read_exact(8).map(drop);
        }
    });
}
