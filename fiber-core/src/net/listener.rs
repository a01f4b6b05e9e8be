//! Sockets that accept TCP connections.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::panic::Location;
use std::sync::Arc;

use super::accept::{Accept, Listens};
use super::address::Addresses;
use super::bind::{Bind, Bound};
use super::operation::{SocketWait, name};
use super::tcp::TcpStream;
use crate::engine::context::Cx;
use crate::engine::network::{ListenerSocket, Net, Readiness};
use crate::engine::step::Run;
use crate::engine::subject::Subject;
use crate::error::Site;
use crate::fiber::Fiber;
use crate::leaf::Leaf;

/// A TCP socket that accepts connections. Its clones share the socket, which is closed when the last of them is dropped.
///
/// ```
/// use fiber_core::fiber;
/// use fiber_core::net::{TcpListener, TcpStream};
///
/// let fiber = fiber! {
///     let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
///     let at = listener.local_addr()?;
///     let! stream = TcpStream::connect(at) and! (accepted, from) = listener.accept();
///     assert_eq!(stream.local_addr()?, from);
///     assert_eq!(accepted.local_addr()?, at);
/// };
/// assert!(fiber_sched::run(fiber).is_success());
/// ```
#[derive(Clone)]
pub struct TcpListener(Arc<Listening>);

struct Listening {
    socket: Box<dyn ListenerSocket>,
    subject: Subject,
}

impl TcpListener {
    /// Listens at an address, or at the first of several that is free. Port 0 stands for any free port.
    ///
    /// ```
    /// use fiber_core::net::TcpListener;
    /// let port = TcpListener::bind(([127, 0, 0, 1], 0)).try_map(|listener| listener.local_addr().map(|at| at.port()));
    /// assert_ne!(fiber_sched::run(port).unwrap(), 0);
    /// ```
    ///
    /// # Errors
    /// Those of the last address that was tried.
    #[track_caller]
    pub fn bind(at: impl Addresses) -> Fiber<TcpListener, Leaf<SocketWait<Bind<TcpListener>>>> {
        Bind::fiber(at.addresses(), Location::caller())
    }

    /// Waits for the next connection. Gives the connection and the address of the peer.
    ///
    /// Several fibers may wait at the same time; each connection goes to one of them.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// let! client = TcpStream::connect(listener.local_addr()?) and! (server, from) = listener.accept();
    /// assert_eq!(client.local_addr()?, from);
    /// # drop(server);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of the operating system. If no file descriptor is left, the connection stays in the queue, and the next call
    /// fails again: wait a moment, as [`serve`](TcpListener::serve) does.
    ///
    /// # Cancellation
    /// A cancelled fiber has taken no connection.
    #[track_caller]
    pub fn accept(
        &self,
    ) -> Fiber<(TcpStream, SocketAddr), impl Run<Out = (TcpStream, SocketAddr)> + Clone + use<>> {
        Accept::fiber(self, Location::caller())
    }

    /// The address at which it listens.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// let at = listener.local_addr()?;
    /// assert!(at.ip().is_loopback() && at.port() != 0);
    /// # drop(TcpStream::connect(at));
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.socket.local_addr()
    }
}

impl fmt::Debug for TcpListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TcpListener").field(&self.local_addr()).finish()
    }
}

impl Bound for TcpListener {
    const DOING: &'static str = "listening at";

    fn bind(cx: &Cx<'_>, network: &dyn Net, at: SocketAddr, site: Site) -> io::Result<Self> {
        let (socket, subject) = (network.listen(at)?, Subject::new("TcpListener", site));
        name(cx, &subject, || Ok(socket.local_addr()?.to_string()));
        Ok(TcpListener(Arc::new(Listening { socket, subject })))
    }
}

impl Listens for TcpListener {
    type Accepted = (TcpStream, SocketAddr);

    fn try_accept(&self, site: Site) -> io::Result<(TcpStream, SocketAddr)> {
        let (socket, from) = self.0.socket.try_accept()?;
        Ok((TcpStream::new(socket, site), from))
    }

    fn name(&self, (stream, _): &(TcpStream, SocketAddr), cx: &Cx<'_>) {
        stream.name(cx);
    }

    fn readable(&self) -> &Readiness {
        self.0.socket.readable()
    }

    fn subject(&self) -> &Subject {
        &self.0.subject
    }
}
