//! Removing the path that a Unix socket has left.

use std::panic::Location;
use std::path::PathBuf;

use super::operation::{Operation, SocketWait, network};
use super::unix::{UnixListener, place};
use crate::engine::context::{Cx, WaitsFor};
use crate::engine::network::Readiness;
use crate::engine::subject::Subject;
use crate::error::Error;
use crate::fiber::Fiber;
use crate::leaf::Leaf;
use crate::outcome::Outcome;

impl UnixListener {
    /// Removes a path at which a listener was, so that the next one can be there. A server that may have crashed does so before it
    /// binds; a file that is not a socket stays.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # use fiber_core::{Fiber, fiber, net::{UnixListener, UnixStream}};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("socket");
    /// # let program = |path: std::path::PathBuf| fiber! {
    /// let! first = UnixListener::bind(&path);
    /// drop(first);
    /// // The path is still there, and may have been before.
    /// do! UnixListener::remove(&path).catch(|_| Fiber::success(()));
    /// let! second = UnixListener::bind(&path);
    /// let! client = UnixStream::connect(&path) and! server = second.accept();
    /// # drop((client, server));
    /// # };
    /// # assert!(fiber_sched::run(program(path.clone())).is_success());
    /// # assert!(fiber_test::TestScheduler::new().run(program(path)).is_success());
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NotFound`: there is nothing. `InvalidInput`: there is something else. `Unsupported`: this network has no such sockets.
    #[track_caller]
    pub fn remove(path: impl Into<PathBuf>) -> Fiber<(), Leaf<SocketWait<RemovePath>>> {
        SocketWait::fiber(RemovePath { path: path.into() }, Location::caller())
    }
}

/// The operation of [`UnixListener::remove`].
#[derive(Clone, Debug)]
pub struct RemovePath {
    path: PathBuf,
}

impl Operation for RemovePath {
    type Out = ();
    const WAITS_FOR: WaitsFor = WaitsFor::Nothing;

    fn operator(&self) -> &'static str {
        "remove"
    }

    fn attempt(&mut self, cx: &Cx<'_>) -> Option<Outcome<()>> {
        let removed = network(cx).and_then(|network| network.remove_path(&self.path));
        let failed = |error| Error::from(error).context(format!("removing {}", place(&self.path)));
        Some(removed.map_err(failed).into())
    }

    fn readiness(&self) -> Option<&Readiness> {
        None
    }

    fn subject(&self) -> Option<&Subject> {
        None
    }
}
