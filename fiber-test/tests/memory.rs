//! An exploration keeps nothing of the runs that are over.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fiber_core::Fiber;
use fiber_test::Explore;

struct Counting;

static LIVE_BYTES: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed on to the system's allocator as it is.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE_BYTES.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE_BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Of a few thousand runs, less than a byte for each.
const SLACK: usize = 4_000;

fn explore() {
    let nap = || Fiber::delay(Duration::from_secs(1)).ensure(Fiber::yield_now());
    let program = move || nap().race(nap()).zip(Fiber::parallel([nap(), nap()]));
    assert_eq!(Explore::default().schedules(4_000).check(program).schedules(), 4_000);
    Explore::cancel_everywhere().schedules(1_000).check(program);
}

// One test in this file: the count is the process's.
#[test]
fn nothing_is_kept_of_the_runs_that_are_over() {
    explore();
    let before = LIVE_BYTES.load(Ordering::Relaxed);
    explore();
    let after = LIVE_BYTES.load(Ordering::Relaxed);
    assert!(after < before + SLACK, "{before} bytes before, {after} after 5,000 runs");
}
