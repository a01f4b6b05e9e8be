//! How long a worker that has nothing to do looks out for tasks before it sleeps.

use std::hint::spin_loop;
use std::thread::yield_now;
use std::time::Duration;

use fiber_core::Instant;

/// About the cost of a wake-up, so that a futile search at most doubles that cost.
const SEARCH_TIME: Duration = Duration::from_micros(30);

/// Pauses between two looks: some hundred nanoseconds, which leave the cache lines to the busy workers.
const PAUSES: u32 = 16;

/// The patience of one search. It lasts for [`SEARCH_TIME`] from the first look in vain.
#[derive(Default)]
pub(crate) struct Patience {
    end: Option<Instant>,
}

impl Patience {
    /// Called after a look in vain: pauses before the next one. `false`: the patience is at its end.
    pub(crate) fn pause(&mut self, now: Instant) -> bool {
        let is_left = now < *self.end.get_or_insert(now + SEARCH_TIME);
        if is_left {
            (0..PAUSES).for_each(|_| spin_loop());
            // There may be fewer cores than threads with something to do; whoever has the next task may wait for this one.
            yield_now();
        }
        is_left
    }
}
