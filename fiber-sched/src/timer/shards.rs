//! The timers of a pool: a wheel for each worker.
//!
//! No thread is dedicated to timers. A worker without tasks fires the due ones and sleeps until the first of
//! the rest, and a busy one checks the clock periodically.

use std::iter;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;
use fiber_core::Instant;
use fiber_core::scheduler::{Task, TimerKey};
use parking_lot::{Mutex, MutexGuard};

use super::slab::KEY_BITS;
use super::wheel::Wheel;
use crate::discard::{discard, discard_timer};

/// The maximum number of timers that a worker takes at a time. When more are due, another worker can take the next ones.
const BATCH: usize = 128;

pub(crate) struct Timers(Box<[CachePadded<Shard>]>);

type Locked<'a> = MutexGuard<'a, Option<Wheel<Task>>>;

struct Shard {
    /// `None` after the stop.
    wheel: Mutex<Option<Wheel<Task>>>,
    /// The deadline of the first timer, or an earlier one if that was removed.
    first: AtomicU64,
}

/// A timer that was set.
#[must_use]
pub(crate) struct Inserted {
    pub(crate) key: TimerKey,
    /// If the worker has to look earlier than it knows: when. Most often, the timer is due before all others of the worker.
    pub(crate) look: Option<Instant>,
}

impl Timers {
    pub(crate) fn new(workers: usize) -> Self {
        Timers((0..workers).map(|_| CachePadded::new(Shard::new())).collect())
    }

    /// Sets a timer in the wheel of worker `index`. After the stop, the task is dropped.
    pub(crate) fn insert(&self, index: usize, at: Instant, task: Task) -> Inserted {
        let mut wheel = self.0[index].wheel.lock();
        let Some(timers) = wheel.as_mut() else {
            drop(wheel);
            discard(task);
            return Inserted { key: Wheel::<Task>::no_timer(), look: None };
        };
        let (key, look) = timers.insert(at, task);
        if let Some(look) = look {
            self.0[index].publish(look);
        }
        // The number of the worker occupies the bits above the key of its wheel.
        Inserted { key: TimerKey::new((index as u64) << KEY_BITS | key.get()), look }
    }

    /// Removes a timer. `false`: it was already gone.
    pub(crate) fn remove(&self, key: TimerKey) -> bool {
        let (index, key) = (key.get() >> KEY_BITS, key.get() & ((1 << KEY_BITS) - 1));
        let shard = usize::try_from(index).ok().and_then(|index| self.0.get(index));
        let task = shard.and_then(|shard| shard.wheel.lock().as_mut()?.remove(TimerKey::new(key)));
        // The task is dropped without the lock, because it may hold user values.
        task.map(discard_timer).is_some()
    }

    /// The deadline of the first timer, or earlier; in the far future if there is none.
    pub(crate) fn first(&self) -> Instant {
        self.0.iter().map(|shard| shard.first()).min().unwrap_or(Instant::FAR_FUTURE)
    }

    /// The number of timers.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|shard| shard.wheel.lock().as_ref().map_or(0, Wheel::len)).sum()
    }

    /// Passes on due tasks: all of them, unless there are many.
    pub(crate) fn fire(&self, now: Instant, schedule: impl FnMut(Task)) {
        self.fire_from(now, |shard| Some(shard.wheel.lock()), schedule);
    }

    /// Like `fire`, except for the timers that another worker passes on at this moment.
    pub(crate) fn help_fire(&self, now: Instant, schedule: impl FnMut(Task)) {
        self.fire_from(now, |shard| shard.wheel.try_lock(), schedule);
    }

    fn fire_from<'a>(
        &'a self,
        now: Instant,
        lock: impl Fn(&'a Shard) -> Option<Locked<'a>>,
        mut schedule: impl FnMut(Task),
    ) {
        for shard in self.0.iter().filter(|shard| shard.first() <= now) {
            let due = lock(shard).map(|wheel| shard.take_due(wheel, now, BATCH));
            // Without the lock, because tasks that cannot be queued are dropped.
            due.into_iter().flatten().for_each(&mut schedule);
        }
    }

    /// Passes on all tasks of worker `index` that are due.
    pub(crate) fn fire_of(&self, index: usize, now: Instant, schedule: impl FnMut(Task)) {
        let shard = &self.0[index];
        shard.take_due(shard.wheel.lock(), now, usize::MAX).into_iter().for_each(schedule);
    }

    /// Like `first`, for worker `index` alone.
    pub(crate) fn first_of(&self, index: usize) -> Instant {
        self.0[index].first()
    }

    /// Drops all timers, and those that are set later.
    pub(crate) fn stop(&self) {
        for shard in &self.0 {
            let wheel = shard.wheel.lock().take();
            wheel.into_iter().flatten().for_each(discard);
        }
    }
}

impl Shard {
    fn new() -> Self {
        let first = AtomicU64::new(Instant::FAR_FUTURE.as_nanos());
        Shard { wheel: Mutex::new(Some(Wheel::default())), first }
    }

    fn first(&self) -> Instant {
        // Acquire: pairs with `publish`: a thread that sees the time of a timer finds the timer. The lock would also ensure
        // that, so this only avoids a futile look.
        Instant::from_nanos(self.first.load(Ordering::Acquire))
    }

    /// The caller holds the lock of the wheel.
    fn publish(&self, first: Instant) {
        // SeqCst: a worker publishes its timer before it changes the word of `idle`, and reads the timers of the others
        // before it falls asleep.
        self.first.store(first.as_nanos(), Ordering::SeqCst);
    }

    /// Removes due tasks, `limit` at most.
    fn take_due(&self, mut wheel: Locked<'_>, now: Instant, limit: usize) -> Vec<Task> {
        let Some(timers) = wheel.as_mut() else { return Vec::new() };
        let due = iter::from_fn(|| timers.pop_due(now)).take(limit).collect();
        self.publish(timers.first().unwrap_or(Instant::FAR_FUTURE));
        due
    }
}
