//! Copying one stream into another.

use std::ops::ControlFlow;
use std::panic::Location;

use super::part::Part;
use super::stream::ByteStream;
use crate::fiber::Fiber;

/// The largest number of bytes in memory at a time, even with a slow reader.
const CHUNK: usize = 16 * 1024;

/// Copies one stream into another, until the first has ended. Gives the number of bytes. The other
/// stream stays open.
///
/// ```
/// use fiber_core::net::{TcpStream, copy};
/// use fiber_core::Fiber;
///
/// /// Joins two connections: what one end of one writes, the other end of the other reads.
/// fn join(one: TcpStream, other: TcpStream) -> Fiber<(u64, u64)> {
///     let half = |from: TcpStream, to: TcpStream| {
///         copy(from, to.clone()).bind(move |bytes| to.close().map(move |()| bytes))
///     };
///     half(one.clone(), other.clone()).zip(half(other, one)).boxed()
/// }
/// ```
///
/// # Errors
/// Those of [`read`](ByteStream::read) and [`write_all`](ByteStream::write_all).
///
/// # Cancellation
/// Bytes that were read and not written, at most 16 KiB, are lost. The target [remembers](ByteStream::torn_write) a
/// chunk that was written in part.
#[track_caller]
pub fn copy(from: impl Into<ByteStream>, to: impl Into<ByteStream>) -> Fiber<u64> {
    let (from, to, site) = (from.into(), to.into(), Location::caller());
    let start = (vec![0; CHUNK], 0);
    Fiber::iterate(start, move |(buffer, copied): (Vec<u8>, u64)| {
        let to = to.clone();
        from.read_at(site, buffer).bind_at(site, move |(n, buffer)| {
            to.write_all_at(site, Part::new(buffer, n)).map_at(site, move |part| match n {
                0 => ControlFlow::Break(copied),
                n => ControlFlow::Continue((part.into_buffer(), copied + n as u64)),
            })
        })
    })
    .boxed()
}
