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
//! * The timer that was set last is sorted when the next one is set, or time is asked for. A timeout that is left at once is never
//!   sorted.
//! * A slot is in the order of insertion, and is emptied in this order. Timers with the same deadline always share a slot, so
//!   they arrive at the front in the order in which they were set.
//!
//! A wheel without a cascade, such as that of Linux, fires all timers of a slot when the slot ends, so long timers are late
//! by seconds. Deadlines are exact here. Without the cascade, a slot that lasts for seconds would have to be searched
//! for every due timer in it.

use fiber_core::Instant;
use fiber_core::scheduler::TimerKey;

use super::front::Front;
use super::slab::Slab;
use super::slot::{Entry, Slot};

/// 131 us. With shorter ticks, timers move more often. The heap at the front of one tick stays in the cache even if a timer is due
/// in every microsecond.
const TICK_BITS: u32 = 17;
/// A bit map of the slots of a level is one `u64`.
const LEVEL_BITS: u32 = 6;
const SLOTS: usize = 1 << LEVEL_BITS;
/// All bits of a tick: seven levels are 18 years; the eighth has the rest, and uses half of its slots.
const LEVELS: usize = (u64::BITS - TICK_BITS).div_ceil(LEVEL_BITS) as usize;

/// [`Wheel::first`] searches a slot of at most this many timers, and as many entries of removed ones: some microseconds, if none
/// of them is in the cache.
const SEARCHED: usize = 128;

/// Sorting this many timers takes some microseconds at least.
const CROWD: usize = 1024;
/// Time enters the slot of a crowd this long before the first of its timers is due: longer than it takes to sort a hundred thousand.
const LEAD: u64 = 8_000_000;

/// Timers with exact deadlines, in any number. Those that are due at the same instant come out in the order in which
/// they were set.
///
/// Setting and removing a timer takes constant time, except that a timer of the current tick or of the past is pushed to
/// a heap of those. A wheel takes 20 KB, and 48 bytes for each timer with a `Task`, beside an entry of 16 bytes. The memory of a
/// removed timer is used again. It is freed with the wheel only, so the most timers that there ever were decide what a wheel takes.
pub(crate) struct Wheel<T> {
    nodes: Slab<T>,
    /// The timer that was set last, which is not sorted yet: it is often the first one to be removed.
    latest: Option<Entry>,
    /// The timers whose tick is the current one, or an earlier one.
    front: Front,
    /// No timer is due earlier: the latest result of `first`, or an earlier deadline that was set since.
    bound: u64,
    /// The current tick: that of the latest `now`, or an earlier one as long as timers up to there are left, or that of the first of
    /// a crowd, [`LEAD`] later at most.
    tick: u64,
    /// For each level, which slots have timers.
    occupied: [u64; LEVELS],
    /// For each level, the occupied slots whose bound is the deadline of a live timer, rather than that of a removed one.
    exact: [u64; LEVELS],
    /// Of all levels.
    slots: Box<[Slot]>,
}

/// The index of a slot in all levels.
#[derive(Clone, Copy)]
struct Place(usize);

impl<T> Wheel<T> {
    /// The key of a timer that was never set: keys have 48 bits.
    pub(crate) fn no_timer() -> TimerKey {
        TimerKey::new(u64::MAX)
    }

    /// Adds a timer. Also returns a time, if the waiting thread has to check earlier than [`first`](Wheel::first) and later
    /// insertions have said.
    ///
    /// # Panics
    /// If there are 268,435,456 timers.
    pub(crate) fn insert(&mut self, at: Instant, task: T) -> (TimerKey, Option<Instant>) {
        let at = at.as_nanos();
        let index = self.nodes.insert(at, task);
        let key = self.nodes.key(index);
        let before = self.latest.replace(Entry { at, key });
        let look = before.map_or(at, |before| at.min(self.sort_before(before)));
        let is_earlier = look < self.bound;
        if is_earlier {
            self.bound = look;
        }
        (key, is_earlier.then(|| Instant::from_nanos(look)))
    }

    /// Sorts the timer that was set before the latest one. Gives the time at which the waiting thread has to check.
    fn sort_before(&mut self, before: Entry) -> u64 {
        let place = self.sort(before);
        let crowded = place.filter(|place| self.slots[place.0].len() == CROWD);
        crowded.map_or(u64::MAX, |place| self.time_to_enter(place))
    }

    /// Sorts all timers.
    fn sort_latest(&mut self) {
        if let Some(latest) = self.latest.take() {
            self.sort(latest);
        }
    }

    /// Removes a task before its time. `None`: it was already gone.
    pub(crate) fn remove(&mut self, key: TimerKey) -> Option<T> {
        let index = self.nodes.find(key)?;
        if self.latest.is_some_and(|latest| latest.key == key) {
            self.latest = None;
            return self.nodes.free(index);
        }
        let at = self.nodes[index].at;
        let task = self.nodes.free(index);
        match self.place(at) {
            Some(place) => self.unlink(place, at, key),
            None => self.front.forget(|key| self.nodes.find(key).is_some()),
        }
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
    /// This is the exact deadline, with two exceptions. The caller that wakes finds nothing due then, but its `pop_due` has sorted the
    /// slot, and the next answer is exact.
    ///
    /// * If the first timer was removed, the next one has to be found among those of its slot. If more than 128 are left there, the
    ///   time of the removed one is given instead, which keeps the time constant.
    /// * If a crowd has to be sorted, the time is 8 ms earlier, so that the first one of the crowd does not wait for that.
    pub(crate) fn first(&mut self) -> Option<Instant> {
        self.sort_latest();
        let first = self.front.first().or_else(|| {
            let place = self.first_place()?;
            self.search(place);
            Some(self.time_to_enter(place))
        });
        self.bound = first.unwrap_or(u64::MAX);
        first.map(Instant::from_nanos)
    }

    /// Whether the first timer is due, unless it was removed lately.
    pub(crate) fn may_be_due(&mut self, now: Instant) -> bool {
        self.bound <= now.as_nanos() && self.first().is_some_and(|first| first <= now)
    }

    /// Removes the first task, if it is due.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<T> {
        let now = now.as_nanos();
        self.sort_latest();
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

    /// Puts a timer where it belongs, which it tells.
    #[inline]
    fn sort(&mut self, entry: Entry) -> Option<Place> {
        let place = self.place(entry.at);
        match place {
            Some(place) => self.link(place, entry),
            None => self.front.push(entry.at, entry.key),
        }
        place
    }

    /// Adds a timer to a slot.
    #[inline]
    fn link(&mut self, place: Place, entry: Entry) {
        let slot = &mut self.slots[place.0];
        slot.push(entry);
        self.occupied[place.level()] |= place.bit();
        if entry.at <= slot.bound {
            slot.bound = entry.at;
            self.exact[place.level()] |= place.bit();
        }
    }

    /// Takes a timer out of a slot.
    #[inline]
    fn unlink(&mut self, place: Place, at: u64, key: TimerKey) {
        let slot = &mut self.slots[place.0];
        if at == slot.bound {
            self.exact[place.level()] &= !place.bit();
        }
        slot.forget(key, |entry| self.nodes.has(entry));
        if slot.len() == 0 {
            self.occupied[place.level()] &= !place.bit();
        }
    }

    /// Makes the bound of a slot its first deadline, unless there are too many timers.
    fn search(&mut self, place: Place) {
        let slot = &mut self.slots[place.0];
        let is_exact = self.exact[place.level()] & place.bit() != 0;
        if !is_exact && slot.len() <= SEARCHED {
            slot.bound = slot.first(|entry| self.nodes.has(entry));
            self.exact[place.level()] |= place.bit();
        }
    }

    /// When time has to enter the slot: at its bound, or earlier by its lead.
    fn time_to_enter(&self, place: Place) -> u64 {
        self.slots[place.0].bound.saturating_sub(self.lead(place))
    }

    /// How long before its first timer is due a slot is entered.
    fn lead(&self, place: Place) -> u64 {
        if self.slots[place.0].len() < CROWD { 0 } else { LEAD }
    }

    /// Moves time to the first slot and sorts its timers, if the slot begins by `now`, or by the end of its lead; otherwise moves
    /// time to `now`.
    fn enter_first_slot(&mut self, now: u64) -> bool {
        let latest = |place| now.saturating_add(self.lead(place)) >> TICK_BITS;
        let first = self.first_place().map(|place| (place, latest(place)));
        let Some((place, latest)) = first.filter(|(place, latest)| place.start(self.tick) <= *latest) else {
            // The slots that are passed are empty, so all timers stay where they belong.
            self.tick = self.tick.max(now >> TICK_BITS);
            return false;
        };
        let slot = self.slots[place.0].take();
        self.occupied[place.level()] &= !place.bit();
        // As far into the slot as possible: to the first timer, if it is due.
        self.tick = latest.min(slot.bound >> TICK_BITS);
        let nodes = std::mem::take(&mut self.nodes);
        slot.live(|entry| nodes.has(entry)).for_each(|entry| _ = self.sort(entry));
        self.nodes = nodes;
        self.slots[place.0].restore(slot);
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
            latest: None,
            front: Front::default(),
            bound: u64::MAX,
            tick: 0,
            occupied: [0; LEVELS],
            exact: [0; LEVELS],
            slots: [const { Slot::EMPTY }; LEVELS * SLOTS].into(),
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

#[cfg(all(test, not(fiber_loom)))]
mod tests;
