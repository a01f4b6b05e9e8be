//! How long an idle worker searches for tasks before it sleeps.

use std::hint::spin_loop;
use std::thread::yield_now;
use std::time::Duration;

use fiber_core::Instant;

/// About the cost of a wake-up, so that a futile search at most doubles that cost.
const SEARCH_TIME: Duration = Duration::from_micros(30);

/// Pauses between two searches: some hundred nanoseconds, during which the cache lines stay with the busy workers.
const PAUSES: u32 = 16;

/// The patience of one search. It lasts for [`SEARCH_TIME`] from the first futile look.
#[derive(Default)]
pub(crate) struct Patience {
    end: Option<Instant>,
}

impl Patience {
    /// Called after a futile look: pauses before the next one. `false`: the patience is exhausted.
    pub(crate) fn pause(&mut self, now: Instant) -> bool {
        let is_left = now < *self.end.get_or_insert(now + SEARCH_TIME);
        if is_left {
            (0..PAUSES).for_each(|_| spin_loop());
            // There may be fewer cores than runnable threads, and the thread that has the next task may wait for this core.
            yield_now();
        }
        is_left
    }
}
