//! Reading from a stream.

use std::fmt;
use std::io;
use std::panic::Location;

use super::operation::{Operation, SocketWait};
use super::stream::ByteStream;
use crate::engine::context::{Cx, WaitsFor};
use crate::engine::fate::{BYTE, taken};
use crate::engine::network::{Attempted, Readiness};
use crate::engine::step::Run;
use crate::engine::subject::Subject;
use crate::error::Site;
use crate::fiber::Fiber;
use crate::footprint::is_listening;
use crate::leaf::Leaf;
use crate::outcome::Outcome;

impl ByteStream {
    /// Reads the available bytes into the buffer, up to its length, and waits if there are none. Gives the number of
    /// bytes, and the buffer. 0 bytes: the peer has closed its writing side, or the buffer is empty; an empty buffer does
    /// not wait.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// do! client.write_all("some bytes");
    /// let! (n, buffer) = server.read([0; 64]);
    /// assert!(b"some bytes".starts_with(&buffer[..n]));
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// The connection has failed: `ConnectionReset` for example. The buffer is dropped.
    ///
    /// # Cancellation
    /// A cancelled read has taken nothing; the buffer is dropped. The same holds for one that loses a
    /// [race](Fiber::race) with another single wait, such as a delay. For a race of larger programs, see
    /// [`readable`](ByteStream::readable).
    #[track_caller]
    pub fn read<B>(&self, buffer: B) -> Fiber<(usize, B), Leaf<SocketWait<Read<B>>>>
    where
        B: AsMut<[u8]> + Send + 'static,
    {
        self.read_at(Location::caller(), buffer)
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    pub(super) fn read_at<B>(&self, site: Site, buffer: B) -> Fiber<(usize, B), Leaf<SocketWait<Read<B>>>>
    where
        B: AsMut<[u8]> + Send + 'static,
    {
        SocketWait::fiber(Read { stream: self.clone(), buffer: Some(buffer) }, site)
    }

    /// Reads the bytes that have arrived, up to the length of the buffer, and never waits: a plain function, and no fiber. 0
    /// bytes: the peer has closed its writing side, or the buffer is empty.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// use std::io::ErrorKind::WouldBlock;
    ///
    /// assert_eq!(server.try_read(&mut [0; 8]).unwrap_err().kind(), WouldBlock);
    /// assert_eq!(client.try_write(b"x")?, 1);
    /// do! server.readable();
    /// assert_eq!(server.try_read(&mut [0; 8])?, 1);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// `WouldBlock`: nothing has arrived. Those of [`read`](ByteStream::read).
    pub fn try_read(&self, into: &mut [u8]) -> io::Result<usize> {
        // Whatever the last event was: data may have arrived since.
        if into.is_empty() { Ok(0) } else { self.socket().try_read(into) }
    }

    /// Reads until the buffer is full, and returns it.
    ///
    /// ```
    /// use fiber_core::net::{TcpListener, TcpStream};
    /// use fiber_core::fiber;
    ///
    /// let fiber = fiber! {
    ///     let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    ///     let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    ///     do! client.write_all("four, and more");
    ///     let! four = server.read_exact([0; 4]);
    ///     assert_eq!(&four, b"four");
    /// };
    /// assert!(fiber_sched::run(fiber).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of [`read`](ByteStream::read); `UnexpectedEof`, if the stream ends before that. The bytes read are lost.
    ///
    /// # Cancellation
    /// The bytes read are lost with the buffer. [`BufReader::read_exact`](super::BufReader::read_exact) keeps them.
    #[track_caller]
    pub fn read_exact<B>(&self, buffer: B) -> Fiber<B, Leaf<SocketWait<ReadExact<B>>>>
    where
        B: AsMut<[u8]> + Send + 'static,
    {
        let read = ReadExact { stream: self.clone(), buffer: Some(buffer), filled: 0 };
        SocketWait::fiber(read, Location::caller())
    }

    /// Waits until a read would return data, the end, or an error. It takes nothing, so it can lose a race
    /// without harm, and can be repeated. Another fiber may read the data before this one does.
    ///
    /// ```
    /// use fiber_core::net::TcpStream;
    /// use fiber_core::{Either, Fiber, fiber};
    /// use std::time::Duration;
    ///
    /// /// What comes within a second, if anything does. Nothing that comes later is lost.
    /// fn soon(stream: TcpStream) -> Fiber<Option<Vec<u8>>> {
    ///     fiber! {
    ///         let! first = stream.readable().race(Fiber::delay(Duration::from_secs(1)));
    ///         let Either::Left(()) = first else { return None };
    ///         let! (n, mut buffer) = stream.read(vec![0; 1024]);
    ///         buffer.truncate(n);
    ///         Some(buffer)
    ///     }
    /// }
    /// ```
    ///
    /// # Cancellation
    /// Nothing is undone.
    #[track_caller]
    pub fn readable(&self) -> Fiber<(), impl Run<Out = ()> + Clone + use<>> {
        SocketWait::fiber(Ready::<true> { stream: self.clone() }, Location::caller())
    }

    /// Waits until a write would accept bytes, or fail. See [`readable`](ByteStream::readable).
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// // Until the other end has to read.
    /// loop {
    ///     do! client.writable();
    ///     let! (n, _) = client.write(vec![0; 64 * 1024]);
    ///     if n < 64 * 1024 { break }
    /// }
    /// # drop(server);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Cancellation
    /// Nothing is undone.
    #[track_caller]
    pub fn writable(&self) -> Fiber<(), impl Run<Out = ()> + Clone + use<>> {
        SocketWait::fiber(Ready::<false> { stream: self.clone() }, Location::caller())
    }
}

/// The operation of [`ByteStream::read`].
#[derive(Clone)]
pub struct Read<B> {
    stream: ByteStream,
    /// `None` after the buffer was returned.
    buffer: Option<B>,
}

/// Reads into a slice, and records whether more may follow.
pub(super) fn read_some(stream: &ByteStream, into: &mut [u8]) -> Option<io::Result<usize>> {
    if into.is_empty() {
        // Without a call, which could return, and take, an error of the connection.
        return Some(Ok(0));
    }
    let socket = stream.socket();
    let read = stream.reading().attempt(|| {
        let n = socket.try_read(into)?;
        let is_last = 0 < n && n < into.len() && socket.short_means_empty();
        Ok(if is_last { Attempted::Last(n) } else { Attempted::Done(n) })
    });
    if is_listening()
        && let Some(Ok(n @ 1..)) = read
    {
        taken(stream.subject(), n, BYTE, None);
    }
    read
}

impl<B: AsMut<[u8]> + Send + 'static> Operation for Read<B> {
    type Out = (usize, B);
    const WAITS_FOR: WaitsFor = WaitsFor::Data;

    fn operator(&self) -> &'static str {
        "read"
    }

    fn attempt(&mut self, _: &Cx<'_>) -> Option<Outcome<(usize, B)>> {
        let mut buffer = self.buffer.take()?;
        match read_some(&self.stream, buffer.as_mut()) {
            None => {
                self.buffer = Some(buffer);
                None
            }
            Some(read) => Some(read.map(|n| (n, buffer)).into()),
        }
    }

    fn readiness(&self) -> Option<&Readiness> {
        Some(self.stream.reading())
    }

    fn subject(&self) -> Option<&Subject> {
        Some(self.stream.subject())
    }
}

/// The operation of [`ByteStream::read_exact`].
pub struct ReadExact<B> {
    stream: ByteStream,
    /// `None` after the buffer was returned.
    buffer: Option<B>,
    filled: usize,
}

/// A clone starts anew.
impl<B: Clone> Clone for ReadExact<B> {
    fn clone(&self) -> Self {
        ReadExact { stream: self.stream.clone(), buffer: self.buffer.clone(), filled: 0 }
    }
}

impl<B: AsMut<[u8]> + Send + 'static> Operation for ReadExact<B> {
    type Out = B;
    const WAITS_FOR: WaitsFor = WaitsFor::Data;

    fn operator(&self) -> &'static str {
        "read_exact"
    }

    fn attempt(&mut self, _: &Cx<'_>) -> Option<Outcome<B>> {
        loop {
            let left = self.buffer.as_mut()?.as_mut().get_mut(self.filled..).unwrap_or_default();
            if left.is_empty() {
                return self.buffer.take().map(Outcome::Success);
            }
            match read_some(&self.stream, left)? {
                Ok(0) => return Some(Outcome::Failure(io::Error::from(io::ErrorKind::UnexpectedEof).into())),
                Ok(n) => self.filled += n,
                Err(error) => return Some(Outcome::Failure(error.into())),
            }
        }
    }

    fn readiness(&self) -> Option<&Readiness> {
        Some(self.stream.reading())
    }

    fn subject(&self) -> Option<&Subject> {
        Some(self.stream.subject())
    }
}

impl<B> fmt::Debug for ReadExact<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadExact").field("stream", &self.stream).field("filled", &self.filled).finish()
    }
}

impl<B> fmt::Debug for Read<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Read").field(&self.stream).finish()
    }
}

/// The operation of [`ByteStream::readable`] and [`ByteStream::writable`].
#[derive(Clone, Debug)]
pub(crate) struct Ready<const IS_TO_READ: bool> {
    stream: ByteStream,
}

impl<const IS_TO_READ: bool> Operation for Ready<IS_TO_READ> {
    type Out = ();
    const WAITS_FOR: WaitsFor = if IS_TO_READ { WaitsFor::Data } else { WaitsFor::Sending };

    fn operator(&self) -> &'static str {
        if IS_TO_READ { "readable" } else { "writable" }
    }

    fn attempt(&mut self, _: &Cx<'_>) -> Option<Outcome<()>> {
        let socket = self.stream.socket();
        let is_ready = || if IS_TO_READ { socket.try_peek() } else { Ok(()) };
        // An error counts as well: the next call returns it.
        _ = self.readiness()?.attempt(|| is_ready().map(Attempted::Done))?;
        Some(Outcome::Success(()))
    }

    fn readiness(&self) -> Option<&Readiness> {
        Some(if IS_TO_READ { self.stream.reading() } else { self.stream.writing() })
    }

    fn subject(&self) -> Option<&Subject> {
        Some(self.stream.subject())
    }
}
