//! A writer that joins many small writes into few large ones.

use std::fmt;
use std::io;
use std::panic::Location;
use std::sync::Arc;

use parking_lot::Mutex;

use super::finish::flush;
use super::operation::{Operation, SocketWait};
use super::stream::ByteStream;
use super::write::write_some;
use crate::engine::context::{Cx, WaitsFor};
use crate::engine::network::Readiness;
use crate::engine::step::Run;
use crate::engine::subject::Subject;
use crate::fiber::Fiber;
use crate::leaf::Leaf;
use crate::outcome::Outcome;

/// The number of buffered bytes at which `put` writes to the stream.
const CAPACITY: usize = 8 * 1024;

/// Buffers small writes to a stream. The buffer belongs to the writer, so a fiber that is cancelled while it waits for
/// room leaves no torn write: the next call continues where this one was. Clones share the buffer.
///
/// Bytes that were put and not [flushed](BufWriter::flush) are lost when the last clone is dropped.
///
/// ```
/// use fiber_core::net::{BufWriter, TcpStream};
/// use fiber_core::{Fiber, fiber};
///
/// fn list(stream: &TcpStream) -> Fiber<()> {
///     let writer = stream.buffered_writer();
///     fiber! {
///         for n in 0..1000 {
///             do! writer.put(format!("{n}\n"));
///         }
///         do! writer.flush();
///     }
/// }
/// ```
#[derive(Clone)]
pub struct BufWriter {
    stream: ByteStream,
    buffer: Arc<Mutex<Buffer>>,
}

/// `bytes[from..]` were not written yet.
#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    from: usize,
}

impl ByteStream {
    /// A writer with a buffer, for many small writes: see [`BufWriter`].
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let writer = client.buffered_writer();
    /// do! writer.put("a ");
    /// do! writer.put("line\n");
    /// do! writer.flush();
    /// let! line = server.buffered().line();
    /// assert_eq!(line.as_deref(), Some("a line"));
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    pub fn buffered_writer(&self) -> BufWriter {
        BufWriter::new(self.clone())
    }
}

impl BufWriter {
    pub(super) fn new(stream: ByteStream) -> Self {
        BufWriter { stream, buffer: Arc::default() }
    }

    /// The underlying stream.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let writer = client.buffered_writer();
    /// do! writer.put("the last line\n");
    /// do! writer.flush();
    /// writer.stream().shutdown(std::net::Shutdown::Write)?;
    /// let! all = server.buffered().rest();
    /// assert_eq!(all, b"the last line\n");
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    pub fn stream(&self) -> &ByteStream {
        &self.stream
    }

    /// The number of bytes that were put and not written.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let writer = client.buffered_writer();
    /// do! writer.put("four");
    /// assert_eq!(writer.buffered(), 4);
    /// do! writer.flush();
    /// assert_eq!(writer.buffered(), 0);
    /// # drop(server);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    pub fn buffered(&self) -> usize {
        self.buffer.lock().left().len()
    }

    /// Appends the bytes, all or nothing. If the buffer holds more than 8 KiB, it is written first, and the fiber waits
    /// for room; so a slow peer makes this end hold no more memory than that, plus the bytes of one `put`.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let writer = client.buffered_writer();
    /// do! writer.put("one, ");
    /// do! writer.put("two");
    /// do! writer.flush();
    /// let! all = server.read_exact([0; 8]);
    /// assert_eq!(&all, b"one, two");
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of [`write`](ByteStream::write). The bytes were not appended.
    ///
    /// # Cancellation
    /// The bytes of a cancelled `put` were not appended. Bytes of earlier calls stay in the buffer, as far as they were not
    /// written.
    #[track_caller]
    pub fn put<B>(&self, bytes: B) -> Fiber<(), Leaf<SocketWait<Put<B>>>>
    where
        B: AsRef<[u8]> + Send + 'static,
    {
        SocketWait::fiber(Put { writer: self.clone(), bytes }, Location::caller())
    }

    /// Writes the contents of the buffer.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let writer = client.buffered_writer();
    /// do! writer.put("ping");
    /// // Without it, the other end would wait for ever.
    /// do! writer.flush();
    /// let! ping = server.read_exact([0; 4]);
    /// assert_eq!(&ping, b"ping");
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of [`write`](ByteStream::write). Bytes that were not written stay in the buffer.
    ///
    /// # Cancellation
    /// Bytes that were not written stay in the buffer.
    #[track_caller]
    pub fn flush(&self) -> Fiber<(), impl Run<Out = ()> + Clone + use<>> {
        SocketWait::fiber(Flush { writer: self.clone() }, Location::caller())
    }

    /// `None`: there is no room yet.
    fn drain(&self) -> Option<io::Result<()>> {
        let mut buffer = self.buffer.lock();
        while !buffer.left().is_empty() {
            match write_some(&self.stream, buffer.left())? {
                Ok(0) => return Some(Err(io::ErrorKind::WriteZero.into())),
                Ok(n) => buffer.from += n,
                Err(error) => return Some(Err(error)),
            }
        }
        *buffer = Buffer { bytes: std::mem::take(&mut buffer.bytes), from: 0 };
        buffer.bytes.clear();
        drop(buffer);
        flush(&self.stream)
    }
}

impl Buffer {
    fn left(&self) -> &[u8] {
        &self.bytes[self.from..]
    }

    /// Forgets what was written if that is the larger part, so the buffer stays small even if it is never empty, and a byte is moved
    /// less than once on average.
    fn append(&mut self, bytes: &[u8]) {
        if self.from > self.left().len() {
            self.bytes.drain(..self.from);
            self.from = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }
}

/// The operation of [`BufWriter::put`].
#[derive(Clone)]
pub struct Put<B> {
    writer: BufWriter,
    bytes: B,
}

impl<B: AsRef<[u8]> + Send + 'static> Operation for Put<B> {
    type Out = ();
    const WAITS_FOR: WaitsFor = WaitsFor::Sending;

    fn operator(&self) -> &'static str {
        "put"
    }

    fn attempt(&mut self, _: &Cx<'_>) -> Option<Outcome<()>> {
        let bytes = self.bytes.as_ref();
        if self.writer.buffered() + bytes.len() > CAPACITY
            && let Err(error) = self.writer.drain()?
        {
            return Some(Outcome::Failure(error.into()));
        }
        self.writer.buffer.lock().append(bytes);
        Some(Outcome::Success(()))
    }

    fn readiness(&self) -> Option<&Readiness> {
        Some(self.writer.stream.writing())
    }

    fn subject(&self) -> Option<&Subject> {
        Some(self.writer.stream.subject())
    }
}

/// The operation of [`BufWriter::flush`].
#[derive(Clone)]
pub(crate) struct Flush {
    writer: BufWriter,
}

impl Operation for Flush {
    type Out = ();
    const WAITS_FOR: WaitsFor = WaitsFor::Sending;

    fn operator(&self) -> &'static str {
        "flush"
    }

    fn attempt(&mut self, _: &Cx<'_>) -> Option<Outcome<()>> {
        self.writer.drain().map(Outcome::from)
    }

    fn readiness(&self) -> Option<&Readiness> {
        Some(self.writer.stream.writing())
    }

    fn subject(&self) -> Option<&Subject> {
        Some(self.writer.stream.subject())
    }
}

impl fmt::Debug for BufWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufWriter").field("stream", &self.stream).field("buffered", &self.buffered()).finish()
    }
}

impl<B> fmt::Debug for Put<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Put").field(&self.writer).finish()
    }
}

impl fmt::Debug for Flush {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Flush").field(&self.writer).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::Buffer;

    #[test]
    fn a_buffer_that_is_never_empty_stays_small() {
        let mut buffer = Buffer::default();
        buffer.append(&[0]);
        for n in 1..10_000_usize {
            buffer.append(&[n as u8; 10]);
            // All but the newest byte.
            buffer.from += 10;
            assert_eq!(buffer.left(), [n as u8]);
            assert!(buffer.bytes.len() < 64, "{} bytes", buffer.bytes.len());
        }
    }
}
