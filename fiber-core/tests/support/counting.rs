//! An allocator that counts, for each thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

pub struct Counting;

thread_local! {
    pub static COUNT: Cell<usize> = const { Cell::new(0) };
    /// Allocations minus deallocations.
    pub static LIVE: Cell<isize> = const { Cell::new(0) };
}

#[allow(unsafe_code)]
// SAFETY: every call is passed on to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        LIVE.set(LIVE.get() + 1);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get() - 1);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}
