//! Which socket hears what is sent to an address. Addresses of version 4 that are written as ones of version 6 are those of
//! version 4 here; only the sockets of version 6 see them that way.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

/// The sockets of one kind, by the host, the port and the address.
pub(super) type Sockets<T> = BTreeMap<Key, Arc<T>>;

pub(super) type Key = (usize, u16, IpAddr);

pub(super) fn key(host: usize, at: SocketAddr) -> Key {
    (host, at.port(), at.ip())
}

pub(super) fn loopback(like: IpAddr) -> IpAddr {
    if like.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() }
}

pub(super) fn unspecified(like: IpAddr) -> IpAddr {
    if like.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() }
}

pub(super) fn canonical(address: SocketAddr) -> SocketAddr {
    (address.ip().to_canonical(), address.port()).into()
}

/// The address that is meant by a destination: the unspecified one is this host.
pub(super) fn destination(to: SocketAddr) -> SocketAddr {
    let ip = to.ip().to_canonical();
    (if ip.is_unspecified() { loopback(ip) } else { ip }, to.port()).into()
}

/// An address as a socket sees it. `is_v6`: it is one of version 6.
pub(super) fn seen(address: SocketAddr, is_v6: bool) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if is_v6 => (ip.to_ipv6_mapped(), address.port()).into(),
        _ => address,
    }
}

/// Whether a socket at the address `at` hears what is sent to `to`. All addresses of version 6 include those of version 4.
fn covers(at: IpAddr, to: IpAddr) -> bool {
    at == to || at.is_unspecified() && (at.is_ipv6() || to.is_ipv4())
}

/// Whether a socket at the address `at` hears what is sent to `to`. No destination is unspecified: `to` is one address.
pub(super) fn is_heard(at: SocketAddr, to: SocketAddr) -> bool {
    at.port() == to.port() && covers(at.ip(), to.ip())
}

/// Whether there is an address that sockets at both of these would hear.
pub(super) fn overlap(one: IpAddr, other: IpAddr) -> bool {
    covers(one, other) || covers(other, one)
}

/// The socket of a host that hears what is sent to an address: the one at this very address, or one at all addresses.
pub(super) fn hears<T>(all: &Sockets<T>, host: usize, to: SocketAddr) -> Option<&Arc<T>> {
    let ips = [to.ip(), unspecified(to.ip()), Ipv6Addr::UNSPECIFIED.into()];
    ips.into_iter().find_map(|ip| all.get(&(host, to.port(), ip)))
}

/// The addresses of a host at which there is a socket of this port.
pub(super) fn of_port<T>(all: &Sockets<T>, host: usize, port: u16) -> impl Iterator<Item = IpAddr> {
    all.range((host, port, LEAST)..)
        .map(|(key, _)| *key)
        .take_while(move |key| (key.0, key.1) == (host, port))
        .map(|key| key.2)
}

/// The least of all addresses.
const LEAST: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

/// Removes a socket, unless another one has come in its place.
pub(super) fn take<T>(all: &mut Sockets<T>, key: Key, socket: &Arc<T>) -> Option<Arc<T>> {
    all.get(&key).filter(|one| Arc::ptr_eq(one, socket))?;
    all.remove(&key)
}

/// Whether a socket at an address would be in the way of one of these.
pub(super) fn is_taken<T>(all: &Sockets<T>, host: usize, at: SocketAddr) -> bool {
    of_port(all, host, at.port()).any(|other| overlap(other, at.ip()))
}

/// Removes the sockets of a host.
pub(super) fn take_all<T>(all: &mut Sockets<T>, host: usize) -> Vec<Arc<T>> {
    all.extract_if(.., |key, _| key.0 == host).map(|(_, socket)| socket).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_addresses_of_version_6_include_those_of_version_4() {
        let [v4, second, any_v4, v6, any_v6] =
            ["127.0.0.1", "127.0.0.2", "0.0.0.0", "::1", "::"].map(|text| text.parse().unwrap());
        assert!(overlap(any_v4, v4) && overlap(v4, any_v6) && overlap(any_v6, any_v4) && overlap(any_v6, v6));
        assert!(!overlap(v4, second) && !overlap(any_v4, v6) && !overlap(v4, v6));
    }
}
