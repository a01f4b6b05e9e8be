//! What mio has no function for: the effect of a close on unsent data, and the length of a listener's queue.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

/// The connections that may wait for `accept`. mio asks for 128, which a burst of clients exceeds: the system then drops what they send, so
/// they connect a second later, or are reset. The system lowers it to its own limit (`net.core.somaxconn`), which is 4096 by
/// default.
const LONGEST_QUEUE: i32 = 4096;

/// A time that is not zero would block the thread that closes the socket, although the socket is non-blocking, and do nothing else: the
/// system goes on sending after it.
pub(super) fn set_linger(stream: &mio::net::TcpStream, time: Option<Duration>) -> io::Result<()> {
    Ok(rustix::net::sockopt::set_socket_linger(stream.as_fd(), time.filter(Duration::is_zero))?)
}

/// Makes the queue of a listener as long as the system allows.
pub(super) fn lengthen_queue(listener: &mio::net::TcpListener) -> io::Result<()> {
    Ok(rustix::net::listen(listener.as_fd(), LONGEST_QUEUE)?)
}
