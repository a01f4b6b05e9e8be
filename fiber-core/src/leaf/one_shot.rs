//! A value that one side delivers and one fiber waits for.

use std::mem;

use parking_lot::Mutex;

use crate::engine::context::Wakeup;
use crate::outcome::Outcome;

/// The lock is held for a move of a value only.
pub(super) struct OneShot<T>(Mutex<State<T>>);

enum State<T> {
    /// Nobody is there yet.
    Empty,
    /// The fiber waits.
    Waiting(Wakeup),
    /// The outcome is there.
    Delivered(Outcome<T>),
    /// The fiber has taken the outcome, or does not want it any more.
    Closed,
}

impl<T> OneShot<T> {
    pub(super) fn new() -> Self {
        OneShot(Mutex::new(State::Empty))
    }

    /// Delivers, and wakes the fiber. Gives the outcome back if nobody wants it.
    pub(super) fn deliver(&self, outcome: Outcome<T>) -> Option<Outcome<T>> {
        let mut state = self.0.lock();
        match mem::replace(&mut *state, State::Closed) {
            State::Empty => *state = State::Delivered(outcome),
            State::Waiting(wakeup) => {
                *state = State::Delivered(outcome);
                drop(state);
                wakeup.fire();
            }
            closed @ (State::Closed | State::Delivered(_)) => {
                *state = closed;
                // The value's drop is the user's code, and must not run under the lock.
                return Some(outcome);
            }
        }
        None
    }

    /// The outcome, if it is there.
    pub(super) fn take(&self) -> Option<Outcome<T>> {
        let mut state = self.0.lock();
        match mem::replace(&mut *state, State::Closed) {
            State::Delivered(outcome) => Some(outcome),
            other => {
                *state = other;
                None
            }
        }
    }

    /// The outcome, or it will fire `wakeup`.
    pub(super) fn take_or_wait(&self, wakeup: Wakeup) -> Option<Outcome<T>> {
        let mut state = self.0.lock();
        match mem::replace(&mut *state, State::Closed) {
            State::Delivered(outcome) => Some(outcome),
            _ => {
                *state = State::Waiting(wakeup);
                None
            }
        }
    }

    /// The outcome is not wanted any more: gives it back, if it is there already.
    pub(super) fn close(&self) -> Option<Outcome<T>> {
        // Without the lock: a wake-up may be a waker of some executor.
        let old = mem::replace(&mut *self.0.lock(), State::Closed);
        match old {
            State::Delivered(outcome) => Some(outcome),
            State::Empty | State::Waiting(_) | State::Closed => None,
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(*self.0.lock(), State::Closed)
    }
}
