//! The queue in which a worker gets tasks from other threads, and the protocol by which it falls asleep.
//!
//! Only one worker takes from an inbox, so a lock decides everything that the other pool decides by a state word:
//!
//! ```text
//!   worker    lock: empty, not stopped? is_asleep = true    read the first timer    sleep until then, or the alarm
//!   others    lock: add a task; was it asleep? is_asleep = false    then ring the alarm
//! ```
//!
//! # No wake-up is lost
//! A thread pushes a task while the worker falls asleep. Their critical sections have an order.
//!
//! * The push comes first: the worker finds the task and stays awake.
//! * The worker comes first: the push finds `is_asleep` and rings. An alarm that rings before the sleep has begun ends the
//!   sleep at once, because the bed keeps it.
//!
//! The same holds for the stop, and for a timer that another thread sets: that thread publishes the timer before its
//! critical section ([`Inbox::rouse`]), and the worker reads the first timer after its own. If the worker comes second, it
//! sees the timer; if it comes first, the alarm rings.
//!
//! The first of several pushes clears `is_asleep`, so only that one rings until the worker falls asleep again. No thread
//! rings for a busy worker.
//!
//! A task that the worker queues for itself takes no lock and no fence, because a worker does not
//! sleep while it runs a task, and checks its own queue before it falls asleep.

use std::collections::VecDeque;
use std::mem;

use crate::bed::Alarm;
use crate::primitive::{AtomicUsize, Mutex, Ordering};

pub(super) struct Inbox<T> {
    state: Mutex<State<T>>,
    /// The number of tasks, for a check without the lock.
    count: AtomicUsize,
    alarm: Alarm,
}

struct State<T> {
    /// In the order of arrival.
    tasks: VecDeque<T>,
    /// The next change has to ring.
    is_asleep: bool,
    is_stopped: bool,
}

impl<T> Default for State<T> {
    fn default() -> Self {
        State { tasks: VecDeque::new(), is_asleep: false, is_stopped: false }
    }
}

impl<T> Inbox<T> {
    pub(super) fn new(alarm: Alarm) -> Self {
        Inbox { state: Mutex::default(), count: AtomicUsize::new(0), alarm }
    }

    /// Adds a task, and wakes the worker.
    ///
    /// # Errors
    /// Returns the task after the stop.
    pub(super) fn push(&self, task: T) -> Result<(), T> {
        self.change(|state| {
            if state.is_stopped {
                return Err(task);
            }
            state.tasks.push_back(task);
            Ok(())
        })
    }

    /// Wakes the worker, for a timer that is set.
    pub(super) fn rouse(&self) {
        self.change(|_| ());
    }

    /// Wakes the worker for good, and returns the tasks.
    pub(super) fn stop(&self) -> VecDeque<T> {
        self.change(|state| {
            state.is_stopped = true;
            mem::take(&mut state.tasks)
        })
    }

    fn change<R>(&self, f: impl FnOnce(&mut State<T>) -> R) -> R {
        let mut state = self.state.lock();
        let result = f(&mut state);
        // Relaxed, here and below: a hint. Decisions use the state under the lock.
        self.count.store(state.tasks.len(), Ordering::Relaxed);
        let was_asleep = mem::take(&mut state.is_asleep);
        drop(state);
        if was_asleep {
            self.alarm.ring();
        }
        result
    }

    /// Whether there is probably a task. A task that has just arrived may be missed.
    #[inline]
    pub(super) fn has_any(&self) -> bool {
        self.len() > 0
    }

    /// The approximate number of tasks.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Swaps the tasks with `empty`, which has none.
    pub(super) fn take(&self, empty: &mut VecDeque<T>) {
        let mut state = self.state.lock();
        mem::swap(&mut state.tasks, empty);
        self.count.store(0, Ordering::Relaxed);
    }

    /// Announces that the worker sleeps. `false`: it must not, because there is a task, or the pool has stopped.
    #[must_use]
    pub(super) fn fall_asleep(&self) -> bool {
        let mut state = self.state.lock();
        state.is_asleep = state.tasks.is_empty() && !state.is_stopped;
        state.is_asleep
    }

    /// Announces that the worker is awake.
    pub(super) fn get_up(&self) {
        self.state.lock().is_asleep = false;
    }
}

#[cfg(all(test, fiber_loom))]
mod loom_tests;
