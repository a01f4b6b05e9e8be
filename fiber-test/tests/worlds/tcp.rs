//! What only TCP has: addresses of the ends, options, and a close that resets.

use std::net::Shutdown::{Both, Write};
use std::time::Duration;

use fiber_core::fiber;
use fiber_core::net::{TcpListener, TcpStream};

use crate::support::{LOCAL, Told, agree, connected, eventually, fails, next, rest, result, seen, writes};

/// Closes an end with a reset.
fn resets(stream: TcpStream) -> std::io::Result<()> {
    stream.set_linger(Some(Duration::ZERO))
}

/// Whether an address is known.
fn known<T>(address: std::io::Result<T>) -> String {
    result(address.map(drop))
}

#[test]
fn both_ends_know_their_addresses() {
    agree(|| {
        fiber! {
            let! listener = TcpListener::bind(LOCAL);
            let! client = TcpStream::connect(listener.local_addr()?) and! (server, from) = listener.accept();
            seen![
                format!("{}", client.local_addr()? == from),
                format!("{}", server.peer_addr()? == from),
                format!("{}", client.peer_addr()? == listener.local_addr()?),
                format!("{}", server.local_addr()? == listener.local_addr()?),
            ]
        }
    });
}

#[test]
fn a_close_without_lingering_resets() {
    agree(|| {
        fiber! {
            let! (client, server) = connected();
            do! client.write_all("abc");
            resets(client)?;
            let! all = rest(&server);
            let! after = next(&server);
            seen![all, after]
        }
    });
}

#[test]
fn a_peer_has_no_address_after_a_reset() {
    agree(|| {
        fiber! {
            let! (client, server) = connected();
            let before = known(server.peer_addr());
            resets(client)?;
            do! server.readable();
            let local = known(server.local_addr());
            let peer = known(server.peer_addr());
            let! read = next(&server);
            let after = known(server.peer_addr());
            seen![before, local, peer, read, after]
        }
    });
}

#[test]
fn a_peer_has_an_address_until_both_directions_have_ended() {
    agree(|| {
        fiber! {
            let! (client, server) = connected();
            client.shutdown(Write)?;
            let! end = rest(&server);
            let half = [known(client.peer_addr()), known(server.peer_addr())];
            server.shutdown(Write)?;
            let! answer = rest(&client);
            let mut seen = seen![end, answer];
            seen.extend(half);
            for stream in [client, server] {
                seen.push(known(stream.local_addr()));
                let! gone = eventually(move || stream.peer_addr().err().map(|error| format!("{:?}", error.kind())));
                seen.push(gone);
            }
            seen
        }
    });
}

#[test]
fn a_peer_has_an_address_while_one_end_is_closed() {
    agree(|| {
        fiber! {
            let! (client, server) = connected();
            drop(client);
            let! end = rest(&server);
            let before = known(server.peer_addr());
            let! failed = fails(&server);
            let after = known(server.peer_addr());
            seen![end, before, failed, after]
        }
    });
}

#[test]
fn a_close_without_lingering_after_both_directions_have_ended_resets_nothing() {
    agree(|| {
        fiber! {
            let! (client, server) = connected();
            client.shutdown(Write)?;
            let! _ = rest(&server);
            server.shutdown(Write)?;
            let! _ = rest(&client);
            resets(client)?;
            let! read = next(&server);
            let! wrote = writes(&server, "x");
            seen![read, wrote]
        }
    });
}

#[test]
fn a_lingering_time_that_is_not_zero_resets_nothing() {
    agree(|| {
        fiber! {
            let! (client, server) = connected();
            let first = result(client.set_linger(Some(Duration::from_secs(1))));
            let second = result(client.set_linger(Some(Duration::ZERO)));
            let third = result(client.set_linger(None));
            do! client.write_all("x");
            drop(client);
            let! all = rest(&server);
            seen![first, second, third, all]
        }
    });
}

#[test]
fn options_have_ranges() {
    agree(|| {
        fiber! {
            let! (client, server) = connected();
            let nodelay = [true, false].map(|is_on| result(client.set_nodelay(is_on)));
            let hops = [1, 255, 0, 256, u32::MAX].map(|hops| result(client.set_ttl(hops)));
            drop(server);
            [nodelay.to_vec(), hops.to_vec()].concat()
        }
    });
}

#[test]
fn options_of_a_connection_that_was_reset() {
    agree(|| {
        fiber! {
            let! (client, server) = connected();
            resets(client)?;
            do! server.readable();
            let linger = result(server.set_linger(None));
            let nodelay = result(server.set_nodelay(true));
            let ends = result(server.shutdown(Both));
            seen![linger, nodelay, ends]
        }
    });
}

#[test]
fn both_ends_reset() {
    agree(|| {
        fiber! {
            let! (client, server) = connected();
            let clone = server.clone();
            resets(client)?;
            resets(server)?;
            let! first = next(&clone);
            let! second = next(&clone);
            let! close = clone.close().done();
            seen![first, second, close]
        }
    });
}

#[test]
fn an_end_is_reset_while_it_has_something_unread() {
    agree(|| {
        fiber! {
            let! (client, server) = connected();
            do! client.write_all("abc");
            let! first = next(&server);
            resets(client)?;
            let! failed = fails(&server);
            let! all = rest(&server);
            seen![first, failed, all]
        }
    });
}
