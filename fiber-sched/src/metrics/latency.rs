//! How long tasks wait in the deque of a worker, sampled.

use std::cell::Cell;

use crossbeam_deque::Worker as Deque;
use fiber_core::{Instant, Task};

use super::counters::Counters;
use crate::clock::Clock;

/// One of so many tasks is timed: two looks at the clock for a thousand tasks cost nothing. A prime, so that it does not
/// fall into step with a program's own rhythm.
const INTERVAL: u32 = 1021;

/// Times one task after the other.
#[derive(Default)]
pub(crate) struct Latency {
    /// How many more tasks are pushed before the next one that is timed.
    countdown: Cell<u32>,
    timed: Cell<Option<Timed>>,
}

#[derive(Clone, Copy)]
struct Timed {
    /// How many tasks were before it.
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
    /// if they have taken all, it is given up.
    #[inline]
    pub(crate) fn popped(&self, is_there: bool, counters: &Counters, clock: &Clock) {
        let Some(Timed { ahead, since }) = self.timed.get() else { return };
        self.timed.set((is_there && ahead > 0).then(|| Timed { ahead: ahead - 1, since }));
        if is_there && ahead == 0 {
            counters.add_latency(clock.now() - since);
        }
    }
}
