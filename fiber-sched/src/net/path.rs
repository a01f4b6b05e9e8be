//! The addresses of Unix sockets on Linux: paths, and abstract names, which begin with a zero byte.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::SocketAddr;
use std::path::Path;

pub(super) fn address(path: &Path) -> io::Result<SocketAddr> {
    match path.as_os_str().as_bytes() {
        [0, name @ ..] => SocketAddr::from_abstract_name(name),
        _ => SocketAddr::from_pathname(path),
    }
}
