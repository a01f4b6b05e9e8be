//! How a pool ends: its fibers are cancelled and awaited, then everything stops, then the threads are joined.
//!
//! Until the stop the pool works as ever, so finalizers may wait, fork and block. After it, what is scheduled (by a
//! callback from elsewhere, say) is thrown away, which abandons its fiber.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use fiber_core::Context;

use super::scheduler::PoolScheduler;

/// Ends the pool. `true`: everything has ended; `false`: not within the limit, or it goes on behind the caller's back.
pub(super) fn begin(root: &Context, scheduler: &Arc<PoolScheduler>, limit: Option<Duration>) -> bool {
    let (close, closed) = mpsc::channel();
    root.close(move || _ = close.send(()));
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    if !scheduler.id().is_inside() {
        return scheduler.shut_down(&closed, deadline);
    }
    // The caller would wait for its own end. So somebody else waits.
    let detached = scheduler.clone();
    let started =
        scheduler.threads.start_detached("closer", move || _ = detached.shut_down(&closed, deadline));
    if started.is_err() {
        // There is nobody who could wait for the finalizers.
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

    /// Runs nothing any more.
    fn stop(&self) {
        self.queues.idle().stop();
        self.timers.stop();
        self.blocking.stop();
        self.queues.discard();
    }
}
