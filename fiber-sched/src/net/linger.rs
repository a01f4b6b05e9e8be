//! What closing a connection does with unsent data.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

pub(super) fn set_linger(stream: &mio::net::TcpStream, time: Option<Duration>) -> io::Result<()> {
    Ok(rustix::net::sockopt::set_socket_linger(stream.as_fd(), time)?)
}
