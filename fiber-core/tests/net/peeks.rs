//! `readable` takes nothing: neither data, nor the end, nor an error.

use std::io::ErrorKind;
use std::time::Duration;

use fiber_core::net::{ByteStream, TcpStream, UdpSocket};
use fiber_core::{Fiber, fiber};

use crate::worlds::{Tried, connected, everywhere};

/// Closes the stream with a reset.
fn resets(stream: TcpStream) -> std::io::Result<()> {
    stream.set_linger(Some(Duration::ZERO))
}

/// The kind of the error of a read, after two peeks.
fn read_after_peeks(stream: &ByteStream) -> Fiber<Result<usize, ErrorKind>> {
    let stream = stream.clone();
    fiber! {
        do! stream.readable();
        do! stream.readable();
        let! read = stream.read([0; 8]).map(|(n, _)| n).tried();
        read.map_err(|error| error.downcast_ref::<std::io::Error>().expect("an error of a socket").kind())
    }
}

#[test]
fn a_reset_is_read_after_readable() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            resets(client)?;
            let! read = read_after_peeks(&server);
            assert_eq!(read, Err(ErrorKind::ConnectionReset));
        }
    });
}

#[test]
fn a_reset_that_comes_while_a_fiber_waits_is_read_after_readable() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            let later = Fiber::delay(Duration::from_millis(20)).try_map(move |()| resets(client));
            let! () = later and! read = read_after_peeks(&server);
            assert_eq!(read, Err(ErrorKind::ConnectionReset));
        }
    });
}

#[test]
fn data_and_the_end_are_read_after_readable() {
    everywhere(|| {
        fiber! {
            let! (client, server) = connected();
            do! client.write_all("x");
            let! read = read_after_peeks(&server);
            assert_eq!(read, Ok(1));
            drop(client);
            let! read = read_after_peeks(&server);
            assert_eq!(read, Ok(0));
        }
    });
}

/// A socket that is connected to an address at which there is none, after it has sent something there.
fn refused() -> Fiber<UdpSocket> {
    fiber! {
        let! socket = UdpSocket::bind(([127, 0, 0, 1], 0));
        let! gone = UdpSocket::bind(([127, 0, 0, 1], 0));
        socket.connect(gone.local_addr()?)?;
        drop(gone);
        do! socket.send("x");
        socket
    }
}

#[test]
fn a_refusal_of_a_datagram_is_received_after_readable() {
    everywhere(|| {
        fiber! {
            let! socket = refused();
            do! socket.readable();
            do! socket.readable();
            let! received = socket.recv([0; 8]).tried();
            let error = received.unwrap_err();
            let error: &std::io::Error = error.downcast_ref().expect("an error of a socket");
            assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        }
    });
}

#[test]
fn an_empty_datagram_is_received_after_readable() {
    everywhere(|| {
        fiber! {
            let! one = UdpSocket::bind(([127, 0, 0, 1], 0));
            let! other = UdpSocket::bind(([127, 0, 0, 1], 0));
            do! one.send_to("", other.local_addr()?);
            do! other.readable();
            do! other.readable();
            let! (n, from, _) = other.recv_from([0; 8]);
            assert_eq!((n, from), (0, one.local_addr()?));
        }
    });
}
