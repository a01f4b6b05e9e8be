//! A hierarchical timer wheel, which sorts timers coarsely, and those that are due next exactly.
//!
//! Time is cut into ticks of 2^17 ns (131 us). A tick is a number of eight digits to the base 64, and each digit has a
//! level of the wheel with a slot for each of its values. A timer lies at the level of the highest digit in which its
//! tick differs from the current one, in the slot of that digit:
//!
//! ```text
//!               level 2   level 1   level 0
//!   current  ..    5        17        40        up to here: the front, a heap by exact deadline
//!   timer    ..    5        17        41        level 0, slot 41
//!   timer    ..    5        20         3        level 1, slot 20
//!   timer    ..    9         0        63        level 2, slot 9
//! ```
//!
//! * All timers of a level are due before those of the next level, and all of a slot before those of the next slot of
//!   its level. The first slot is thus the lowest bit of the first bit map that is not 0; there is no rotation, because
//!   a slot that the current tick has passed is empty.
//! * When time enters a slot, its timers are sorted again (they cascade): into lower levels, or the front. Other timers
//!   stay where they are. A timer moves eight times at most, and one that is removed before time enters its slot never
//!   moves.
//! * A slot is a list in the order of insertion, and is emptied in this order. Timers with the same deadline always
//!   share a slot, so they arrive at the front in the order in which they were set.
//!
//! A wheel without a cascade, such as that of Linux, fires all timers of a slot when the slot ends, so long timers are late
//! by seconds. Deadlines are exact here. Without the cascade, a slot that lasts for seconds would have to be searched
//! for every due timer in it.

use fiber_core::{Instant, TimerKey};

use super::front::Front;
use super::slab::{NONE, Node, Slab};

/// 131 us. With shorter ticks, timers move more often, and each move of a timer among many misses the cache. The heap of one
/// tick at the front stays in the cache even if a timer is due in every microsecond.
const TICK_BITS: u32 = 17;
/// A bit map of the slots of a level is one `u64`.
const LEVEL_BITS: u32 = 6;
const SLOTS: usize = 1 << LEVEL_BITS;
/// All bits of a tick: seven levels are 18 years; the eighth has the rest, and uses half of its slots.
const LEVELS: usize = (u64::BITS - TICK_BITS).div_ceil(LEVEL_BITS) as usize;

/// [`Wheel::first`] searches a slot of at most this many timers: some microseconds if none of them is in the cache.
const SEARCHED: usize = 128;

/// Timers with exact deadlines, in any number. Those that are due at the same instant come out in the order in which
/// they were set.
///
/// Setting and removing a timer takes constant time, except that a timer of the current tick or of the past is pushed to
/// a heap. A wheel takes 8 KB, and 56 bytes for each timer with a `Task`. The memory of a removed timer is reused,
/// and freed only with the wheel, so the size of a wheel depends on the largest number of timers at any time.
pub(crate) struct Wheel<T> {
    nodes: Slab<T>,
    /// The timers whose tick is the current one, or an earlier one.
    front: Front,
    /// No timer is due earlier: the latest result of `first`, or an earlier deadline that was set since.
    bound: u64,
    /// The current tick: that of the latest `now`, or an earlier one as long as timers up to there are left.
    tick: u64,
    /// For each level, which slots have timers.
    occupied: [u64; LEVELS],
    /// For each level, the occupied slots whose bound is the deadline of a live timer, rather than that of a removed one.
    exact: [u64; LEVELS],
    /// Of all levels.
    slots: Box<[Slot]>,
}

/// The timers of a range of ticks, in a list.
#[derive(Clone)]
struct Slot {
    /// No timer is due earlier. All ones when the slot is empty.
    bound: u64,
    /// The timer that was set first, or [`NONE`].
    head: u32,
    /// The timer that was set last, or [`NONE`].
    tail: u32,
}

impl Slot {
    const EMPTY: Slot = Slot { bound: u64::MAX, head: NONE, tail: NONE };
}

/// The index of a slot in all levels.
#[derive(Clone, Copy)]
struct Place(usize);

impl<T> Wheel<T> {
    /// The key of a timer that was never set: keys have 48 bits.
    pub(crate) fn no_timer() -> TimerKey {
        TimerKey::new(u64::MAX)
    }

    /// Adds a timer, and returns whether it is due before the latest result of [`first`](Wheel::first), and before all timers
    /// that were set since. A caller that waits until that time has to wake earlier.
    ///
    /// # Panics
    /// If there are 268,435,456 timers.
    pub(crate) fn insert(&mut self, at: Instant, task: T) -> (TimerKey, bool) {
        let at = at.as_nanos();
        let is_first = at < self.bound;
        if is_first {
            self.bound = at;
        }
        let index = self.nodes.insert(at, task);
        self.sort(index);
        (self.nodes.key(index), is_first)
    }

    /// Removes a task before its time. `None`: it was already gone.
    pub(crate) fn remove(&mut self, key: TimerKey) -> Option<T> {
        let index = self.nodes.find(key)?;
        if let Some(place) = self.place(self.nodes[index].at) {
            self.unlink(place, index);
            return self.nodes.free(index);
        }
        let task = self.nodes.free(index);
        self.front.forget(|key| self.nodes.find(key).is_some());
        task
    }

    /// The number of timers.
    pub(crate) fn len(&self) -> usize {
        self.nodes.live()
    }

    /// Whether there are no timers.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The time of the first timer, for a caller that waits until it is due.
    ///
    /// This is the exact deadline, with one exception, which keeps the time constant. If the first timer was removed,
    /// the next one has to be found among those of its slot. If more than 128 are left there, the result is the time of the
    /// removed timer. The caller that wakes then finds nothing due, but its `pop_due` has sorted the slot, and
    /// the next result is exact.
    pub(crate) fn first(&mut self) -> Option<Instant> {
        let first = self.front.first().or_else(|| {
            let place = self.first_place()?;
            Some(self.search(place))
        });
        self.bound = first.unwrap_or(u64::MAX);
        first.map(Instant::from_nanos)
    }

    /// Removes the first task, if it is due.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<T> {
        let now = now.as_nanos();
        while self.front.is_empty() && self.enter_first_slot(now) {}
        let index = self.nodes.find(self.front.pop_due(now)?)?;
        let task = self.nodes.free(index);
        self.front.clean(|key| self.nodes.find(key).is_some());
        task
    }

    fn first_place(&self) -> Option<Place> {
        let level = self.occupied.iter().position(|slots| *slots != 0)?;
        Some(Place(level * SLOTS + self.occupied[level].trailing_zeros() as usize))
    }

    /// The place of a timer. `None`: at the front.
    fn place(&self, at: u64) -> Option<Place> {
        let tick = at >> TICK_BITS;
        if tick <= self.tick {
            return None;
        }
        let level = (tick ^ self.tick).ilog2() / LEVEL_BITS;
        let slot = (tick >> (level * LEVEL_BITS)) as usize % SLOTS;
        Some(Place(level as usize * SLOTS + slot))
    }

    /// Moves a timer to its place.
    fn sort(&mut self, index: u32) {
        let at = self.nodes[index].at;
        match self.place(at) {
            Some(place) => self.link(place, index, at),
            None => self.front.push(at, self.nodes.key(index)),
        }
    }

    /// Adds a node to the end of a list.
    fn link(&mut self, place: Place, index: u32, at: u64) {
        let slot = &mut self.slots[place.0];
        let last = std::mem::replace(&mut slot.tail, index);
        if last == NONE {
            slot.head = index;
            self.occupied[place.level()] |= place.bit();
        } else {
            self.nodes[last].next = index;
        }
        if at <= slot.bound {
            slot.bound = at;
            self.exact[place.level()] |= place.bit();
        }
        let node = &mut self.nodes[index];
        (node.next, node.prev) = (NONE, last);
    }

    fn unlink(&mut self, place: Place, index: u32) {
        let slot = &mut self.slots[place.0];
        let Node { at, next, prev, .. } = self.nodes[index];
        match prev {
            NONE => slot.head = next,
            _ => self.nodes[prev].next = next,
        }
        match next {
            NONE => slot.tail = prev,
            _ => self.nodes[next].prev = prev,
        }
        if at == slot.bound {
            self.exact[place.level()] &= !place.bit();
        }
        if slot.head == NONE {
            slot.bound = u64::MAX;
            self.occupied[place.level()] &= !place.bit();
        }
    }

    /// The first deadline of a slot, or the bound, if that is not exact and there are too many timers.
    fn search(&mut self, place: Place) -> u64 {
        let slot = &mut self.slots[place.0];
        if self.exact[place.level()] & place.bit() != 0 {
            return slot.bound;
        }
        let (mut index, mut first) = (slot.head, u64::MAX);
        for _ in 0..SEARCHED {
            let node = &self.nodes[index];
            (index, first) = (node.next, first.min(node.at));
            if index == NONE {
                slot.bound = first;
                self.exact[place.level()] |= place.bit();
                break;
            }
        }
        slot.bound
    }

    /// Moves time to the first slot and sorts its timers, if the slot begins by `now`; otherwise moves time to `now`.
    fn enter_first_slot(&mut self, now: u64) -> bool {
        let now = now >> TICK_BITS;
        let first = self.first_place().filter(|place| place.start(self.tick) <= now);
        let Some(place) = first else {
            // The skipped slots are empty, so all timers stay in their places.
            self.tick = self.tick.max(now);
            return false;
        };
        let slot = std::mem::replace(&mut self.slots[place.0], Slot::EMPTY);
        self.occupied[place.level()] &= !place.bit();
        // As far into the slot as possible: to the first timer, if it is due.
        self.tick = now.min(slot.bound >> TICK_BITS);
        let mut index = slot.head;
        while index != NONE {
            let next = self.nodes[index].next;
            self.sort(index);
            index = next;
        }
        true
    }
}

impl Place {
    fn level(self) -> usize {
        self.0 / SLOTS
    }

    fn bit(self) -> u64 {
        1 << (self.0 % SLOTS)
    }

    /// The first tick of the slot, if the current tick is `tick`.
    fn start(self, tick: u64) -> u64 {
        let shift = self.level() as u32 * LEVEL_BITS;
        let digits_above = tick >> shift & !(SLOTS as u64 - 1);
        (digits_above | (self.0 % SLOTS) as u64) << shift
    }
}

impl<T> Default for Wheel<T> {
    fn default() -> Self {
        Wheel {
            nodes: Slab::default(),
            front: Front::default(),
            bound: u64::MAX,
            tick: 0,
            occupied: [0; LEVELS],
            exact: [0; LEVELS],
            slots: vec![Slot::EMPTY; LEVELS * SLOTS].into(),
        }
    }
}

impl<T> Iterator for Wheel<T> {
    type Item = T;

    /// Takes out the first task, whatever its time.
    fn next(&mut self) -> Option<T> {
        self.pop_due(Instant::FAR_FUTURE)
    }
}

#[cfg(test)]
mod tests;
