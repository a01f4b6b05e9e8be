//! The network that a scheduler may offer: what real and simulated sockets have in common.
//!
//! A socket is non-blocking. Whoever finds it not ready leaves a wake-up in the [`Readiness`] of that direction.

mod readiness;

pub use readiness::{Attempted, Place, Readiness, Waiting, Waking};

use std::any::Any;
use std::io::{self, IoSlice};
use std::net::{Shutdown, SocketAddr};
use std::path::Path;
use std::time::Duration;

/// The network that fibers of a scheduler see: see [`Scheduler::net`](crate::Scheduler::net).
///
/// No method but [`resolve`](Net::resolve) blocks.
pub trait Net: Any + Send + Sync {
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

    /// A socket for datagrams at an address. Port 0 stands for any free port.
    ///
    /// # Errors
    /// The address is taken, or not one of this host. `Unsupported`: this network has none.
    fn bind_datagrams(&self, at: SocketAddr) -> io::Result<Box<dyn DatagramSocket>> {
        let _ = at;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Listens at a path of the file system (a Unix socket).
    ///
    /// # Errors
    /// Something is at that path. `Unsupported`: this network has no such sockets.
    fn listen_at_path(&self, at: &Path) -> io::Result<Box<dyn PathListenerSocket>> {
        let _ = at;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Begins to connect to a path of the file system, as [`connect`](Net::connect) does to an address.
    ///
    /// # Errors
    /// The connection cannot even begin. `Unsupported`: this network has no such sockets.
    fn connect_to_path(&self, to: &Path) -> io::Result<Box<dyn StreamSocket>> {
        let _ = to;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Two ends of a connection, which nobody else can reach.
    ///
    /// # Errors
    /// Those of the operating system. `Unsupported`: this network has no such sockets.
    fn pair(&self) -> io::Result<[Box<dyn StreamSocket>; 2]> {
        Err(io::ErrorKind::Unsupported.into())
    }

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
    /// Those of the operating system. `Unsupported`: it has none.
    fn local_addr(&self) -> io::Result<SocketAddr> {
        Err(io::ErrorKind::Unsupported.into())
    }

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

/// A socket at a path, at which connections arrive.
pub trait PathListenerSocket: Socket {
    /// The next connection.
    ///
    /// # Errors
    /// `WouldBlock`: there is none yet.
    fn try_accept(&self) -> io::Result<Box<dyn StreamSocket>>;
}

/// A socket for datagrams.
pub trait DatagramSocket: Socket {
    /// From now on, it sends to this address, and receives from this one only.
    ///
    /// # Errors
    /// Those of the operating system.
    fn connect(&self, to: SocketAddr) -> io::Result<()>;

    /// Where it is connected to.
    ///
    /// # Errors
    /// It is not connected.
    fn peer_addr(&self) -> io::Result<SocketAddr>;

    /// Sends a datagram to an address, or to where it is connected to.
    ///
    /// # Errors
    /// `WouldBlock`: there is no room yet. It is too long, or there is nowhere to send it.
    fn try_send(&self, datagram: &[u8], to: Option<SocketAddr>) -> io::Result<()>;

    /// Receives a datagram, and where it comes from. What does not fit is lost.
    ///
    /// # Errors
    /// `WouldBlock`: there is none yet.
    fn try_receive(&self, into: &mut [u8]) -> io::Result<(usize, SocketAddr)>;

    /// Whether there is a datagram, without taking it.
    ///
    /// # Errors
    /// `WouldBlock`: there is none. Any other error is one that a receive would give.
    fn try_peek(&self) -> io::Result<()>;
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
    /// It is not connected. `Unsupported`: it has none.
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Err(io::ErrorKind::Unsupported.into())
    }

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

    /// Sends what it holds back. Sockets of an operating system hold back nothing.
    ///
    /// # Errors
    /// `WouldBlock`: there is no room yet.
    fn try_flush(&self) -> io::Result<()> {
        Ok(())
    }

    /// Sends what it holds back, and that nothing follows.
    ///
    /// # Errors
    /// `WouldBlock`: there is no room yet.
    fn try_close(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }

    /// Closes one direction, or both.
    ///
    /// # Errors
    /// It is not connected. `WouldBlock`: the end cannot be sent yet, see [`try_close`](StreamSocket::try_close).
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
