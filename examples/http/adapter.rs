//! The runtime interface of hyper, implemented with fibers: bytes and time. No other runtime is needed.

use std::future::Future;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context as Polling, Poll, ready};
use std::time::{Duration, Instant};

use fiber_core::net::{AsyncStream, ByteStream};
use fiber_core::{CancelOnDrop, Context, Fiber};
use hyper::rt::{Read, ReadBufCursor, Sleep, Timer, Write};

/// Larger than most requests; larger ones take several reads.
const CHUNK: usize = 8 * 1024;

/// A stream for hyper. A write fails if the client takes nothing for a while: what waits for it is in memory.
pub(crate) struct Io {
    stream: AsyncStream,
    /// The parent of the fibers that sleep.
    context: Context,
    patience: Duration,
    /// Runs while a write waits.
    stalled: Option<CancelOnDrop<()>>,
    /// The buffer for reads, because hyper's own one is not initialized. It is allocated by the first read.
    chunk: Vec<u8>,
}

impl Io {
    pub(crate) fn new(stream: &ByteStream, context: Context, patience: Duration) -> Self {
        Io { stream: stream.asynchronous(), context, patience, stalled: None, chunk: Vec::new() }
    }

    /// A write, which fails when it has waited too long.
    fn in_time(&mut self, cx: &mut Polling<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let Io { context, patience, stalled, .. } = self;
        let sleep = stalled.get_or_insert_with(|| context.spawn(Fiber::delay(*patience)).cancel_on_drop());
        Pin::new(sleep).poll(cx).map(|_| Err(ErrorKind::TimedOut.into()))
    }
}

impl Read for Io {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Polling<'_>,
        mut into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let Io { stream, chunk, .. } = self.get_mut();
        chunk.resize(CHUNK, 0);
        let most = into.remaining().min(CHUNK);
        let n = ready!(stream.poll_read(cx, &mut chunk[..most]))?;
        into.put_slice(&chunk[..n]);
        Poll::Ready(Ok(()))
    }
}

impl Write for Io {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Polling<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        let io = self.get_mut();
        let written = io.stream.poll_write(cx, from);
        io.in_time(cx, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Polling<'_>,
        from: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let io = self.get_mut();
        let written = io.stream.poll_write_vectored(cx, from);
        io.in_time(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Polling<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Polling<'_>) -> Poll<io::Result<()>> {
        self.get_mut().stream.poll_shutdown(cx)
    }
}

/// hyper's clock: the time of the scheduler, so it is virtual in a test.
pub(crate) struct Clock {
    /// The parent of the fibers that sleep.
    context: Context,
    /// The start of the scheduler's time.
    epoch: Instant,
}

impl Clock {
    pub(crate) fn new(context: Context) -> Self {
        let passed = context.scheduler().now() - fiber_core::Instant::EPOCH;
        let now = Instant::now();
        Clock { context, epoch: now.checked_sub(passed).unwrap_or(now) }
    }
}

impl Timer for Clock {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(Slept(self.context.spawn(Fiber::delay(duration)).cancel_on_drop()))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        self.sleep(deadline.saturating_duration_since(self.now()))
    }

    fn now(&self) -> Instant {
        self.epoch + (self.context.scheduler().now() - fiber_core::Instant::EPOCH)
    }
}

/// A sleep, which is cancelled when hyper drops it.
struct Slept(CancelOnDrop<()>);

impl Future for Slept {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Polling<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(cx).map(drop)
    }
}

impl Sleep for Slept {}
