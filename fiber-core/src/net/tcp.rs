//! TCP connections.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::ops::Deref;
use std::time::Duration;

use super::operation::name;
use super::split::{ReadHalf, WriteHalf};
use super::stream::ByteStream;
use crate::engine::context::Cx;
use crate::engine::network::{StreamOption, StreamSocket};
use crate::error::Site;

/// A TCP connection: a [`ByteStream`] with addresses. Its clones share the connection, which is closed when the last of
/// them is dropped. Both directions may be used at the same time.
///
/// Buffers are passed by value, and returned with the result: `stream.read(buffer)` gives `(n, buffer)`.
///
/// ```
/// use fiber_core::net::{Part, TcpListener, TcpStream};
/// use fiber_core::{Fiber, fiber};
///
/// /// Sends back what comes, until the other end has sent all.
/// fn echo(stream: TcpStream) -> Fiber<()> {
///     fiber! {
///         let mut buffer = vec![0; 1024];
///         loop {
///             let! (n, read) = stream.read(buffer);
///             if n == 0 { break }
///             let! part = stream.write_all(Part::new(read, n));
///             buffer = part.into_buffer();
///         }
///     }
/// }
///
/// let fiber = fiber! {
///     let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
///     let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
///     let answers = client.clone();
///     let asks = fiber! {
///         do! client.write_all("ping");
///         client.shutdown(std::net::Shutdown::Write)?;
///     };
///     let! () = echo(server) and! () = asks and! answer = answers.buffered().rest();
///     assert_eq!(answer, b"ping");
/// };
/// assert!(fiber_sched::run(fiber).is_success());
/// ```
#[derive(Clone)]
pub struct TcpStream(ByteStream);

impl TcpStream {
    pub(super) fn new(socket: Box<dyn StreamSocket>, site: Site) -> Self {
        TcpStream(ByteStream::new(socket, "TcpStream", site))
    }

    /// Names it in reports by its addresses.
    pub(super) fn name(&self, cx: &Cx<'_>) {
        let name_of = || Ok(format!("{} -> {}", self.local_addr()?, self.peer_addr()?));
        name(cx, self.subject(), name_of);
    }

    /// The local address.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let fiber = fiber! {
    /// let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// let! client = TcpStream::connect(listener.local_addr()?) and! (server, from) = listener.accept();
    /// assert_eq!(client.local_addr()?, from);
    /// assert_eq!(client.peer_addr()?, server.local_addr()?);
    /// # };
    /// # assert!(fiber_sched::run(fiber).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket().local_addr()
    }

    /// The address of the peer: see [`local_addr`](TcpStream::local_addr).
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// assert_eq!(client.peer_addr()?, listener.local_addr()?);
    /// # drop(server);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// The connection has ended.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.socket().peer_addr()
    }

    /// Whether small writes are sent at once (`TCP_NODELAY`), instead of with the next one (Nagle's algorithm), which is
    /// the default of most systems.
    ///
    /// ```
    /// use fiber_core::net::TcpStream;
    /// use std::time::Duration;
    /// let connect = TcpStream::connect(([127, 0, 0, 1], 80)).try_map(|stream| {
    ///     stream.set_nodelay(true)?;
    ///     stream.set_ttl(8)?;
    ///     stream.set_linger(Some(Duration::from_secs(1))).map(|()| stream)
    /// });
    /// ```
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn set_nodelay(&self, is_on: bool) -> io::Result<()> {
        self.socket().set_option(StreamOption::NoDelay(is_on))
    }

    /// The time to live of its packets, in hops: see [`set_nodelay`](TcpStream::set_nodelay).
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn set_ttl(&self, hops: u32) -> io::Result<()> {
        self.socket().set_option(StreamOption::TimeToLive(hops))
    }

    /// The effect of the close on data that was not sent yet: see [`set_nodelay`](TcpStream::set_nodelay). `None`, the
    /// default: the system goes on sending. Zero: the close resets the connection. Any other time is the same as `None`, because no close
    /// waits; to know that the peer has got everything, await its answer, or its end.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn set_linger(&self, time: Option<Duration>) -> io::Result<()> {
        self.socket().set_option(StreamOption::Linger(time))
    }

    /// The two directions, for fibers that own one each: see [`ByteStream::split`].
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let (reads, writes) = client.split();
    /// drop(writes);
    /// let! all = server.buffered().rest();
    /// assert_eq!(all, b"");
    /// # drop(reads);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    pub fn split(self) -> (ReadHalf, WriteHalf) {
        self.0.split()
    }
}

impl Deref for TcpStream {
    type Target = ByteStream;

    fn deref(&self) -> &ByteStream {
        &self.0
    }
}

impl From<TcpStream> for ByteStream {
    fn from(stream: TcpStream) -> Self {
        stream.0
    }
}

impl fmt::Debug for TcpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ends = (self.local_addr().ok(), self.peer_addr().ok());
        f.debug_tuple("TcpStream").field(&ends.0).field(&ends.1).finish()
    }
}
