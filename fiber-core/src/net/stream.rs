//! TCP connections.

use std::fmt;
use std::io;
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::buf_reader::BufReader;
use super::buf_writer::BufWriter;
use super::operation::name;
use crate::engine::context::Cx;
use crate::engine::network::{Readiness, StreamOption, StreamSocket};
use crate::engine::subject::Subject;
use crate::error::Site;

/// A TCP connection. Its clones share the connection, which is closed with the last of them. Both directions may be used
/// at the same time.
///
/// Buffers go in by value, and come back with the result: `stream.read(buffer)` gives `(n, buffer)`.
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
pub struct TcpStream(Arc<Connection>);

struct Connection {
    socket: Box<dyn StreamSocket>,
    subject: Subject,
    torn: Mutex<Option<TornWrite>>,
}

/// A `write_all` that has written a part only, because it was cancelled or has failed: see [`TcpStream::torn_write`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TornWrite {
    /// How many bytes were written.
    pub written: usize,
    /// Of how many.
    pub of: usize,
}

impl TcpStream {
    pub(super) fn new(socket: Box<dyn StreamSocket>, site: Site) -> Self {
        let subject = Subject::new("TcpStream", site);
        TcpStream(Arc::new(Connection { socket, subject, torn: Mutex::new(None) }))
    }

    /// Names it in reports by its addresses.
    pub(super) fn name(&self, cx: &Cx<'_>) {
        let name_of = || Ok(format!("{} -> {}", self.local_addr()?, self.peer_addr()?));
        name(cx, &self.0.subject, name_of);
    }

    pub(super) fn socket(&self) -> &dyn StreamSocket {
        &*self.0.socket
    }

    pub(super) fn subject(&self) -> &Subject {
        &self.0.subject
    }

    pub(super) fn reading(&self) -> &Readiness {
        self.socket().readable()
    }

    pub(super) fn writing(&self) -> &Readiness {
        self.socket().writable()
    }

    /// The first one stays: what follows it is of no use to the other end.
    pub(super) fn tear(&self, torn: TornWrite) {
        self.0.torn.lock().get_or_insert(torn);
    }

    /// The first write that has written a part only: the other end has the beginning of something, and may wait for its
    /// end. Whoever goes on to write has to know.
    ///
    /// Only a [`write_all`](TcpStream::write_all) can be torn. A [`BufWriter`] keeps what it has not written, and goes on
    /// with that.
    pub fn torn_write(&self) -> Option<TornWrite> {
        *self.0.torn.lock()
    }

    /// The address of this end.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket().local_addr()
    }

    /// The address of the other end.
    ///
    /// # Errors
    /// The connection has ended.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.socket().peer_addr()
    }

    /// Closes one direction, or both, for all clones. After `Write`, the other end reads what was written, and then the
    /// end of the stream.
    ///
    /// # Errors
    /// The connection has ended.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.socket().shutdown(how)
    }

    /// Whether small writes are sent at once (`TCP_NODELAY`), instead of with the next one (Nagle's algorithm), which is
    /// the default of most systems.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn set_nodelay(&self, is_on: bool) -> io::Result<()> {
        self.socket().set_option(StreamOption::NoDelay(is_on))
    }

    /// The time to live of its packets, in hops.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn set_ttl(&self, hops: u32) -> io::Result<()> {
        self.socket().set_option(StreamOption::TimeToLive(hops))
    }

    /// What the close does with data that was not sent yet. `None`, the default: the system goes on sending. Zero: the
    /// close resets the connection.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn set_linger(&self, time: Option<Duration>) -> io::Result<()> {
        self.socket().set_option(StreamOption::Linger(time))
    }

    /// A reader with a buffer, for lines and messages.
    pub fn buffered(&self) -> BufReader {
        BufReader::new(self.clone())
    }

    /// A writer with a buffer, for many small writes.
    pub fn buffered_writer(&self) -> BufWriter {
        BufWriter::new(self.clone())
    }
}

impl fmt::Debug for TcpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ends = (self.local_addr().ok(), self.peer_addr().ok());
        f.debug_tuple("TcpStream").field(&ends.0).field(&ends.1).finish()
    }
}

impl fmt::Display for TornWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} bytes were written", self.written, self.of)
    }
}
