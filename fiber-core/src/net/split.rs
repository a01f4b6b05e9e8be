//! The two directions of a stream, apart.

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
    /// The two directions, for fibers that own one each. A drop of the [`WriteHalf`] tells the other end that nothing more
    /// comes.
    ///
    /// Clones of the stream need no split to read and write at the same time.
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

/// The direction of a stream in which this end reads; see [`ByteStream::split`].
#[derive(Debug)]
pub struct ReadHalf(ByteStream);

/// The direction of a stream in which this end writes; see [`ByteStream::split`].
#[derive(Debug)]
pub struct WriteHalf(ByteStream);

impl ReadHalf {
    /// See [`ByteStream::read`].
    #[track_caller]
    pub fn read<B>(&self, buffer: B) -> Fiber<(usize, B), Leaf<SocketWait<Read<B>>>>
    where
        B: AsMut<[u8]> + Send + 'static,
    {
        self.0.read(buffer)
    }

    /// See [`ByteStream::readable`].
    #[track_caller]
    pub fn readable(&self) -> Fiber<(), Leaf<SocketWait<Ready>>> {
        self.0.readable()
    }

    /// See [`ByteStream::buffered`].
    pub fn buffered(&self) -> BufReader {
        self.0.buffered()
    }

    /// The whole stream.
    pub fn stream(&self) -> &ByteStream {
        &self.0
    }
}

impl WriteHalf {
    /// See [`ByteStream::write`].
    #[track_caller]
    pub fn write<B>(&self, buffer: B) -> Fiber<(usize, B), Leaf<SocketWait<Write<B>>>>
    where
        B: AsRef<[u8]> + Send + 'static,
    {
        self.0.write(buffer)
    }

    /// See [`ByteStream::write_all`].
    #[track_caller]
    pub fn write_all<B>(&self, buffer: B) -> Fiber<B, Leaf<SocketWait<WriteAll<B>>>>
    where
        B: AsRef<[u8]> + Send + 'static,
    {
        self.0.write_all(buffer)
    }

    /// See [`ByteStream::writable`].
    #[track_caller]
    pub fn writable(&self) -> Fiber<(), Leaf<SocketWait<Ready>>> {
        self.0.writable()
    }

    /// See [`ByteStream::buffered_writer`].
    pub fn buffered_writer(&self) -> BufWriter {
        self.0.buffered_writer()
    }

    /// The whole stream.
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
