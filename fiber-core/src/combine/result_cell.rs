//! Where a forked fiber leaves its outcome, and where those who wait for its end leave their wake-ups.
//!
//! | bit | set by | when |
//! |---|---|---|
//! | `DONE` | the fiber, once | after it has written the outcome |
//! | `TAKEN` | whoever takes the outcome, once | before it reads it; only if `DONE` |
//! | `AWAITED` | one who waits | after its wake-up is in the list |
//!
//! | `DONE` | `AWAITED` | who fires the wake-ups |
//! |---|---|---|
//! | set first | set later | the one who waits sees `DONE`, takes its own away and goes on |
//! | set later | set first | the fiber sees `AWAITED` and fires all |
//!
//! Bits are only ever set, all in one word, so one of two comes first and the other sees it.
#![allow(unsafe_code)]

use parking_lot::Mutex;

use super::wait_list::{WaitKey, WaitList};
use crate::context::Wakeup;
use crate::outcome::Outcome;
use crate::primitive::{AtomicUsize, Ordering, UnsafeCell};

const DONE: usize = 1;
const TAKEN: usize = 2;
const AWAITED: usize = 4;

pub(super) struct ResultCell<T> {
    state: AtomicUsize,
    /// Written by the fiber before `DONE`, read by the one who sets `TAKEN`.
    outcome: UnsafeCell<Option<Outcome<T>>>,
    /// Touched only by those who have to wait, and by the end of a fiber that was `AWAITED`.
    waiting: Mutex<WaitList>,
}

// SAFETY: the outcome moves between threads (hence `T: Send`) but is never shared: the bits say whose it is.
unsafe impl<T: Send> Sync for ResultCell<T> {}

impl<T> ResultCell<T> {
    pub(super) fn new() -> Self {
        ResultCell {
            state: AtomicUsize::new(0),
            outcome: UnsafeCell::new(None),
            waiting: Mutex::new(WaitList::default()),
        }
    }

    /// The fiber has ended. Called once.
    pub(super) fn complete(&self, outcome: Outcome<T>) {
        self.outcome.with_mut(|cell| {
            // SAFETY: before `DONE` the cell is the fiber's, and this is called once.
            unsafe { *cell = Some(outcome) }
        });
        // AcqRel: Release publishes the outcome to `take`; Acquire pairs with the Release of `wait`.
        if self.state.fetch_or(DONE, Ordering::AcqRel) & AWAITED != 0 {
            let waiting = self.waiting.lock().take_all();
            waiting.fire();
        }
    }

    pub(super) fn is_done(&self) -> bool {
        // Acquire: pairs with the Release of `complete`: what the fiber did is visible.
        self.state.load(Ordering::Acquire) & DONE != 0
    }

    /// The outcome, for the first who asks after the end.
    pub(super) fn take(&self) -> Option<Outcome<T>> {
        // Relaxed `fetch_or`: the Acquire in `is_done` has made the outcome visible, and nothing is published.
        if !self.is_done() || self.state.fetch_or(TAKEN, Ordering::Relaxed) & TAKEN != 0 {
            return None;
        }
        self.outcome.with_mut(|cell| {
            // SAFETY: `DONE` gave the cell up, and only the one who set `TAKEN` comes here.
            unsafe { (*cell).take() }
        })
    }

    /// Leaves a wake-up for the end. `None`: the fiber has ended already, and the wake-up is not left.
    pub(super) fn wait(&self, wakeup: Wakeup) -> Option<WaitKey> {
        let key = self.waiting.lock().insert(wakeup);
        // AcqRel: Release publishes the entry to `complete` (the lock would do as well); Acquire pairs with its
        // Release, so that the outcome can be taken at once.
        if self.state.fetch_or(AWAITED, Ordering::AcqRel) & DONE == 0 {
            return Some(key);
        }
        self.unwait(key);
        None
    }

    /// Takes a wake-up away again.
    pub(super) fn unwait(&self, key: WaitKey) {
        let removed = self.waiting.lock().remove(key);
        drop(removed);
    }
}
