//! Samples how long tasks wait in the deque of a worker.

use std::cell::Cell;

use crossbeam_deque::Worker as Deque;
use fiber_core::Instant;
use fiber_core::scheduler::Task;

use super::counters::Counters;
use crate::clock::Clock;

/// One task in this many is timed: two clock reads per thousand tasks cost nothing. A prime, so that it does not
/// fall into step with a program's own period.
const INTERVAL: u32 = 1021;

/// Times one task at a time.
#[derive(Default)]
pub(crate) struct Latency {
    /// The number of tasks to be pushed before the next timed one.
    countdown: Cell<u32>,
    timed: Cell<Option<Timed>>,
}

#[derive(Clone, Copy)]
struct Timed {
    /// The number of tasks ahead of it.
    ahead: usize,
    since: Instant,
}

impl Latency {
    /// A task was pushed.
    #[inline]
    pub(crate) fn pushed(&self, deque: &Deque<Task>, clock: &Clock) {
        match self.countdown.get() {
            0 => self.start(deque, clock),
            left => self.countdown.set(left - 1),
        }
    }

    #[cold]
    fn start(&self, deque: &Deque<Task>, clock: &Clock) {
        self.countdown.set(INTERVAL);
        if self.timed.get().is_none() {
            self.timed.set(Some(Timed { ahead: deque.len().saturating_sub(1), since: clock.now() }));
        }
    }

    /// A task was popped, or there was none. If thieves have taken tasks, the timed one seems to wait longer than it did;
    /// if they have taken all, its measurement is abandoned.
    #[inline]
    pub(crate) fn popped(&self, is_there: bool, counters: &Counters, clock: &Clock) {
        let Some(Timed { ahead, since }) = self.timed.get() else { return };
        self.timed.set((is_there && ahead > 0).then(|| Timed { ahead: ahead - 1, since }));
        if is_there && ahead == 0 {
            counters.add_latency(clock.now() - since);
        }
    }
}
