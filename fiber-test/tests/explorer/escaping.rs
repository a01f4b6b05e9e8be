//! A panic that unwinds where the explorer calls code of the program is reported, and does not hang.

use std::fmt;

use fiber_core::{Error, Fiber};
use fiber_test::{Explore, ProblemKind, TestScheduler};

/// An error that cannot be printed.
#[derive(Debug)]
struct Unspeakable;

impl fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("no words")
    }
}

impl std::error::Error for Unspeakable {}

fn fails() -> Fiber<()> {
    Fiber::fail(Error::new(Unspeakable)).boxed()
}

#[test]
fn an_error_that_cannot_be_printed_is_a_failure_on_any_number_of_threads() {
    for threads in [1, 2] {
        let failure = Explore::default().threads(threads).try_check(fails).unwrap_err();
        assert_eq!(failure.problem().kind(), ProblemKind::Failure);
        assert!(failure.problem().message().contains("its Display panics: no words"), "{failure}");
    }
}

#[test]
fn to_record_a_run_does_not_change_its_outcome() {
    let test = TestScheduler::new().record();
    assert!(test.run(fails()).failure().unwrap().is::<Unspeakable>());
    assert!(test.trace().to_string().contains("ends: failure: (it cannot be printed"));
}

#[test]
fn a_failure_of_that_kind_that_nobody_observes_is_reported() {
    let failure = Explore::default().try_check(|| fails().detach().map(drop)).unwrap_err();
    assert_eq!(failure.problem().kind(), ProblemKind::Unobserved);
}

/// Panics when it is dropped, unless the thread is already panicking.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("dropped");
        }
    }
}

#[test]
fn a_value_that_panics_when_it_is_dropped_hangs_no_thread() {
    let failure = Explore::default().threads(2).try_check(|| Fiber::lazy(|| Bomb)).unwrap_err();
    assert_eq!(failure.problem().kind(), ProblemKind::Panic);
    assert_eq!(failure.problem().message(), "dropped");
}

/// A panic that was suppressed into a failure, which a handler drops.
#[test]
fn a_suppressed_panic_that_nobody_looks_at_is_reported() {
    let program = || {
        let broken = Fiber::<()>::fail(Error::msg("expected")).ensure(Fiber::lazy(|| panic!("vanished")));
        broken.catch(|_| Fiber::success(()))
    };
    let failure = Explore::default().try_check(program).unwrap_err();
    assert_eq!(failure.problem().kind(), ProblemKind::Unobserved);
    assert!(failure.problem().message().contains("vanished"), "{failure}");
}
