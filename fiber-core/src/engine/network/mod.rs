//! The network that a scheduler may offer: what real and simulated sockets have in common.
//!
//! A socket is non-blocking. Whoever finds it not ready leaves a wake-up in the [`Readiness`] of that direction.

mod readiness;

pub use readiness::{Attempted, Place, Readiness, Waiting, Waking};

use std::io::{self, IoSlice};
use std::net::{Shutdown, SocketAddr};
use std::time::Duration;

/// The network that fibers of a scheduler see: see [`Scheduler::net`](crate::Scheduler::net).
///
/// No method but [`resolve`](Net::resolve) blocks.
pub trait Net: Send + Sync {
    /// Listens at an address. Port 0 stands for any free port.
    ///
    /// # Errors
    /// The address is taken, or not one of this host.
    fn listen(&self, at: SocketAddr) -> io::Result<Box<dyn ListenerSocket>>;

    /// Begins to connect. [`StreamSocket::connected`] tells when the connection is there.
    ///
    /// # Errors
    /// The connection cannot even begin.
    fn connect(&self, to: SocketAddr) -> io::Result<Box<dyn StreamSocket>>;

    /// The addresses of a host by its name. Called where it may block.
    ///
    /// # Errors
    /// There is no such host, or nobody knows.
    fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>>;

    /// Who waits at which socket, for [dumps](crate::Dump): what [`Readiness::waiting_at`] gives of every socket. A network that does
    /// not know its sockets names none.
    fn waiting(&self) -> Vec<Waiting> {
        Vec::new()
    }
}

/// What all sockets have. It is closed when it is dropped.
pub trait Socket: Send + Sync + 'static {
    /// Whether it may be read from, or a connection accepted; and who waits for that.
    fn readable(&self) -> &Readiness;

    /// Whether it may be written to; and who waits for that.
    fn writable(&self) -> &Readiness;

    /// The address of this end.
    ///
    /// # Errors
    /// Those of the operating system.
    fn local_addr(&self) -> io::Result<SocketAddr>;

    /// Whether the next call would block after one that has moved less than it could. Where that is unknown, each transfer
    /// costs one more call.
    fn short_means_empty(&self) -> bool {
        false
    }
}

/// A socket at which connections arrive.
pub trait ListenerSocket: Socket {
    /// The next connection, and where it comes from.
    ///
    /// # Errors
    /// `WouldBlock`: there is none yet.
    fn try_accept(&self) -> io::Result<(Box<dyn StreamSocket>, SocketAddr)>;
}

/// One end of a connection.
pub trait StreamSocket: Socket {
    /// Whether the connection is there.
    ///
    /// # Errors
    /// `WouldBlock`: not yet. Any other error: it never will be.
    fn connected(&self) -> io::Result<()>;

    /// The address of the other end.
    ///
    /// # Errors
    /// It is not connected.
    fn peer_addr(&self) -> io::Result<SocketAddr>;

    /// Reads. 0: the other end writes no more.
    ///
    /// # Errors
    /// `WouldBlock`: there is nothing to read yet.
    fn try_read(&self, into: &mut [u8]) -> io::Result<usize>;

    /// Whether a read would give something, without taking it.
    ///
    /// # Errors
    /// `WouldBlock`: it would not. Any other error is one that the read would give.
    fn try_peek(&self) -> io::Result<()>;

    /// Writes, and tells how much.
    ///
    /// # Errors
    /// `WouldBlock`: there is no room yet.
    fn try_write(&self, from: &[u8]) -> io::Result<usize>;

    /// Writes several slices, one after the other.
    ///
    /// # Errors
    /// `WouldBlock`: there is no room yet.
    fn try_write_vectored(&self, from: &[IoSlice<'_>]) -> io::Result<usize> {
        let first = from.iter().find(|slice| !slice.is_empty());
        first.map_or(Ok(0), |slice| self.try_write(slice))
    }

    /// Closes one direction, or both.
    ///
    /// # Errors
    /// It is not connected.
    fn shutdown(&self, how: Shutdown) -> io::Result<()>;

    /// Sets an option. One that this network does not know is ignored.
    ///
    /// # Errors
    /// Those of the operating system.
    fn set_option(&self, option: StreamOption) -> io::Result<()> {
        let _ = option;
        Ok(())
    }
}

/// An option of a [`StreamSocket`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamOption {
    /// Whether small writes are sent at once (`TCP_NODELAY`).
    NoDelay(bool),
    /// The time to live of its packets, in hops.
    TimeToLive(u32),
    /// What a close does with data that was not sent yet. `None`: the system goes on sending. Zero: the close resets the
    /// connection.
    Linger(Option<Duration>),
}
