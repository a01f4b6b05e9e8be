//! Sockets: connections and datagrams as fibers.
//!
//! A scheduler provides a [`Net`](crate::scheduler::net::Net): the pools of `fiber-sched` (with its feature `net`) that of the operating system, the
//! schedulers of `fiber-test` a simulated one in virtual time. The same program runs on both.
//!
//! ```
//! use fiber_core::net::{TcpListener, TcpStream};
//! use fiber_core::{Fiber, fiber};
//! use std::net::SocketAddr;
//!
//! fn greets(listener: TcpListener) -> Fiber<()> {
//!     fiber! {
//!         let! (stream, _from) = listener.accept();
//!         do! stream.write_all("hello\n");
//!     }
//! }
//!
//! fn is_greeted(at: SocketAddr) -> Fiber<Option<String>> {
//!     fiber! {
//!         let! stream = TcpStream::connect(at);
//!         return! stream.buffered().line().boxed();
//!     }
//! }
//!
//! let program = || fiber! {
//!     let! listener = TcpListener::bind(([127, 0, 0, 1], 0));
//!     let at = listener.local_addr()?;
//!     let! line = is_greeted(at) and! () = greets(listener);
//!     line
//! };
//! assert_eq!(fiber_sched::run(program()).unwrap().as_deref(), Some("hello"));
//! assert_eq!(fiber_test::TestScheduler::new().run(program()).unwrap().as_deref(), Some("hello"));
//! ```
//!
//! # Cancellation
//! **A cancelled operation takes nothing**: a cancelled read has taken no byte, a cancelled accept no connection. A
//! [`BufReader`] keeps the bytes of an incomplete line or message, so the same holds for [`line`](BufReader::line). A
//! cancelled [`write_all`](ByteStream::write_all) may have written a part, which the stream
//! [remembers](ByteStream::torn_write); a [`BufWriter`] continues where it was.
//!
//! A read that races a delay, or another single wait, takes nothing if it loses ([`race`](crate::Fiber::race)). In a race of
//! larger programs, a read that *succeeds* at the same moment as the other branch has lost: its bytes are dropped with its
//! value. Race [`readable`](ByteStream::readable) instead, and read afterwards; or use [`timeout`](crate::Fiber::timeout),
//! whose body wins if it has a value.
//!
//! # Errors
//! Those of sockets are [`std::io::Error`]s, which [`Error::downcast_ref`](crate::Error::downcast_ref) finds. On a
//! scheduler without a network, all operations fail with `Unsupported`.

// The base, which is not public:
//   operation   one call on a socket as a leaf: all operations wait in this way

mod accept;
mod address;
mod asynchronous;
mod bind;
mod buf_reader;
mod buf_writer;
mod connect;
mod copy;
mod finish;
#[cfg(feature = "futures-io")]
mod futures_io;
#[cfg(feature = "stream")]
mod items;
mod listener;
mod operation;
mod part;
mod polled;
mod read;
mod remove_path;
mod serve;
mod split;
mod stream;
mod tcp;
#[cfg(feature = "tokio-io")]
mod tokio_io;
mod udp;
mod unix;
mod write;

pub use address::{Addresses, resolve};
pub use asynchronous::AsyncStream;
pub use buf_reader::BufReader;
pub use buf_writer::BufWriter;
pub use copy::copy;
#[cfg(feature = "stream")]
pub use items::Lines;
pub use listener::TcpListener;
#[cfg(feature = "stream")]
pub(crate) use operation::{Operation, SocketWait};
pub use part::Part;
pub use polled::PolledStream;
pub use split::{ReadHalf, WriteHalf};
pub use stream::{ByteStream, TornWrite};
pub use tcp::TcpStream;
pub use udp::UdpSocket;
pub use unix::{UnixListener, UnixStream};
pub use write::WriteFailed;
