//! Timers in the order of their time.

use std::collections::{BTreeMap, HashMap};

use fiber_core::{Instant, Task, TimerKey};

/// A queue of timers. Timers that are due at the same instant come out in the order in which they were set.
#[derive(Default)]
pub(crate) struct Queue {
    /// By time, then by number.
    tasks: BTreeMap<(Instant, u64), Task>,
    /// The time of each number, to find a task by its key.
    times: HashMap<u64, Instant>,
    next: u64,
}

impl Queue {
    /// The key of a timer that was never set: no queue counts that far.
    pub(crate) fn no_timer() -> TimerKey {
        TimerKey::new(u64::MAX)
    }

    /// Adds a task, and tells whether it is now the first.
    pub(crate) fn insert(&mut self, at: Instant, task: Task) -> (TimerKey, bool) {
        let number = self.next;
        self.next += 1;
        let is_first = self.first().is_none_or(|first| at < first);
        self.times.insert(number, at);
        self.tasks.insert((at, number), task);
        (TimerKey::new(number), is_first)
    }

    /// Takes a task out before its time. `None`: it was already gone.
    pub(crate) fn remove(&mut self, key: TimerKey) -> Option<Task> {
        let at = self.times.remove(&key.get())?;
        self.tasks.remove(&(at, key.get()))
    }

    /// How many timers are set.
    pub(crate) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// The time of the first timer.
    pub(crate) fn first(&self) -> Option<Instant> {
        self.tasks.first_key_value().map(|(&(at, _), _)| at)
    }

    /// Takes out the first task, if it is due.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<Task> {
        let first = self.tasks.first_entry().filter(|entry| entry.key().0 <= now)?;
        let ((_, number), task) = first.remove_entry();
        self.times.remove(&number);
        Some(task)
    }
}

impl Iterator for Queue {
    type Item = Task;

    /// Takes out the first task, whatever its time.
    fn next(&mut self) -> Option<Task> {
        self.pop_due(Instant::FAR_FUTURE)
    }
}
