//! The process-wide pool.

use std::sync::OnceLock;

use fiber_core::{Fiber, Outcome, Run};

use crate::pool::Pool;

/// Runs a fiber on the process-wide pool, and waits for its outcome.
///
/// The pool starts with the first call and is never shut down; it has a worker for each core.
///
/// ```
/// use fiber_core::Fiber;
/// assert_eq!(fiber_sched::run(Fiber::success(20).map(|n| n + 1)).unwrap(), 21);
/// ```
///
/// # Blocking
/// Until the fiber has ended. See [`Pool::run`].
///
/// # Panics
/// If it is called in a fiber of the same pool, like [`Pool::run`], or if the operating system cannot start the
/// threads.
#[track_caller]
pub fn run<T: Send + 'static, R: Run<Out = T>>(fiber: Fiber<T, R>) -> Outcome<T> {
    shared().run_as("fiber_sched::run", fiber)
}

/// The process-wide pool.
///
/// # Panics
/// If the operating system cannot start the threads.
pub(crate) fn shared() -> &'static Pool {
    static SHARED: OnceLock<Pool> = OnceLock::new();
    SHARED.get_or_init(Pool::new)
}
