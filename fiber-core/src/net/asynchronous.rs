//! A stream for code that polls and is woken by a waker, as futures are.

use std::fmt;
use std::io::{self, IoSlice};
use std::task::{Context, Poll};

use super::finish::at_once_or_when_writable;
use super::operation::MOST_ROUNDS;
use super::read::read_some;
use super::stream::ByteStream;
use super::write::{write_some, write_vectored};
use crate::block::Streak;
use crate::engine::context::Wakeup;
use crate::engine::network::{Place, Readiness};

/// A [`ByteStream`] for libraries that poll: protocols that were written for futures, such as TLS, HTTP and WebSockets.
///
/// With the feature `futures-io` it implements `AsyncRead` and `AsyncWrite` of `futures`, with the feature `tokio-io` those
/// of tokio; neither needs another runtime. For other traits, such as those of hyper, its methods can serve as the
/// bodies. The future that uses it may run anywhere; [`Fiber::from_future`](crate::Fiber::from_future) makes it a
/// fiber.
///
/// ```
/// use fiber_core::net::{TcpListener, TcpStream};
/// use fiber_core::{Fiber, fiber};
/// use std::future::poll_fn;
/// use std::io;
///
/// // A library of futures.
/// async fn greeting(stream: TcpStream) -> io::Result<Vec<u8>> {
///     let (mut stream, mut buffer) = (stream.asynchronous(), [0; 64]);
///     let n = poll_fn(|cx| stream.poll_read(cx, &mut buffer)).await?;
///     Ok(buffer[..n].to_vec())
/// }
///
/// let fiber = fiber! {
///     let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
///     let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
///     let! _ = server.write_all("hello") and! said = Fiber::from_future(greeting(client));
///     assert!(b"hello".starts_with(&said));
/// };
/// assert!(fiber_sched::run(fiber).is_success());
/// ```
///
/// A future whose peer is fast may never have to wait. After 128 successes in a row, it is told to be polled again later, so that others run,
/// and its cancellation is noticed.
///
/// # Cancellation
/// A future that is dropped while it waits has taken nothing, and removes its waker from the socket.
pub struct AsyncStream {
    stream: ByteStream,
    /// The places of the wakers, one for each direction.
    reads: Option<Place>,
    writes: Option<Place>,
    streak: Streak,
}

impl ByteStream {
    /// This stream, for code that polls.
    ///
    /// ```
    /// use fiber_core::net::{AsyncStream, TcpStream};
    /// // What a library of futures asks for.
    /// let connect = TcpStream::connect(([127, 0, 0, 1], 80)).map(|stream| stream.asynchronous());
    /// ```
    pub fn asynchronous(&self) -> AsyncStream {
        AsyncStream { stream: self.clone(), reads: None, writes: None, streak: Streak::default() }
    }
}

impl AsyncStream {
    /// The stream itself.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let stream = client.asynchronous();
    /// do! stream.stream().write_all("by the stream itself");
    /// drop(server);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    pub fn stream(&self) -> &ByteStream {
        &self.stream
    }

    /// Reads the bytes that have arrived. If there are none, the waker is called when some arrive. The end of the
    /// stream reads as 0 bytes.
    ///
    /// ```
    /// # use fiber_core::{Fiber, fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// use std::future::poll_fn;
    ///
    /// let mut stream = client.asynchronous();
    /// let talk = async move {
    ///     let n = poll_fn(|cx| stream.poll_write(cx, b"ping")).await?;
    ///     poll_fn(|cx| stream.poll_shutdown(cx)).await?;
    ///     let mut answer = [0; 16];
    ///     poll_fn(|cx| stream.poll_read(cx, &mut answer)).await?;
    ///     Ok::<usize, std::io::Error>(n)
    /// };
    /// let answers = fiber! {
    ///     let! _ping = server.buffered().rest();
    ///     do! server.write_all("pong");
    /// };
    /// let! n = Fiber::from_future(talk) and! () = answers;
    /// assert_eq!(n, 4);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of [`ByteStream::read`].
    pub fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        let AsyncStream { stream, reads, streak, .. } = self;
        poll(stream.reading(), reads, streak, cx, || read_some(stream, into))
    }

    /// Writes as much as there is room for, or stores the waker until there is room.
    ///
    /// ```
    /// # use fiber_core::{Fiber, fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let mut stream = client.asynchronous();
    /// let write = async move { std::future::poll_fn(|cx| stream.poll_write(cx, b"ping")).await };
    /// let! n = Fiber::from_future(write);
    /// let! ping = server.read_exact(vec![0; n]);
    /// assert_eq!(ping, b"ping"[..n]);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of [`ByteStream::write`].
    pub fn poll_write(&mut self, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        let AsyncStream { stream, writes, streak, .. } = self;
        poll(stream.writing(), writes, streak, cx, || write_some(stream, from))
    }

    /// Like [`poll_write`](AsyncStream::poll_write), for several buffers in one call.
    ///
    /// ```
    /// # use fiber_core::{Fiber, fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// use std::future::poll_fn;
    /// use std::io::IoSlice;
    ///
    /// let mut stream = client.asynchronous();
    /// let write = async move {
    ///     let parts = [IoSlice::new(b"head "), IoSlice::new(b"body")];
    ///     poll_fn(|cx| stream.poll_write_vectored(cx, &parts)).await
    /// };
    /// let! n = Fiber::from_future(write);
    /// let! all = server.read_exact(vec![0; n]);
    /// assert_eq!(all, b"head body"[..n]);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of [`ByteStream::write`].
    pub fn poll_write_vectored(
        &mut self,
        cx: &mut Context<'_>,
        from: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let AsyncStream { stream, writes, streak, .. } = self;
        poll(stream.writing(), writes, streak, cx, || write_vectored(stream, from))
    }

    /// Flushes the stream: see [`ByteStream::flush`].
    ///
    /// ```
    /// # use fiber_core::{Fiber, fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let mut stream = client.asynchronous();
    /// do! Fiber::from_future(async move { std::future::poll_fn(|cx| stream.poll_flush(cx)).await });
    /// # drop(server);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of [`ByteStream::write`].
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let AsyncStream { stream, writes, streak, .. } = self;
        poll(stream.writing(), writes, streak, cx, || {
            at_once_or_when_writable(stream, |socket| socket.try_flush())
        })
    }

    /// Flushes the stream, and sends its end. A socket does both at once.
    ///
    /// ```
    /// # use fiber_core::{Fiber, fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let mut stream = client.asynchronous();
    /// do! Fiber::from_future(async move { std::future::poll_fn(|cx| stream.poll_shutdown(cx)).await });
    /// let! (n, _) = server.read([0; 8]);
    /// assert_eq!(n, 0);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// The connection has ended.
    pub fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let AsyncStream { stream, writes, streak, .. } = self;
        poll(stream.writing(), writes, streak, cx, || {
            at_once_or_when_writable(stream, |socket| socket.try_close())
        })
    }
}

/// Attempts, or leaves the waker for the next event.
pub(super) fn poll<T>(
    readiness: &Readiness,
    place: &mut Option<Place>,
    streak: &mut Streak,
    cx: &mut Context<'_>,
    mut attempt: impl FnMut() -> Option<T>,
) -> Poll<T> {
    streak.poll(cx, |cx| {
        for _ in 0..MOST_ROUNDS {
            if let Some(done) = attempt() {
                return Poll::Ready(done);
            }
            // Removes the waker of an earlier poll, if no event has taken it.
            leave(readiness, place);
            if let Ok(left) = readiness.wait(Wakeup::from(cx.waker().clone())) {
                *place = Some(left);
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
}

pub(super) fn leave(readiness: &Readiness, place: &mut Option<Place>) {
    place.take().into_iter().for_each(|place| readiness.leave(place));
}

impl Drop for AsyncStream {
    fn drop(&mut self) {
        leave(self.stream.reading(), &mut self.reads);
        leave(self.stream.writing(), &mut self.writes);
    }
}

impl fmt::Debug for AsyncStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AsyncStream").field(&self.stream).finish()
    }
}
