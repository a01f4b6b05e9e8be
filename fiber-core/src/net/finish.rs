//! Flushing a stream, and sending its end.

use std::io;
use std::panic::Location;

use super::operation::{Operation, SocketWait};
use super::stream::ByteStream;
use crate::engine::context::{Cx, WaitsFor};
use crate::engine::network::{Attempted, Readiness, StreamSocket};
use crate::engine::step::Run;
use crate::engine::subject::Subject;
use crate::fiber::Fiber;
use crate::outcome::Outcome;

impl ByteStream {
    /// Waits until the stream has sent the bytes that it has accepted.
    ///
    /// Only a [polled](ByteStream::polled) stream buffers anything, and only after [`write`](ByteStream::write) or
    /// [`write_vectored`](ByteStream::write_vectored): the other writes end when the bytes are sent. In all other
    /// cases, this has no effect.
    ///
    /// ```
    /// use fiber_core::net::ByteStream;
    /// use fiber_core::{Fiber, fiber};
    ///
    /// /// Works for TLS as for a bare connection.
    /// fn tells(stream: ByteStream) -> Fiber<()> {
    ///     fiber! {
    ///         let! (_n, _all) = stream.write("some of it");
    ///         do! stream.flush();
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// Those of [`write`](ByteStream::write).
    ///
    /// # Cancellation
    /// The next operation of the stream continues to flush.
    #[track_caller]
    pub fn flush(&self) -> Fiber<(), impl Run<Out = ()> + Clone + use<>> {
        SocketWait::fiber(Finish { stream: self.clone(), is_end: false }, Location::caller())
    }

    /// Flushes the stream, and then sends its end. Reading continues.
    ///
    /// For a socket, it is [`shutdown(Write)`](ByteStream::shutdown), which never waits; a stream that is
    /// [polled](ByteStream::polled) may have to send bytes.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// do! client.write_all("all");
    /// do! client.close();
    /// let! all = server.buffered().rest();
    /// assert_eq!(all, b"all");
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of [`write`](ByteStream::write).
    ///
    /// # Cancellation
    /// The end may not have been sent. It can be called again.
    #[track_caller]
    pub fn close(&self) -> Fiber<(), impl Run<Out = ()> + Clone + use<>> {
        SocketWait::fiber(Finish { stream: self.clone(), is_end: true }, Location::caller())
    }
}

/// Flushes the stream. `None`: there is no room yet.
pub(super) fn flush(stream: &ByteStream) -> Option<io::Result<()>> {
    at_once_or_when_writable(stream, |socket| socket.try_flush())
}

/// `None`: there is no room yet. Sockets finish at once, even without room.
pub(super) fn at_once_or_when_writable(
    stream: &ByteStream,
    finish: impl Fn(&dyn StreamSocket) -> io::Result<()>,
) -> Option<io::Result<()>> {
    match finish(stream.socket()) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            stream.writing().attempt(|| finish(stream.socket()).map(Attempted::Done))
        }
        finished => Some(finished),
    }
}

/// The operation of [`ByteStream::flush`] and [`ByteStream::close`].
#[derive(Clone, Debug)]
pub(crate) struct Finish {
    stream: ByteStream,
    is_end: bool,
}

impl Operation for Finish {
    type Out = ();
    const WAITS_FOR: WaitsFor = WaitsFor::Sending;

    fn operator(&self) -> &'static str {
        if self.is_end { "close" } else { "flush" }
    }

    fn attempt(&mut self, _: &Cx<'_>) -> Option<Outcome<()>> {
        let stream = &self.stream;
        let closed = || at_once_or_when_writable(stream, |socket| socket.try_close());
        let finished = if self.is_end { closed() } else { flush(stream) };
        finished.map(Outcome::from)
    }

    fn readiness(&self) -> Option<&Readiness> {
        Some(self.stream.writing())
    }

    fn subject(&self) -> Option<&Subject> {
        Some(self.stream.subject())
    }
}
