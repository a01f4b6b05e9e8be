//! An exploration keeps no memory of finished runs.

use std::time::Duration;

use fiber_core::Fiber;
use fiber_test::Explore;

mod live_bytes;

/// With a few thousand runs, less than a byte for each.
const SLACK: usize = 4_000;

fn explore() {
    let nap = || Fiber::delay(Duration::from_secs(1)).ensure(Fiber::yield_now());
    let program = move || nap().race(nap()).zip(Fiber::parallel([nap(), nap()]));
    assert_eq!(Explore::default().schedules(4_000).check(program).schedules(), 4_000);
    Explore::cancel_everywhere().schedules(1_000).check(program);
}

// The only test in this file, because the count is that of the process.
#[test]
fn nothing_is_kept_of_the_runs_that_are_over() {
    explore();
    let (before, _) = live_bytes::live_and_most();
    explore();
    let (after, _) = live_bytes::live_and_most();
    assert!(after < before + SLACK, "{before} bytes before, {after} after 5,000 runs");
}
