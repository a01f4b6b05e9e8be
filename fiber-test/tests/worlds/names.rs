//! Names of hosts.

use std::net::SocketAddr;

use fiber_core::net::resolve;
use fiber_core::{Fiber, fiber};

use crate::support::{Seen, Told, agree};

/// Whether all addresses are those of this host, and have the port.
fn looked_up(name: &'static str) -> Fiber<String> {
    let are_local = |all: Vec<SocketAddr>| all.iter().all(|one| one.ip().is_loopback() && one.port() == 7);
    resolve(name, 7).map(move |all| (!all.is_empty() && are_local(all)).to_string()).told()
}

/// What is found under each of these names.
fn all(names: [&'static str; 2]) -> Fiber<Seen> {
    fiber! {
        let mut seen = Seen::new();
        for name in names {
            let! found = looked_up(name);
            seen.push(found);
        }
        seen
    }
}

#[test]
fn this_host_has_a_name() {
    agree(|| all(["localhost", "LocalHost"]));
}

#[test]
fn an_address_is_a_name() {
    agree(|| all(["127.0.0.1", "::1"]));
}

#[test]
fn an_unknown_name() {
    agree(|| all(["no-such-host.invalid", "no_such_host.invalid"]));
}

#[test]
fn a_name_that_cannot_be_one() {
    agree(|| all(["", "a\0b"]));
}

#[test]
fn an_address_is_not_looked_up() {
    agree(|| {
        fiber! {
            let! found = resolve("10.1.2.3", 7);
            found.iter().map(SocketAddr::to_string).collect::<Seen>()
        }
    });
}
