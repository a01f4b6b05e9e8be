//! Establishing connections.

use std::io;
use std::net::SocketAddr;
use std::panic::Location;
use std::vec;

use super::address::Addresses;
use super::operation::{Operation, SocketWait, network};
use super::tcp::TcpStream;
use crate::engine::context::{Cx, WaitsFor};
use crate::engine::network::{Attempted, Readiness};
use crate::engine::subject::Subject;
use crate::error::{Error, Site};
use crate::fiber::Fiber;
use crate::leaf::Leaf;
use crate::outcome::Outcome;

impl TcpStream {
    /// Connects to an address, or to the first of several that works. Limit the time with
    /// [`timeout`](Fiber::timeout): otherwise, a host that does not answer costs minutes. For a name, see
    /// [`resolve`](super::resolve).
    ///
    /// ```
    /// use fiber_core::net::TcpStream;
    /// use std::io::{Error, ErrorKind};
    /// // Nobody listens at port 1.
    /// let error = fiber_sched::run(TcpStream::connect(([127, 0, 0, 1], 1))).failure().unwrap();
    /// assert_eq!(error.downcast_ref::<Error>().unwrap().kind(), ErrorKind::ConnectionRefused);
    /// assert!(error.to_string().starts_with("connecting to 127.0.0.1:1: "));
    /// ```
    ///
    /// # Errors
    /// That of the last address; those of the others are [suppressed](Error::suppressed) in it.
    ///
    /// # Cancellation
    /// The attempt is aborted. The peer may see a connection that is closed at once.
    #[track_caller]
    pub fn connect(to: impl Addresses) -> Fiber<TcpStream, Leaf<SocketWait<Connect>>> {
        let site = Location::caller();
        let connect = Connect { left: to.addresses().into_iter(), current: None, failures: Vec::new(), site };
        SocketWait::fiber(connect, site)
    }
}

/// The operation of [`TcpStream::connect`].
#[derive(Debug)]
pub struct Connect {
    left: vec::IntoIter<SocketAddr>,
    current: Option<(SocketAddr, TcpStream)>,
    failures: Vec<Error>,
    site: Site,
}

/// A clone starts with the first address that was not tried.
impl Clone for Connect {
    fn clone(&self) -> Self {
        Connect { left: self.left.clone(), current: None, failures: Vec::new(), site: self.site }
    }
}

impl Connect {
    /// Whether the started connection is established.
    fn look(stream: &TcpStream) -> Option<io::Result<()>> {
        stream.writing().attempt(|| stream.socket().connected().map(Attempted::Done))
    }

    fn begin(&self, cx: &Cx<'_>, to: SocketAddr) -> io::Result<TcpStream> {
        let stream = TcpStream::new(network(cx)?.connect(to)?, self.site);
        // Reports use this name while it is not connected, and afterwards.
        super::operation::name(cx, stream.subject(), || Ok(format!("{} -> {to}", stream.local_addr()?)));
        Ok(stream)
    }

    fn failed(&mut self, to: SocketAddr, error: io::Error) {
        self.failures.push(Error::from(error).context(format!("connecting to {to}")));
    }

    fn failure(&mut self) -> Error {
        let no_address =
            || Error::from(io::Error::new(io::ErrorKind::InvalidInput, "there is no address to connect to"));
        let mut last = self.failures.pop().unwrap_or_else(no_address);
        self.failures.drain(..).for_each(|earlier| last.suppress(earlier));
        last
    }
}

impl Operation for Connect {
    type Out = TcpStream;
    const WAITS_FOR: WaitsFor = WaitsFor::Connection;

    fn operator(&self) -> &'static str {
        "connect"
    }

    fn attempt(&mut self, cx: &Cx<'_>) -> Option<Outcome<TcpStream>> {
        loop {
            if let Some((to, stream)) = self.current.take() {
                match Self::look(&stream) {
                    Some(Ok(())) => return Some(Outcome::Success(stream)),
                    Some(Err(error)) => self.failed(to, error),
                    None => {
                        self.current = Some((to, stream));
                        return None;
                    }
                }
            }
            let Some(to) = self.left.next() else { return Some(Outcome::Failure(self.failure())) };
            match self.begin(cx, to) {
                Ok(stream) => self.current = Some((to, stream)),
                Err(error) => self.failed(to, error),
            }
        }
    }

    fn readiness(&self) -> Option<&Readiness> {
        self.current.as_ref().map(|(_, stream)| stream.writing())
    }

    fn subject(&self) -> Option<&Subject> {
        self.current.as_ref().map(|(_, stream)| stream.subject())
    }
}
