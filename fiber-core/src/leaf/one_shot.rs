//! An outcome that one side delivers and one fiber waits for.

use crate::cell::{self, Sent};
use crate::engine::context::Wakeup;
use crate::error::{Abandoned, Error};
use crate::footprint::{Access, Object};
use crate::outcome::Outcome;

/// The side that delivers the outcome.
pub(crate) struct Sender<T>(cell::Sender<Outcome<T>, Wakeup, Object>);

/// The side of the fiber.
pub(crate) struct Receiver<T>(cell::Receiver<Outcome<T>, Wakeup, Object>);

#[inline]
pub(crate) fn one_shot<T>() -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = cell::one_shot(Object::new());
    (Sender(sender), Receiver(receiver))
}

impl<T> Sender<T> {
    /// Delivers the outcome, and wakes the fiber. Returns the outcome if the receiver is closed.
    ///
    /// A fiber whose wait was cancelled may still take it, in another wait, until the receiver is closed.
    pub(crate) fn deliver(self, outcome: Outcome<T>) -> Option<Outcome<T>> {
        self.deliver_or(outcome, false)
    }

    /// Like `deliver`, but also returns the outcome if the wait of the fiber was cancelled.
    pub(crate) fn hand_over(self, outcome: Outcome<T>) -> Option<Outcome<T>> {
        self.deliver_or(outcome, true)
    }

    #[inline]
    fn deliver_or(self, outcome: Outcome<T>, takes_back: bool) -> Option<Outcome<T>> {
        self.0.shared().touch(Access::Write);
        let (wakeup, ending) = match self.0.send(outcome) {
            Sent::Left => return None,
            Sent::Refused(outcome) => return Some(outcome),
            Sent::Ends(wakeup, ending) => (wakeup, ending),
        };
        match wakeup.commit() {
            Ok(committed) => {
                let refused = ending.keep();
                committed.wake();
                refused
            }
            // The fiber looks once more, or may.
            Err(wakeup) if !takes_back || wakeup.is_missed() => ending.keep(),
            Err(_) => ending.take_back(),
        }
    }

    /// Whether the fiber no longer waits.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.shared().touch(Access::Write);
        self.0.is_closed()
    }
}

impl<T> Receiver<T> {
    /// The outcome, if it has arrived.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Outcome<T>> {
        self.0.shared().touch(Access::Write);
        self.0.take()
    }

    /// The outcome. If it has not arrived, its arrival will fire `wakeup`.
    ///
    /// The fiber may wait again, if the other side of a race has woken it for nothing. A sender that came meanwhile was
    /// refused, and there is no other one.
    pub(crate) fn take_or_wait(&mut self, wakeup: Wakeup) -> Option<Outcome<T>> {
        self.0.shared().touch(Access::Write);
        match self.0.wait(wakeup) {
            Err(wakeup) if wakeup.claim() => {
                Some(self.0.take().unwrap_or_else(|| Outcome::Failure(Error::new(Abandoned))))
            }
            Ok(_) | Err(_) => None,
        }
    }

    /// The fiber no longer wants the outcome. Returns it if it has already arrived.
    pub(crate) fn close(&mut self) -> Option<Outcome<T>> {
        if self.0.is_over() {
            return None;
        }
        self.0.shared().touch(Access::Write);
        self.0.close()
    }

    /// Whether the outcome may still arrive, and is wanted. For a drop: not an access of a fiber.
    pub(super) fn is_open(&self) -> bool {
        self.0.is_open()
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        drop(self.close());
    }
}
