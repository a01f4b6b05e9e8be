//! The two directions of a stream as separate values.

use std::net::Shutdown;

use super::buf_reader::BufReader;
use super::buf_writer::BufWriter;
use super::operation::SocketWait;
use super::read::{Read, Ready};
use super::stream::ByteStream;
use super::write::{Write, WriteAll};
use crate::fiber::Fiber;
use crate::leaf::Leaf;

impl ByteStream {
    /// The two directions, for fibers that own one each. Dropping the [`WriteHalf`] sends the end of the
    /// stream.
    ///
    /// Clones of the stream can read and write at the same time without a split.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_core::net::TcpStream;
    ///
    /// fn ask(stream: TcpStream, question: &'static str) -> Fiber<Vec<u8>> {
    ///     let (reads, writes) = stream.split();
    ///     let asks = writes.write_all(question).map(move |_| drop(writes));
    ///     asks.zip(reads.buffered().rest()).map(|((), answer)| answer).boxed()
    /// }
    /// ```
    pub fn split(self) -> (ReadHalf, WriteHalf) {
        (ReadHalf(self.clone()), WriteHalf(self))
    }
}

/// The reading direction of a stream; see [`ByteStream::split`].
#[derive(Debug)]
pub struct ReadHalf(ByteStream);

/// The writing direction of a stream; see [`ByteStream::split`].
#[derive(Debug)]
pub struct WriteHalf(ByteStream);

impl ReadHalf {
    /// See [`ByteStream::read`].
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let (reads, _writes) = server.split();
    /// do! client.write_all("x");
    /// let! (n, _) = reads.read([0; 8]);
    /// assert_eq!(n, 1);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    #[track_caller]
    pub fn read<B>(&self, buffer: B) -> Fiber<(usize, B), Leaf<SocketWait<Read<B>>>>
    where
        B: AsMut<[u8]> + Send + 'static,
    {
        self.0.read(buffer)
    }

    /// See [`ByteStream::readable`].
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let (reads, _writes) = server.split();
    /// do! client.write_all("x");
    /// do! reads.readable();
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    #[track_caller]
    pub fn readable(&self) -> Fiber<(), Leaf<SocketWait<Ready>>> {
        self.0.readable()
    }

    /// See [`ByteStream::buffered`].
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let (reads, _writes) = server.split();
    /// do! client.write_all("line\n");
    /// let! line = reads.buffered().line();
    /// assert_eq!(line.as_deref(), Some("line"));
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    pub fn buffered(&self) -> BufReader {
        self.0.buffered()
    }

    /// The whole stream.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let (reads, writes) = client.split();
    /// drop(writes);
    /// assert!(reads.stream().torn_write().is_none());
    /// # drop(server);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    pub fn stream(&self) -> &ByteStream {
        &self.0
    }
}

impl WriteHalf {
    /// See [`ByteStream::write`].
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let (_reads, writes) = client.split();
    /// let! (n, _) = writes.write("x");
    /// assert_eq!(n, 1);
    /// # drop(server);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    #[track_caller]
    pub fn write<B>(&self, buffer: B) -> Fiber<(usize, B), Leaf<SocketWait<Write<B>>>>
    where
        B: AsRef<[u8]> + Send + 'static,
    {
        self.0.write(buffer)
    }

    /// See [`ByteStream::write_all`].
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let (_reads, writes) = client.split();
    /// do! writes.write_all("all").map(|_| drop(writes));
    /// let! all = server.buffered().rest();
    /// assert_eq!(all, b"all");
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    #[track_caller]
    pub fn write_all<B>(&self, buffer: B) -> Fiber<B, Leaf<SocketWait<WriteAll<B>>>>
    where
        B: AsRef<[u8]> + Send + 'static,
    {
        self.0.write_all(buffer)
    }

    /// See [`ByteStream::writable`].
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let (_reads, writes) = client.split();
    /// do! writes.writable();
    /// # drop(server);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    #[track_caller]
    pub fn writable(&self) -> Fiber<(), Leaf<SocketWait<Ready>>> {
        self.0.writable()
    }

    /// See [`ByteStream::buffered_writer`].
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let (_reads, writes) = client.split();
    /// let writer = writes.buffered_writer();
    /// do! writer.put("line\n");
    /// do! writer.flush();
    /// let! line = server.buffered().line();
    /// assert_eq!(line.as_deref(), Some("line"));
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    pub fn buffered_writer(&self) -> BufWriter {
        self.0.buffered_writer()
    }

    /// The whole stream.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let (reads, writes) = client.split();
    /// assert!(writes.stream().torn_write().is_none());
    /// # drop((reads, server));
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    pub fn stream(&self) -> &ByteStream {
        &self.0
    }
}

impl Drop for WriteHalf {
    fn drop(&mut self) {
        // A connection that has failed is closed already.
        _ = self.0.shutdown(Shutdown::Write);
    }
}
