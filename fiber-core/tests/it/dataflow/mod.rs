//! `dataflow!`: dependencies, the starts of steps, and the ends of a dataflow.

mod ends;
mod fixed;
mod graphs;
mod names;
mod order;
use std::time::Duration;

use fiber_core::{Fiber, Run};
use fiber_test::TestScheduler;

const SECOND: Duration = Duration::from_secs(1);

/// A fiber that succeeds with the value after this time.
fn later<T: Send + 'static>(seconds: u32, value: T) -> Fiber<T> {
    Fiber::delay(seconds * SECOND).map(move |()| value).boxed()
}

/// The value, and the seconds until it is available.
fn timed<T: Send + 'static, R: Run<Out = T>>(fiber: Fiber<T, R>) -> (T, u64) {
    let test = TestScheduler::new();
    let value = test.run(fiber).unwrap();
    test.assert_no_leaks();
    (value, test.now().as_nanos() / 1_000_000_000)
}

/// The value of a dataflow without waits.
fn value<T: Send + 'static, R: Run<Out = T>>(fiber: Fiber<T, R>) -> T {
    TestScheduler::new().run(fiber).unwrap()
}
