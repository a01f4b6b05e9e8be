//! Whether a socket, a pipe or a process is readable.

use std::io::{self, ErrorKind};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::AsFd;

/// Whether a read would return data, the end or an error. It takes none of them: a `recv` with `MSG_PEEK` would take the
/// error, and the next read would find a clean end of the stream.
pub(super) fn is_readable(io: impl AsFd) -> io::Result<()> {
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    match poll(&mut [PollFd::new(&io, PollFlags::IN)], Some(&at_once))? {
        0 => Err(ErrorKind::WouldBlock.into()),
        _ => Ok(()),
    }
}
