//! Virtual time: a map from instants to buckets of tasks.
//!
//! The tasks that can run now are taken in rounds: what a round makes runnable runs in the next one, at the same instant.
//! A timer is a slot of a table; its bucket holds the slot's key. A cancelled timer frees its slot at once.

use std::collections::{BTreeMap, VecDeque};

use fiber_core::{Instant, Task, TimerKey};

use crate::random::SplitMix64;

pub(crate) struct Timeline {
    now: Instant,
    /// The round that is being run, last task first.
    round: Vec<Task>,
    /// The next round at this instant.
    next_round: VecDeque<Task>,
    later: BTreeMap<Instant, Bucket>,
    slots: Vec<Slot>,
    free_slots: Vec<u32>,
    order: Option<SplitMix64>,
}

#[derive(Default)]
struct Bucket {
    timers: Vec<TimerKey>,
    /// How many of them have not been cancelled.
    pending: usize,
}

struct Slot {
    task: Option<Task>,
    at: Instant,
    /// Tells a key of this timer from that of an earlier one in the same slot.
    generation: u32,
}

impl Timeline {
    pub(crate) fn new() -> Self {
        Timeline {
            now: Instant::EPOCH,
            round: Vec::new(),
            next_round: VecDeque::new(),
            later: BTreeMap::new(),
            slots: Vec::new(),
            free_slots: Vec::new(),
            order: None,
        }
    }

    /// From now on every round is run in an order that the seed decides.
    pub(crate) fn permute(&mut self, seed: u64) {
        self.order = Some(SplitMix64::new(seed));
    }

    pub(crate) fn now(&self) -> Instant {
        self.now
    }

    pub(crate) fn push(&mut self, task: Task) {
        self.next_round.push_back(task);
    }

    pub(crate) fn push_at(&mut self, at: Instant, task: Task) -> TimerKey {
        let key = self.fill_slot(at, task);
        let bucket = self.later.entry(at).or_default();
        bucket.timers.push(key);
        bucket.pending += 1;
        key
    }

    pub(crate) fn cancel(&mut self, key: TimerKey) -> Option<Task> {
        let (at, task) = self.empty_slot(key)?;
        let bucket = self.later.get_mut(&at).expect("a pending timer has a bucket");
        bucket.pending -= 1;
        if bucket.pending == 0 {
            self.later.remove(&at);
        }
        Some(task)
    }

    /// The next task that can run at this instant.
    pub(crate) fn pop(&mut self) -> Option<Task> {
        if self.round.is_empty() {
            self.round.extend(self.next_round.drain(..).rev());
            if let Some(order) = &mut self.order {
                order.shuffle(&mut self.round);
            }
        }
        self.round.pop()
    }

    /// When the next timer is due.
    pub(crate) fn next_instant(&self) -> Option<Instant> {
        self.later.keys().next().copied()
    }

    /// Moves the clock, and makes runnable what is due. Time never goes back.
    pub(crate) fn advance_to(&mut self, instant: Instant) {
        self.now = self.now.max(instant);
        while let Some(entry) = self.later.first_entry()
            && *entry.key() <= self.now
        {
            for key in entry.remove().timers {
                if let Some((_, task)) = self.empty_slot(key) {
                    self.next_round.push_back(task);
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

    /// How many tasks can run at this instant.
    pub(crate) fn runnable(&self) -> usize {
        self.round.len() + self.next_round.len()
    }

    /// Everything that was ever scheduled and has not run.
    pub(crate) fn clear(&mut self) -> Vec<Task> {
        self.later.clear();
        let timers = self.slots.drain(..).filter_map(|slot| slot.task);
        timers.chain(self.round.drain(..)).chain(self.next_round.drain(..)).collect()
    }

    fn fill_slot(&mut self, at: Instant, task: Task) -> TimerKey {
        if let Some(index) = self.free_slots.pop() {
            let slot = &mut self.slots[index as usize];
            slot.task = Some(task);
            slot.at = at;
            slot.generation = slot.generation.wrapping_add(1);
            return slot_key(index, slot.generation);
        }
        let index = u32::try_from(self.slots.len()).expect("fewer than 2^32 timers");
        self.slots.push(Slot { task: Some(task), at, generation: 0 });
        slot_key(index, 0)
    }

    fn empty_slot(&mut self, key: TimerKey) -> Option<(Instant, Task)> {
        let slot = self.slots.get_mut(slot_index(key))?;
        if slot.generation != slot_generation(key) {
            return None;
        }
        let task = slot.task.take()?;
        self.free_slots.push(slot_index(key) as u32);
        Some((slot.at, task))
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
