//! Virtual time: the timers in the order in which they are due.
//!
//! A timer is a slot of a table, and an entry of a heap. A cancelled timer frees its slot at once. Its entry stays until it is the first one, or
//! until most entries are such.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fiber_core::Instant;
use fiber_core::scheduler::{Task, TimerKey};

pub(crate) struct Timeline {
    now: Instant,
    /// When each timer is due, its number, and its slot. Those of one instant are due in the order in which they were set. The first one
    /// is not cancelled.
    later: BinaryHeap<Reverse<Entry>>,
    slots: Vec<Slot>,
    free_slots: Vec<u32>,
    /// How many timers were set.
    set: u64,
}

type Entry = (Instant, u64, u32);

struct Slot {
    task: Option<Task>,
    /// What is left of the fiber's slice, if it keeps its simulated worker meanwhile.
    slice: u32,
    at: Instant,
    /// How many timers were set before it. Tells a key of this timer from that of an earlier one in the same slot.
    number: u64,
}

/// A timer that is gone from the timeline.
pub(crate) struct Due {
    pub(crate) at: Instant,
    pub(crate) task: Task,
    pub(crate) slice: u32,
}

impl Timeline {
    pub(crate) fn new() -> Self {
        Timeline {
            now: Instant::EPOCH,
            later: BinaryHeap::new(),
            slots: Vec::new(),
            free_slots: Vec::new(),
            set: 0,
        }
    }

    pub(crate) fn now(&self) -> Instant {
        self.now
    }

    pub(crate) fn push_at(&mut self, at: Instant, task: Task, slice: u32) -> TimerKey {
        let number = self.set;
        self.set += 1;
        let filled = Slot { task: Some(task), slice, at, number };
        let slot = match self.free_slots.pop() {
            Some(free) => {
                self.slots[free as usize] = filled;
                free
            }
            None => {
                self.slots.push(filled);
                u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 timers")
            }
        };
        self.later.push(Reverse((at, number, slot)));
        TimerKey::new(number << 32 | u64::from(slot))
    }

    pub(crate) fn cancel(&mut self, key: TimerKey) -> Option<Task> {
        let (slot, number) = (key.get() as u32, (key.get() >> 32) as u32);
        // The key has the lower half of the number.
        self.slots.get(slot as usize).filter(|slot| slot.number as u32 == number)?;
        let timer = self.empty(slot)?;
        let entries = self.later.len();
        if entries - self.pending_timers() > entries / 2 {
            self.later.retain(|Reverse(entry)| is_set(&self.slots, entry));
        }
        self.skip_cancelled();
        Some(timer.task)
    }

    fn skip_cancelled(&mut self) {
        while let Some(Reverse(first)) = self.later.peek()
            && !is_set(&self.slots, first)
        {
            self.later.pop();
        }
    }

    /// When the next timer is due.
    pub(crate) fn next_instant(&self) -> Option<Instant> {
        self.later.peek().map(|Reverse((at, ..))| *at)
    }

    /// Moves the clock, and hands out what is due. Time never goes back.
    pub(crate) fn advance_to(&mut self, instant: Instant, mut due: impl FnMut(Due)) {
        self.now = self.now.max(instant);
        while self.next_instant().is_some_and(|at| at <= self.now)
            && let Some(Reverse((.., slot))) = self.later.pop()
        {
            self.empty(slot).into_iter().for_each(&mut due);
            self.skip_cancelled();
        }
    }

    pub(crate) fn pending_timers(&self) -> usize {
        self.slots.len() - self.free_slots.len()
    }

    /// The pending timers, in the order in which they are due.
    pub(crate) fn timers(&self) -> impl Iterator<Item = (Instant, &Task)> {
        let mut entries: Vec<_> =
            self.later.iter().filter(|Reverse(entry)| is_set(&self.slots, entry)).collect();
        entries.sort_unstable_by_key(|Reverse(entry)| entry);
        entries
            .into_iter()
            .filter_map(|Reverse((at, _, slot))| Some((*at, self.slots[*slot as usize].task.as_ref()?)))
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

    fn empty(&mut self, slot: u32) -> Option<Due> {
        let Slot { task, at, slice, .. } = &mut self.slots[slot as usize];
        let task = task.take()?;
        self.free_slots.push(slot);
        Some(Due { at: *at, task, slice: *slice })
    }
}

/// Whether the timer of the entry is in its slot.
fn is_set(slots: &[Slot], &(_, number, slot): &Entry) -> bool {
    let slot = &slots[slot as usize];
    slot.number == number && slot.task.is_some()
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
    fn timers_that_were_cancelled_take_no_room() {
        let test = TestScheduler::new();
        let mut timeline = Timeline::new();
        let at = Instant::EPOCH + std::time::Duration::from_secs(1);
        let kept = timeline.push_at(at, task(&test), 0);
        for _ in 0..10_000 {
            let key = timeline.push_at(at, task(&test), 0);
            assert!(timeline.cancel(key).is_some());
            assert!(timeline.cancel(key).is_none());
        }
        assert_eq!((timeline.timers().count(), timeline.pending_timers(), timeline.slots.len()), (1, 1, 2));
        assert!(timeline.later.len() <= 2, "{} entries", timeline.later.len());
        assert!(timeline.cancel(kept).is_some());
    }
}
