//! A value that only the thread that made it can access.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU64, Ordering};

/// `Send` and `Sync`, because other threads cannot access the value.
pub(super) struct Bound<T> {
    thread: u64,
    value: ManuallyDrop<T>,
}

// SAFETY: `get` and `drop` access the value only on the thread that called `new`.
unsafe impl<T> Send for Bound<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Bound<T> {}

/// A number of this thread that no other thread ever gets.
fn this_thread() -> u64 {
    thread_local! {
        static NUMBER: Cell<u64> = const { Cell::new(0) };
    }
    static LAST: AtomicU64 = AtomicU64::new(0);
    if NUMBER.get() == 0 {
        // Relaxed: the number only has to be unique.
        NUMBER.set(LAST.fetch_add(1, Ordering::Relaxed) + 1);
    }
    NUMBER.get()
}

impl<T> Bound<T> {
    pub(super) fn new(value: T) -> Self {
        Bound { thread: this_thread(), value: ManuallyDrop::new(value) }
    }

    /// The value. `None` on any other thread.
    #[inline]
    pub(super) fn get(&self) -> Option<&T> {
        (self.thread == this_thread()).then_some(&*self.value)
    }
}

impl<T> Drop for Bound<T> {
    /// On another thread, the value is leaked.
    fn drop(&mut self) {
        if self.thread == this_thread() {
            // SAFETY: the value is not used after the drop of its only owner.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        }
    }
}
