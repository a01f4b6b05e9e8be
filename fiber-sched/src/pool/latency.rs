//! How long tasks wait in the deque of a worker, sampled.

use std::cell::Cell;

use crossbeam_deque::Worker as Deque;
use fiber_core::{Instant, Task};

use super::counters::Counters;
use super::queue::Queues;

/// One of so many tasks is timed: two looks at the clock for a thousand tasks cost nothing. A prime, so that it does not
/// fall into step with a program's own rhythm.
const INTERVAL: u32 = 1021;

/// Times one task after the other.
#[derive(Default)]
pub(super) struct Latency {
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
    pub(super) fn pushed(&self, deque: &Deque<Task>, queues: &Queues) {
        match self.countdown.get() {
            0 => self.start(deque, queues),
            left => self.countdown.set(left - 1),
        }
    }

    #[cold]
    fn start(&self, deque: &Deque<Task>, queues: &Queues) {
        self.countdown.set(INTERVAL);
        if self.timed.get().is_none() {
            self.timed.set(Some(Timed { ahead: deque.len().saturating_sub(1), since: queues.now() }));
        }
    }

    /// A task was popped, or there was none. If thieves have taken tasks, the timed one seems to wait longer than it did;
    /// if they have taken all, it is given up.
    #[inline]
    pub(super) fn popped(&self, is_there: bool, counters: &Counters, queues: &Queues) {
        let Some(Timed { ahead, since }) = self.timed.get() else { return };
        self.timed.set((is_there && ahead > 0).then(|| Timed { ahead: ahead - 1, since }));
        if is_there && ahead == 0 {
            counters.add_latency(queues.now() - since);
        }
    }
}
