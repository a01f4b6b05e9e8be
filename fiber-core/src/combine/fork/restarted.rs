use std::convert::Infallible;
use std::ops::ControlFlow;
use std::panic::Location;
use std::time::Duration;

use crate::engine::step::Run;
use crate::error::{EndedEarly, Error};
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::policy::Policy;

/// A round that lasted this long was healthy: earlier failures do not count against the next one.
const HEALTHY: Duration = Duration::from_secs(60);

impl<T: Send + 'static, R: Run<Out = T> + Clone> Fiber<T, R> {
    /// Supervises a fiber that should never end: runs it again whenever it ends, by a success, a failure or a panic, as
    /// long as `policy` allows. The policy sees the errors. A round of at least a minute counts as healthy: the next one
    /// starts at once, and the policy starts from the beginning.
    ///
    /// Every round is a [scope](Fiber::scope): the forks of a round are cancelled and awaited before the next
    /// one starts.
    ///
    /// ```
    /// use fiber_core::{Error, Fiber, Policy};
    /// use fiber_test::TestScheduler;
    /// use std::sync::{Arc, atomic::{AtomicU32, Ordering}};
    /// use std::time::Duration;
    ///
    /// let crashes = Arc::new(AtomicU32::new(0));
    /// let counted = crashes.clone();
    /// let consumer = Fiber::delay(Duration::from_secs(10)).try_map(|()| Err::<(), _>(Error::msg("connection lost")));
    /// let noted = consumer.on_failure(move |_| { counted.fetch_add(1, Ordering::Relaxed); Fiber::success(()) });
    /// let test = TestScheduler::new();
    /// let service = test.spawn(noted.restarted(Policy::exponential(Duration::from_secs(1)).capped(Duration::from_secs(8))));
    /// test.run_for(Duration::from_secs(60));
    /// service.cancel_now();
    /// test.run_until_idle();
    /// assert!(service.outcome().is_cancelled());
    /// // After 10, 21, 33, 47 seconds.
    /// assert_eq!(crashes.load(Ordering::Relaxed), 4);
    /// ```
    ///
    /// # Errors
    /// The last error, once the policy allows no further round: "after 3 attempts: ...". A success counts as the error
    /// [`EndedEarly`], a panic as the error of its message. The fiber never succeeds.
    ///
    /// # Cancellation
    /// The round is cancelled and awaited, with its forks. A pause ends at once. There is no further round.
    #[track_caller]
    pub fn restarted(self, policy: Policy) -> Fiber<Infallible, impl Run<Out = Infallible> + use<T, R>> {
        let (site, run) = (Location::caller(), self.into_run());
        let round = move || {
            let body = Fiber::<T, R>::new(run.clone());
            let error = Fiber::scope_at(site, move |_| body).map_outcome_at(site, ended);
            Fiber::now().bind_at(site, move |begun| {
                error.bind_at(site, move |error| {
                    Fiber::now().map_outcome_at(site, move |now| match now {
                        Outcome::Success(now) if now - begun < HEALTHY => Outcome::Failure(error),
                        now => now.map(drop),
                    })
                })
            })
        };
        Fiber::iterate((), move |()| {
            Fiber::retry_with_at(site, policy.clone(), round.clone()).map_at(site, ControlFlow::Continue)
        })
    }
}

/// Every end of a round is an error, except a cancellation.
fn ended<T>(outcome: Outcome<T>) -> Outcome<Error> {
    match outcome {
        Outcome::Success(_) => Outcome::Success(Error::new(EndedEarly)),
        Outcome::Failure(error) => Outcome::Success(error),
        Outcome::Panicked(panic) => Outcome::Success(panic.into_error()),
        Outcome::Cancelled => Outcome::Cancelled,
    }
}
