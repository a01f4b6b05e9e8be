//! A value that one side delivers and one fiber waits for.

use std::mem;

use crate::engine::context::Wakeup;
use crate::error::{Abandoned, Error};
use crate::footprint::Noted;
use crate::outcome::Outcome;

/// The lock is held only while a value is moved.
pub(crate) struct OneShot<T>(Noted<State<T>>);

enum State<T> {
    /// Neither side has arrived.
    Empty,
    /// The fiber waits.
    Waiting(Wakeup),
    /// The outcome has arrived.
    Delivered(Outcome<T>),
    /// The fiber has taken the outcome, or no longer wants it.
    Closed,
}

impl<T> OneShot<T> {
    pub(crate) fn new() -> Self {
        OneShot(Noted::new(State::Empty))
    }

    /// Delivers the outcome, and wakes the fiber. Returns the outcome if the cell is closed.
    ///
    /// A fiber whose wait was cancelled may still take it, in another wait, until it closes the cell.
    pub(crate) fn deliver(&self, outcome: Outcome<T>) -> Option<Outcome<T>> {
        self.deliver_or(outcome, State::Delivered)
    }

    /// Like `deliver`, but also returns the outcome if the wait of the fiber was cancelled: it ends the wait first, and
    /// moves the outcome only if that succeeded.
    pub(crate) fn hand_over(&self, outcome: Outcome<T>) -> Option<Outcome<T>> {
        let mut refused = None;
        let closed = self.deliver_or(outcome, |outcome| {
            refused = Some(outcome);
            State::Closed
        });
        closed.or(refused)
    }

    /// `late`: the new state of the cell if the fiber waited, and was cancelled.
    fn deliver_or(
        &self,
        outcome: Outcome<T>,
        late: impl FnOnce(Outcome<T>) -> State<T>,
    ) -> Option<Outcome<T>> {
        let mut state = self.0.lock();
        match mem::replace(&mut *state, State::Closed) {
            State::Empty => *state = State::Delivered(outcome),
            State::Waiting(wakeup) => match wakeup.commit() {
                Ok(committed) => {
                    *state = State::Delivered(outcome);
                    drop(state);
                    committed.wake();
                }
                Err(wakeup) => {
                    *state = if wakeup.is_missed() { State::Delivered(outcome) } else { late(outcome) };
                    // Dropped without the lock, because it may hold the last reference to its fiber.
                    drop(state);
                    drop(wakeup);
                }
            },
            closed @ (State::Closed | State::Delivered(_)) => {
                *state = closed;
                // Dropping the value runs user code, which must not run under the lock.
                return Some(outcome);
            }
        }
        None
    }

    /// The outcome, if it has arrived.
    pub(crate) fn take(&self) -> Option<Outcome<T>> {
        let mut state = self.0.lock();
        // Looked at first, so that a state that stays is not moved out and back.
        if !matches!(*state, State::Delivered(_)) {
            return None;
        }
        match mem::replace(&mut *state, State::Closed) {
            State::Delivered(outcome) => Some(outcome),
            State::Empty | State::Waiting(_) | State::Closed => None,
        }
    }

    /// The outcome. If it has not arrived, its arrival will fire `wakeup`.
    ///
    /// The fiber may wait again, if the other side of a race has woken it for nothing. A sender that came meanwhile was
    /// refused, and there is no other one.
    pub(crate) fn take_or_wait(&self, wakeup: Wakeup) -> Option<Outcome<T>> {
        let mut state = self.0.lock();
        if let State::Empty = *state {
            *state = State::Waiting(wakeup);
            return None;
        }
        match mem::replace(&mut *state, State::Closed) {
            lost @ (State::Delivered(_) | State::Closed) if !wakeup.claim() => {
                *state = lost;
                None
            }
            State::Delivered(outcome) => Some(outcome),
            State::Closed => Some(Outcome::Failure(Error::new(Abandoned))),
            old @ (State::Empty | State::Waiting(_)) => {
                *state = State::Waiting(wakeup);
                // Dropped without the lock, because a wake-up may hold the waker of an executor.
                drop(state);
                drop(old);
                None
            }
        }
    }

    /// The fiber no longer wants the outcome. Returns it if it has already arrived.
    pub(crate) fn close(&self) -> Option<Outcome<T>> {
        // Dropped without the lock, because a wake-up may hold the waker of an executor.
        let old = mem::replace(&mut *self.0.lock(), State::Closed);
        match old {
            State::Delivered(outcome) => Some(outcome),
            State::Empty | State::Waiting(_) | State::Closed => None,
        }
    }

    /// Whether the outcome may still arrive, and is wanted. For a drop: not an access of a fiber.
    pub(super) fn is_open(&self) -> bool {
        matches!(*self.0.lock_unnoted(), State::Empty | State::Waiting(_))
    }

    pub(crate) fn is_closed(&self) -> bool {
        matches!(*self.0.lock(), State::Closed)
    }
}
