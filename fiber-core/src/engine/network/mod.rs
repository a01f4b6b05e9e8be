//! The network of a scheduler: the interface that real and simulated sockets share.
//!
//! A socket is non-blocking. A fiber that finds it not ready leaves a wake-up in the [`Readiness`] of that direction.

mod readiness;

pub use readiness::{AtSocket, Attempted, Place, Readiness, Waking};

use std::any::Any;
use std::io::{self, IoSlice};
use std::net::{Shutdown, SocketAddr};
use std::path::Path;
use std::time::Duration;

/// The network that the fibers of a scheduler use: see [`Scheduler::net`](crate::scheduler::Scheduler::net).
///
/// No method but [`resolve`](Net::resolve) blocks.
pub trait Net: Any + Send + Sync {
    /// Listens at an address. Port 0 stands for any free port.
    ///
    /// # Errors
    /// The address is in use, or not one of this host.
    fn listen(&self, at: SocketAddr) -> io::Result<Box<dyn ListenerSocket>>;

    /// Starts to connect. [`StreamSocket::connected`] reports when the connection is established.
    ///
    /// # Errors
    /// The attempt cannot be started.
    fn connect(&self, to: SocketAddr) -> io::Result<Box<dyn StreamSocket>>;

    /// Opens a datagram socket at an address. Port 0 stands for any free port.
    ///
    /// # Errors
    /// The address is in use, or not one of this host. `Unsupported`: this network has no datagram sockets.
    fn bind_datagrams(&self, at: SocketAddr) -> io::Result<Box<dyn DatagramSocket>> {
        let _ = at;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Listens at a path of the file system (a Unix socket).
    ///
    /// # Errors
    /// The path exists already. `Unsupported`: this network has no such sockets.
    fn listen_at_path(&self, at: &Path) -> io::Result<Box<dyn PathListenerSocket>> {
        let _ = at;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Starts to connect to a path of the file system, as [`connect`](Net::connect) does to an address.
    ///
    /// # Errors
    /// The attempt cannot be started. `Unsupported`: this network has no such sockets.
    fn connect_to_path(&self, to: &Path) -> io::Result<Box<dyn StreamSocket>> {
        let _ = to;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Removes a path at which a listener was, or is.
    ///
    /// # Errors
    /// There is no path, or it is not that of a socket. `Unsupported`: this network has no such sockets.
    fn remove_path(&self, path: &Path) -> io::Result<()> {
        let _ = path;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Two ends of a connection that has no address.
    ///
    /// # Errors
    /// Those of the operating system. `Unsupported`: this network has no such sockets.
    fn pair(&self) -> io::Result<[Box<dyn StreamSocket>; 2]> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Resolves the name of a host to addresses. Called on a thread that may block.
    ///
    /// # Errors
    /// There is no such host, or the lookup failed.
    fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>>;

    /// The waits at all sockets, for [dumps](crate::Dump): the results of [`Readiness::waiting_at`] of every socket. A
    /// network that does not keep a list of its sockets returns none.
    fn waiting(&self) -> Vec<AtSocket> {
        Vec::new()
    }
}

/// The operations that all sockets share. Dropping a socket closes it.
pub trait Socket: Send + Sync + 'static {
    /// Whether it may be read from, or a connection accepted, and the fibers that wait for that.
    fn readable(&self) -> &Readiness;

    /// Whether it may be written to, and the fibers that wait for that.
    fn writable(&self) -> &Readiness;

    /// The local address.
    ///
    /// # Errors
    /// Those of the operating system. `Unsupported`: the socket has no address.
    fn local_addr(&self) -> io::Result<SocketAddr> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Whether a call that moves less than requested means that the next one would block. If this is unknown, each transfer
    /// costs one more call.
    fn short_means_empty(&self) -> bool {
        false
    }
}

/// A socket that accepts connections.
pub trait ListenerSocket: Socket {
    /// Accepts the next connection. Gives the socket and the address of the peer.
    ///
    /// # Errors
    /// `WouldBlock`: no connection has arrived.
    fn try_accept(&self) -> io::Result<(Box<dyn StreamSocket>, SocketAddr)>;
}

/// A socket at a path that accepts connections.
pub trait PathListenerSocket: Socket {
    /// Accepts the next connection.
    ///
    /// # Errors
    /// `WouldBlock`: no connection has arrived.
    fn try_accept(&self) -> io::Result<Box<dyn StreamSocket>>;
}

/// A socket for datagrams.
pub trait DatagramSocket: Socket {
    /// Connects the socket: it then sends to this address, and receives from this address only.
    ///
    /// # Errors
    /// Those of the operating system.
    fn connect(&self, to: SocketAddr) -> io::Result<()>;

    /// The address that it is connected to.
    ///
    /// # Errors
    /// It is not connected.
    fn peer_addr(&self) -> io::Result<SocketAddr>;

    /// Sends a datagram to an address, or to the address that it is connected to.
    ///
    /// # Errors
    /// `WouldBlock`: there is no room yet. Other errors: the datagram is too long, or there is no address to send it to.
    fn try_send(&self, datagram: &[u8], to: Option<SocketAddr>) -> io::Result<()>;

    /// Receives a datagram and the address of its sender. The bytes that do not fit into the buffer are lost.
    ///
    /// # Errors
    /// `WouldBlock`: no datagram has arrived.
    fn try_receive(&self, into: &mut [u8]) -> io::Result<(usize, SocketAddr)>;

    /// Whether a datagram has arrived, without taking it.
    ///
    /// # Errors
    /// `WouldBlock`: no datagram has arrived. Any other error is one that a receive would return.
    fn try_peek(&self) -> io::Result<()>;
}

/// One end of a connection.
pub trait StreamSocket: Socket {
    /// Whether the connection is established.
    ///
    /// # Errors
    /// `WouldBlock`: not yet. Any other error: the connection has failed.
    fn connected(&self) -> io::Result<()>;

    /// The address of the peer.
    ///
    /// # Errors
    /// It is not connected. `Unsupported`: the peer has no address.
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Reads. 0 bytes: the peer has closed its writing side.
    ///
    /// # Errors
    /// `WouldBlock`: there are no bytes yet.
    fn try_read(&self, into: &mut [u8]) -> io::Result<usize>;

    /// Whether a read would return bytes or the end of the stream, without taking them.
    ///
    /// # Errors
    /// `WouldBlock`: it would block. Any other error is one that the read would return.
    fn try_peek(&self) -> io::Result<()>;

    /// The number of bytes that have arrived and were not read, for reports of those that are lost. 0 if it is not known.
    fn unread(&self) -> usize {
        0
    }

    /// Writes, and returns the number of bytes written.
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

    /// Sends the bytes that it has buffered. Sockets of an operating system buffer nothing here.
    ///
    /// # Errors
    /// `WouldBlock`: there is no room yet.
    fn try_flush(&self) -> io::Result<()> {
        Ok(())
    }

    /// Sends the bytes that it has buffered, and then the end of the stream.
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

    /// Sets an option. A network ignores an option that it does not support.
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
    /// The effect of a close on data that was not sent yet. `None`: the system goes on sending. Zero: the close resets the
    /// connection. Any other time: as `None`, since a close must not block.
    Linger(Option<Duration>),
}
