//! The errors of the operating system for which `ErrorKind` has no name. On each system, they have their own numbers.

use std::io;

/// The number on Linux, on Windows, and on the BSDs, of which macOS is one.
const fn number(linux: i32, windows: i32, bsd: i32) -> i32 {
    if cfg!(target_os = "linux") {
        linux
    } else if cfg!(windows) {
        windows
    } else {
        bsd
    }
}

/// A datagram without an address to send it to.
pub(super) fn no_destination() -> io::Error {
    io::Error::from_raw_os_error(number(89, 10_039, 39))
}

/// A datagram that is too long.
pub(super) fn too_long() -> io::Error {
    io::Error::from_raw_os_error(number(90, 10_040, 40))
}

/// An address of version 6 for a socket of version 4.
pub(super) fn other_family() -> io::Error {
    io::Error::from_raw_os_error(number(97, 10_047, 47))
}

/// A name of a host that nobody knows. Look-ups have errors of their own, which have no kind either.
pub(super) fn unknown_host(name: &str) -> io::Error {
    io::Error::new(
        too_long().kind(),
        format!("failed to lookup address information: no host is called {name:?}"),
    )
}
