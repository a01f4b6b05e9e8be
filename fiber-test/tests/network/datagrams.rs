//! Datagrams and paths: they belong to hosts, too.

use std::io::ErrorKind;

use fiber_core::net::{UdpSocket, UnixListener, UnixStream};
use fiber_core::{Fiber, fiber};
use fiber_test::{TestScheduler, network};

use crate::support::{HERE, PORT, Tried, hosts, kind, millis};

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
        // Nobody is there; nobody says so.
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
