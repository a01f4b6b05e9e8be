//! For systems without Unix sockets.

use std::io;
use std::path::Path;
use std::sync::Arc;

use fiber_core::scheduler::net::{PathListenerSocket, StreamSocket};

use super::polls::Polls;

pub(super) fn listen(_: Arc<Polls>, _: &Path) -> io::Result<Box<dyn PathListenerSocket>> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn connect(_: &Polls, _: &Path) -> io::Result<Box<dyn StreamSocket>> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn remove(_: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn pair(_: &Polls) -> io::Result<[Box<dyn StreamSocket>; 2]> {
    Err(io::ErrorKind::Unsupported.into())
}
