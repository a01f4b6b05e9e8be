//! Writing to a stream.

use std::error::Error as StdError;
use std::fmt;
use std::io::{self, IoSlice};
use std::panic::Location;

use super::finish::flush;
use super::operation::{Operation, SocketWait};
use super::stream::{ByteStream, TornWrite};
use crate::engine::context::{Cx, WaitsFor};
use crate::engine::network::{Attempted, Readiness};
use crate::engine::subject::Subject;
use crate::error::Site;
use crate::fiber::Fiber;
use crate::leaf::Leaf;
use crate::outcome::Outcome;

impl ByteStream {
    /// Writes as much of the buffer as there is room for, and waits if there is none. Gives the number of bytes, and the
    /// buffer. An empty buffer gives 0 at once, whatever the state of the connection is.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let! (n, buffer) = client.write("some bytes");
    /// let! bytes = server.read_exact(vec![0; n]);
    /// assert_eq!(bytes, buffer.as_bytes()[..n]);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// The connection has failed: `BrokenPipe` or `ConnectionReset` for example.
    ///
    /// # Cancellation
    /// A cancelled write has written nothing.
    #[track_caller]
    pub fn write<B>(&self, buffer: B) -> Fiber<(usize, B), Leaf<SocketWait<Write<B>>>>
    where
        B: AsRef<[u8]> + Send + 'static,
    {
        SocketWait::fiber(Write { stream: self.clone(), buffer: Some(buffer) }, Location::caller())
    }

    /// Writes as much of the slice as there is room for, and never waits: see [`try_read`](ByteStream::try_read).
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let n = client.try_write(b"some bytes")?;
    /// let! bytes = server.read_exact(vec![0; n]);
    /// assert_eq!(bytes, b"some bytes"[..n]);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// `WouldBlock`: there is no room. Those of [`write`](ByteStream::write).
    pub fn try_write(&self, from: &[u8]) -> io::Result<usize> {
        if from.is_empty() {
            return Ok(0);
        }
        // Whatever the last event was: there may be room since. If there is none, `writable` has to wait.
        let write = || self.socket().try_write(from);
        self.writing().attempt_anyway(|| attempted(self, from.len(), write()?))
    }

    /// Like [`write`](ByteStream::write), for several buffers, in their order and in one call. One call takes at most 1,024
    /// buffers that are not empty.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let! (n, _buffers) = client.write_vectored(vec!["head ", "body"]);
    /// let! bytes = server.read_exact(vec![0; n]);
    /// assert_eq!(bytes, b"head body"[..n]);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// As with `write`.
    ///
    /// # Cancellation
    /// A cancelled write has written nothing.
    #[track_caller]
    pub fn write_vectored<B>(
        &self,
        buffers: Vec<B>,
    ) -> Fiber<(usize, Vec<B>), Leaf<SocketWait<WriteVectored<B>>>>
    where
        B: AsRef<[u8]> + Send + 'static,
    {
        SocketWait::fiber(WriteVectored { stream: self.clone(), buffers }, Location::caller())
    }

    /// Writes the whole buffer, and returns it.
    ///
    /// ```
    /// use fiber_core::net::{TcpStream, WriteFailed};
    /// use fiber_core::Fiber;
    ///
    /// fn save(stream: &TcpStream, data: Vec<u8>) -> Fiber<()> {
    ///     let written = stream.write_all(data).map(drop);
    ///     written.catch(|error| Fiber::lazy(move || {
    ///         let failed = error.downcast_ref::<WriteFailed>().unwrap();
    ///         println!("only {} arrived, perhaps: {error}", failed.torn().written);
    ///     })).boxed()
    /// }
    /// ```
    ///
    /// # Errors
    /// [`WriteFailed`], which says how many bytes were written before.
    ///
    /// # Cancellation
    /// A part may have been written. The stream [remembers](ByteStream::torn_write) how much. To finish a write that
    /// has begun, make it [`uncancelable`](Fiber::uncancelable), with a time limit; or use a
    /// [`BufWriter`](super::BufWriter).
    #[track_caller]
    pub fn write_all<B>(&self, buffer: B) -> Fiber<B, Leaf<SocketWait<WriteAll<B>>>>
    where
        B: AsRef<[u8]> + Send + 'static,
    {
        self.write_all_at(Location::caller(), buffer)
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    pub(super) fn write_all_at<B>(&self, site: Site, buffer: B) -> Fiber<B, Leaf<SocketWait<WriteAll<B>>>>
    where
        B: AsRef<[u8]> + Send + 'static,
    {
        SocketWait::fiber(WriteAll { stream: self.clone(), buffer: Some(buffer), written: 0 }, site)
    }
}

impl ByteStream {
    /// Writes all of several buffers, one after the other and with as few calls as possible, and returns them.
    ///
    /// ```
    /// use fiber_core::net::{TcpListener, TcpStream};
    /// use fiber_core::fiber;
    ///
    /// let fiber = fiber! {
    ///     let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    ///     let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    ///     do! client.write_all_vectored(vec!["head", ", ", "body"]).map(|_| drop(client));
    ///     let! all = server.buffered().rest();
    ///     assert_eq!(all, b"head, body");
    /// };
    /// assert!(fiber_sched::run(fiber).is_success());
    /// ```
    ///
    /// # Errors
    /// As with [`write_all`](ByteStream::write_all).
    ///
    /// # Cancellation
    /// As with `write_all`: a part may have been written, which the stream [remembers](ByteStream::torn_write).
    #[track_caller]
    pub fn write_all_vectored<B>(
        &self,
        buffers: Vec<B>,
    ) -> Fiber<Vec<B>, Leaf<SocketWait<WriteAllVectored<B>>>>
    where
        B: AsRef<[u8]> + Send + 'static,
    {
        let write = WriteAllVectored { stream: self.clone(), buffers: Some(buffers), written: 0 };
        SocketWait::fiber(write, Location::caller())
    }
}

/// A [`write_all`](ByteStream::write_all) that has failed.
#[derive(Debug)]
pub struct WriteFailed {
    torn: TornWrite,
    error: io::Error,
}

impl WriteFailed {
    /// The number of bytes written.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// use fiber_core::net::WriteFailed;
    ///
    /// client.shutdown(std::net::Shutdown::Write)?;
    /// let! error = client.write_all("late").map(|_| None).catch(|error| fiber_core::Fiber::success(Some(error)));
    /// let error = error.expect("it writes no more");
    /// let failed: &WriteFailed = error.downcast_ref().unwrap();
    /// assert_eq!((failed.torn().written, failed.torn().of), (0, 4));
    /// # drop(server);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    pub fn torn(&self) -> TornWrite {
        self.torn
    }

    /// The cause.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// use fiber_core::net::WriteFailed;
    ///
    /// client.shutdown(std::net::Shutdown::Write)?;
    /// let! error = client.write_all("late").map(|_| None).catch(|error| fiber_core::Fiber::success(Some(error)));
    /// let error = error.expect("it writes no more");
    /// let failed: &WriteFailed = error.downcast_ref().unwrap();
    /// assert_eq!(failed.error().kind(), std::io::ErrorKind::BrokenPipe);
    /// # drop(server);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    pub fn error(&self) -> &io::Error {
        &self.error
    }
}

impl fmt::Display for WriteFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.torn, self.error)
    }
}

impl StdError for WriteFailed {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.error)
    }
}

/// Writes a slice, and records whether there may be more room.
pub(super) fn write_some(stream: &ByteStream, from: &[u8]) -> Option<io::Result<usize>> {
    attempt(stream, from.len(), || stream.socket().try_write(from))
}

/// Writes several slices in one call: those that a system takes at once, and at least one that is not empty.
pub(super) fn write_vectored(stream: &ByteStream, from: &[IoSlice<'_>]) -> Option<io::Result<usize>> {
    let first = from.iter().position(|slice| !slice.is_empty()).unwrap_or(from.len());
    let from = &from[first..from.len().min(first + MOST_SLICES)];
    // More slices than the system takes would make each write look short, as if there were no more room.
    let length = from.iter().map(|slice| slice.len()).sum();
    attempt(stream, length, || stream.socket().try_write_vectored(from))
}

/// The number of slices that Linux, macOS and the BSDs accept in one call. (Windows has no limit.)
const MOST_SLICES: usize = 1024;

fn attempt(
    stream: &ByteStream,
    length: usize,
    mut write: impl FnMut() -> io::Result<usize>,
) -> Option<io::Result<usize>> {
    if length == 0 {
        // Without a call, which could return, and take, an error of the connection.
        return Some(Ok(0));
    }
    stream.writing().attempt(|| attempted(stream, length, write()?))
}

/// `n` bytes of this many were written.
fn attempted(stream: &ByteStream, length: usize, n: usize) -> io::Result<Attempted<usize>> {
    let is_last = 0 < n && n < length && stream.socket().short_means_empty();
    Ok(if is_last { Attempted::Last(n) } else { Attempted::Done(n) })
}

/// The operation of [`ByteStream::write`].
#[derive(Clone)]
pub struct Write<B> {
    stream: ByteStream,
    /// `None` after the buffer was returned.
    buffer: Option<B>,
}

impl<B: AsRef<[u8]> + Send + 'static> Operation for Write<B> {
    type Out = (usize, B);
    const WAITS_FOR: WaitsFor = WaitsFor::Sending;

    fn operator(&self) -> &'static str {
        "write"
    }

    fn attempt(&mut self, _: &Cx<'_>) -> Option<Outcome<(usize, B)>> {
        let written = write_some(&self.stream, self.buffer.as_ref()?.as_ref())?;
        let buffer = self.buffer.take()?;
        Some(written.map(|n| (n, buffer)).into())
    }

    fn readiness(&self) -> Option<&Readiness> {
        Some(self.stream.writing())
    }

    fn subject(&self) -> Option<&Subject> {
        Some(self.stream.subject())
    }
}

/// The operation of [`ByteStream::write_vectored`].
#[derive(Clone)]
pub struct WriteVectored<B> {
    stream: ByteStream,
    buffers: Vec<B>,
}

impl<B: AsRef<[u8]> + Send + 'static> Operation for WriteVectored<B> {
    type Out = (usize, Vec<B>);
    const WAITS_FOR: WaitsFor = WaitsFor::Sending;

    fn operator(&self) -> &'static str {
        "write_vectored"
    }

    fn attempt(&mut self, _: &Cx<'_>) -> Option<Outcome<Self::Out>> {
        let slices = self.buffers.iter().map(B::as_ref).filter(|buffer| !buffer.is_empty());
        let slices: Vec<IoSlice<'_>> = slices.take(MOST_SLICES).map(IoSlice::new).collect();
        let written = write_vectored(&self.stream, &slices)?;
        Some(written.map(|n| (n, std::mem::take(&mut self.buffers))).into())
    }

    fn readiness(&self) -> Option<&Readiness> {
        Some(self.stream.writing())
    }

    fn subject(&self) -> Option<&Subject> {
        Some(self.stream.subject())
    }
}

/// The operation of [`ByteStream::write_all`].
pub struct WriteAll<B: AsRef<[u8]>> {
    stream: ByteStream,
    /// `None` after the buffer was returned.
    buffer: Option<B>,
    written: usize,
}

/// A clone starts anew.
impl<B: AsRef<[u8]> + Clone> Clone for WriteAll<B> {
    fn clone(&self) -> Self {
        WriteAll { stream: self.stream.clone(), buffer: self.buffer.clone(), written: 0 }
    }
}

impl<B: AsRef<[u8]>> WriteAll<B> {
    fn torn(&self, of: usize) -> TornWrite {
        TornWrite { written: self.written, of }
    }
}

impl<B: AsRef<[u8]> + Send + 'static> Operation for WriteAll<B> {
    type Out = B;
    const WAITS_FOR: WaitsFor = WaitsFor::Sending;

    fn operator(&self) -> &'static str {
        "write_all"
    }

    fn attempt(&mut self, _: &Cx<'_>) -> Option<Outcome<B>> {
        loop {
            let all = self.buffer.as_ref()?.as_ref();
            let (left, of) = (all.get(self.written..).unwrap_or_default(), all.len());
            if left.is_empty() {
                let Err(error) = flush(&self.stream)? else {
                    return self.buffer.take().map(Outcome::Success);
                };
                return Some(Outcome::Failure(WriteFailed { torn: self.torn(of), error }.into()));
            }
            let error = match write_some(&self.stream, left)? {
                Ok(0) => io::ErrorKind::WriteZero.into(),
                Ok(n) => {
                    self.written += n;
                    continue;
                }
                Err(error) => error,
            };
            return Some(Outcome::Failure(WriteFailed { torn: self.torn(of), error }.into()));
        }
    }

    fn readiness(&self) -> Option<&Readiness> {
        Some(self.stream.writing())
    }

    fn subject(&self) -> Option<&Subject> {
        Some(self.stream.subject())
    }
}

impl<B: AsRef<[u8]>> Drop for WriteAll<B> {
    /// The write was cancelled or abandoned, or has failed, if it has begun and the buffer is still here.
    fn drop(&mut self) {
        if self.written > 0
            && let Some(buffer) = &self.buffer
        {
            self.stream.tear(self.torn(buffer.as_ref().len()));
        }
    }
}

/// The operation of [`ByteStream::write_all_vectored`].
pub struct WriteAllVectored<B: AsRef<[u8]>> {
    stream: ByteStream,
    /// `None` after the buffers were returned.
    buffers: Option<Vec<B>>,
    written: usize,
}

/// A clone starts anew.
impl<B: AsRef<[u8]> + Clone> Clone for WriteAllVectored<B> {
    fn clone(&self) -> Self {
        WriteAllVectored { stream: self.stream.clone(), buffers: self.buffers.clone(), written: 0 }
    }
}

impl<B: AsRef<[u8]>> WriteAllVectored<B> {
    fn torn(&self) -> TornWrite {
        let lengths = self.buffers.iter().flatten().map(|buffer| buffer.as_ref().len());
        TornWrite { written: self.written, of: lengths.sum() }
    }

    /// The slices that were not written yet, as many as one call accepts.
    fn left(&self) -> Vec<IoSlice<'_>> {
        let mut skipped = self.written;
        let left = self.buffers.iter().flatten().filter_map(|buffer| {
            let all = buffer.as_ref();
            let rest = all.get(skipped..).unwrap_or_default();
            skipped = skipped.saturating_sub(all.len());
            (!rest.is_empty()).then(|| IoSlice::new(rest))
        });
        left.take(MOST_SLICES).collect()
    }
}

impl<B: AsRef<[u8]> + Send + 'static> Operation for WriteAllVectored<B> {
    type Out = Vec<B>;
    const WAITS_FOR: WaitsFor = WaitsFor::Sending;

    fn operator(&self) -> &'static str {
        "write_all_vectored"
    }

    fn attempt(&mut self, _: &Cx<'_>) -> Option<Outcome<Vec<B>>> {
        loop {
            let left = self.left();
            if left.is_empty() {
                let Err(error) = flush(&self.stream)? else {
                    return self.buffers.take().map(Outcome::Success);
                };
                return Some(Outcome::Failure(WriteFailed { torn: self.torn(), error }.into()));
            }
            let error = match write_vectored(&self.stream, &left)? {
                Ok(0) => io::ErrorKind::WriteZero.into(),
                Ok(n) => {
                    self.written += n;
                    continue;
                }
                Err(error) => error,
            };
            return Some(Outcome::Failure(WriteFailed { torn: self.torn(), error }.into()));
        }
    }

    fn readiness(&self) -> Option<&Readiness> {
        Some(self.stream.writing())
    }

    fn subject(&self) -> Option<&Subject> {
        Some(self.stream.subject())
    }
}

impl<B: AsRef<[u8]>> Drop for WriteAllVectored<B> {
    /// As in [`WriteAll`].
    fn drop(&mut self) {
        if self.written > 0 && self.buffers.is_some() {
            self.stream.tear(self.torn());
        }
    }
}

impl<B: AsRef<[u8]>> fmt::Debug for WriteAllVectored<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteAllVectored")
            .field("stream", &self.stream)
            .field("written", &self.written)
            .finish()
    }
}

macro_rules! debug {
    ($($name:ident $(: $bound:path)?),*) => {
        $(impl<B $(: $bound)?> fmt::Debug for $name<B> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.stream).finish()
            }
        })*
    };
}
debug!(Write, WriteVectored);

impl<B: AsRef<[u8]>> fmt::Debug for WriteAll<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteAll").field("stream", &self.stream).field("written", &self.written).finish()
    }
}
