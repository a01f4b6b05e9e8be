//! The targets of a connection: addresses, and names of hosts.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::panic::Location;

use super::operation::none;
use crate::engine::context::Context;
use crate::error::Error;
use crate::fiber::Fiber;

/// One address, or several, of which the first one that works is used. For the name of a host, see [`resolve`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an address",
    label = "expected a `SocketAddr`, an IP address with its port, or several `SocketAddr`s",
    note = "a name is resolved first: `resolve(\"example.org\", 80).bind(TcpStream::connect)`",
    note = "a text is parsed: `\"127.0.0.1:80\".parse::<SocketAddr>()?`"
)]
pub trait Addresses {
    /// All addresses, in the order in which they are tried.
    fn addresses(self) -> Vec<SocketAddr>;
}

macro_rules! one_address {
    ($($one:ty),*) => {
        $(impl Addresses for $one {
            fn addresses(self) -> Vec<SocketAddr> {
                vec![self.into()]
            }
        })*
    };
}
one_address!(SocketAddr, SocketAddrV4, SocketAddrV6, (IpAddr, u16), (Ipv4Addr, u16), (Ipv6Addr, u16));

impl Addresses for ([u8; 4], u16) {
    fn addresses(self) -> Vec<SocketAddr> {
        vec![self.into()]
    }
}

impl Addresses for Vec<SocketAddr> {
    fn addresses(self) -> Vec<SocketAddr> {
        self
    }
}

impl Addresses for &[SocketAddr] {
    fn addresses(self) -> Vec<SocketAddr> {
        self.to_vec()
    }
}

/// Resolves the name of a host to its addresses, on a thread that may block. A name that is an address needs no look-up.
///
/// ```
/// use fiber_core::net::{TcpStream, resolve};
/// let address = fiber_sched::run(resolve("127.0.0.1", 80)).unwrap();
/// assert_eq!(address, ["127.0.0.1:80".parse().unwrap()]);
/// let fiber = resolve("localhost", 9).bind(TcpStream::connect);
/// ```
///
/// # Errors
/// There is no such host, or the look-up failed. The error names the host.
///
/// # Cancellation
/// The fiber ends at once. The look-up continues to its end on its thread.
#[track_caller]
pub fn resolve(host: impl Into<String>, port: u16) -> Fiber<Vec<SocketAddr>> {
    let (host, site) = (host.into(), Location::caller());
    if let Ok(address) = host.parse::<IpAddr>() {
        return Fiber::success(vec![(address, port).into()]).boxed();
    }
    let look_up = move |context: Context| {
        let resolve = move || {
            let network = context.scheduler().net().ok_or_else(none);
            let addresses = network.and_then(|network| network.resolve(&host, port));
            addresses.map_err(|error| Error::from(error).context(format!("resolving {host}")))
        };
        Fiber::try_blocking_at(site, resolve)
    };
    Fiber::current().bind(look_up).boxed()
}
