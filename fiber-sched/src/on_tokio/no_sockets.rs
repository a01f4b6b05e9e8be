//! Replaces the sockets where there are none: without the feature `net`, and on systems whose polls cannot be polled.

use std::sync::Arc;

use fiber_core::scheduler::net::Net;
use tokio::runtime;

use super::drivers::Drivers;

#[derive(Clone)]
pub(super) struct Sockets;

impl Sockets {
    pub(super) fn new(_: &runtime::Handle, _: &Arc<Drivers>) -> Self {
        Sockets
    }

    pub(super) fn net(&self) -> Option<&dyn Net> {
        None
    }

    pub(super) fn look(&self) {}

    pub(super) fn catch_up(&self) {}

    pub(super) fn stop(&self) {}
}
