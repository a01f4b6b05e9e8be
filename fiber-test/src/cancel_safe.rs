use fiber_core::{Fiber, Run};

use crate::explore::Explore;

/// Asserts that a program may be cancelled anywhere: its finalizers run, it ends, and it leaves nothing behind. Short for
///
/// ```
/// use fiber_core::Fiber;
/// use fiber_test::assert_cancel_safe;
/// use std::time::Duration;
/// assert_cancel_safe(|| Fiber::delay(Duration::from_secs(1)).ensure(Fiber::delay(Duration::from_millis(1))));
/// ```
///
/// # Panics
/// With the report of the smallest schedule that breaks this.
#[track_caller]
pub fn assert_cancel_safe<T, R, F>(program: F)
where
    T: Send + 'static,
    R: Run<Out = T>,
    F: Fn() -> Fiber<T, R> + Sync,
{
    Explore::cancel_everywhere().check(program);
}
