use std::time::SystemTime;

use crate::engine::context::Cx;
use crate::engine::step::{Run, Step};
use crate::fiber::Fiber;
use crate::instant::Instant;
use crate::outcome::Outcome;

impl Fiber<Instant> {
    /// The scheduler's time: real on a thread pool, virtual in a test.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let hour = Duration::from_secs(3600);
    /// let elapsed = Fiber::now().bind(move |start| Fiber::delay(hour).bind(move |()| Fiber::now().map(move |end| end - start)));
    /// assert_eq!(TestScheduler::new().run(elapsed).unwrap(), hour);
    /// ```
    pub fn now() -> Fiber<Instant, Now> {
        Fiber::new(Now)
    }
}

impl Fiber<SystemTime> {
    /// The scheduler's time of day.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use std::time::SystemTime;
    /// assert!(fiber_sched::run(Fiber::utc_now()).unwrap() > SystemTime::UNIX_EPOCH);
    /// ```
    pub fn utc_now() -> Fiber<SystemTime, UtcNow> {
        Fiber::new(UtcNow)
    }
}

/// The description of [`Fiber::now`].
#[derive(Clone, Copy, Debug)]
pub struct Now;

impl Run for Now {
    type Out = Instant;
    const ROOM: usize = 0;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Instant> {
        Step::Done(if cx.is_interrupted() {
            Outcome::Cancelled
        } else {
            Outcome::Success(cx.scheduler().now())
        })
    }
}

/// The description of [`Fiber::utc_now`].
#[derive(Clone, Copy, Debug)]
pub struct UtcNow;

impl Run for UtcNow {
    type Out = SystemTime;
    const ROOM: usize = 0;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, SystemTime> {
        let interrupted = cx.is_interrupted();
        Step::Done(if interrupted { Outcome::Cancelled } else { Outcome::Success(cx.scheduler().utc_now()) })
    }
}
