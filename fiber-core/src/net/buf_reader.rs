//! Reading lines and messages: the bytes of an incomplete one stay in the buffer.

use std::fmt;
use std::io;
use std::mem;
use std::panic::Location;
use std::sync::Arc;

use parking_lot::Mutex;

use super::operation::{Operation, SocketWait};
use super::read::read_some;
use super::stream::ByteStream;
use crate::engine::context::{Cx, WaitsFor};
use crate::engine::fate::{BYTE, dropped};
use crate::engine::network::Readiness;
use crate::engine::step::Run;
use crate::engine::subject::Subject;
use crate::error::counted;
use crate::fiber::Fiber;
use crate::leaf::Leaf;
use crate::outcome::Outcome;

/// How many bytes a call reads at once: enough to make the cost of the call negligible.
const CHUNK: usize = 8 * 1024;

/// The longest line or message, unless the reader was [limited](BufReader::limit) otherwise.
const DEFAULT_LIMIT: usize = 1024 * 1024;

/// Reads lines and messages from a stream. The buffer belongs to the reader, so a fiber that is cancelled while it waits
/// for the rest of a line loses nothing: the next call starts with the buffered bytes. Clones share the buffer.
///
/// ```
/// use fiber_core::net::{BufReader, TcpStream};
/// use fiber_core::{Fiber, fiber};
///
/// /// A frame: its length in one byte, then so many bytes.
/// fn frame(reader: &BufReader) -> Fiber<Option<Vec<u8>>> {
///     let whole = |bytes: &[u8]| {
///         let length = usize::from(*bytes.first()?);
///         Some((1 + length, bytes.get(1..1 + length)?.to_vec()))
///     };
///     reader.decode(whole).boxed()
/// }
/// ```
#[derive(Clone)]
pub struct BufReader {
    shared: Arc<Shared>,
    limit: usize,
}

struct Shared {
    stream: ByteStream,
    buffer: Mutex<Buffer>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        dropped(self.stream.subject(), self.buffer.get_mut().bytes().len(), BYTE, "with their BufReader");
    }
}

/// Bytes that were read and not taken: `bytes[from..to]`. The rest is room to read into.
#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    from: usize,
    to: usize,
    searched: Searched,
    /// The number of takers that have found too little, and have not looked again.
    waiting: usize,
}

/// A search without a result, which the next one for the same byte continues.
#[derive(Clone, Copy, Debug, Default)]
struct Searched {
    byte: u8,
    /// The length of the prefix that does not have the byte.
    length: usize,
}

impl ByteStream {
    /// A reader with a buffer, for lines and messages: see [`BufReader`].
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// do! client.write_all("a line\n");
    /// let! line = server.buffered().line();
    /// assert_eq!(line.as_deref(), Some("a line"));
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    pub fn buffered(&self) -> BufReader {
        BufReader::new(self.clone())
    }
}

impl BufReader {
    pub(super) fn new(stream: ByteStream) -> Self {
        let shared = Shared { stream, buffer: Mutex::default() };
        BufReader { shared: Arc::new(shared), limit: DEFAULT_LIMIT }
    }

    /// Limits the length of a line or message, and thereby the memory that a client can make the reader use. The end of a line,
    /// or the byte of [`read_until`](BufReader::read_until), does not count. The default is 1 MiB.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let reader = server.buffered().limit(80);
    /// do! client.write_all(vec![b'x'; 1000]);
    /// let! line = reader.line().map(Some).catch(|_too_long| fiber_core::Fiber::success(None));
    /// assert!(line.is_none());
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    #[must_use]
    pub fn limit(self, bytes: usize) -> Self {
        BufReader { limit: bytes, ..self }
    }

    /// The underlying stream. Bytes in the buffer can no longer be read from it.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let reader = server.buffered();
    /// do! client.write_all("are you there?\n");
    /// let! _question = reader.line();
    /// do! reader.stream().write_all("yes");
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    pub fn stream(&self) -> &ByteStream {
        &self.shared.stream
    }

    /// The number of bytes that were read and not taken.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let reader = server.buffered();
    /// do! client.write_all("one\ntwo");
    /// client.shutdown(std::net::Shutdown::Write)?;
    /// do! reader.line();
    /// let! two = reader.rest();
    /// assert_eq!((&*two, reader.buffered()), (&b"two"[..], 0));
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    pub fn buffered(&self) -> usize {
        self.shared.buffer.lock().bytes().len()
    }

    /// The next line, without its end (`\n` or `\r\n`). `None`: the stream has ended. A last line need not have an end.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let reader = server.buffered();
    /// do! client.write_all("one\r\ntwo").map(|_| drop(client));
    /// let! one = reader.line();
    /// let! two = reader.line();
    /// let! end = reader.line();
    /// assert_eq!((one.as_deref(), two.as_deref(), end), (Some("one"), Some("two"), None));
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of [`read`](ByteStream::read); `InvalidData`, if the line is too long or not UTF-8. A line that is too long stays in
    /// the buffer. One that is not UTF-8 is taken: the error contains a [`FromUtf8Error`](std::string::FromUtf8Error) with its
    /// bytes, and the next call gives the next line.
    ///
    /// # Cancellation
    /// The bytes read stay in the buffer.
    #[track_caller]
    pub fn line(&self) -> Fiber<Option<String>, impl Run<Out = Option<String>> + Clone + use<>> {
        self.fiber(Line)
    }

    /// The bytes up to and including the first `end`. At the end of the stream, the rest without it; then nothing.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let reader = server.buffered();
    /// do! client.write_all("one;two").map(|_| drop(client));
    /// let! one = reader.read_until(b';');
    /// let! two = reader.read_until(b';');
    /// let! end = reader.read_until(b';');
    /// assert_eq!((&*one, &*two, &*end), (&b"one;"[..], &b"two"[..], &b""[..]));
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of [`read`](ByteStream::read); `InvalidData`, if it is too long.
    ///
    /// # Cancellation
    /// The bytes read stay in the buffer.
    #[track_caller]
    pub fn read_until(&self, end: u8) -> Fiber<Vec<u8>, impl Run<Out = Vec<u8>> + Clone + use<>> {
        self.fiber(Until(end))
    }

    /// Exactly `length` bytes.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let reader = server.buffered();
    /// do! client.write_all("headbody");
    /// let! head = reader.read_exact(4);
    /// let! body = reader.read_exact(4);
    /// assert_eq!((&*head, &*body), (&b"head"[..], &b"body"[..]));
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of [`read`](ByteStream::read); `UnexpectedEof`, if the stream ends before that. The bytes read stay in the
    /// buffer. `InvalidInput`, if it is more than the limit.
    ///
    /// # Cancellation
    /// The bytes read stay in the buffer.
    #[track_caller]
    pub fn read_exact(&self, length: usize) -> Fiber<Vec<u8>, impl Run<Out = Vec<u8>> + Clone + use<>> {
        self.fiber(Exact(length))
    }

    /// The available bytes, at least one. Empty: the stream has ended.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let reader = server.buffered();
    /// do! client.write_all("any").map(|_| drop(client));
    /// let mut all = Vec::new();
    /// loop {
    ///     let! some = reader.some();
    ///     if some.is_empty() { break }
    ///     all.extend(some);
    /// }
    /// assert_eq!(all, b"any");
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of [`read`](ByteStream::read).
    ///
    /// # Cancellation
    /// A cancelled fiber has taken nothing.
    #[track_caller]
    pub fn some(&self) -> Fiber<Vec<u8>, impl Run<Out = Vec<u8>> + Clone + use<>> {
        self.fiber(Any)
    }

    /// Everything until the stream ends.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let reader = server.buffered();
    /// do! client.write_all("head\nall the rest").map(|_| drop(client));
    /// do! reader.line();
    /// let! rest = reader.rest();
    /// assert_eq!(rest, b"all the rest");
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of [`read`](ByteStream::read); `InvalidData`, if it is more than the limit.
    ///
    /// # Cancellation
    /// The bytes read stay in the buffer.
    #[track_caller]
    pub fn rest(&self) -> Fiber<Vec<u8>, impl Run<Out = Vec<u8>> + Clone + use<>> {
        self.fiber(Rest)
    }

    /// The next message of a protocol of your own. `f` receives the bytes that have arrived, and returns the length of
    /// the message and its value, or `None` if the message is incomplete. `None`: the stream has ended between two
    /// messages.
    ///
    /// `f` is called under the lock of the reader, so it must not use the reader or a clone of it, which would deadlock.
    /// It is called again, from the beginning of the message, whenever more bytes have arrived; keep it short.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let reader = server.buffered();
    /// // Numbers of four bytes.
    /// let number = |bytes: &[u8]| Some((4, u32::from_be_bytes(*bytes.first_chunk()?)));
    /// do! client.write_all([0, 0, 0, 7, 0, 0, 1, 0]).map(|_| drop(client));
    /// let! seven = reader.decode(number);
    /// let! more = reader.decode(number);
    /// let! end = reader.decode(number);
    /// assert_eq!((seven, more, end), (Some(7), Some(256), None));
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of [`read`](ByteStream::read); `UnexpectedEof`, if the stream ends within a message; `InvalidData`, if it is too
    /// long.
    ///
    /// # Panics
    /// A panic of `f` becomes the fiber's outcome. The length that `f` returns must not exceed the bytes that it received.
    ///
    /// # Cancellation
    /// The bytes read stay in the buffer.
    #[track_caller]
    pub fn decode<T, F>(&self, f: F) -> Fiber<Option<T>, Leaf<SocketWait<Decode<Whole<F>>>>>
    where
        T: Send + 'static,
        F: FnMut(&[u8]) -> Option<(usize, T)> + Send + 'static,
    {
        self.fiber(Whole(f))
    }

    pub(super) fn taker(&self) -> Taker {
        Taker { reader: self.clone(), is_waiting: false }
    }

    /// The next line or message. `None`: it is incomplete. `is_waiting`: the caller counts among those that wait.
    ///
    /// What this call reads may be more than it takes, and there may be another taker that has looked before and does not wait yet: the
    /// event of these bytes is over for it. So it gets another one.
    pub(super) fn take<C: Cut>(&self, is_waiting: &mut bool, cut: &mut C) -> Option<io::Result<C::Out>> {
        let Shared { stream, buffer } = &*self.shared;
        let mut buffer = buffer.lock();
        buffer.waiting -= usize::from(mem::take(is_waiting));
        let mut has_read = false;
        let taken = buffer.take(cut, stream, self.limit, &mut has_read);
        let is_awaited = has_read && buffer.waiting > 0 && !buffer.bytes().is_empty();
        if taken.is_none() {
            buffer.waiting += 1;
            *is_waiting = true;
        }
        drop(buffer);
        if is_awaited {
            stream.reading().event(false).fire();
        }
        taken
    }

    #[track_caller]
    fn fiber<C: Cut>(&self, cut: C) -> Fiber<C::Out, Leaf<SocketWait<Decode<C>>>> {
        SocketWait::fiber(Decode { taker: self.taker(), cut }, Location::caller())
    }
}

/// One that takes from the buffer, and waits if there is too little.
#[derive(Debug)]
pub(super) struct Taker {
    pub(super) reader: BufReader,
    /// It counts among those that wait.
    pub(super) is_waiting: bool,
}

/// A clone has not looked.
impl Clone for Taker {
    fn clone(&self) -> Self {
        self.reader.taker()
    }
}

impl Drop for Taker {
    fn drop(&mut self) {
        if self.is_waiting {
            self.reader.shared.buffer.lock().waiting -= 1;
        }
    }
}

/// The shape of a line or message, which a reader waits for.
pub trait Cut: Send + 'static {
    /// The value of the line or message.
    type Out: Send + 'static;

    /// The operator that waits for it.
    #[doc(hidden)]
    const NAME: &'static str;

    /// How many bytes beyond the limit have to arrive to show that the longest line has ended.
    #[doc(hidden)]
    const BEYOND: usize = 0;

    /// Looks for the line or message at the beginning of the bytes that have arrived.
    #[doc(hidden)]
    fn cut(&mut self, unread: &mut Unread<'_>) -> Taken<Self::Out>;
}

/// Bytes that have arrived and were not taken.
#[derive(Debug)]
pub struct Unread<'a> {
    bytes: &'a [u8],
    searched: &'a mut Searched,
    /// The length of the longest line or message.
    limit: usize,
    /// The stream has ended.
    is_end: bool,
}

/// The result of a [`Cut`].
#[derive(Debug)]
pub enum Taken<T> {
    /// This value, from this many bytes.
    Some(usize, io::Result<T>),
    /// It is incomplete.
    None,
    /// It is longer than the limit.
    TooLong,
}

/// The operation of a [`BufReader`].
#[derive(Clone)]
pub struct Decode<C> {
    taker: Taker,
    cut: C,
}

impl<C: Cut> Operation for Decode<C> {
    type Out = C::Out;
    const WAITS_FOR: WaitsFor = WaitsFor::Data;

    fn operator(&self) -> &'static str {
        C::NAME
    }

    fn attempt(&mut self, _: &Cx<'_>) -> Option<Outcome<C::Out>> {
        let Taker { reader, is_waiting } = &mut self.taker;
        reader.take(is_waiting, &mut self.cut).map(Outcome::from)
    }

    fn readiness(&self) -> Option<&Readiness> {
        Some(self.taker.reader.stream().reading())
    }

    fn subject(&self) -> Option<&Subject> {
        Some(self.taker.reader.stream().subject())
    }
}

impl Buffer {
    fn bytes(&self) -> &[u8] {
        &self.bytes[self.from..self.to]
    }

    /// Reads until the cut is complete. `None`: not all bytes have arrived.
    fn take<C: Cut>(
        &mut self,
        cut: &mut C,
        stream: &ByteStream,
        limit: usize,
        has_read: &mut bool,
    ) -> Option<io::Result<C::Out>> {
        let mut is_end = false;
        loop {
            match self.look(cut, limit, is_end) {
                Taken::Some(length, value) => {
                    self.consume(length);
                    return Some(value);
                }
                Taken::TooLong => return Some(Err(too_long(limit))),
                Taken::None if is_end => return Some(Err(io::ErrorKind::UnexpectedEof.into())),
                Taken::None => {}
            }
            match self.fill(limit.saturating_add(C::BEYOND), stream)? {
                Ok(n) => {
                    is_end = n == 0;
                    *has_read |= !is_end;
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }

    fn look<C: Cut>(&mut self, cut: &mut C, limit: usize, is_end: bool) -> Taken<C::Out> {
        let Buffer { bytes, from, to, searched, .. } = self;
        cut.cut(&mut Unread { bytes: &bytes[*from..*to], searched, limit, is_end })
    }

    fn consume(&mut self, length: usize) {
        let arrived = self.to - self.from;
        assert!(length <= arrived, "of a message of {length} bytes, only {arrived} arrived");
        self.from += length;
        self.searched.length = self.searched.length.saturating_sub(length);
        if self.from == self.to {
            (self.from, self.to) = (0, 0);
        }
    }

    /// Reads once, so that at most so many bytes are in the buffer. 0 bytes: the stream has ended.
    fn fill(&mut self, most: usize, stream: &ByteStream) -> Option<io::Result<usize>> {
        let length = self.to - self.from;
        let room = most.saturating_sub(length).clamp(1, CHUNK);
        if self.from > 0 {
            self.bytes.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, length);
        }
        if self.bytes.len() < length + room {
            self.bytes.resize(length + room, 0);
        }
        let read = read_some(stream, &mut self.bytes[length..length + room])?;
        self.to += *read.as_ref().unwrap_or(&0);
        Some(read)
    }
}

fn too_long(limit: usize) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("a line or message is longer than the limit of {}", counted(limit, "byte")),
    )
}

impl Unread<'_> {
    /// The first place of a byte. The next search for it begins where this one ends.
    fn position(&mut self, byte: u8) -> Option<usize> {
        let start = if self.searched.byte == byte { self.searched.length } else { 0 };
        let at = self.bytes[start..].iter().position(|one| *one == byte).map(|at| start + at);
        *self.searched = Searched { byte, length: at.unwrap_or(self.bytes.len()) };
        at
    }

    /// The first `length` bytes, as far as `line` of them count.
    fn taken(&self, length: usize, line: usize) -> Taken<Vec<u8>> {
        if line > self.limit {
            Taken::TooLong
        } else {
            Taken::Some(length, Ok(self.bytes[..length].to_vec()))
        }
    }

    /// All bytes.
    fn all(&self) -> Taken<Vec<u8>> {
        self.taken(self.bytes.len(), self.bytes.len())
    }

    /// There will be more, unless these are too many already.
    fn incomplete<T>(&self, line: usize) -> Taken<T> {
        if line > self.limit { Taken::TooLong } else { Taken::None }
    }
}

/// See [`BufReader::line`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line;

impl Cut for Line {
    type Out = Option<String>;
    const NAME: &'static str = "line";
    const BEYOND: usize = "\r\n".len();

    fn cut(&mut self, unread: &mut Unread<'_>) -> Taken<Option<String>> {
        let end = unread.position(b'\n');
        let bytes = &unread.bytes[..end.unwrap_or(unread.bytes.len())];
        let without_return = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let (length, line) = match end {
            Some(end) => (end + 1, without_return),
            None if unread.is_end && bytes.is_empty() => return Taken::Some(0, Ok(None)),
            None if unread.is_end => (bytes.len(), bytes),
            None => return unread.incomplete(without_return.len()),
        };
        if line.len() > unread.limit {
            return Taken::TooLong;
        }
        Taken::Some(length, String::from_utf8(line.to_vec()).map(Some).map_err(not_utf8))
    }
}

fn not_utf8(error: std::string::FromUtf8Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// See [`BufReader::read_until`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Until(u8);

impl Cut for Until {
    type Out = Vec<u8>;
    const NAME: &'static str = "read_until";
    const BEYOND: usize = 1;

    fn cut(&mut self, unread: &mut Unread<'_>) -> Taken<Vec<u8>> {
        match unread.position(self.0) {
            Some(end) => unread.taken(end + 1, end),
            None if unread.is_end => unread.all(),
            None => unread.incomplete(unread.bytes.len()),
        }
    }
}

/// See [`BufReader::read_exact`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exact(usize);

impl Cut for Exact {
    type Out = Vec<u8>;
    const NAME: &'static str = "read_exact";

    fn cut(&mut self, unread: &mut Unread<'_>) -> Taken<Vec<u8>> {
        if self.0 > unread.limit {
            let error = format!("{} bytes are more than the limit of {}", self.0, unread.limit);
            return Taken::Some(0, Err(io::Error::new(io::ErrorKind::InvalidInput, error)));
        }
        if unread.bytes.len() < self.0 { Taken::None } else { unread.taken(self.0, self.0) }
    }
}

/// See [`BufReader::some`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Any;

impl Cut for Any {
    type Out = Vec<u8>;
    const NAME: &'static str = "some";

    fn cut(&mut self, unread: &mut Unread<'_>) -> Taken<Vec<u8>> {
        let is_there = unread.is_end || !unread.bytes.is_empty();
        if is_there { unread.taken(unread.bytes.len(), 0) } else { Taken::None }
    }
}

/// See [`BufReader::rest`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest;

impl Cut for Rest {
    type Out = Vec<u8>;
    const NAME: &'static str = "rest";
    // Only another read shows that the stream has ended.
    const BEYOND: usize = 1;

    fn cut(&mut self, unread: &mut Unread<'_>) -> Taken<Vec<u8>> {
        if unread.is_end { unread.all() } else { unread.incomplete(unread.bytes.len()) }
    }
}

/// See [`BufReader::decode`].
#[derive(Clone, Copy, Debug)]
pub struct Whole<F>(F);

impl<T, F> Cut for Whole<F>
where
    T: Send + 'static,
    F: FnMut(&[u8]) -> Option<(usize, T)> + Send + 'static,
{
    type Out = Option<T>;
    const NAME: &'static str = "decode";

    fn cut(&mut self, unread: &mut Unread<'_>) -> Taken<Option<T>> {
        match (self.0)(unread.bytes) {
            Some((length, _)) if length > unread.limit => Taken::TooLong,
            Some((length, value)) => Taken::Some(length, Ok(Some(value))),
            None if unread.is_end && unread.bytes.is_empty() => Taken::Some(0, Ok(None)),
            None if unread.is_end => Taken::None,
            // The message has at least one more byte.
            None => unread.incomplete(unread.bytes.len().saturating_add(1)),
        }
    }
}

impl fmt::Debug for BufReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("BufReader");
        fields.field("stream", self.stream()).field("limit", &self.limit).finish_non_exhaustive()
    }
}

impl<C> fmt::Debug for Decode<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Decode").field(&self.taker.reader).finish()
    }
}
