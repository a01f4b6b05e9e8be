//! How a pool ends: its fibers are cancelled and awaited, then everything stops, then the threads are joined.
//!
//! Until the stop the pool works as ever, so finalizers may wait, fork and block. After it, what is scheduled (by a
//! callback from elsewhere, say) is thrown away, which abandons its fiber.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fiber_core::Context;

use super::scheduler::PoolScheduler;

/// Ends the pool. `true`: everything has ended; `false`: not within the limit, or it goes on behind the caller's back.
pub(super) fn begin(root: &Context, scheduler: &Arc<PoolScheduler>, limit: Option<Duration>) -> bool {
    root.cancel();
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    if !scheduler.id().is_inside() {
        return scheduler.shut_down(deadline);
    }
    // The caller would wait for its own end. So somebody else waits.
    let detached = scheduler.clone();
    let started = scheduler.threads.start_detached("closer", move || _ = detached.shut_down(deadline));
    if started.is_err() {
        // There is nobody who could wait for the finalizers.
        scheduler.stop();
    }
    false
}

impl PoolScheduler {
    /// Waits for the fibers, which are cancelled already, then for the threads.
    pub(super) fn shut_down(&self, deadline: Option<Instant>) -> bool {
        let have_fibers_ended = self.census.wait_until_empty(deadline);
        self.stop();
        self.threads.join(deadline) && have_fibers_ended
    }

    /// Runs nothing any more.
    fn stop(&self) {
        self.queues.idle().stop();
        self.timers.stop();
        self.blocking.stop();
        self.queues.discard();
    }
}
