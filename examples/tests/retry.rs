//! The retry of the checksum example, in virtual time.

#[path = "../checksum/retry.rs"]
mod retry;

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use fiber_core::{Fiber, Instant, Outcome};
use fiber_test::TestScheduler;

/// Fails `failures` times as `kind` before it succeeds: the outcome, how often it was tried, and how long that took.
fn run(failures: u32, kind: ErrorKind) -> (Outcome<()>, u32, Duration) {
    let attempts = Arc::new(AtomicU32::new(0));
    let seen = attempts.clone();
    let attempt = move || {
        let attempt = seen.fetch_add(1, Ordering::Relaxed);
        Fiber::from_result(if attempt < failures { Err(io::Error::from(kind)) } else { Ok(()) }).boxed()
    };
    let test = TestScheduler::new();
    let outcome = test.run(retry::retry(retry::pauses(), attempt));
    (outcome, attempts.load(Ordering::Relaxed), test.now() - Instant::EPOCH)
}

#[test]
fn a_success_is_not_tried_again() {
    let (outcome, attempts, time) = run(0, ErrorKind::TimedOut);
    assert!(outcome.is_success());
    assert_eq!((attempts, time), (1, Duration::ZERO));
}

#[test]
fn a_failure_that_passes_is_tried_again_after_growing_pauses() {
    for kind in [ErrorKind::Interrupted, ErrorKind::WouldBlock, ErrorKind::TimedOut] {
        let (outcome, attempts, time) = run(3, kind);
        assert!(outcome.is_success());
        assert_eq!((attempts, time), (4, Duration::from_millis(100 + 200 + 400)));
    }
}

#[test]
fn after_three_more_attempts_the_failure_stays() {
    let (outcome, attempts, _) = run(9, ErrorKind::TimedOut);
    assert!(outcome.failure().unwrap().is::<io::Error>());
    assert_eq!(attempts, 4);
}

#[test]
fn a_failure_that_lasts_is_not_tried_again() {
    let (outcome, attempts, _) = run(1, ErrorKind::PermissionDenied);
    assert!(outcome.is_failure());
    assert_eq!(attempts, 1);
}
