//! Hosts: where fibers run, and the effects of a crash.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use fiber_core::net::{TcpListener, TcpStream, resolve};
use fiber_core::{Either, Fiber, fiber};
use fiber_test::{TestScheduler, network};

use super::support::{HERE, PORT, Tried, asks, connected, echoes, hosts, kind, millis, secs};

/// Runs it, and checks that nothing is left.
#[track_caller]
fn run<T: Send + 'static>(program: Fiber<T>) -> T {
    let test = TestScheduler::new();
    let value = test.run(program).unwrap();
    test.assert_no_leaks();
    value
}

#[test]
fn every_host_has_an_address_of_its_own_from_which_it_connects() {
    let (client, server) = run(fiber! {
        let! [a, b] = hosts(["a", "b"]);
        let! (client, server) = connected(&a, &b);
        assert_eq!(client.local_addr()?.ip(), a.address());
        assert_eq!(server.peer_addr()?.ip(), a.address());
        assert_eq!(client.peer_addr()?, b.at(PORT));
        (a.address(), b.address())
    });
    assert_ne!(client, server);
}

#[test]
fn two_hosts_listen_at_the_same_port() {
    let answers = run(fiber! {
        let! [a, b] = hosts(["a", "b"]);
        let greets = |name: &'static str| move || TcpListener::bind(HERE).bind(move |listener| {
            listener.serve(1, move |stream, _| stream.write_all(name).map(drop).boxed())
        });
        let (at_a, at_b) = (a.at(PORT), b.at(PORT));
        let asks = |at| TcpStream::connect(at).bind(|stream: TcpStream| stream.buffered().rest());
        let both = asks(at_a).zip(asks(at_b));
        let! first = a.run(greets("I am a")).zip(b.run(greets("I am b"))).race(both);
        let Either::Right(answers) = first else { unreachable!("they serve without end") };
        answers
    });
    assert_eq!(answers, (b"I am a".to_vec(), b"I am b".to_vec()));
}

#[test]
fn what_a_fiber_of_a_host_makes_runs_there_too() {
    run(fiber! {
        let! [a] = hosts(["a"]);
        let own = a.address();
        let program = a.run(move || fiber! {
            let! listener = TcpListener::bind(HERE);
            let! child = listener.accept().fork();
            let at = listener.local_addr()?;
            // The host's own address and the loopback are the same host.
            let! stream = TcpStream::connect((own, at.port()));
            assert_eq!(stream.local_addr()?.ip(), own);
            let! (_, from) = child.join();
            assert_eq!(from, stream.local_addr()?);
            let! again = TcpStream::connect(([127, 0, 0, 1], at.port())) and! _ = listener.accept();
            assert!(again.local_addr()?.ip().is_loopback());
        });
        do! program;
    });
}

#[test]
fn a_host_listens_at_no_address_of_another_one() {
    run(fiber! {
        let! [a, b] = hosts(["a", "b"]);
        let foreign = b.at(PORT);
        let! bound = a.run(move || TcpListener::bind(foreign).map(drop).tried());
        assert_eq!(kind(&bound), Some(ErrorKind::AddrNotAvailable));
        // The loopback of one host is not that of another one.
        let! served = a.run(|| TcpListener::bind(([127, 0, 0, 1], PORT)));
        let! refused = b.run(|| TcpStream::connect(([127, 0, 0, 1], PORT)).map(drop).tried());
        assert_eq!(kind(&refused), Some(ErrorKind::ConnectionRefused));
        drop(served);
    });
}

#[test]
fn a_host_is_found_by_its_name() {
    run(fiber! {
        let! [a] = hosts(["a"]);
        let! found = resolve("a", PORT);
        assert_eq!(found, [a.at(PORT)]);
    });
}

#[test]
#[should_panic(expected = "no host can be called \"a+b\"")]
fn a_name_that_schedules_cannot_spell_is_none() {
    TestScheduler::new().network().host("a+b");
}

#[test]
#[should_panic(expected = "localhost cannot crash")]
fn the_host_of_the_test_does_not_crash() {
    TestScheduler::new().network().host("localhost").crash();
}

#[test]
fn a_crash_cancels_the_fibers_of_the_host_and_no_others() {
    let ended = Arc::new(AtomicU32::new(0));
    let ends = ended.clone();
    run(fiber! {
        let! [a, b] = hosts(["a", "b"]);
        let waits = move |mark: u32| {
            let ends = ends.clone();
            let waits = Fiber::delay(secs(10));
            move || waits.clone().on_cancel(Fiber::lazy({ let ends = ends.clone(); move || _ = ends.fetch_add(mark, SeqCst) }))
        };
        // A child that is not awaited is also a fiber of its host.
        let on_a = { let (own, detached) = (waits(1), waits(10)); a.run(move || {
            let own = own();
            detached().detach().bind(move |_| own)
        }) };
        let on_b = b.run(waits(100));
        let on_none = waits(1_000)();
        let breaks = Fiber::delay(secs(1)).map(move |()| { a.crash(); assert!(!a.is_up()) });
        do! on_a.race(on_b.zip(on_none).zip(breaks));
    });
    assert_eq!(ended.load(SeqCst), 11, "both of a; b and the others had their time");
}

#[test]
fn a_crash_resets_connections_and_the_other_end_learns_of_it_after_the_latency() {
    let test = TestScheduler::new();
    test.network().set_latency(millis(30));
    let (outcome, elapsed) = test.run_timed(fiber! {
        let! [a, b] = hosts(["a", "b"]);
        let! (client, server) = connected(&a, &b);
        let! began = Fiber::now();
        b.crash();
        let! own = server.read([0; 8]).map(drop).tried();
        assert_eq!(kind(&own), Some(ErrorKind::ConnectionReset));
        let! wrote = client.write("not known yet").map(drop).tried();
        assert!(wrote.is_ok());
        let! read = client.read([0; 8]).map(drop).tried();
        assert_eq!(kind(&read), Some(ErrorKind::ConnectionReset));
        let! ended = Fiber::now();
        assert_eq!(ended - began, millis(30));
        let! refused = TcpStream::connect(b.at(PORT)).map(drop).tried();
        assert_eq!(kind(&refused), Some(ErrorKind::ConnectionRefused));
    });
    outcome.unwrap();
    assert_eq!(elapsed, millis(60 + 30 + 60));
    test.assert_no_leaks();
    assert_eq!(test.network().connections(), 0);
}

#[test]
fn what_arrived_before_a_crash_of_its_sender_is_read_before_the_reset() {
    run(fiber! {
        let! [a, b] = hosts(["a", "b"]);
        let! (client, server) = connected(&a, &b);
        do! server.write_all("first");
        let! first = client.buffered().read_exact(5);
        assert_eq!(first, b"first");
        do! server.write_all("second");
        do! Fiber::delay(millis(1));
        b.crash();
        do! Fiber::delay(millis(1));
        let! second = client.read_exact([0; 6]);
        assert_eq!(&second, b"second", "as on a real network");
        let! reset = client.read([0; 8]).map(drop).tried();
        assert_eq!(kind(&reset), Some(ErrorKind::ConnectionReset));
    });
}

#[test]
fn a_host_that_is_down_has_no_network() {
    run(fiber! {
        let! [a, b] = hosts(["a", "b"]);
        let at = b.at(PORT);
        let tried = fiber_core::sync::Promise::new();
        let last = tried.clone();
        let tells = a.run(move || {
            let last = last.clone();
            let farewell = TcpStream::connect(at).map(drop).tried().map(move |said| _ = last.success(kind(&said)));
            Fiber::<()>::never().on_cancel(farewell)
        });
        let breaks = Fiber::delay(secs(1)).map(move |()| a.crash()).bind(move |()| tried.wait());
        let! first = tells.race(breaks);
        assert!(matches!(first, Either::Right(Some(ErrorKind::NetworkDown))), "{first:?}");
    });
}

#[test]
fn a_restarted_host_serves_again() {
    run(fiber! {
        let! [server] = hosts(["server"]);
        let at = server.at(PORT);
        let serves = server.run(echoes);
        let clients = fiber! {
            let! answer = asks(at, "one");
            assert_eq!(answer.as_deref(), Some("one"));
            server.crash();
            // A second crash changes nothing.
            server.crash();
            let! refused = asks(at, "two").tried();
            assert_eq!(kind(&refused), Some(ErrorKind::ConnectionRefused));
            server.restart();
            do! Fiber::delay(millis(1));
            let! answer = asks(at, "three");
            assert_eq!(answer.as_deref(), Some("three"));
        };
        let! first = serves.race(clients);
        assert!(matches!(first, Either::Right(())));
    });
}

#[test]
fn a_program_of_a_host_that_is_down_begins_when_it_is_up() {
    let test = TestScheduler::new();
    let host = test.network().host("a");
    host.crash();
    let starts = Fiber::delay(secs(5)).map({
        let host = host.clone();
        move |()| host.restart()
    });
    let (outcome, elapsed) = test.run_timed(host.run(|| Fiber::delay(secs(1))).zip(starts));
    outcome.unwrap();
    assert_eq!(elapsed, secs(6));
}

#[test]
fn a_value_before_the_crash_is_the_value_and_a_failure_of_its_own_is_the_failure() {
    run(fiber! {
        let! [a] = hosts(["a"]);
        let! value = a.run(|| Fiber::success(7));
        a.crash();
        assert_eq!(value, 7);
        a.restart();
        let! failed = a.run(|| Fiber::<()>::fail(fiber_core::Error::msg("its own"))).tried();
        assert_eq!(failed.unwrap_err().to_string(), "its own");
    });
}

#[test]
fn a_crash_between_the_start_and_the_first_turn_starts_anew() {
    for seed in 0..50 {
        let test = TestScheduler::with_seed(seed);
        let host = test.network().host("a");
        let starts = Arc::new(AtomicU32::new(0));
        let counts = starts.clone();
        let program = host.run(move || {
            counts.fetch_add(1, SeqCst);
            Fiber::delay(millis(1))
        });
        let breaks = Fiber::yield_now().bind(move |()| {
            host.crash();
            Fiber::yield_now().map(move |()| host.restart())
        });
        test.run(program.zip(breaks)).unwrap();
        assert!((1..=2).contains(&starts.load(SeqCst)), "seed {seed}");
        test.assert_no_leaks();
    }
}

#[test]
fn whoever_runs_a_program_on_a_host_may_be_cancelled() {
    fiber_test::assert_cancel_safe(|| {
        fiber! {
            let! [a, b] = hosts(["a", "b"]);
            let! (client, server) = connected(&a, &b);
            let! _ = client.write_all("question") and! () = server.buffered().read_exact(8).map(drop);
        }
    });
}

#[test]
fn a_deadlock_names_the_hosts() {
    let program = fiber! {
        let! network = network();
        let [a, b] = ["a", "b"].map(|name| network.host(name));
        let at = b.at(PORT);
        network.partition(["a"], ["b"]);
        network.host("c").crash();
        let! _ = a.run(move || TcpStream::connect(at).map(drop)) and! () = b.run(echoes);
    };
    let report = TestScheduler::new().try_run(program).unwrap_err().to_string();
    assert!(report.contains("hosts: a at 10.0.0.1, b at 10.0.0.2, c at 10.0.0.3 (down)"), "{report}");
    assert!(report.contains("nothing passes between a and b"), "{report}");
    // The program has the name of its host, and the place where it was given to it.
    assert!(report.contains(&format!("\"a\" (forked at {}:", file!())), "{report}");
}

#[test]
fn a_trace_tells_of_faults() {
    let test = TestScheduler::new().record();
    test.run(fiber! {
        let! [a] = hosts(["a"]);
        a.crash();
        a.restart();
    })
    .unwrap();
    let trace = test.trace().to_string();
    assert!(trace.contains("crashes host a"), "{trace}");
    assert!(trace.contains("restarts host a"), "{trace}");
}

#[test]
fn a_report_names_the_place_where_the_program_was_given_to_the_host() {
    for is_up in [true, false] {
        let test = TestScheduler::new();
        let host = test.network().host("a");
        let (program, line) = (host.run(Fiber::<()>::never), line!());
        if !is_up {
            host.crash();
        }
        let report = test.try_run(program).unwrap_err().to_string();
        let waits = report.lines().find(|line| line.contains("  fiber 0 ")).unwrap();
        assert!(waits.ends_with(&format!(", at {}:{line}", file!())), "{report}");
    }
}

#[test]
fn a_failure_on_a_host_has_passed_places_of_the_program_only() {
    let test = TestScheduler::new();
    let program = test.network().host("a").run(|| Fiber::<()>::fail("on purpose"));
    let error = test.run(program).failure().unwrap();
    assert!(error.trace().iter().all(|frame| frame.location().file() == file!()), "{error:#}");
}
