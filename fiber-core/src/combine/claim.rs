//! A value that whoever comes first takes: the worker that starts a branch, or the one who claims it back.
#![allow(unsafe_code)]

use crate::primitive::{AtomicUsize, Ordering, UnsafeCell};

/// | state | the value |
/// |---|---|
/// | `OPEN` | is in the cell |
/// | `CLAIMED` | belongs to the one who moved the state here |
pub(super) struct Claim<T> {
    state: AtomicUsize,
    value: UnsafeCell<Option<T>>,
}

const OPEN: usize = 0;
const CLAIMED: usize = 1;

// SAFETY: the value moves between threads (hence `T: Send`) but is never shared: one claimer takes it.
unsafe impl<T: Send> Sync for Claim<T> {}

impl<T> Claim<T> {
    pub(super) fn new(value: T) -> Self {
        Claim { state: AtomicUsize::new(OPEN), value: UnsafeCell::new(Some(value)) }
    }

    /// Whether somebody has the value.
    pub(super) fn is_claimed(&self) -> bool {
        // Relaxed: nothing follows from it but that a claim would be in vain.
        self.state.load(Ordering::Relaxed) == CLAIMED
    }

    /// The value, for the first who asks.
    pub(super) fn claim(&self) -> Option<T> {
        // Relaxed: a look that saves a write. Acquire is not needed on success either: the value was written before
        // the cell was shared, and sharing it published that. Nothing is published by claiming: Relaxed.
        if self.state.load(Ordering::Relaxed) == CLAIMED
            || self.state.swap(CLAIMED, Ordering::Relaxed) == CLAIMED
        {
            return None;
        }
        self.value.with_mut(|value| {
            // SAFETY: only the one who moved the state from OPEN to CLAIMED comes here, once.
            unsafe { (*value).take() }
        })
    }
}
