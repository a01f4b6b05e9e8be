//! The sockets of fibers on a tokio runtime.
//!
//! They are in a poll of the scheduler, as on a pool. No thread sleeps there: the descriptor of a poll can itself be polled, so the
//! runtime polls it with the sockets of tokio's tasks. When the poll has events, the runtime wakes a task, which collects them.

use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;

use fiber_core::scheduler::net::Net;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::{runtime, task};

use super::drivers::Drivers;
use crate::inside::SchedulerId;
use crate::net::{Happened, Polls, Reactor};

#[derive(Clone)]
pub(super) struct Sockets(Arc<Polls>);

impl Sockets {
    pub(super) fn new(runtime: &runtime::Handle, drivers: &Arc<Drivers>) -> Self {
        let (runtime, drivers) = (runtime.clone(), drivers.clone());
        Sockets(Polls::watched(SchedulerId::new(), move |reactor| watch(&runtime, &drivers, reactor)))
    }

    pub(super) fn net(&self) -> Option<&dyn Net> {
        self.0.net()
    }

    /// Collects events while the task may have to wait for a fiber that computes.
    pub(super) fn look(&self) {
        self.0.look_beside_watch();
    }

    /// Before the timers that are due: collects what has come by now.
    pub(super) fn catch_up(&self) {
        self.0.catch_up_beside_watch();
    }

    /// All waits at sockets fail, and so do later ones.
    pub(super) fn stop(&self) {
        self.0.stop();
        // The task, which ends.
        self.0.wake(0);
    }
}

/// Starts the task that collects the events of a new poll.
///
/// # Panics
/// As the sockets of tokio, if the I/O of the runtime is not enabled.
fn watch(runtime: &runtime::Handle, drivers: &Arc<Drivers>, reactor: Arc<Reactor>) -> io::Result<()> {
    let _inside = runtime.enter();
    #[allow(
        deprecated,
        reason = "its successor is unsafe, because a type may give a descriptor that it does not own"
    )]
    let poll = AsyncFd::with_interest(reactor.descriptor()?, Interest::READABLE)?;
    drop(runtime.spawn(collect(Watched { reactor, drivers: drivers.clone() }, poll)));
    Ok(())
}

async fn collect(watched: Watched, poll: AsyncFd<impl AsRawFd>) {
    while !watched.reactor.is_stopped() {
        let Ok(mut ready) = poll.readable().await else { return };
        let mut happened = Happened::default();
        let is_drained = watched.reactor.look(&mut happened);
        watched.drivers.push_all(|| happened.fire());
        if is_drained {
            // An event that has come since then has made the descriptor readable again.
            ready.clear_ready();
        } else {
            drop(ready);
            task::yield_now().await;
        }
    }
}

/// A poll whose events are collected until this is dropped, at the latest with the runtime.
struct Watched {
    reactor: Arc<Reactor>,
    drivers: Arc<Drivers>,
}

impl Drop for Watched {
    fn drop(&mut self) {
        // If the runtime ends, a driver may still be in a turn. It must not run the fibers whose waits fail now: they are abandoned.
        self.drivers.run_no_more();
        self.reactor.stop();
    }
}
