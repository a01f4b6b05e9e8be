//! Datagrams.

use std::time::Duration;

use fiber_core::net::UdpSocket;
use fiber_core::{Either, Fiber, fiber};

use crate::worlds::{Tried, everywhere, pattern};

const SOON: Duration = Duration::from_millis(50);

fn socket() -> Fiber<UdpSocket> {
    UdpSocket::bind(([127, 0, 0, 1], 0)).boxed()
}

#[test]
fn a_datagram_arrives_whole_and_says_where_it_comes_from() {
    everywhere(|| {
        fiber! {
            let! one = socket();
            let! other = socket();
            let! sent = one.send_to(pattern(300), other.local_addr()?);
            let! (n, from, buffer) = other.recv_from(vec![0; 400]);
            assert_eq!((&buffer[..n], from), (&*sent, one.local_addr()?));
        }
    });
}

#[test]
fn what_does_not_fit_is_lost_and_the_next_one_is_not() {
    everywhere(|| {
        fiber! {
            let! one = socket();
            let! other = socket();
            one.connect(other.local_addr()?)?;
            do! one.send("long");
            let! (n, buffer) = other.recv([0; 2]);
            assert_eq!(&buffer[..n], b"lo");
            do! one.send("x");
            let! (n, buffer) = other.recv([0; 2]);
            assert_eq!(&buffer[..n], b"x");
        }
    });
}

#[test]
fn all_arrive_when_nobody_sends_too_much() {
    everywhere(|| {
        fiber! {
            let! one = socket();
            let! other = socket();
            let to = other.local_addr()?;
            let sends = fiber! {
                for n in 0..10_u8 { do! one.send_to([n], to); }
                // The socket stays open until all have arrived.
                one
            };
            let receives = fiber! {
                let mut all = Vec::new();
                for _ in 0..10 {
                    let! (n, buffer) = other.recv([0; 8]);
                    assert_eq!(n, 1);
                    all.push(buffer[0]);
                }
                // In any order.
                all.sort_unstable();
                all
            };
            let! _one = sends and! all = receives;
            assert_eq!(all, (0..10).collect::<Vec<u8>>());
        }
    });
}

#[test]
fn a_connected_socket_hears_its_peer_only() {
    everywhere(|| {
        fiber! {
            let! friend = socket();
            let! stranger = socket();
            let! one = socket();
            one.connect(friend.local_addr()?)?;
            assert_eq!(one.peer_addr()?, friend.local_addr()?);
            let at = one.local_addr()?;
            do! stranger.send_to("stranger", at);
            do! friend.send_to("friend", at);
            let! (n, buffer) = one.recv([0; 16]);
            assert_eq!(&buffer[..n], b"friend");
        }
    });
}

#[test]
fn who_is_not_connected_cannot_send_without_an_address() {
    everywhere(|| {
        fiber! {
            let! one = socket();
            let! sent = one.send("x").map(drop).tried();
            assert!(sent.is_err());
            assert!(one.peer_addr().is_err());
        }
    });
}

#[test]
fn too_long_a_datagram_is_an_error() {
    everywhere(|| {
        fiber! {
            let! one = socket();
            let! sent = one.send_to(vec![0; 70_000], one.local_addr()?).map(drop).tried();
            assert!(sent.is_err());
        }
    });
}

#[test]
fn an_empty_datagram_is_one() {
    everywhere(|| {
        fiber! {
            let! one = socket();
            do! one.send_to([0; 0], one.local_addr()?);
            let! (n, from, _) = one.recv_from([0; 8]);
            assert_eq!((n, from), (0, one.local_addr()?));
        }
    });
}

#[test]
fn a_cancelled_receive_has_taken_nothing() {
    everywhere(|| {
        fiber! {
            let! one = socket();
            let! nothing = one.recv([0; 8]).timeout_option(SOON);
            assert!(nothing.is_none());
            do! one.send_to("kept", one.local_addr()?);
            let! first = one.readable().race(Fiber::delay(Duration::from_secs(60)));
            assert!(matches!(first, Either::Left(())));
            let! (n, buffer) = one.recv([0; 8]);
            assert_eq!(&buffer[..n], b"kept");
        }
    });
}

#[test]
fn an_address_has_one_socket() {
    everywhere(|| {
        fiber! {
            let! one = socket();
            let at = one.local_addr()?;
            let! second = UdpSocket::bind(at).tried();
            assert!(second.unwrap_err().to_string().starts_with(&format!("binding to {at}: ")));
            drop(one);
            do! UdpSocket::bind(at).map(drop);
        }
    });
}
