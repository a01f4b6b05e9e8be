//! What the scheduler knows: its time, its time of day, its random numbers.

use std::time::SystemTime;

use crate::engine::context::Cx;
use crate::engine::scheduler::Scheduler;
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
    pub fn now() -> Fiber<Instant, Reading<Instant>> {
        Fiber::new(Reading(|scheduler| scheduler.now()))
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
    pub fn utc_now() -> Fiber<SystemTime, Reading<SystemTime>> {
        Fiber::new(Reading(|scheduler| scheduler.utc_now()))
    }
}

impl Fiber<u64> {
    /// A random number from the scheduler: unpredictable on a thread pool, the same in every run of a test. Do not use
    /// it for secrets.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    ///
    /// let roll = || Fiber::random_u64().map(|number| 1 + number % 6);
    /// assert_eq!(TestScheduler::with_seed(7).run(roll()).unwrap(), TestScheduler::with_seed(7).run(roll()).unwrap());
    /// ```
    pub fn random_u64() -> Fiber<u64, Reading<u64>> {
        Fiber::new(Reading(|scheduler| scheduler.random_u64()))
    }
}

/// Reads a value from the scheduler.
#[derive(Clone, Copy, Debug)]
pub struct Reading<T>(fn(&dyn Scheduler) -> T);

impl<T: Send + 'static> Run for Reading<T> {
    type Out = T;
    const ROOM: usize = 0;

    #[inline]
    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, T> {
        if cx.is_interrupted() {
            return Step::Done(Outcome::Cancelled);
        }
        Step::Done(Outcome::Success((self.0)(cx.scheduler())))
    }
}
