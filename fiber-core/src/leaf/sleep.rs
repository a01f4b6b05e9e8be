use std::panic::Location;
use std::time::Duration;

use super::wait::{Leaf, Wait};
use crate::engine::context::{Cx, WaitsFor, Wakeup};
use crate::engine::scheduler::TimerKey;
use crate::engine::side::Single;
use crate::engine::task::Task;
use crate::fiber::Fiber;
use crate::instant::Instant;
use crate::outcome::Outcome;

impl Fiber<()> {
    /// Waits for `duration` from the moment it is run; never less.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use std::time::Duration;
    /// assert!(fiber_sched::run(Fiber::delay(Duration::from_millis(1))).is_success());
    /// ```
    ///
    /// # Cancellation
    /// The wait ends at once, and its timer is removed.
    #[doc(alias = "sleep")]
    #[track_caller]
    pub fn delay(duration: Duration) -> Fiber<(), Leaf<Sleep>> {
        Fiber::delay_at(Location::caller(), duration)
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    pub(crate) fn delay_at(site: &'static Location<'static>, duration: Duration) -> Fiber<(), Leaf<Sleep>> {
        Fiber::new(Leaf::new(Sleep { until: Until::After(duration), timer: None }, site))
    }

    /// Waits until `instant` of the scheduler's time, which [`Fiber::now`] gives. Succeeds at once if that time has passed.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use std::time::Duration;
    /// let fiber = Fiber::now().bind(|now| Fiber::until(now + Duration::from_millis(1)));
    /// assert!(fiber_sched::run(fiber).is_success());
    /// ```
    ///
    /// # Cancellation
    /// The wait ends at once, and its timer is removed.
    #[doc(alias = "sleep_until")]
    #[track_caller]
    pub fn until(instant: Instant) -> Fiber<(), Leaf<Sleep>> {
        Fiber::until_at(Location::caller(), instant)
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    pub(crate) fn until_at(site: &'static Location<'static>, instant: Instant) -> Fiber<(), Leaf<Sleep>> {
        Fiber::new(Leaf::new(Sleep { until: Until::At(instant), timer: None }, site))
    }
}

/// The wait of [`Fiber::delay`] and [`Fiber::until`].
#[derive(Clone, Debug)]
pub struct Sleep {
    until: Until,
    timer: Option<TimerKey>,
}

#[derive(Clone, Copy, Debug)]
enum Until {
    After(Duration),
    At(Instant),
}

impl Wait for Sleep {
    type Out = ();
    const CAN_LOSE: bool = true;
    const SINGLE: Single = Single::ONCE;

    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<()>> {
        // Only the timer wakes this wait, and never early, so there is no need to read the clock.
        let is_over = self.timer.is_some()
            || match self.until {
                Until::After(duration) => duration.is_zero(),
                Until::At(instant) => cx.scheduler().now() >= instant,
            };
        is_over.then_some(Outcome::Success(()))
    }

    fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<()>> {
        let scheduler = cx.scheduler();
        let at = match self.until {
            Until::After(duration) => scheduler.now() + duration,
            Until::At(instant) => instant,
        };
        // If the fiber waits again, the time does not start anew.
        self.until = Until::At(at);
        self.timer = Some(scheduler.schedule_at(at, Task::fire(wakeup)));
        None
    }

    fn deregister(&mut self, cx: &Cx<'_>) {
        if let Some(timer) = self.timer {
            cx.scheduler().cancel_timer(timer);
        }
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Timer
    }
}
