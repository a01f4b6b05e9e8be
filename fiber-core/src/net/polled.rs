//! A stream that is polled, as those of futures are, as a [`ByteStream`].
//!
//! A polled stream remembers a waker for each direction at most, and may need both directions for one: a TLS stream writes
//! while it reads. So all its wakers are one, which tells both directions of an event; whoever waits polls again.

use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use parking_lot::{Mutex, MutexGuard};

use super::stream::ByteStream;
use crate::engine::network::{Readiness, Socket, StreamSocket};

/// A stream of bytes that is polled, by the rules of the I/O traits of `futures` and tokio: `Pending` has moved nothing, and
/// the last waker is woken when another poll is worth it. [`ByteStream::polled`] makes it a stream for fibers.
///
/// What implements the traits of `futures` or tokio needs no implementation of this one: see `ByteStream::from_futures_io`
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
    /// Reads. 0: nothing more comes.
    ///
    /// # Errors
    /// The stream has failed.
    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>>;

    /// Takes bytes to be written, and tells how many.
    ///
    /// # Errors
    /// The stream has failed.
    fn poll_write(&mut self, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>>;

    /// Takes bytes of several slices, one after the other.
    ///
    /// # Errors
    /// The stream has failed.
    fn poll_write_vectored(&mut self, cx: &mut Context<'_>, from: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let first = from.iter().find(|slice| !slice.is_empty());
        first.map_or(Poll::Ready(Ok(0)), |slice| self.poll_write(cx, slice))
    }

    /// Sends what was taken.
    ///
    /// # Errors
    /// The stream has failed.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Sends what was taken, and that nothing follows.
    ///
    /// # Errors
    /// The stream has failed.
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
}

impl ByteStream {
    /// A stream that is polled, for fibers: lines, messages, [`copy`](super::copy) and whatever takes a `ByteStream` work on
    /// it. The opposite of [`asynchronous`](ByteStream::asynchronous).
    ///
    /// What is written is flushed. If the stream cannot send at once, [`write_all`](ByteStream::write_all) waits until it has;
    /// after a [`write`](ByteStream::write), the next operation goes on with it, whichever it is, or
    /// [`flush`](ByteStream::flush). [`close`](ByteStream::close) sends the end; a stream that is only dropped may not have
    /// sent it.
    ///
    /// An example is that of [`PolledStream`].
    ///
    /// # Cancellation
    /// As with any other stream: it is polled in the turn of the fiber that goes on with what it gives, so a cancelled read has
    /// taken nothing.
    #[track_caller]
    pub fn polled(stream: impl PolledStream) -> ByteStream {
        ByteStream::new(Box::new(Polled::new(stream)), "Polled stream", Location::caller())
    }
}

/// How much is read ahead to find out whether there is anything.
const AHEAD: usize = 1024;

struct Polled<S> {
    inner: Mutex<Inner<S>>,
    waits: Arc<Waits>,
}

struct Inner<S> {
    stream: S,
    waker: Waker,
    /// What was read ahead and not taken.
    ahead: Vec<u8>,
    /// What reading ahead has given instead.
    failed: Option<io::Error>,
    /// Whether it may have taken bytes that are not sent.
    holds_back: bool,
    /// Nobody here reads any more.
    is_read_closed: bool,
}

/// Who waits. The stream has it as its waker.
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
        if self.holds_back {
            self.poll(|stream, cx| stream.poll_flush(cx))?;
            self.holds_back = false;
        }
        Ok(())
    }

    fn write(
        &mut self,
        write: impl FnOnce(&mut S, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> io::Result<usize> {
        // First what is owed, so that it holds back no more than one write.
        self.flush()?;
        let n = self.poll(write)?;
        self.holds_back = true;
        // The next operation goes on with it, or fails.
        _ = self.flush();
        Ok(n)
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // The answer may depend on what was not sent yet. If that fails, so will the next write.
        _ = self.flush();
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
        Ok(())
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
        self.inner().close()
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
