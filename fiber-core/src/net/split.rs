//! The two directions of a stream as separate values.

use std::io;
use std::net::Shutdown;

use super::buf_reader::BufReader;
use super::buf_writer::BufWriter;
use super::operation::SocketWait;
use super::read::{Read, ReadExact};
use super::stream::{ByteStream, TornWrite};
use super::write::{Write, WriteAll, WriteAllVectored, WriteVectored};
use crate::engine::step::Run;
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

    /// See [`ByteStream::read_exact`].
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let (reads, _writes) = server.split();
    /// do! client.write_all("four, and more");
    /// let! four = reads.read_exact([0; 4]);
    /// assert_eq!(&four, b"four");
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    #[track_caller]
    pub fn read_exact<B>(&self, buffer: B) -> Fiber<B, Leaf<SocketWait<ReadExact<B>>>>
    where
        B: AsMut<[u8]> + Send + 'static,
    {
        self.0.read_exact(buffer)
    }

    /// See [`ByteStream::try_read`].
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let (reads, _writes) = server.split();
    /// do! client.write_all("x");
    /// do! reads.readable();
    /// assert_eq!(reads.try_read(&mut [0; 8])?, 1);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of `ByteStream::try_read`.
    pub fn try_read(&self, into: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(into)
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
    pub fn readable(&self) -> Fiber<(), impl Run<Out = ()> + Clone + use<>> {
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

    /// See [`ByteStream::write_vectored`].
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let (_reads, writes) = client.split();
    /// let! (n, _) = writes.write_vectored(vec!["head ", "body"]);
    /// assert!(n > 0);
    /// # drop(server);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    #[track_caller]
    pub fn write_vectored<B>(
        &self,
        buffers: Vec<B>,
    ) -> Fiber<(usize, Vec<B>), Leaf<SocketWait<WriteVectored<B>>>>
    where
        B: AsRef<[u8]> + Send + 'static,
    {
        self.0.write_vectored(buffers)
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

    /// See [`ByteStream::write_all_vectored`].
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let (_reads, writes) = client.split();
    /// do! writes.write_all_vectored(vec!["head ", "body"]).map(|_| drop(writes));
    /// let! all = server.buffered().rest();
    /// assert_eq!(all, b"head body");
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    #[track_caller]
    pub fn write_all_vectored<B>(
        &self,
        buffers: Vec<B>,
    ) -> Fiber<Vec<B>, Leaf<SocketWait<WriteAllVectored<B>>>>
    where
        B: AsRef<[u8]> + Send + 'static,
    {
        self.0.write_all_vectored(buffers)
    }

    /// See [`ByteStream::try_write`].
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let (_reads, writes) = client.split();
    /// assert_eq!(writes.try_write(b"x")?, 1);
    /// # drop(server);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    ///
    /// # Errors
    /// Those of `ByteStream::try_write`.
    pub fn try_write(&self, from: &[u8]) -> io::Result<usize> {
        self.0.try_write(from)
    }

    /// See [`ByteStream::flush`].
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let (_reads, writes) = client.split();
    /// let! (_n, _) = writes.write("x");
    /// do! writes.flush();
    /// # drop(server);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    #[track_caller]
    pub fn flush(&self) -> Fiber<(), impl Run<Out = ()> + Clone + use<>> {
        self.0.flush()
    }

    /// See [`ByteStream::close`]. The drop of this half does the same, if that needs no wait.
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let (_reads, writes) = client.split();
    /// do! writes.close();
    /// let! all = server.buffered().rest();
    /// assert_eq!(all, b"");
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    #[track_caller]
    pub fn close(&self) -> Fiber<(), impl Run<Out = ()> + Clone + use<>> {
        self.0.close()
    }

    /// See [`ByteStream::torn_write`].
    ///
    /// ```
    /// # use fiber_core::{fiber, net::{TcpListener, TcpStream}};
    /// # let program = fiber! {
    /// # let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
    /// # let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
    /// let (_reads, writes) = client.split();
    /// do! writes.write_all("whole");
    /// assert_eq!(writes.torn_write(), None);
    /// # drop(server);
    /// # };
    /// # assert!(fiber_sched::run(program).is_success());
    /// ```
    pub fn torn_write(&self) -> Option<TornWrite> {
        self.0.torn_write()
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
    pub fn writable(&self) -> Fiber<(), impl Run<Out = ()> + Clone + use<>> {
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
