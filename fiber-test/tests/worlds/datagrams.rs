//! Datagrams.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use fiber_core::net::UdpSocket;
use fiber_core::{Fiber, fiber};

use crate::support::{LOCAL, Seen, Told, agree, at_some_port, result, seen};

fn socket() -> Fiber<UdpSocket> {
    UdpSocket::bind(LOCAL).boxed()
}

/// An address at which there is no socket.
fn nowhere() -> Fiber<SocketAddr> {
    socket().try_map(|socket| socket.local_addr()).boxed()
}

/// The next datagram, or the kind of the error.
fn next(socket: &UdpSocket) -> Fiber<String> {
    let text = |(n, buffer): (usize, [u8; 16])| format!("{:?}", String::from_utf8_lossy(&buffer[..n]));
    socket.recv([0; 16]).map(text).told()
}

/// The next datagram, if one comes soon.
fn soon(socket: &UdpSocket) -> Fiber<String> {
    next(socket)
        .timeout_option(Duration::from_millis(20))
        .map(|next| next.unwrap_or("nothing".into()))
        .boxed()
}

fn sends(socket: &UdpSocket, text: &'static str) -> Fiber<String> {
    socket.send(text).done()
}

#[test]
fn a_datagram_says_where_it_comes_from() {
    agree(|| {
        fiber! {
            let! one = socket();
            let! other = socket();
            do! one.send_to("x", other.local_addr()?);
            let! (n, from, _) = other.recv_from([0; 8]);
            seen![n.to_string(), (from == one.local_addr()?).to_string()]
        }
    });
}

#[test]
fn what_does_not_fit_is_lost() {
    agree(|| {
        fiber! {
            let! one = socket();
            do! one.send_to("long", one.local_addr()?);
            let! (n, buffer) = one.recv([0; 2]);
            do! one.send_to("x", one.local_addr()?);
            let! second = next(&one);
            seen![format!("{:?}", &buffer[..n]), second]
        }
    });
}

#[test]
fn an_empty_datagram_is_one() {
    agree(|| {
        fiber! {
            let! one = socket();
            do! one.send_to("", one.local_addr()?);
            do! one.readable();
            let! read = next(&one);
            seen![read]
        }
    });
}

#[test]
fn a_refusal_is_received_once() {
    agree(|| {
        fiber! {
            let! one = socket();
            let! to = nowhere();
            one.connect(to)?;
            let! sent = sends(&one, "x");
            do! one.readable();
            do! one.readable();
            let! first = next(&one);
            let! second = soon(&one);
            seen![sent, first, second]
        }
    });
}

#[test]
fn a_refusal_fails_the_next_send_and_that_alone() {
    agree(|| {
        fiber! {
            let! one = socket();
            let! to = nowhere();
            one.connect(to)?;
            let! first = sends(&one, "a");
            do! one.readable();
            let! second = sends(&one, "b");
            let! received = soon(&one);
            let! third = sends(&one, "c");
            do! one.readable();
            let! fourth = next(&one);
            seen![first, second, received, third, fourth]
        }
    });
}

#[test]
fn a_refusal_comes_before_what_has_arrived() {
    agree(|| {
        fiber! {
            let! one = socket();
            let! other = socket();
            let to = other.local_addr()?;
            one.connect(to)?;
            other.connect(one.local_addr()?)?;
            do! other.send("data");
            do! one.readable();
            drop(other);
            let! sent = sends(&one, "x");
            let! first = next(&one);
            let! second = next(&one);
            let mut seen = seen![first, second];
            // The refusal needs a moment.
            seen.sort();
            seen.insert(0, sent);
            seen
        }
    });
}

#[test]
fn a_socket_that_is_not_connected_hears_of_no_refusal() {
    agree(|| {
        fiber! {
            let! one = socket();
            let! to = nowhere();
            let! first = one.send_to("x", to).done();
            let! second = one.send_to("x", to).done();
            let! received = soon(&one);
            seen![first, second, received]
        }
    });
}

#[test]
fn a_refusal_of_another_address_is_not_heard() {
    agree(|| {
        fiber! {
            let! one = socket();
            let! friend = socket();
            let! to = nowhere();
            one.connect(friend.local_addr()?)?;
            let! sent = one.send_to("x", to).done();
            let! received = soon(&one);
            let! after = sends(&one, "y");
            let! heard = next(&friend);
            seen![sent, received, after, heard]
        }
    });
}

#[test]
fn who_is_refused_may_be_heard_later() {
    agree(|| {
        fiber! {
            let! one = socket();
            let! to = nowhere();
            one.connect(to)?;
            let! first = sends(&one, "a");
            do! one.readable();
            let! refused = next(&one);
            let! other = UdpSocket::bind(to);
            let! second = sends(&one, "b");
            let! heard = next(&other);
            seen![first, refused, second, heard]
        }
    });
}

#[test]
fn what_was_unread_at_connect_stays() {
    agree(|| {
        fiber! {
            let! one = socket();
            let! friend = socket();
            let! stranger = socket();
            let at = one.local_addr()?;
            do! stranger.send_to("before", at);
            do! one.readable();
            one.connect(friend.local_addr()?)?;
            do! stranger.send_to("after", at);
            do! friend.send_to("friend", at);
            let! first = next(&one);
            let! second = next(&one);
            let! third = soon(&one);
            seen![first, second, third]
        }
    });
}

#[test]
fn a_connected_socket_hears_its_peer_only() {
    agree(|| {
        fiber! {
            let! one = socket();
            let! friend = socket();
            let! stranger = socket();
            one.connect(friend.local_addr()?)?;
            do! stranger.send_to("stranger", one.local_addr()?);
            do! friend.send_to("friend", one.local_addr()?);
            let! first = next(&one);
            let! second = soon(&one);
            seen![first, second]
        }
    });
}

/// A stranger that is not heard is refused, as if there were no socket.
#[test]
fn a_connected_socket_refuses_strangers() {
    agree(|| {
        fiber! {
            let! one = socket();
            let! friend = socket();
            let! stranger = socket();
            one.connect(friend.local_addr()?)?;
            stranger.connect(one.local_addr()?)?;
            do! stranger.send("x");
            do! stranger.readable();
            let! refused = next(&stranger);
            seen![refused]
        }
    });
}

#[test]
fn a_socket_connects_again() {
    agree(|| {
        fiber! {
            let! one = socket();
            let! first = socket();
            let! second = socket();
            one.connect(first.local_addr()?)?;
            do! one.send("1");
            one.connect(second.local_addr()?)?;
            do! one.send("2");
            let! to_first = next(&first);
            let! to_second = next(&second);
            seen![to_first, to_second, (one.peer_addr()? == second.local_addr()?).to_string()]
        }
    });
}

#[test]
fn a_connected_socket_sends_elsewhere_too() {
    agree(|| {
        fiber! {
            let! one = socket();
            let! friend = socket();
            let! other = socket();
            one.connect(friend.local_addr()?)?;
            let! sent = one.send_to("x", other.local_addr()?).done();
            let! heard = next(&other);
            seen![sent, heard]
        }
    });
}

#[test]
fn who_is_not_connected_needs_an_address() {
    agree(|| {
        fiber! {
            let! one = socket();
            let! sent = sends(&one, "x");
            let! empty = sends(&one, "");
            seen![sent, empty, result(one.peer_addr())]
        }
    });
}

#[test]
fn a_datagram_has_a_longest_length() {
    agree(|| {
        fiber! {
            let! one = socket();
            let at = one.local_addr()?;
            let mut seen = Seen::new();
            for length in [65_507, 65_508, 70_000] {
                let! sent = one.send_to(vec![0; length], at).done();
                seen.push(sent);
            }
            let! (n, _) = one.recv(vec![0; 70_000]);
            seen.push(n.to_string());
            seen
        }
    });
}

#[test]
fn a_datagram_of_v6_has_a_longest_length() {
    agree(|| {
        fiber! {
            let! one = UdpSocket::bind((Ipv6Addr::LOCALHOST, 0));
            let at = one.local_addr()?;
            let mut seen = Seen::new();
            for length in [65_527, 65_528] {
                let! sent = one.send_to(vec![0; length], at).done();
                seen.push(sent);
            }
            seen
        }
    });
}

#[test]
fn nobody_is_at_port_0() {
    agree(|| {
        fiber! {
            let! one = socket();
            let! sent = one.send_to("x", LOCAL).done();
            seen![sent]
        }
    });
}

#[test]
fn a_broadcast_needs_a_permission() {
    agree(|| {
        fiber! {
            let! one = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0));
            let! sent = one.send_to("x", (Ipv4Addr::BROADCAST, 9)).done();
            seen![sent, result(one.connect((Ipv4Addr::BROADCAST, 9)))]
        }
    });
}

#[test]
fn a_socket_of_v4_sends_nothing_to_v6() {
    agree(|| {
        fiber! {
            let! one = socket();
            let (v6, mapped) = (Ipv6Addr::LOCALHOST, Ipv4Addr::LOCALHOST.to_ipv6_mapped());
            let! sent = one.send_to("x", (v6, 9)).done();
            let! mapped_sent = one.send_to("x", (mapped, 9)).done();
            let connected = [v6, mapped].map(|to| result(one.connect((to, 9))));
            seen![sent, mapped_sent, connected.concat()]
        }
    });
}

/// A second socket at the port of a connected one that was at all addresses.
fn beside_a_connected_one() -> Fiber<String> {
    fiber! {
        let! one = UdpSocket::bind(([0, 0, 0, 0], 0));
        one.connect(([127, 0, 0, 1], 9))?;
        let! bound = UdpSocket::bind(([127, 0, 0, 2], one.local_addr()?.port())).done();
        drop(one);
        bound
    }
}

#[test]
fn a_connected_socket_has_one_address_and_leaves_the_others() {
    agree(|| at_some_port(beside_a_connected_one).map(|bound| seen![bound]).boxed());
}

#[test]
fn a_socket_that_was_at_all_addresses_refuses_strangers_when_it_is_connected() {
    agree(|| {
        fiber! {
            let! one = UdpSocket::bind(([0, 0, 0, 0], 0));
            let! (peer, stranger) = socket().zip(socket());
            one.connect(peer.local_addr()?)?;
            stranger.connect(one.local_addr()?)?;
            do! stranger.send("x");
            let! refused = next(&stranger);
            seen![refused]
        }
    });
}

/// Two sockets at one port, of these addresses.
fn beside(first: IpAddr, second: IpAddr) -> Fiber<String> {
    fiber! {
        let! one = UdpSocket::bind((first, 0));
        let! bound = UdpSocket::bind((second, one.local_addr()?.port())).done();
        drop(one);
        bound
    }
}

/// What a socket at an address says when it sends to another one, and when it is connected to it; and who it is connected to then.
fn across(at: IpAddr, to: IpAddr) -> Fiber<String> {
    fiber! {
        let! one = UdpSocket::bind((at, 0));
        let! sent = one.send_to("x", (to, 9)).done();
        let connected = result(one.connect((to, 9)));
        let peer = one.peer_addr().map_or("nobody".to_owned(), |peer| peer.ip().to_string());
        format!("{at} to {to}: {sent}, {connected}, {peer}")
    }
}

#[test]
fn a_socket_at_one_address_sends_to_its_own_version_only() {
    agree(|| {
        fiber! {
            let (v4, v6) = (Ipv4Addr::LOCALHOST, Ipv6Addr::LOCALHOST);
            let all = [
                IpAddr::from(v4),
                Ipv4Addr::UNSPECIFIED.into(),
                Ipv6Addr::UNSPECIFIED.into(),
                v6.into(),
                v4.to_ipv6_mapped().into(),
            ];
            let mut said = Seen::new();
            for at in [v6, v4.to_ipv6_mapped()] {
                for to in all {
                    let! one = across(at.into(), to);
                    said.push(one);
                }
            }
            said
        }
    });
}

#[test]
fn any_address_is_that_of_a_socket_with_an_address() {
    agree(|| {
        fiber! {
            let! one = UdpSocket::bind(([127, 0, 0, 2], 0));
            do! one.send_to("x", ([0, 0, 0, 0], one.local_addr()?.port()));
            let! (_, from, _) = one.recv_from([0; 8]);
            one.connect(([0, 0, 0, 0], 9))?;
            seen![from.ip().to_string(), one.peer_addr()?.ip().to_string()]
        }
    });
}

#[test]
fn sockets_beside_each_other() {
    agree(|| {
        fiber! {
            let all = ["127.0.0.1", "127.0.0.2", "0.0.0.0", "::1", "::"].map(|text| text.parse::<IpAddr>().unwrap());
            let mut seen = Seen::new();
            for first in all {
                for second in all {
                    let! bound = at_some_port(move || beside(first, second));
                    seen.push(bound);
                }
            }
            seen
        }
    });
}

#[test]
fn the_closest_address_hears() {
    agree(|| {
        fiber! {
            let! any = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0));
            let! one = socket();
            let port = any.local_addr()?.port();
            do! one.send_to("second", ([127, 0, 0, 2], port));
            let! heard = next(&any);
            do! one.send_to("any", (Ipv4Addr::UNSPECIFIED, port));
            let! (_, from, _) = any.recv_from([0; 8]);
            seen![heard, (from == one.local_addr()?).to_string()]
        }
    });
}

#[test]
fn a_socket_at_all_addresses_has_one_when_it_is_connected() {
    agree(|| {
        fiber! {
            let! one = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0));
            let! other = socket();
            let before = one.local_addr()?.ip();
            one.connect(other.local_addr()?)?;
            let after = one.local_addr()?.ip();
            do! one.send("x");
            let! (_, from, _) = other.recv_from([0; 8]);
            let peer = one.peer_addr()?.ip();
            [before, after, from.ip(), peer].map(|ip| ip.to_string()).to_vec()
        }
    });
}

#[test]
fn a_socket_connected_to_any_address_is_connected_to_this_host() {
    agree(|| {
        fiber! {
            let! other = socket();
            let! one = socket();
            one.connect((Ipv4Addr::UNSPECIFIED, other.local_addr()?.port()))?;
            do! one.send("x");
            let! heard = next(&other);
            seen![one.peer_addr()?.ip().to_string(), heard]
        }
    });
}

#[test]
fn a_socket_of_v6_hears_v4() {
    agree(|| {
        fiber! {
            let! any = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0));
            let! one = socket();
            do! one.send_to("x", (Ipv4Addr::LOCALHOST, any.local_addr()?.port()));
            let! (n, from, _) = any.recv_from([0; 8]);
            let! answered = any.send_to("y", from).done();
            let! heard = next(&one);
            seen![n.to_string(), from.ip().to_string(), answered, heard]
        }
    });
}

#[test]
fn an_address_is_free_when_its_socket_is_closed() {
    agree(|| {
        fiber! {
            let! one = socket();
            let at = one.local_addr()?;
            let! second = UdpSocket::bind(at).done();
            let clone = one.clone();
            drop(one);
            let! third = UdpSocket::bind(at).done();
            drop(clone);
            let! fourth = UdpSocket::bind(at).done();
            seen![second, third, fourth]
        }
    });
}

#[test]
fn what_is_unread_when_a_socket_is_closed_is_lost() {
    agree(|| {
        fiber! {
            let! one = socket();
            let! other = socket();
            let at = other.local_addr()?;
            do! one.send_to("x", at);
            do! other.readable();
            drop(other);
            let! again = UdpSocket::bind(at);
            let! read = soon(&again);
            seen![read]
        }
    });
}
