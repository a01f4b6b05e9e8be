//! Binding to an address.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::net::SocketAddr;

use super::operation::{Operation, SocketWait, network};
use crate::engine::context::{Cx, WaitsFor};
use crate::engine::network::{Net, Readiness};
use crate::engine::subject::Subject;
use crate::error::{Error, Site};
use crate::fiber::Fiber;
use crate::leaf::Leaf;
use crate::outcome::Outcome;

/// A socket that is bound to a local address.
pub trait Bound: Send + Sized + 'static {
    /// The beginning of the error context after a failed attempt.
    #[doc(hidden)]
    const DOING: &'static str;

    #[doc(hidden)]
    fn bind(cx: &Cx<'_>, network: &dyn Net, at: SocketAddr, site: Site) -> io::Result<Self>;
}

/// The operation of [`TcpListener::bind`](super::TcpListener::bind) and [`UdpSocket::bind`](super::UdpSocket::bind).
pub struct Bind<S> {
    addresses: Vec<SocketAddr>,
    site: Site,
    made: PhantomData<fn() -> S>,
}

impl<S: Bound> Bind<S> {
    pub(super) fn fiber(addresses: Vec<SocketAddr>, site: Site) -> Fiber<S, Leaf<SocketWait<Self>>> {
        SocketWait::fiber(Bind { addresses, site, made: PhantomData }, site)
    }

    /// Binds to the first address that is free.
    fn bind(&self, cx: &Cx<'_>) -> Result<S, Error> {
        let network = network(cx)?;
        let mut last =
            Error::from(io::Error::new(io::ErrorKind::InvalidInput, "there is no address to bind to"));
        for at in &self.addresses {
            match S::bind(cx, network, *at, self.site) {
                Ok(socket) => return Ok(socket),
                Err(error) => last = Error::from(error).context(format!("{} {at}", S::DOING)),
            }
        }
        Err(last)
    }
}

impl<S: Bound> Operation for Bind<S> {
    type Out = S;
    const WAITS_FOR: WaitsFor = WaitsFor::Nothing;

    fn operator(&self) -> &'static str {
        "bind"
    }

    fn attempt(&mut self, cx: &Cx<'_>) -> Option<Outcome<S>> {
        Some(self.bind(cx).into())
    }

    fn readiness(&self) -> Option<&Readiness> {
        None
    }

    fn subject(&self) -> Option<&Subject> {
        None
    }
}

impl<S> Clone for Bind<S> {
    fn clone(&self) -> Self {
        Bind { addresses: self.addresses.clone(), site: self.site, made: PhantomData }
    }
}

impl<S> fmt::Debug for Bind<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Bind").field(&self.addresses).finish()
    }
}
