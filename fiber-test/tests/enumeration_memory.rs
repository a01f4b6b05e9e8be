//! An enumeration remembers a path through the schedules of a program, and not all that it has yet to run.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use fiber_core::Fiber;
use fiber_test::Explore;

struct Counting;

static LIVE_BYTES: AtomicUsize = AtomicUsize::new(0);
static MOST_BYTES: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed on to the system's allocator as it is.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE_BYTES.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST_BYTES.fetch_max(live, Ordering::Relaxed);
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

/// Every schedule of ten fibers of ten steps has hundreds of neighbours.
const SCHEDULES: u64 = 10_000;

/// A few kilobytes for each decision along the path, and the cache of what earlier passes have seen.
const MOST: usize = 32 << 20;

// One test in this file: the count is the process's.
#[test]
fn the_memory_of_an_enumeration_does_not_grow_with_its_schedules() {
    let ten = || Fiber::for_each(0..10, |_| Fiber::success(()));
    let before = LIVE_BYTES.load(Ordering::Relaxed);
    let explore = Explore::exhaustive().schedules(SCHEDULES);
    let explored = explore.try_check(move || Fiber::parallel((0..10).map(move |_| ten()))).unwrap();
    assert_eq!(explored.schedules(), SCHEDULES);
    let most = MOST_BYTES.load(Ordering::Relaxed) - before;
    println!("{most} bytes for {SCHEDULES} schedules");
    assert!(most < MOST, "{most} bytes");
}
