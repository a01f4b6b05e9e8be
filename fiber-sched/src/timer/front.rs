//! The timers that are due next, in the order of their deadlines.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fiber_core::scheduler::TimerKey;

/// This many removed timers may stay in the heap, however few live ones it has.
const MIN_SLACK: usize = 64;

/// A heap by exact deadline. Timers with the same deadline come out in the order of insertion.
///
/// A removed timer leaves its entry behind. The first entry is always live, and at most half of the entries plus
/// [`MIN_SLACK`] are dead, so that a removal takes constant time on average.
#[derive(Default)]
pub(super) struct Front {
    heap: BinaryHeap<Reverse<Entry>>,
    /// The number of insertions so far.
    count: u64,
    /// The number of entries of removed timers.
    dead: usize,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: u64,
    number: u64,
    key: TimerKey,
}

impl Front {
    pub(super) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// The number of entries, including those of removed timers.
    #[cfg(all(test, not(fiber_loom)))]
    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    pub(super) fn push(&mut self, at: u64, key: TimerKey) {
        self.heap.push(Reverse(Entry { at, number: self.count, key }));
        self.count += 1;
    }

    /// The first deadline.
    pub(super) fn first(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse(entry)| entry.at)
    }

    /// Removes the first timer, if it is due. The caller frees it and calls [`Front::clean`].
    pub(super) fn pop_due(&mut self, now: u64) -> Option<TimerKey> {
        self.first().filter(|at| *at <= now)?;
        self.heap.pop().map(|Reverse(entry)| entry.key)
    }

    /// Counts a timer that was removed.
    pub(super) fn forget(&mut self, is_live: impl Fn(TimerKey) -> bool) {
        self.dead += 1;
        if self.dead > self.heap.len() / 2 + MIN_SLACK {
            self.heap.retain(|Reverse(entry)| is_live(entry.key));
            self.dead = 0;
        }
        self.clean(is_live);
    }

    /// Drops dead entries until a live one is first.
    pub(super) fn clean(&mut self, is_live: impl Fn(TimerKey) -> bool) {
        while self.dead > 0 && self.heap.peek().is_some_and(|Reverse(entry)| !is_live(entry.key)) {
            self.heap.pop();
            self.dead -= 1;
        }
    }
}
