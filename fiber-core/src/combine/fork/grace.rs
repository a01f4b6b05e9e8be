use std::panic::Location;
use std::time::Duration;

use super::detach::Disconnect;
use super::handle::Handle;
use crate::combine::region::timeout::Timeout;
use crate::combine::sequence::uncancelable::uncancelable;
use crate::engine::scheduler::Unobserved;
use crate::engine::step::Run;
use crate::error::{Error, Frame, Site, TimedOut};
use crate::fiber::Fiber;
use crate::outcome::Outcome;

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Like [`timeout`](Fiber::timeout), but does not wait for the end of the cancelled fiber: its finalizers run
    /// detached. Short for [`disconnect`](Fiber::disconnect) under a timeout.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let second = Duration::from_secs(1);
    /// let test = TestScheduler::new();
    /// let slow_to_end = Fiber::<()>::never().ensure(Fiber::delay(60 * second));
    /// assert!(test.run(slow_to_end.timeout_disconnect(second)).is_failure());
    /// assert_eq!(test.now().as_nanos(), 1_000_000_000);
    /// ```
    #[track_caller]
    pub fn timeout_disconnect(self, limit: Duration) -> Fiber<T, Timeout<Disconnect<R>>> {
        self.disconnect().timeout(limit)
    }

    /// Like [`timeout`](Fiber::timeout), but waits at most `grace` for the end of the cancelled fiber. After that, its
    /// finalizers continue detached, which is reported to [`Scheduler::unobserved`](crate::scheduler::Scheduler::unobserved).
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let second = Duration::from_secs(1);
    /// let test = TestScheduler::new();
    /// let slow_to_end = Fiber::<()>::never().ensure(Fiber::delay(60 * second));
    /// assert!(test.run(slow_to_end.timeout_with_grace(second, 2 * second)).is_failure());
    /// assert_eq!(test.now().as_nanos(), 3_000_000_000);
    /// assert!(test.unobserved()[0].contains("still ending"));
    /// ```
    ///
    /// # Errors
    /// [`TimedOut`]. If the fiber succeeds within the grace, that success is the outcome.
    ///
    /// # Cancellation
    /// The fiber is cancelled and awaited, however long that takes. If it succeeds meanwhile, its value is kept. The
    /// fiber is detached from the fiber around it. If it [cancels](Handle::cancel) that fiber and waits, both wait
    /// forever.
    #[track_caller]
    pub fn timeout_with_grace(self, limit: Duration, grace: Duration) -> Fiber<T> {
        let site = Location::caller();
        let error = TimedOut::new(limit, site);
        let detached = self.detach_part_at(site);
        uncancelable(move |restore| {
            // Only the start is interruptible: a fiber that was cancelled earlier starts nothing.
            restore.apply(detached).bind_at(site, move |handle| {
                let in_time = restore.apply(handle.ended_at(site).timeout_option_at(site, limit));
                in_time.map_outcome_at(site, Outcome::Success).bind_at(site, move |waited| match waited {
                    Outcome::Success(Some(())) => outcome_of(handle, site),
                    Outcome::Success(None) => end_within(handle, grace, error, site),
                    other => cancelled_by(other, handle, site),
                })
            })
        })
        .map_outcome(move |outcome| outcome.passed(Frame::new("timeout_with_grace", site)))
        .boxed()
    }
}

fn outcome_of<T: Send + 'static>(handle: Handle<T>, site: Site) -> Fiber<T> {
    handle.outcome_at(site).bind_at(site, Fiber::from_outcome).boxed()
}

/// Cancels the fiber, and waits for its end, but not longer than the grace. Ends a fiber that was cancelled, or whose
/// timer is lost. If the fiber succeeds meanwhile, its value is kept.
fn cancelled_by<T: Send + 'static>(cause: Outcome<Option<()>>, handle: Handle<T>, site: Site) -> Fiber<T> {
    let cause = cause.split().err().unwrap_or(Outcome::Cancelled);
    let ended = handle.cancel_at(site).bind_at(site, move |()| outcome_of(handle, site));
    let end = |outcome| if let Outcome::Cancelled = outcome { cause } else { outcome };
    ended.map_outcome_at(site, end).boxed()
}

fn end_within<T: Send + 'static>(
    handle: Handle<T>,
    grace: Duration,
    error: TimedOut,
    site: Site,
) -> Fiber<T> {
    handle.cancel_now();
    let ended = handle.ended_at(site).timeout_option_at(site, grace);
    ended
        .bind_at(site, move |ended| match ended {
            Some(()) => outcome_of(handle, site)
                .map_outcome_at(site, move |outcome| match outcome {
                    Outcome::Cancelled => Outcome::Failure(Error::new(error)),
                    outcome => outcome,
                })
                .boxed(),
            None => {
                let what = format!("still ending after a grace of {grace:?}: it continues detached");
                Unobserved::notice(handle.context(), what, Frame::new("timeout_with_grace", site));
                Fiber::from_outcome(Outcome::Failure(Error::new(error))).boxed()
            }
        })
        .boxed()
}
