use std::panic::Location;

use super::body::OrFail;
use super::timeout::{Limit, Limited};
use crate::engine::step::Run;
use crate::error::{DeadlineExceeded, Frame};
use crate::fiber::Fiber;
use crate::instant::Instant;

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Limits this fiber and everything below it to end by `deadline`. At that time the fiber is cancelled, and
    /// awaited. Everything below inherits the deadline, and can read it
    /// ([`Context::deadline`](crate::Context::deadline)). An earlier deadline from above takes precedence.
    ///
    /// ```
    /// use fiber_core::{Fiber, error::DeadlineExceeded};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let second = Duration::from_secs(1);
    /// let request = Fiber::now().bind(move |now| {
    ///     let both = Fiber::delay(second).bind(move |()| Fiber::delay(60 * second));
    ///     both.with_deadline(now + 5 * second)
    /// });
    /// let test = TestScheduler::new();
    /// assert!(test.run(request).failure().unwrap().is::<DeadlineExceeded>());
    /// assert_eq!(test.now().as_nanos(), 5_000_000_000);
    /// ```
    ///
    /// # Errors
    /// [`DeadlineExceeded`]. A fiber that succeeds while it is being cancelled succeeds.
    ///
    /// # Cancellation
    /// A cancellation reaches the fiber as if there were no deadline.
    #[track_caller]
    pub fn with_deadline(self, deadline: Instant) -> Fiber<T, Limited<R, OrFail<DeadlineExceeded>>> {
        let site = Location::caller();
        let end = OrFail(DeadlineExceeded::new(deadline, site), Frame::new("with_deadline", site));
        Fiber::new(Limited { run: self.into_run(), limit: Limit::At(deadline), end, site })
    }
}
