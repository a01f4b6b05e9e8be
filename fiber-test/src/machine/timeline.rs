//! Virtual time: a map from instants to buckets of timers.
//!
//! A timer is a slot of a table; its bucket holds the slot's key. A cancelled timer frees its slot at once.

use std::collections::BTreeMap;

use fiber_core::Instant;
use fiber_core::scheduler::{Task, TimerKey};

/// A bucket with so many keys may have any number of timers that were cancelled.
const FEW: usize = 64;

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
        let Timeline { later, slots, .. } = self;
        let bucket = later.get_mut(&at).expect("a pending timer has a bucket");
        bucket.pending -= 1;
        if bucket.pending == 0 {
            later.remove(&at);
        } else if bucket.timers.len() > FEW.max(2 * bucket.pending) {
            bucket.timers.retain(|key| is_pending(slots, *key));
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
        keys.filter(|key| is_pending(&self.slots, **key)).filter_map(|key| {
            let slot = &self.slots[slot_index(*key)];
            slot.task.as_ref().map(|task| (slot.at, task))
        })
    }

    /// The tasks of all timers, which are gone then; and it is the epoch again.
    pub(crate) fn reset(&mut self) -> Vec<Task> {
        // Most runs set no timer.
        if self.slots.is_empty() && self.now == Instant::EPOCH {
            return Vec::new();
        }
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

/// Whether the timer of this key was not cancelled.
fn is_pending(slots: &[Slot], key: TimerKey) -> bool {
    let slot = &slots[slot_index(key)];
    slot.generation == slot_generation(key) && slot.task.is_some()
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

#[cfg(test)]
mod tests {
    use fiber_core::Fiber;
    use fiber_core::scheduler::Task;

    use super::*;
    use crate::TestScheduler;

    /// A task of a fiber that waits for ever.
    fn task(test: &TestScheduler) -> Task {
        let spawned = test.spawn(Fiber::<()>::never());
        let machine = crate::machine::Machine::of(&**test.context().scheduler()).expect("a machine");
        let task = machine.state().clear().pop().expect("its start");
        drop(spawned);
        task
    }

    /// A limit around every request of a loop, all at one instant, of which one is still pending.
    #[test]
    fn timers_that_were_cancelled_take_no_room_for_ever() {
        let test = TestScheduler::new();
        let mut timeline = Timeline::new();
        let at = Instant::EPOCH + std::time::Duration::from_secs(1);
        let kept = timeline.push_at(at, task(&test), 0);
        for _ in 0..10_000 {
            let key = timeline.push_at(at, task(&test), 0);
            drop(timeline.cancel(key));
        }
        assert!(timeline.later[&at].timers.len() <= FEW + 1, "{}", timeline.later[&at].timers.len());
        assert_eq!(timeline.timers().count(), 1);
        assert!(timeline.cancel(kept).is_some());
    }
}
