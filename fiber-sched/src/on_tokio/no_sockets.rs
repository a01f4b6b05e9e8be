//! Replaces the sockets where there are none: without the feature `net`, and on systems whose polls cannot be polled.

use fiber_core::scheduler::net::Net;
use tokio::runtime;

#[derive(Clone)]
pub(super) struct Sockets;

impl Sockets {
    pub(super) fn new(_: &runtime::Handle) -> Self {
        Sockets
    }

    pub(super) fn net(&self) -> Option<&dyn Net> {
        None
    }

    pub(super) fn look(&self) {}

    pub(super) fn stop(&self) {}
}
