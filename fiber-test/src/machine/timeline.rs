//! Virtual time: a map from instants to buckets of timers.
//!
//! A timer is a slot of a table; its bucket holds the slot's key. A cancelled timer frees its slot at once.

use std::collections::BTreeMap;

use fiber_core::{Instant, Task, TimerKey};

pub(crate) struct Timeline {
    now: Instant,
    later: BTreeMap<Instant, Bucket>,
    slots: Vec<Slot>,
    free_slots: Vec<u32>,
}

#[derive(Default)]
struct Bucket {
    timers: Vec<TimerKey>,
    /// How many of them have not been cancelled.
    pending: usize,
}

struct Slot {
    task: Option<Task>,
    /// What is left of the fiber's slice, if it keeps its simulated worker meanwhile.
    slice: u32,
    at: Instant,
    /// Tells a key of this timer from that of an earlier one in the same slot.
    generation: u32,
}

/// A timer that is gone from the timeline.
pub(crate) struct Due {
    pub(crate) at: Instant,
    pub(crate) task: Task,
    pub(crate) slice: u32,
}

impl Timeline {
    pub(crate) fn new() -> Self {
        Timeline { now: Instant::EPOCH, later: BTreeMap::new(), slots: Vec::new(), free_slots: Vec::new() }
    }

    pub(crate) fn now(&self) -> Instant {
        self.now
    }

    pub(crate) fn push_at(&mut self, at: Instant, task: Task, slice: u32) -> TimerKey {
        let key = self.fill_slot(at, task, slice);
        let bucket = self.later.entry(at).or_default();
        bucket.timers.push(key);
        bucket.pending += 1;
        key
    }

    pub(crate) fn cancel(&mut self, key: TimerKey) -> Option<Task> {
        let Due { at, task, .. } = self.empty_slot(key)?;
        let bucket = self.later.get_mut(&at).expect("a pending timer has a bucket");
        bucket.pending -= 1;
        if bucket.pending == 0 {
            self.later.remove(&at);
        }
        Some(task)
    }

    /// When the next timer is due.
    pub(crate) fn next_instant(&self) -> Option<Instant> {
        self.later.keys().next().copied()
    }

    /// Moves the clock, and hands out what is due. Time never goes back.
    pub(crate) fn advance_to(&mut self, instant: Instant, mut due: impl FnMut(Due)) {
        self.now = self.now.max(instant);
        while let Some(entry) = self.later.first_entry()
            && *entry.key() <= self.now
        {
            for key in entry.remove().timers {
                if let Some(timer) = self.empty_slot(key) {
                    due(timer);
                }
            }
        }
    }

    pub(crate) fn pending_timers(&self) -> usize {
        self.later.values().map(|bucket| bucket.pending).sum()
    }

    /// The pending timers, in the order in which they are due.
    pub(crate) fn timers(&self) -> impl Iterator<Item = (Instant, &Task)> {
        let keys = self.later.values().flat_map(|bucket| &bucket.timers);
        keys.filter_map(|key| {
            let slot = &self.slots[slot_index(*key)];
            let is_current = slot.generation == slot_generation(*key);
            slot.task.as_ref().filter(|_| is_current).map(|task| (slot.at, task))
        })
    }

    /// The tasks of all timers, which are gone then; and it is the epoch again.
    pub(crate) fn reset(&mut self) -> Vec<Task> {
        self.now = Instant::EPOCH;
        self.later.clear();
        self.free_slots.clear();
        self.slots.drain(..).filter_map(|slot| slot.task).collect()
    }

    fn fill_slot(&mut self, at: Instant, task: Task, slice: u32) -> TimerKey {
        if let Some(index) = self.free_slots.pop() {
            let slot = &mut self.slots[index as usize];
            slot.task = Some(task);
            slot.at = at;
            slot.slice = slice;
            slot.generation = slot.generation.wrapping_add(1);
            return slot_key(index, slot.generation);
        }
        let index = u32::try_from(self.slots.len()).expect("fewer than 2^32 timers");
        self.slots.push(Slot { task: Some(task), slice, at, generation: 0 });
        slot_key(index, 0)
    }

    fn empty_slot(&mut self, key: TimerKey) -> Option<Due> {
        let slot = self.slots.get_mut(slot_index(key))?;
        if slot.generation != slot_generation(key) {
            return None;
        }
        let task = slot.task.take()?;
        self.free_slots.push(slot_index(key) as u32);
        Some(Due { at: slot.at, task, slice: slot.slice })
    }
}

fn slot_key(index: u32, generation: u32) -> TimerKey {
    TimerKey::new(u64::from(generation) << 32 | u64::from(index))
}

fn slot_index(key: TimerKey) -> usize {
    (key.get() & u64::from(u32::MAX)) as usize
}

fn slot_generation(key: TimerKey) -> u32 {
    (key.get() >> 32) as u32
}
