//! Accepting the next connection.

use std::fmt;
use std::io;

use super::operation::{Operation, SocketWait};
use crate::engine::context::{Cx, WaitsFor};
use crate::engine::network::{Attempted, Readiness};
use crate::engine::subject::Subject;
use crate::error::Site;
use crate::fiber::Fiber;
use crate::leaf::Leaf;
use crate::outcome::Outcome;

/// A socket that accepts connections.
pub(crate) trait Listens: Clone + Send + Sync + 'static {
    /// A connection.
    type Accepted: Send + 'static;

    #[doc(hidden)]
    fn try_accept(&self, site: Site) -> io::Result<Self::Accepted>;

    /// Names the connection, if reports need the name.
    #[doc(hidden)]
    fn name(&self, accepted: &Self::Accepted, cx: &Cx<'_>);

    #[doc(hidden)]
    fn readable(&self) -> &Readiness;

    #[doc(hidden)]
    fn subject(&self) -> &Subject;
}

/// The operation of [`TcpListener::accept`](super::TcpListener::accept) and
/// [`UnixListener::accept`](super::UnixListener::accept).
#[derive(Clone)]
pub(crate) struct Accept<L> {
    listener: L,
    site: Site,
}

impl<L: Listens> Accept<L> {
    pub(super) fn fiber(listener: &L, site: Site) -> Fiber<L::Accepted, Leaf<SocketWait<Self>>> {
        SocketWait::fiber(Accept { listener: listener.clone(), site }, site)
    }
}

/// The next connection. `None`: there is none yet.
pub(super) fn try_accept<L: Listens>(listener: &L, site: Site) -> Option<io::Result<L::Accepted>> {
    listener.readable().attempt(|| listener.try_accept(site).map(Attempted::Done))
}

impl<L: Listens> Operation for Accept<L> {
    type Out = L::Accepted;
    const WAITS_FOR: WaitsFor = WaitsFor::Connection;

    fn operator(&self) -> &'static str {
        "accept"
    }

    fn attempt(&mut self, cx: &Cx<'_>) -> Option<Outcome<L::Accepted>> {
        let accepted = try_accept(&self.listener, self.site)?;
        Some(Outcome::from(accepted.inspect(|accepted| self.listener.name(accepted, cx))))
    }

    fn readiness(&self) -> Option<&Readiness> {
        Some(self.listener.readable())
    }

    fn subject(&self) -> Option<&Subject> {
        Some(self.listener.subject())
    }
}

impl<L: fmt::Debug> fmt::Debug for Accept<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Accept").field(&self.listener).finish()
    }
}
