//! The end of a pool: it cancels and awaits its fibers, then stops, then joins its threads.
//!
//! Until the stop, the pool works as usual, so finalizers may wait, fork and block. After the stop, the pool drops
//! every task that is scheduled (by a foreign callback, for example), which abandons the fiber of the task.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use fiber_core::Context;

use super::scheduler::PoolScheduler;

/// Ends the pool. `true`: everything has ended. `false`: the limit has passed, or the shutdown continues in the
/// background.
pub(super) fn begin(root: &Context, scheduler: &Arc<PoolScheduler>, limit: Option<Duration>) -> bool {
    let (close, closed) = mpsc::channel();
    root.close(move || _ = close.send(()));
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    if !scheduler.id().is_inside() {
        return scheduler.shut_down(&closed, deadline);
    }
    // The caller would wait for its own end, so another thread waits instead.
    let detached = scheduler.clone();
    let started =
        scheduler.threads.start_detached("closer", move || _ = detached.shut_down(&closed, deadline));
    if started.is_err() {
        // No thread can wait for the finalizers.
        scheduler.stop();
    }
    false
}

impl PoolScheduler {
    /// Waits until the root is closed, then for the threads.
    fn shut_down(&self, closed: &Receiver<()>, deadline: Option<Instant>) -> bool {
        let have_fibers_ended = match deadline {
            None => closed.recv().is_ok(),
            Some(at) => closed.recv_timeout(at.saturating_duration_since(Instant::now())).is_ok(),
        };
        self.end(deadline) && have_fibers_ended
    }

    /// Stops, and waits for the threads.
    pub(super) fn end(&self, deadline: Option<Instant>) -> bool {
        self.stop();
        self.threads.join(deadline)
    }

    /// Stops the pool: no task runs after this.
    fn stop(&self) {
        self.queues.idle().stop();
        self.queues.timers().stop();
        self.blocking.stop();
        self.queues.discard();
    }
}
