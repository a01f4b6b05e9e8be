//! A polled stream, as futures use it, as a [`ByteStream`].
//!
//! A polled stream stores at most one waker for each direction, and may need both directions for one: a TLS stream writes
//! while it reads. So all its wakers are the same one, which reports an event to both directions; each waiter then
//! polls again.

use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use parking_lot::{Mutex, MutexGuard};

use super::stream::ByteStream;
use crate::engine::network::{Readiness, Socket, StreamSocket};

/// A stream of bytes that is polled, by the rules of the I/O traits of `futures` and tokio: `Pending` means that no
/// byte was moved, and the last waker is woken when another poll may succeed. [`ByteStream::polled`] makes it a stream
/// for fibers.
///
/// A type with the traits of `futures` or tokio needs no implementation of this one: see `ByteStream::from_futures_io`
/// and `ByteStream::from_tokio_io`, with the features `futures-io` and `tokio-io`.
///
/// ```
/// use fiber_core::net::{ByteStream, PolledStream};
/// use std::io;
/// use std::task::{Context, Poll};
///
/// /// Gives back what is written to it, from the first byte to the last.
/// #[derive(Default)]
/// struct Loop { bytes: std::collections::VecDeque<u8>, is_closed: bool, reader: Option<std::task::Waker> }
///
/// impl PolledStream for Loop {
///     fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
///         if self.bytes.is_empty() && !self.is_closed {
///             self.reader = Some(cx.waker().clone());
///             return Poll::Pending;
///         }
///         Poll::Ready(io::Read::read(&mut self.bytes, into))
///     }
///     fn poll_write(&mut self, _: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
///         self.bytes.extend(from);
///         self.reader.take().into_iter().for_each(|reader| reader.wake());
///         Poll::Ready(Ok(from.len()))
///     }
///     fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
///         Poll::Ready(Ok(()))
///     }
///     fn poll_close(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
///         self.is_closed = true;
///         self.reader.take().into_iter().for_each(|reader| reader.wake());
///         Poll::Ready(Ok(()))
///     }
/// }
///
/// let stream = ByteStream::polled(Loop::default());
/// let writes = stream.write_all("one\ntwo\n").map(drop);
/// let line = fiber_sched::run(stream.buffered().line().zip(writes)).unwrap().0;
/// assert_eq!(line.as_deref(), Some("one"));
/// ```
pub trait PolledStream: Send + 'static {
    /// Reads. 0 bytes: the stream has ended.
    ///
    /// # Errors
    /// The stream has failed.
    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>>;

    /// Accepts bytes to be written, and returns their number.
    ///
    /// # Errors
    /// The stream has failed.
    fn poll_write(&mut self, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>>;

    /// Accepts bytes of several slices, one after the other.
    ///
    /// # Errors
    /// The stream has failed.
    fn poll_write_vectored(&mut self, cx: &mut Context<'_>, from: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let first = from.iter().find(|slice| !slice.is_empty());
        first.map_or(Poll::Ready(Ok(0)), |slice| self.poll_write(cx, slice))
    }

    /// Sends the accepted bytes.
    ///
    /// # Errors
    /// The stream has failed.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Sends the accepted bytes, and then the end of the stream.
    ///
    /// # Errors
    /// The stream has failed.
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
}

impl ByteStream {
    /// A polled stream, for fibers: lines, messages, [`copy`](super::copy) and every function that takes a `ByteStream`
    /// work on it. The opposite of [`asynchronous`](ByteStream::asynchronous).
    ///
    /// Written bytes are flushed. If the stream cannot send at once, [`write_all`](ByteStream::write_all) waits until it has;
    /// after a [`write`](ByteStream::write), the next operation, whichever it is, continues to flush, or
    /// [`flush`](ByteStream::flush) does. [`close`](ByteStream::close) sends the end; a stream that is only dropped may not
    /// have sent it.
    ///
    /// [`PolledStream`] has an example.
    ///
    /// # Cancellation
    /// As with any other stream: it is polled in the turn of the fiber that continues with the result, so a cancelled
    /// read has taken nothing.
    #[track_caller]
    pub fn polled(stream: impl PolledStream) -> ByteStream {
        ByteStream::new(Box::new(Polled::new(stream)), "Polled stream", Location::caller())
    }
}

/// The number of bytes read ahead to find out whether the stream is readable.
const AHEAD: usize = 1024;

struct Polled<S> {
    inner: Mutex<Inner<S>>,
    waits: Arc<Waits>,
}

struct Inner<S> {
    stream: S,
    waker: Waker,
    /// Bytes that were read ahead and not taken.
    ahead: Vec<u8>,
    /// The error that reading ahead returned instead.
    failed: Option<io::Error>,
    /// Whether it may have accepted bytes that are not sent.
    holds_back: bool,
    /// The error that sending them returned to an operation that gives something else. A stream may report it once.
    unsent: Option<io::Error>,
    /// Reading was shut down on this side.
    is_read_closed: bool,
}

/// The waiters of both directions. The stream has this as its waker.
#[derive(Default)]
struct Waits {
    readable: Readiness,
    writable: Readiness,
}

impl Waits {
    fn event(&self) {
        let (readers, writers) = (self.readable.event(false), self.writable.event(false));
        readers.fire();
        writers.fire();
    }
}

impl Wake for Waits {
    fn wake(self: Arc<Self>) {
        self.event();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.event();
    }
}

impl<S: PolledStream> Polled<S> {
    fn new(stream: S) -> Self {
        let waits = Arc::new(Waits::default());
        let waker = Waker::from(waits.clone());
        let inner = Inner {
            stream,
            waker,
            ahead: Vec::new(),
            failed: None,
            holds_back: false,
            unsent: None,
            is_read_closed: false,
        };
        Polled { inner: Mutex::new(inner), waits }
    }

    fn inner(&self) -> MutexGuard<'_, Inner<S>> {
        self.inner.lock()
    }
}

impl<S: PolledStream> Inner<S> {
    fn poll<T>(
        &mut self,
        poll: impl FnOnce(&mut S, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> io::Result<T> {
        match poll(&mut self.stream, &mut Context::from_waker(&self.waker)) {
            Poll::Ready(result) => result,
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(error) = self.unsent.take() {
            return Err(error);
        }
        if self.holds_back {
            self.poll(|stream, cx| stream.poll_flush(cx))?;
            self.holds_back = false;
        }
        Ok(())
    }

    /// Flushes for an operation that gives something else. The next write, flush or close fails if this does.
    fn flush_besides(&mut self) {
        if self.unsent.is_none()
            && let Err(error) = self.flush()
            && error.kind() != io::ErrorKind::WouldBlock
        {
            self.unsent = Some(error);
        }
    }

    fn write(
        &mut self,
        write: impl FnOnce(&mut S, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> io::Result<usize> {
        // Flushes first, so that the stream buffers no more than one write.
        self.flush()?;
        let n = self.poll(write)?;
        self.holds_back = true;
        self.flush_besides();
        Ok(n)
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // The answer may depend on bytes that were not sent yet.
        self.flush_besides();
        if self.is_read_closed {
            return Ok(0);
        }
        self.poll(|stream, cx| stream.poll_read(cx, into))
    }

    fn read_ahead(&mut self) -> io::Result<()> {
        if !self.ahead.is_empty() || self.failed.is_some() {
            return Ok(());
        }
        let mut ahead = vec![0; AHEAD];
        match self.read(&mut ahead) {
            Ok(n) => {
                ahead.truncate(n);
                self.ahead = ahead;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(error),
            Err(error) => self.failed = Some(error),
        }
        Ok(())
    }

    fn take_ahead(&mut self, into: &mut [u8]) -> usize {
        let n = into.len().min(self.ahead.len());
        into[..n].copy_from_slice(&self.ahead[..n]);
        self.ahead.drain(..n);
        n
    }

    fn close(&mut self) -> io::Result<()> {
        self.poll(|stream, cx| stream.poll_close(cx))?;
        self.holds_back = false;
        self.unsent.take().map_or(Ok(()), Err)
    }
}

impl<S: PolledStream> Socket for Polled<S> {
    fn readable(&self) -> &Readiness {
        &self.waits.readable
    }

    fn writable(&self) -> &Readiness {
        &self.waits.writable
    }
}

impl<S: PolledStream> StreamSocket for Polled<S> {
    fn connected(&self) -> io::Result<()> {
        Ok(())
    }

    fn try_read(&self, into: &mut [u8]) -> io::Result<usize> {
        let mut inner = self.inner();
        if let Some(error) = inner.failed.take() {
            return Err(error);
        }
        if inner.ahead.is_empty() { inner.read(into) } else { Ok(inner.take_ahead(into)) }
    }

    fn try_peek(&self) -> io::Result<()> {
        self.inner().read_ahead()
    }

    fn try_write(&self, from: &[u8]) -> io::Result<usize> {
        self.inner().write(|stream, cx| stream.poll_write(cx, from))
    }

    fn try_write_vectored(&self, from: &[IoSlice<'_>]) -> io::Result<usize> {
        self.inner().write(|stream, cx| stream.poll_write_vectored(cx, from))
    }

    fn try_flush(&self) -> io::Result<()> {
        self.inner().flush()
    }

    fn try_close(&self) -> io::Result<()> {
        self.inner().close()?;
        // A writer that waits for room learns of it, as at a socket: the stream may tell its reader only.
        self.waits.writable.event(true).fire();
        Ok(())
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        if matches!(how, Shutdown::Read | Shutdown::Both) {
            let mut inner = self.inner();
            inner.is_read_closed = true;
            inner.ahead.clear();
            drop(inner);
            self.waits.readable.event(true).fire();
        }
        if matches!(how, Shutdown::Write | Shutdown::Both) { self.try_close() } else { Ok(()) }
    }
}
