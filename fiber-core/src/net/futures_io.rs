//! The I/O traits of `futures`, in both directions.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};

use super::asynchronous::AsyncStream;
use super::polled::PolledStream;
use super::stream::ByteStream;

impl AsyncRead for AsyncStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        self.get_mut().poll_read(cx, into)
    }
}

impl AsyncWrite for AsyncStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().poll_write(cx, from)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().poll_write_vectored(cx, from)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll_flush(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll_shutdown(cx)
    }
}

/// A stream of `futures`, which [`ByteStream::polled`] takes.
struct OfFutures<S>(S);

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> PolledStream for OfFutures<S> {
    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_read(cx, into)
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, from)
    }

    fn poll_write_vectored(&mut self, cx: &mut Context<'_>, from: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, from)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_close(cx)
    }
}

impl ByteStream {
    /// A stream of `futures`, such as a TLS stream, for fibers: see [`ByteStream::polled`]. With the feature `futures-io`.
    ///
    /// ```
    /// use fiber_core::fiber;
    /// use fiber_core::net::ByteStream;
    /// use futures_util::io::Cursor;
    ///
    /// let program = fiber! {
    ///     let stream = ByteStream::from_futures_io(Cursor::new(b"one\ntwo\n".to_vec()));
    ///     let! line = stream.buffered().line();
    ///     line
    /// };
    /// assert_eq!(fiber_sched::run(program).unwrap().as_deref(), Some("one"));
    /// ```
    #[track_caller]
    pub fn from_futures_io<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(stream: S) -> ByteStream {
        ByteStream::polled(OfFutures(stream))
    }
}
