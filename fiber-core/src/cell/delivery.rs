//! The place where a fiber leaves its outcome for the holder of its handle.
//!
//! | bit | set by | when |
//! |---|---|---|
//! | `DONE` | the fiber, once | after it has written the value |
//! | `TAKEN` | the thread that takes the value, once | before it reads the value; only if `DONE` |
//! | `AWAITED` | a waiter | after its wake-up is in the list |
//! | `FORGOTTEN` | the drop of the handle | after its last access to the value |
//!
//! | set first | set second | what the second does |
//! |---|---|---|
//! | `AWAITED` | `DONE` | the fiber fires the wake-ups |
//! | `DONE` | `AWAITED` | the waiter removes its wake-up and continues |
//! | `FORGOTTEN` | `DONE` | the fiber takes the value back |
//! | `DONE` | `FORGOTTEN` | the drop of the handle takes the value, unless it is `TAKEN` |
//!
//! Bits are only ever set, and all are in one word, so one of two changes comes first and the other sees it.
#![allow(unsafe_code)]

use crate::primitive::{AtomicU32, Ordering, UnsafeCell};

const DONE: u32 = 1;
const TAKEN: u32 = 2;
const AWAITED: u32 = 4;
const FORGOTTEN: u32 = 8;

pub(crate) struct Delivery<V> {
    state: AtomicU32,
    /// Written by the fiber before `DONE`, read by the thread that sets `TAKEN`.
    value: UnsafeCell<Option<V>>,
}

// SAFETY: the value moves between threads (hence `V: Send`) but is never shared: the bits determine its owner.
unsafe impl<V: Send> Sync for Delivery<V> {}

/// The bits that were set before the value arrived.
#[must_use]
pub(crate) struct Before {
    pub(crate) is_awaited: bool,
    pub(crate) is_forgotten: bool,
}

impl<V> Delivery<V> {
    pub(crate) fn new() -> Self {
        Delivery { state: AtomicU32::new(0), value: UnsafeCell::new(None) }
    }

    /// Delivers the value of the fiber, once.
    pub(crate) fn complete(&self, value: V) -> Before {
        self.value.with_mut(|place| {
            // SAFETY: before `DONE`, the fiber owns the value's cell, and this is called once.
            unsafe { *place = Some(value) }
        });
        // AcqRel: Release publishes the value to `take`; Acquire pairs with the Release of `expect`.
        let before = self.state.fetch_or(DONE, Ordering::AcqRel);
        Before { is_awaited: before & AWAITED != 0, is_forgotten: before & FORGOTTEN != 0 }
    }

    pub(crate) fn is_done(&self) -> bool {
        // Acquire: pairs with the Release of `complete`, so that the fiber's writes are visible.
        self.state.load(Ordering::Acquire) & DONE != 0
    }

    /// The value, for the first caller after the end.
    pub(crate) fn take(&self) -> Option<V> {
        // Relaxed `fetch_or`: the Acquire in `is_done` has made the value visible, and nothing is published.
        if !self.is_done() || self.state.fetch_or(TAKEN, Ordering::Relaxed) & TAKEN != 0 {
            return None;
        }
        self.value.with_mut(|place| {
            // SAFETY: the fiber gave up the cell with `DONE`, and only the thread that set `TAKEN` gets here.
            unsafe { (*place).take() }
        })
    }

    /// Announces a waiter, whose wake-up is in the list. `false`: the value has already arrived.
    pub(crate) fn expect(&self) -> bool {
        // AcqRel: Release publishes the waiter's wake-up to `complete`; Acquire pairs with the Release of `complete`,
        // so that the value can be taken at once.
        self.state.fetch_or(AWAITED, Ordering::AcqRel) & DONE == 0
    }

    /// Records that the handle is gone. Returns the value if it has arrived; otherwise the fiber takes it back.
    pub(crate) fn forget(&self) -> Option<V> {
        // Relaxed: a check that saves a write; a value that was taken needs no further action.
        if self.state.load(Ordering::Relaxed) & TAKEN != 0 {
            return None;
        }
        // Relaxed: only the order of the bits matters. `take` orders the access to the value.
        self.state.fetch_or(FORGOTTEN, Ordering::Relaxed);
        self.take()
    }
}
