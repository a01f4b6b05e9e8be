//! A panic hook that the test installs during an exploration.

use std::panic;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use fiber_core::Fiber;
use fiber_test::Explore;

static PRINTED: AtomicU32 = AtomicU32::new(0);

fn panics() -> Fiber<()> {
    Fiber::lazy(|| panic!("broken")).boxed()
}

// The only test in this file, because the hook is that of the process.
#[test]
fn a_hook_that_is_installed_after_the_first_exploration_prints_no_panic_of_a_schedule() {
    let place = |report: String| report.split_once(": panic at ").map(|(place, _)| place.to_owned());
    let first = Explore::default().try_check(panics).unwrap_err();
    let expected = place(first.to_string());
    assert!(expected.is_some(), "{first}");

    panic::set_hook(Box::new(|info| {
        if info.payload_as_str() == Some("broken") {
            PRINTED.fetch_add(1, SeqCst);
        }
    }));
    for _ in 0..3 {
        let failure = Explore::default().try_check(panics).unwrap_err();
        assert_eq!(place(failure.to_string()), expected);
    }
    assert_eq!(PRINTED.load(SeqCst), 0);

    // Outside an exploration, the test's hook runs.
    panic::catch_unwind(|| panic!("broken")).unwrap_err();
    assert_eq!(PRINTED.load(SeqCst), 1);
    drop(panic::take_hook());
}
