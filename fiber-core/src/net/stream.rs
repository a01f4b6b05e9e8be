//! Streams of bytes over any transport.

use std::fmt;
use std::io;
use std::net::Shutdown;
use std::panic::Location;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::engine::fate::{BYTE, dropped};
use crate::engine::network::{Readiness, StreamSocket};
use crate::engine::subject::Subject;
use crate::error::{Site, counted};
use crate::footprint::is_listening;

/// One end of a stream of bytes: the interface that all kinds of connections share. Functions that only read and write take
/// a `ByteStream`, and work with all of them.
///
/// Its clones share the stream, which is closed when the last of them is dropped. Both directions may be used at the
/// same time. Buffers are passed by value, and returned with the result: `stream.read(buffer)` gives `(n, buffer)`.
///
/// ```
/// use fiber_core::net::{ByteStream, TcpListener, TcpStream};
/// use fiber_core::{Fiber, fiber};
///
/// /// The first line that comes, by whatever it comes.
/// fn first_line(stream: &ByteStream) -> Fiber<Option<String>> {
///     stream.buffered().line().boxed()
/// }
///
/// let fiber = fiber! {
///     let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
///     let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
///     let! _ = client.write_all("hello\n") and! line = first_line(&server);
///     assert_eq!(line.as_deref(), Some("hello"));
/// };
/// assert!(fiber_sched::run(fiber).is_success());
/// ```
#[derive(Clone)]
pub struct ByteStream(Arc<Connection>);

struct Connection {
    socket: Box<dyn StreamSocket>,
    subject: Subject,
    torn: Mutex<Option<TornWrite>>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        if is_listening() {
            dropped(&self.subject, self.socket.unread(), BYTE, "unread, with the stream");
        }
    }
}

/// A `write_all` that wrote only a part, because it was cancelled or has failed: see [`ByteStream::torn_write`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TornWrite {
    /// The number of bytes written.
    pub written: usize,
    /// The length of the whole write.
    pub of: usize,
}

impl ByteStream {
    /// A stream over a socket of your own: see [`Net`](crate::scheduler::net::Net). Reports use `kind` as its name.
    ///
    /// ```
    /// use fiber_core::net::ByteStream;
    /// use fiber_core::scheduler::net::{Readiness, Socket, StreamSocket};
    /// use std::io;
    /// use std::net::Shutdown;
    ///
    /// /// Has no end.
    /// #[derive(Default)]
    /// struct Zeros { readable: Readiness, writable: Readiness }
    ///
    /// impl Socket for Zeros {
    ///     fn readable(&self) -> &Readiness { &self.readable }
    ///     fn writable(&self) -> &Readiness { &self.writable }
    /// }
    ///
    /// impl StreamSocket for Zeros {
    ///     fn connected(&self) -> io::Result<()> { Ok(()) }
    ///     fn try_read(&self, into: &mut [u8]) -> io::Result<usize> { into.fill(0); Ok(into.len()) }
    ///     fn try_peek(&self) -> io::Result<()> { Ok(()) }
    ///     fn try_write(&self, from: &[u8]) -> io::Result<usize> { Ok(from.len()) }
    ///     fn shutdown(&self, _: Shutdown) -> io::Result<()> { Ok(()) }
    /// }
    ///
    /// let zeros = ByteStream::of(Box::new(Zeros::default()), "Zeros");
    /// assert_eq!(fiber_sched::run(zeros.read_exact([7; 3])).unwrap(), [0, 0, 0]);
    /// ```
    #[track_caller]
    pub fn of(socket: Box<dyn StreamSocket>, kind: &'static str) -> Self {
        ByteStream::new(socket, kind, Location::caller())
    }

    pub(super) fn new(socket: Box<dyn StreamSocket>, kind: &'static str, site: Site) -> Self {
        let subject = Subject::new(kind, site);
        ByteStream(Arc::new(Connection { socket, subject, torn: Mutex::new(None) }))
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

    /// The first one is kept: anything written after it is useless to the peer.
    pub(super) fn tear(&self, torn: TornWrite) {
        self.0.torn.lock().get_or_insert(torn);
    }

    /// The first write of which only a part was written: the peer has the beginning of a message, and may wait for the
    /// rest. Check this before you write again.
    ///
    /// Only a [`write_all`](ByteStream::write_all) can be torn. A [`BufWriter`](super::BufWriter) keeps the bytes that it has not
    /// written, and continues with them.
    ///
    /// ```
    /// use fiber_core::net::ByteStream;
    /// use fiber_core::{Fiber, fiber};
    /// use std::time::Duration;
    ///
    /// /// Whether the stream may be used again.
    /// fn offers(stream: ByteStream, message: Vec<u8>) -> Fiber<bool> {
    ///     fiber! {
    ///         do! stream.write_all(message).timeout_option(Duration::from_secs(1));
    ///         stream.torn_write().is_none()
    ///     }
    /// }
    /// ```
    pub fn torn_write(&self) -> Option<TornWrite> {
        *self.0.torn.lock()
    }

    /// Closes one direction, or both, for all clones. After `Write`, the peer reads the bytes that were written, and then the
    /// end of the stream.
    ///
    /// ```
    /// use fiber_core::net::TcpStream;
    /// use fiber_core::{Fiber, fiber};
    /// use std::net::Shutdown;
    ///
    /// /// Asks, says that nothing follows, and reads the whole answer.
    /// fn asks(stream: TcpStream, question: &'static str) -> Fiber<Vec<u8>> {
    ///     fiber! {
    ///         do! stream.write_all(question);
    ///         stream.shutdown(Shutdown::Write)?;
    ///         return! stream.buffered().rest().boxed();
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// The connection has ended. `WouldBlock`: a stream that is [polled](ByteStream::polled) cannot send the end at once; see
    /// [`close`](ByteStream::close).
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.socket().shutdown(how)
    }
}

impl fmt::Debug for ByteStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ByteStream").field(&format_args!("{}", self.subject())).finish()
    }
}

impl fmt::Display for TornWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} written", self.written, counted(self.of, "byte"))
    }
}
