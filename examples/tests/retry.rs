//! The retries of the checksum example, in virtual time.

#[path = "../checksum/retry.rs"]
mod retry;

use std::io::{self, ErrorKind};
use std::time::Duration;

use fiber_core::{Fiber, Instant, Outcome};
use fiber_test::TestScheduler;

/// Fails `failures` times as `kind`, then succeeds with the number of the attempt. Returns the outcome, and how long it took.
fn run(failures: u32, kind: ErrorKind) -> (Outcome<u32>, Duration) {
    let mut attempts = 0;
    let attempt = move || {
        attempts += 1;
        Fiber::from_result(if attempts <= failures { Err(io::Error::from(kind)) } else { Ok(attempts) })
    };
    let test = TestScheduler::new();
    let outcome = test.run(Fiber::retry_with(retry::policy(), attempt));
    (outcome, test.now() - Instant::EPOCH)
}

#[test]
fn a_failure_that_passes_is_tried_again_after_growing_pauses() {
    for kind in [ErrorKind::Interrupted, ErrorKind::WouldBlock, ErrorKind::TimedOut] {
        let (outcome, time) = run(3, kind);
        assert_eq!((outcome.unwrap(), time), (4, Duration::from_millis(100 + 200 + 400)));
    }
}

#[test]
fn after_three_more_attempts_the_failure_stays() {
    let (outcome, time) = run(4, ErrorKind::TimedOut);
    let error = outcome.failure().unwrap();
    assert_eq!(error.downcast_ref::<io::Error>().unwrap().kind(), ErrorKind::TimedOut);
    assert_eq!(error.to_string(), "after 4 attempts: timed out");
    assert_eq!(time, Duration::from_millis(100 + 200 + 400));
}

#[test]
fn a_failure_that_lasts_is_not_tried_again() {
    let (outcome, time) = run(1, ErrorKind::PermissionDenied);
    assert_eq!(
        (outcome.failure().unwrap().to_string(), time),
        ("permission denied".to_owned(), Duration::ZERO)
    );
}
