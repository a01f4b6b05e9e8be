//! The I/O traits of tokio, in both directions.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::asynchronous::AsyncStream;
use super::polled::PolledStream;
use super::stream::ByteStream;

impl AsyncRead for AsyncStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let n = ready!(self.get_mut().poll_read(cx, into.initialize_unfilled()))?;
        into.advance(n);
        Poll::Ready(Ok(()))
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

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll_shutdown(cx)
    }
}

/// A stream of tokio, which [`ByteStream::polled`] takes.
struct OfTokio<S>(S);

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> PolledStream for OfTokio<S> {
    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut into = ReadBuf::new(into);
        ready!(Pin::new(&mut self.0).poll_read(cx, &mut into))?;
        Poll::Ready(Ok(into.filled().len()))
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
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

impl ByteStream {
    /// A stream of tokio's traits for fibers: see [`ByteStream::polled`]. With the feature `tokio-io`. The stream may
    /// need a runtime of tokio: a `tokio::net::TcpStream` does, a TLS stream over
    /// [`asynchronous`](ByteStream::asynchronous) does not.
    ///
    /// ```
    /// use fiber_core::fiber;
    /// use fiber_core::net::ByteStream;
    ///
    /// let (here, there) = tokio::io::duplex(64);
    /// let (here, there) = (ByteStream::from_tokio_io(here), ByteStream::from_tokio_io(there));
    /// let program = fiber! {
    ///     let! _ = here.write_all("hello\n") and! line = there.buffered().line();
    ///     line
    /// };
    /// assert_eq!(fiber_sched::run(program).unwrap().as_deref(), Some("hello"));
    /// ```
    #[track_caller]
    pub fn from_tokio_io<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(stream: S) -> ByteStream {
        ByteStream::polled(OfTokio(stream))
    }
}
