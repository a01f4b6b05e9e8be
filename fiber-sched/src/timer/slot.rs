//! The timers of a range of ticks, in the order in which they were set.
//!
//! An entry says what the wheel has to know to sort it, so that sorting reads memory in its order, and no node. In a crowd, the
//! nodes are in no cache, and each look at one takes as long as the rest of a turn.

use fiber_core::scheduler::TimerKey;

/// This many entries of removed timers may stay, however few others there are.
const MIN_SLACK: usize = 64;
/// An empty slot keeps the memory of this many entries, so that a few timers allocate nothing.
const KEPT: usize = 64;

/// A timer that was removed leaves its entry behind, unless the entry is the last one. At most half of the entries (and
/// [`MIN_SLACK`]) are such, so that a removal takes constant time on average.
pub(super) struct Slot {
    /// No timer is due earlier. All ones when there is none.
    pub(super) bound: u64,
    /// Entries of removed timers.
    dead: usize,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) at: u64,
    pub(super) key: TimerKey,
}

impl Slot {
    pub(super) const EMPTY: Slot = Slot { bound: u64::MAX, dead: 0, entries: Vec::new() };

    /// How many timers there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len() - self.dead
    }

    /// How many entries there are, those of removed timers included.
    #[cfg(all(test, not(fiber_loom)))]
    pub(super) fn entries(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    pub(super) fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Counts a timer that was removed.
    #[inline]
    pub(super) fn forget(&mut self, key: TimerKey, is_live: impl Fn(Entry) -> bool) {
        // The one that was set last is often the first one to be removed.
        if self.entries.last().is_some_and(|last| last.key == key) {
            self.entries.pop();
        } else {
            self.dead += 1;
        }
        if self.len() == 0 {
            self.clear();
        } else if self.dead > self.len() + MIN_SLACK {
            self.compact(is_live);
        }
    }

    #[cold]
    fn compact(&mut self, is_live: impl Fn(Entry) -> bool) {
        self.entries.retain(|entry| is_live(*entry));
        self.dead = 0;
    }

    /// The first deadline.
    pub(super) fn first(&self, is_live: impl Fn(Entry) -> bool) -> u64 {
        // The deadline is compared first: it is here, and the timer is not.
        let earlier =
            |first: u64, entry: &Entry| if entry.at < first && is_live(*entry) { entry.at } else { first };
        self.entries.iter().fold(u64::MAX, earlier)
    }

    /// Takes out what is to be sorted again. Give it back with [`Slot::restore`].
    pub(super) fn take(&mut self) -> Slot {
        std::mem::replace(self, Slot::EMPTY)
    }

    /// The timers, in the order in which they were set.
    pub(super) fn live(&self, is_live: impl Fn(Entry) -> bool) -> impl Iterator<Item = Entry> {
        let has_dead = self.dead > 0;
        self.entries.iter().copied().filter(move |entry| !has_dead || is_live(*entry))
    }

    /// Gets its memory back, after [`Slot::take`].
    pub(super) fn restore(&mut self, mut taken: Slot) {
        if self.entries.capacity() == 0 {
            taken.clear();
            *self = taken;
        }
    }

    #[inline]
    fn clear(&mut self) {
        (self.bound, self.dead) = (u64::MAX, 0);
        self.entries.clear();
        if self.entries.capacity() > KEPT {
            self.entries = Vec::new();
        }
    }
}
