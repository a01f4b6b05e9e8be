//! Addresses and ports of TCP.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use fiber_core::net::{TcpListener, TcpStream, UdpSocket};
use fiber_core::{Fiber, fiber};

use crate::support::{LOCAL, Seen, Told, agree, at_some_port, next, seen};

const V4: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const V6: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);
const ANY_V4: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
const ANY_V6: IpAddr = IpAddr::V6(Ipv6Addr::UNSPECIFIED);
const SECOND: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

/// Whether a second listener can be at the port of the first one.
fn beside(first: IpAddr, second: IpAddr) -> Fiber<String> {
    fiber! {
        let! one = TcpListener::bind((first, 0));
        let at: SocketAddr = (second, one.local_addr()?.port()).into();
        let! bound = TcpListener::bind(at).done();
        drop(one);
        bound
    }
}

/// Of all pairs, in this order.
#[test]
fn listeners_beside_each_other() {
    agree(|| {
        fiber! {
            let mut seen = Seen::new();
            for first in [V4, SECOND, ANY_V4, V6, ANY_V6] {
                for second in [V4, SECOND, ANY_V4, V6, ANY_V6] {
                    let! bound = at_some_port(move || beside(first, second));
                    seen.push(bound);
                }
            }
            seen
        }
    });
}

/// The addresses of both ends of a connection to an address of a listener at another one: those of the client, and those of the server.
fn reached(listens: IpAddr, to: IpAddr) -> Fiber<Seen> {
    fiber! {
        let! listener = TcpListener::bind((listens, 0));
        let to: SocketAddr = (to, listener.local_addr()?.port()).into();
        let! client = TcpStream::connect(to).tried();
        let client = match client {
            Ok(client) => client,
            Err(error) => {
                let error: &std::io::Error = error.downcast_ref().expect("an error of a socket");
                return seen![format!("{:?}", error.kind())]
            }
        };
        let! (server, from) = listener.accept();
        let ips = [client.local_addr()?, client.peer_addr()?, server.local_addr()?, server.peer_addr()?, from];
        ips.map(|address| address.ip().to_string()).to_vec()
    }
}

#[test]
fn a_connection_to_any_address_is_one_to_this_host() {
    agree(|| reached(V4, ANY_V4));
}

#[test]
fn a_connection_to_any_address_of_v6_is_one_to_this_host() {
    agree(|| reached(V6, ANY_V6));
}

#[test]
fn a_listener_at_all_addresses_hears_each() {
    agree(|| {
        fiber! {
            let! first = reached(ANY_V4, V4);
            let! second = reached(ANY_V4, SECOND);
            let! third = reached(ANY_V4, ANY_V4);
            [first, second, third].concat()
        }
    });
}

#[test]
fn a_listener_at_all_addresses_of_v6_hears_v4_too() {
    agree(|| {
        fiber! {
            let! first = reached(ANY_V6, V6);
            let! second = reached(ANY_V6, V4);
            let! third = reached(ANY_V6, ANY_V4);
            [first, second, third].concat()
        }
    });
}

#[test]
fn a_listener_at_all_addresses_of_v4_does_not_hear_v6() {
    agree(|| reached(ANY_V4, V6));
}

#[test]
fn a_listener_hears_only_its_own_address() {
    agree(|| {
        fiber! {
            let! first = reached(V4, SECOND);
            let! second = reached(SECOND, V4);
            let! third = reached(V6, V4);
            let! fourth = reached(V4, V6);
            [first, second, third, fourth].concat()
        }
    });
}

#[test]
fn an_address_of_v4_may_be_written_as_one_of_v6() {
    agree(|| {
        fiber! {
            let mapped = IpAddr::V6(Ipv4Addr::LOCALHOST.to_ipv6_mapped());
            let! first = reached(V4, mapped);
            let! second = reached(ANY_V6, mapped);
            let! third = reached(mapped, V4);
            [first, second, third].concat()
        }
    });
}

#[test]
fn listeners_at_two_addresses_of_a_port_have_their_own_clients() {
    agree(|| {
        fiber! {
            let! one = TcpListener::bind(LOCAL);
            let port = one.local_addr()?.port();
            let! other = TcpListener::bind((SECOND, port));
            let! to_other = TcpStream::connect((SECOND, port));
            let! to_one = TcpStream::connect((V4, port));
            let! (of_one, _) = one.accept();
            let! (of_other, _) = other.accept();
            do! to_one.write_all("1");
            do! to_other.write_all("2");
            let! first = next(&of_one);
            let! second = next(&of_other);
            seen![first, second]
        }
    });
}

#[test]
fn who_connects_to_nobody_is_refused() {
    agree(|| {
        fiber! {
            let! listener = TcpListener::bind(LOCAL);
            let at = listener.local_addr()?;
            drop(listener);
            let! first = TcpStream::connect(at).done();
            let! _listener = TcpListener::bind(at);
            let! second = TcpStream::connect(at).done();
            seen![first, second]
        }
    });
}

#[test]
fn nobody_is_at_port_0() {
    agree(|| {
        fiber! {
            let! first = TcpStream::connect((V4, 0)).done();
            let! second = TcpStream::connect((V6, 0)).done();
            seen![first, second]
        }
    });
}

#[test]
fn the_port_of_a_client_is_in_use() {
    agree(|| {
        fiber! {
            let! listener = TcpListener::bind(LOCAL);
            let! client = TcpStream::connect(listener.local_addr()?);
            let port = client.local_addr()?.port();
            let! same = TcpListener::bind((V4, port)).done();
            let! any = TcpListener::bind((ANY_V4, port)).done();
            let! second = TcpListener::bind((SECOND, port)).done();
            seen![same, any, second]
        }
    });
}

#[test]
fn the_port_of_a_listener_is_free_while_its_connections_live() {
    agree(|| {
        fiber! {
            let! listener = TcpListener::bind(LOCAL);
            let at = listener.local_addr()?;
            let! client = TcpStream::connect(at) and! (server, _) = listener.accept();
            drop(listener);
            let! again = TcpListener::bind(at);
            let! second = TcpStream::connect(at) and! (of_second, _) = again.accept();
            do! client.write_all("1");
            do! second.write_all("2");
            let! first = next(&server);
            let! other = next(&of_second);
            seen![first, other]
        }
    });
}

#[test]
fn tcp_and_udp_have_their_own_ports() {
    agree(|| {
        fiber! {
            let! listener = TcpListener::bind(LOCAL);
            let at = listener.local_addr()?;
            let! udp = UdpSocket::bind(at).done();
            seen![udp]
        }
    });
}

const MANY: usize = 300;

#[test]
fn a_port_is_never_given_twice() {
    agree(|| {
        fiber! {
            let! listener = TcpListener::bind(LOCAL);
            let at = listener.local_addr()?;
            let (mut sockets, mut ports) = (Vec::new(), BTreeSet::from([at.port()]));
            for _ in 0..MANY {
                let! client = TcpStream::connect(at) and! (server, _) = listener.accept();
                let! other = TcpListener::bind(LOCAL);
                ports.extend([client.local_addr()?.port(), other.local_addr()?.port()]);
                sockets.push((client, server, other));
            }
            seen![ports.len().to_string()]
        }
    });
}

#[test]
fn an_address_is_free_when_its_listener_has_ended() {
    agree(|| {
        fiber! {
            let! listener = TcpListener::bind(LOCAL);
            let at = listener.local_addr()?;
            let! second = TcpListener::bind(at).done();
            let clone = listener.clone();
            drop(listener);
            let! third = TcpListener::bind(at).done();
            drop(clone);
            let! fourth = TcpListener::bind(at).done();
            seen![second, third, fourth]
        }
    });
}

#[test]
fn no_address_is_none_to_connect_to() {
    agree(|| {
        fiber! {
            let! connects = TcpStream::connect(Vec::new()).done();
            let! binds = TcpListener::bind(Vec::new()).done();
            seen![connects, binds]
        }
    });
}
