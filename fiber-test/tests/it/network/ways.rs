//! The ways between hosts.

use std::io::ErrorKind;
use std::net::SocketAddr;

use fiber_core::net::{TcpListener, TcpStream};
use fiber_core::{Fiber, fiber};
use fiber_test::{TestScheduler, network};

use super::support::{PORT, Tried, connected, hosts, kind, millis, secs};

#[test]
fn every_way_has_a_latency_of_its_own() {
    let test = TestScheduler::new();
    let network = test.network();
    network.set_latency(millis(10));
    network.between("a", "b").set_latency(millis(100));
    let names = ["a", "b", "c"].map(|name| network.host(name));
    let [a, b, c] = names;
    let (_, elapsed) = test.run_timed(connected(&a, &b));
    assert_eq!(elapsed, millis(200));
    let (_, elapsed) = test.run_timed(connected(&a, &c));
    assert_eq!(elapsed, millis(20));
    let (_, elapsed) = test.run_timed(connected(&c, &c.clone()));
    assert_eq!(elapsed, millis(0), "no packet leaves the host");
}

#[test]
fn connections_share_the_bandwidth_of_a_way_and_directions_do_not() {
    let test = TestScheduler::new();
    let network = test.network();
    network.between("a", "b").set_bandwidth(1_000);
    let [a, b] = ["a", "b"].map(|name| network.host(name));
    let (outcome, elapsed) = test.run_timed(fiber! {
        let! (one, sink) = connected(&a, &b);
        let! (two, other) = connected(&a, &b);
        let sends = |stream: TcpStream, n| stream.write_all(vec![7; n]).map(drop);
        let receives = |stream: TcpStream, n| stream.buffered().read_exact(n).map(drop);
        let there = sends(one.clone(), 2_000).zip(sends(two, 1_000)).zip(receives(sink.clone(), 2_000)).zip(receives(other, 1_000));
        let back = sends(sink, 3_000).zip(receives(one, 3_000));
        let! _ = there and! _ = back;
    });
    outcome.unwrap();
    assert_eq!(elapsed, secs(3));
}

#[test]
fn a_partition_keeps_the_parts_apart_and_nothing_is_lost() {
    let test = TestScheduler::new();
    let program = fiber! {
        let! network = network();
        let! [a, b, c] = hosts(["a", "b", "c"]);
        let! (to_b, from_b) = connected(&a, &b);
        let! (to_c, from_c) = connected(&a, &c);
        network.partition(["a", "c"], ["b"]);
        do! to_b.write_all("late");
        do! to_c.write_all("now");
        let! now = from_c.buffered().read_exact(3);
        assert_eq!(now, b"now");
        let! late = from_b.read([0; 8]).timeout_option(secs(60));
        assert!(late.is_none());
        network.heal_all();
        let! late = from_b.buffered().read_exact(4);
        assert_eq!(late, b"late");
    };
    test.run(program).unwrap();
    test.assert_no_leaks();
}

#[test]
fn a_way_that_is_cut_heals_by_itself_alone() {
    let test = TestScheduler::new();
    let program = fiber! {
        let! network = network();
        let! [a, b, c] = hosts(["a", "b", "c"]);
        let! (to_b, from_b) = connected(&a, &b);
        let! (to_c, from_c) = connected(&a, &c);
        network.between("a", "b").cut();
        network.between("c", "a").cut();
        let! _ = to_b.write_all("b") and! _ = to_c.write_all("c");
        network.between("b", "a").heal();
        let! (n, _) = from_b.read([0; 8]);
        assert_eq!(n, 1);
        let! nothing = from_c.read([0; 8]).timeout_option(secs(60));
        assert!(nothing.is_none());
    };
    test.run(program).unwrap();
}

#[test]
fn a_reset_behind_a_cut_is_not_known_before_it_is_healed() {
    let test = TestScheduler::new();
    let program = fiber! {
        let! network = network();
        let! [a, b] = hosts(["a", "b"]);
        let! (client, server) = connected(&a, &b);
        network.partition(["a"], ["b"]);
        b.crash();
        drop(server);
        let! nothing = client.read([0; 8]).timeout_option(secs(60));
        assert!(nothing.is_none());
        network.heal_all();
        let! read = client.read([0; 8]).map(drop).tried();
        assert_eq!(kind(&read), Some(ErrorKind::ConnectionReset));
    };
    test.run(program).unwrap();
}

#[test]
fn a_reset_hits_the_connections_of_one_way() {
    let test = TestScheduler::new();
    let program = fiber! {
        let! network = network();
        let! [a, b, c] = hosts(["a", "b", "c"]);
        let! (to_b, from_b) = connected(&a, &b);
        let! (to_c, from_c) = connected(&a, &c);
        network.between("b", "a").reset();
        let! here = to_b.read([0; 8]).map(drop).tried();
        let! there = from_b.read([0; 8]).map(drop).tried();
        for failed in [here, there] {
            assert_eq!(kind(&failed), Some(ErrorKind::ConnectionReset));
        }
        do! to_c.write_all("c");
        let! (n, _) = from_c.read([0; 8]);
        assert_eq!(n, 1);
    };
    test.run(program).unwrap();
}

#[test]
fn a_lost_connection_is_silent_in_both_directions_and_a_deadlock_names_it() {
    let test = TestScheduler::new();
    let program = fiber! {
        let! network = network();
        let! [a, b] = hosts(["a", "b"]);
        let! (client, server) = connected(&a, &b);
        do! client.write_all("on its way");
        network.between("a", "b").lose();
        do! client.write_all("after that");
        let! _ = server.read([0; 64]);
    };
    let report = test.try_run(program).unwrap_err().to_string();
    assert!(report.contains("waits for data from TcpStream `10.0.0.2:80 -> 10.0.0.1:"), "{report}");
}

#[test]
fn a_connection_after_the_loss_is_whole() {
    let test = TestScheduler::new();
    let program = fiber! {
        let! network = network();
        let! [a, b] = hosts(["a", "b"]);
        let! lost = connected(&a, &b);
        network.between("a", "b").lose();
        let! (client, server) = connected(&a, &b);
        do! client.write_all("x");
        let! (n, _) = server.read([0; 8]);
        assert_eq!(n, 1);
        drop(lost);
    };
    test.run(program).unwrap();
    test.assert_no_leaks();
}

#[test]
fn one_direction_may_end_before_the_other() {
    let test = TestScheduler::new();
    let program = fiber! {
        let! [a, b] = hosts(["a", "b"]);
        let! (client, server) = connected(&a, &b);
        do! client.write_all("question");
        client.shutdown(std::net::Shutdown::Write)?;
        let! question = server.buffered().rest();
        assert_eq!(question, b"question");
        do! server.write_all("answer");
        drop(server);
        let! answer = client.buffered().rest();
        assert_eq!(answer, b"answer");
        let! broken = client.write("more").map(drop).tried();
        assert_eq!(kind(&broken), Some(ErrorKind::BrokenPipe));
    };
    test.run(program).unwrap();
    test.assert_no_leaks();
}

#[test]
fn whoever_connects_over_a_way_that_is_cut_waits() {
    let test = TestScheduler::new();
    let network = test.network();
    let b = network.host("b");
    network.between("localhost", "b").cut();
    let connects = TcpStream::connect(b.at(PORT)).map(drop).timeout_option(secs(60));
    let heals = Fiber::delay(secs(30)).map(move |()| network.heal_all());
    let refused = test.run(connects.tried().zip(heals)).unwrap().0;
    assert_eq!(kind(&refused), Some(ErrorKind::ConnectionRefused), "there is no listener");
    assert_eq!(test.now().as_nanos(), 30_000_000_000);
}

/// A server listens at all addresses, and knows no other ones than these.
#[test]
fn the_way_to_a_listener_at_all_addresses_is_cut_and_reset() {
    let all = ["0.0.0.0:80", "[::]:80", "[::ffff:10.0.0.2]:80", "10.0.0.2:80"];
    for at in all.map(|at| at.parse::<SocketAddr>().unwrap()) {
        let test = TestScheduler::new();
        let program = fiber! {
            let! network = network();
            let! [a, b] = hosts(["a", "b"]);
            let! listener = b.run(move || TcpListener::bind(at));
            let to = b.at(80);
            let! client = a.run(move || TcpStream::connect(to)) and! (server, _) = listener.accept();
            network.cut(listener.local_addr()?);
            do! client.write_all("late");
            let! early = server.read([0; 8]).timeout_option(secs(60));
            assert!(early.is_none(), "{at}");
            network.heal(listener.local_addr()?);
            let! late = server.buffered().read_exact(4);
            assert_eq!(late, b"late");
            network.reset(listener.local_addr()?);
            let! read = client.read([0; 8]).tried();
            assert_eq!(kind(&read), Some(ErrorKind::ConnectionReset), "{at}");
        };
        test.run(program).unwrap();
    }
}

/// The packet that it has sent needs not arrive.
#[test]
fn nothing_is_left_of_a_client_that_gives_up() {
    for patience in [10, 60] {
        let test = TestScheduler::new();
        let network = test.network();
        network.set_latency(millis(50));
        let at = network.host("b").at(PORT);
        let connected = test.run(TcpStream::connect(at).timeout_option(millis(patience))).unwrap();
        assert!(connected.is_none());
        test.assert_no_leaks();
    }
}

/// The client itself may live on. On Linux, the port is free a moment after the reset, so this is not compared with a real network.
#[test]
fn the_port_of_a_client_that_was_reset_is_free() {
    let program = fiber! {
        let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
        let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
        let at = client.local_addr()?;
        let! early = TcpListener::bind(at).tried();
        assert_eq!(kind(&early), Some(ErrorKind::AddrInUse));
        server.set_linger(Some(millis(0)))?;
        drop(server);
        let! read = client.read([0; 1]).tried();
        assert_eq!(kind(&read), Some(ErrorKind::ConnectionReset));
        do! TcpListener::bind(at);
    };
    TestScheduler::new().run(program).unwrap();
}
