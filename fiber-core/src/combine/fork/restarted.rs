use std::convert::Infallible;
use std::ops::ControlFlow;
use std::panic::Location;
use std::time::Duration;

use crate::engine::context::Context;
use crate::engine::step::{Run, RunAgain};
use crate::engine::suppress::forget;
use crate::error::{EndedEarly, Error};
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::panic::Panic;
use crate::policy::Policy;

/// A round that lasted this long was healthy: earlier failures do not count against the next one.
const HEALTHY: Duration = Duration::from_secs(60);

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Supervises a fiber that should never end: runs it again whenever it ends, by a success, a failure or a panic, as
    /// long as `policy` allows. The policy sees the errors. A round of at least a minute counts as healthy: the next one
    /// starts at once, and the policy starts from the beginning. The policy does not see the end of such a round; a panic goes
    /// to [`Scheduler::unobserved`](crate::scheduler::Scheduler::unobserved).
    ///
    /// Every round is a [scope](Fiber::scope): the forks of a round are cancelled and awaited before the next
    /// one starts.
    ///
    /// A `fiber!` block and a `Fiber<T>` run only once: `Fiber::defer(move || make()).restarted(policy)` makes the fiber
    /// of each round.
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
    /// The round is cancelled and awaited, with its forks. A pause ends at once. There is no further round. A panic of the
    /// cancelled round is the outcome.
    #[track_caller]
    pub fn restarted(self, policy: Policy) -> Fiber<Infallible, impl Run<Out = Infallible> + use<T, R>>
    where
        R: RunAgain,
    {
        let (site, run) = (Location::caller(), self.into_run());
        let round = move || {
            let body = Fiber::<T, R>::new(run.clone());
            let end = Fiber::scope_at(site, move |_| body).map_outcome_at(site, ended);
            Fiber::now().bind_at(site, move |begun| {
                end.bind_at(site, move |end: End| {
                    Fiber::current().map_outcome_at(site, move |fiber| match (fiber, end) {
                        // A defect, which neither a policy nor a further round follows.
                        (Outcome::Success(fiber), End::Panic(panic))
                            if fiber.is_cancelled() && !fiber.is_masked() =>
                        {
                            Outcome::Panicked(panic)
                        }
                        (Outcome::Success(fiber), end) if fiber.scheduler().now() - begun < HEALTHY => {
                            Outcome::Failure(end.into_error())
                        }
                        (fiber, end) => fiber.map(|fiber| end.report(&fiber)),
                    })
                })
            })
        };
        Fiber::iterate((), move |()| {
            Fiber::retry_with_at(site, policy.clone(), round.clone()).map_at(site, ControlFlow::Continue)
        })
    }
}

/// The end of a round.
enum End {
    Error(Error),
    Panic(Panic),
}

impl End {
    /// For the policy.
    fn into_error(self) -> Error {
        match self {
            End::Error(error) => error,
            End::Panic(panic) => panic.into_error(),
        }
    }

    /// The end of a healthy round, which no policy sees. A panic is a defect nevertheless.
    fn report(self, fiber: &Context) {
        if let End::Panic(panic) = self {
            forget(Outcome::<()>::Panicked(panic), fiber);
        }
    }
}

/// Every end but a cancellation is followed by another round, or by the failure of the whole.
fn ended<T>(outcome: Outcome<T>) -> Outcome<End> {
    match outcome {
        Outcome::Success(_) => Outcome::Success(End::Error(Error::new(EndedEarly))),
        Outcome::Failure(error) => Outcome::Success(End::Error(error)),
        Outcome::Panicked(panic) => Outcome::Success(End::Panic(panic)),
        Outcome::Cancelled => Outcome::Cancelled,
    }
}
