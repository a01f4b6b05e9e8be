//! Ports that the network chooses.

use fiber_core::net::{TcpListener, TcpStream, UdpSocket};
use fiber_core::{Fiber, fiber};
use fiber_test::TestScheduler;

use super::support::millis;

/// The number of ports from which the network chooses.
const PORTS: usize = 16_384;

fn run(program: Fiber<()>) {
    let test = TestScheduler::new();
    test.run(program).unwrap();
    test.assert_no_leaks();
}

#[test]
fn a_port_is_in_use_as_long_as_its_connection() {
    run(fiber! {
        let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
        let at = listener.local_addr()?;
        let! client = TcpStream::connect(at) and! (_server, _) = listener.accept();
        let! other = TcpListener::bind(([127, 0, 0, 1], 0));
        let in_use = [at.port(), client.local_addr()?.port(), other.local_addr()?.port()];
        for _ in 0..PORTS + 3 {
            let! one = TcpStream::connect(at) and! _server = listener.accept();
            assert!(!in_use.contains(&one.local_addr()?.port()));
            do! Fiber::delay(millis(1));
        }
    });
}

#[test]
fn a_chosen_port_is_beside_those_that_were_asked_for() {
    run(fiber! {
        let! first = UdpSocket::bind(([127, 0, 0, 1], 0));
        let next = first.local_addr()?.port() + 1;
        let! _asked = UdpSocket::bind(([127, 0, 0, 1], next));
        let! _listener = TcpListener::bind(([0, 0, 0, 0], next + 1));
        let! udp = UdpSocket::bind(([127, 0, 0, 1], 0));
        let! tcp = TcpListener::bind(([127, 0, 0, 1], 0));
        assert_eq!(udp.local_addr()?.port(), next + 1, "UDP has its own ports");
        assert_eq!(tcp.local_addr()?.port(), next + 2);
    });
}

#[test]
fn when_no_port_is_left_a_socket_cannot_be_opened() {
    run(fiber! {
        let mut all = Vec::new();
        for _ in 0..PORTS {
            let! socket = UdpSocket::bind(([127, 0, 0, 1], 0));
            all.push(socket);
        }
        let! none = UdpSocket::bind(([127, 0, 0, 1], 0)).map(drop).map(Ok).catch(|error| Fiber::success(Err(error)));
        let error = none.unwrap_err();
        let error: &std::io::Error = error.downcast_ref().expect("an error of a socket");
        assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
        let freed = all.pop().map(|socket| socket.local_addr()).transpose()?;
        let! again = UdpSocket::bind(([127, 0, 0, 1], 0));
        assert_eq!(Some(again.local_addr()?), freed);
    });
}
