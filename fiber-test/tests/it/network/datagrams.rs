//! Datagrams and paths, which also belong to hosts.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::time::Duration;

use fiber_core::net::{UdpSocket, UnixListener, UnixStream};
use fiber_core::{Fiber, fiber};
use fiber_test::{Explore, TestScheduler, network};

use super::support::{HERE, PORT, Tried, hosts, kind, millis};

fn run(program: Fiber<()>) {
    let test = TestScheduler::new();
    test.run(program).unwrap();
    test.assert_no_leaks();
}

#[test]
fn a_datagram_comes_from_the_address_of_its_host() {
    run(fiber! {
        let! [a, b] = hosts(["a", "b"]);
        let! server = b.run(|| UdpSocket::bind(HERE));
        let! client = a.run(|| UdpSocket::bind(([0, 0, 0, 0], 0)));
        do! client.send_to("ping", b.at(PORT));
        let! (_, from, _) = server.recv_from([0; 8]);
        assert_eq!((from.ip(), from.port()), (a.address(), client.local_addr()?.port()));
        do! server.send_to("pong", from);
        let! (_, from, _) = client.recv_from([0; 8]);
        assert_eq!(from, b.at(PORT));
    });
}

/// Sends two datagrams, one after the other, and returns them in the order of their arrival.
fn two_datagrams(jitter: Duration) -> Fiber<[u8; 2]> {
    fiber! {
        let! network = network();
        network.set_jitter(jitter);
        let! [a, b] = hosts(["a", "b"]);
        let! server = b.run(|| UdpSocket::bind(HERE));
        let! client = a.run(|| UdpSocket::bind(([0, 0, 0, 0], 0)));
        do! client.send_to("1", b.at(PORT));
        do! client.send_to("2", b.at(PORT));
        let! (_, first) = server.recv([0]);
        let! (_, second) = server.recv([0]);
        [first[0], second[0]]
    }
}

#[test]
fn no_jitter_is_too_long() {
    assert!(TestScheduler::new().run(two_datagrams(Duration::MAX)).is_success());
}

#[test]
fn datagrams_overtake_each_other_with_jitter() {
    let arrive = |seed| TestScheduler::with_seed(seed).run(two_datagrams(millis(10))).unwrap();
    let orders: BTreeSet<[u8; 2]> = (0..20).map(arrive).collect();
    assert_eq!(orders, BTreeSet::from([*b"12", *b"21"]));
}

#[test]
fn the_explorer_finds_the_order_that_a_program_did_not_expect() {
    let expects = || two_datagrams(millis(10)).map(|order| assert_eq!(&order, b"12", "overtaken"));
    let failure = Explore::default().no_regressions().try_check(expects).unwrap_err();
    let text = failure.schedule().to_string();
    assert!(Explore::replay(&text).try_check(expects).is_err(), "{text}");
}

#[test]
fn what_is_sent_while_the_way_is_cut_is_lost() {
    run(fiber! {
        let! [a, b] = hosts(["a", "b"]);
        let! network = network();
        let! server = b.run(|| UdpSocket::bind(HERE));
        let! client = a.run(|| UdpSocket::bind(([0, 0, 0, 0], 0)));
        network.cut(b.at(PORT));
        do! client.send_to("lost", b.at(PORT));
        network.heal(b.at(PORT));
        do! client.send_to("heard", b.at(PORT));
        let! (n, buffer) = server.recv([0; 8]);
        assert_eq!(&buffer[..n], b"heard");
    });
}

/// The socket at all addresses sends from one of them.
#[test]
fn what_is_sent_from_a_socket_whose_way_is_cut_is_lost() {
    run(fiber! {
        let! [a, b] = hosts(["a", "b"]);
        let! network = network();
        let! server = b.run(|| UdpSocket::bind(HERE));
        let! client = a.run(|| UdpSocket::bind(([0, 0, 0, 0], 7)));
        network.cut(b.at(PORT));
        do! server.send_to("lost", a.at(7));
        network.heal(b.at(PORT));
        do! server.send_to("heard", a.at(7));
        let! (n, buffer) = client.recv([0; 8]);
        assert_eq!(&buffer[..n], b"heard");
    });
}

#[test]
fn a_crash_takes_the_sockets_of_its_host() {
    run(fiber! {
        let! [a, b] = hosts(["a", "b"]);
        let! server = b.run(|| UdpSocket::bind(HERE));
        let! client = a.run(|| UdpSocket::bind(([0, 0, 0, 0], 0)));
        do! client.send_to("unread", b.at(PORT));
        do! server.readable();
        b.crash();
        let! received = server.recv([0; 8]).tried();
        assert_eq!(kind(&received), Some(ErrorKind::NetworkDown));
        // There is no receiver, and no error.
        do! client.send_to("into the void", b.at(PORT));
        let! answer = client.recv([0; 8]).timeout_option(millis(100));
        assert!(answer.is_none());
        b.restart();
        let! _again = b.run(|| UdpSocket::bind(HERE));
    });
}

#[test]
fn a_path_is_one_of_its_host() {
    run(fiber! {
        let! [a, b] = hosts(["a", "b"]);
        let! listener = a.run(|| UnixListener::bind("/socket"));
        let! elsewhere = b.run(|| UnixStream::connect("/socket")).tried();
        assert_eq!(kind(&elsewhere), Some(ErrorKind::NotFound));
        let! _client = a.run(|| UnixStream::connect("/socket")) and! _server = listener.accept();
        let! _other = b.run(|| UnixListener::bind("/socket"));
    });
}
