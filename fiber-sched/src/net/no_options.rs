//! Ignores the options where they cannot be set without unsafe code.

use std::io;
use std::time::Duration;

pub(super) fn set_linger(_: &mio::net::TcpStream, _: Option<Duration>) -> io::Result<()> {
    Ok(())
}

pub(super) fn lengthen_queue(_: &mio::net::TcpListener) -> io::Result<()> {
    Ok(())
}
