//! The addresses of Unix sockets where only Linux has abstract names: paths.

use std::io;
use std::os::unix::net::SocketAddr;
use std::path::Path;

pub(super) fn address(path: &Path) -> io::Result<SocketAddr> {
    SocketAddr::from_pathname(path)
}
