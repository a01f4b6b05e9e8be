//! Sockets at which TCP connections arrive.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::panic::Location;
use std::sync::Arc;

use super::address::Addresses;
use super::operation::{Operation, SocketWait, name, network};
use super::tcp::TcpStream;
use crate::engine::context::{Cx, WaitsFor};
use crate::engine::network::{Attempted, ListenerSocket, Readiness};
use crate::engine::subject::Subject;
use crate::error::{Error, Site};
use crate::fiber::Fiber;
use crate::leaf::Leaf;
use crate::outcome::Outcome;

/// A TCP socket at which connections arrive. Its clones share the socket, which is closed with the last of them.
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
    /// # Errors
    /// Those of the last address that was tried.
    #[track_caller]
    pub fn bind(at: impl Addresses) -> Fiber<TcpListener, Leaf<SocketWait<Bind>>> {
        let site = Location::caller();
        SocketWait::fiber(Bind { addresses: at.addresses(), site }, site)
    }

    /// Waits for the next connection. Gives it, and where it comes from.
    ///
    /// Several fibers may wait at the same time; each connection goes to one of them.
    ///
    /// # Errors
    /// Those of the operating system. If it has no descriptor left, the connection stays where it is, and the next call
    /// fails again: wait a moment, as [`serve`](TcpListener::serve) does.
    ///
    /// # Cancellation
    /// A cancelled fiber has taken no connection.
    #[track_caller]
    pub fn accept(&self) -> Fiber<(TcpStream, SocketAddr), Leaf<SocketWait<Accept>>> {
        let site = Location::caller();
        SocketWait::fiber(Accept { listener: self.clone(), site }, site)
    }

    /// The address at which it listens.
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

/// The operation of [`TcpListener::bind`].
#[derive(Clone, Debug)]
pub struct Bind {
    addresses: Vec<SocketAddr>,
    site: Site,
}

impl Bind {
    fn bind(&self, cx: &Cx<'_>) -> Result<TcpListener, Error> {
        let network = network(cx)?;
        let mut last =
            Error::from(io::Error::new(io::ErrorKind::InvalidInput, "there is no address to listen at"));
        for at in &self.addresses {
            match network.listen(*at) {
                Ok(socket) => {
                    let subject = Subject::new("TcpListener", self.site);
                    name(cx, &subject, || Ok(socket.local_addr()?.to_string()));
                    return Ok(TcpListener(Arc::new(Listening { socket, subject })));
                }
                Err(error) => last = Error::from(error).context(format!("listening at {at}")),
            }
        }
        Err(last)
    }
}

impl Operation for Bind {
    type Out = TcpListener;
    const WAITS_FOR: WaitsFor = WaitsFor::Nothing;

    fn attempt(&mut self, cx: &Cx<'_>) -> Option<Outcome<TcpListener>> {
        Some(self.bind(cx).into())
    }

    fn readiness(&self) -> Option<&Readiness> {
        None
    }

    fn subject(&self) -> Option<&Subject> {
        None
    }
}

/// The operation of [`TcpListener::accept`].
#[derive(Clone, Debug)]
pub struct Accept {
    listener: TcpListener,
    site: Site,
}

impl Operation for Accept {
    type Out = (TcpStream, SocketAddr);
    const WAITS_FOR: WaitsFor = WaitsFor::Connection;

    fn attempt(&mut self, cx: &Cx<'_>) -> Option<Outcome<Self::Out>> {
        let socket = &*self.listener.0.socket;
        let accepted = socket.readable().attempt(|| socket.try_accept().map(Attempted::Done))?;
        let stream = accepted.map(|(stream, from)| {
            let stream = TcpStream::new(stream, self.site);
            stream.name(cx);
            (stream, from)
        });
        Some(stream.into())
    }

    fn readiness(&self) -> Option<&Readiness> {
        Some(self.listener.0.socket.readable())
    }

    fn subject(&self) -> Option<&Subject> {
        Some(&self.listener.0.subject)
    }
}
