//! The functions that the attributes [`test`](macro@crate::test) and [`explore`](macro@crate::explore) call.

use std::future::Future;
use std::panic::resume_unwind;

use fiber_core::error::IntoError;
use fiber_core::{Error, Fiber, Outcome, Run};

use crate::schedule::Schedule;
use crate::scheduler::TestScheduler;

/// The value of a test: nothing, or a result whose error fails it.
#[diagnostic::on_unimplemented(
    message = "a test ends with `()` or a `Result`, not with `{Self}`",
    label = "this value is ignored",
    note = "assert something of it, or drop it: `.map(drop)`"
)]
pub trait Verdict: Send + 'static {
    /// The error that fails the test.
    fn verdict(self) -> Result<(), Error>;
}

impl Verdict for () {
    fn verdict(self) -> Result<(), Error> {
        Ok(())
    }
}

impl<T: Verdict, E: IntoError + Send> Verdict for Result<T, E> {
    fn verdict(self) -> Result<(), Error> {
        self.map_err(IntoError::into_error)?.verdict()
    }
}

/// The program of a function that returns a fiber.
#[doc(hidden)]
#[track_caller]
pub fn fiber<T: Verdict, R: Run<Out = T>>(fiber: Fiber<T, R>) -> Fiber<(), impl Run<Out = ()>> {
    fiber.try_map(T::verdict)
}

/// The program of an `async fn`.
#[doc(hidden)]
#[track_caller]
pub fn future<F: Future<Output: Verdict> + Send + 'static>(future: F) -> Fiber<(), impl Run<Out = ()>> {
    Fiber::from_future(async { future.await.verdict() })
}

/// The schedule in an argument.
///
/// # Panics
/// If the text is not a schedule.
#[doc(hidden)]
#[track_caller]
pub fn schedule(text: &str) -> Schedule {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a test in virtual time.
///
/// # Panics
/// If the test fails.
#[doc(hidden)]
#[track_caller]
pub fn run<R: Run<Out = ()>>(test: TestScheduler, program: impl FnOnce() -> Fiber<(), R>) {
    match test.run(program()) {
        Outcome::Success(()) => {}
        Outcome::Failure(error) => panic!("the test has failed: {error:#}"),
        Outcome::Panicked(panic) => resume_unwind(panic.into_payload()),
        Outcome::Cancelled => panic!("the test has ended as cancelled"),
    }
    test.settle();
    if let Some(failure) = test.unobserved().first() {
        panic!("an unobserved failure: {failure}");
    }
    test.assert_no_leaks();
}
