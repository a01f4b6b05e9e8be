//! An enumeration stores a path through the schedules of a program, rather than all the schedules that are left.

use fiber_core::Fiber;
use fiber_test::Explore;

mod live_bytes;

/// Every schedule of ten fibers of ten steps has hundreds of neighbours.
const SCHEDULES: u64 = 10_000;

/// A few kilobytes for each decision along the path, and the cache of earlier passes.
const MOST: usize = 32 << 20;

// The only test in this file, because the count is that of the process.
#[test]
fn the_memory_of_an_enumeration_does_not_grow_with_its_schedules() {
    let ten = || Fiber::for_each(0..10, |_| Fiber::success(()));
    let (before, _) = live_bytes::live_and_most();
    let explore = Explore::exhaustive().schedules(SCHEDULES);
    let explored = explore.try_check(move || Fiber::parallel((0..10).map(move |_| ten()))).unwrap();
    assert_eq!(explored.schedules(), SCHEDULES);
    let most = live_bytes::live_and_most().1 - before;
    println!("{most} bytes for {SCHEDULES} schedules");
    assert!(most < MOST, "{most} bytes");
}
