use std::iter;
use std::panic::Location;
use std::time::Duration;

use super::again::{Again, Cloned, Kind, again};
use super::iterate::Loop;
use crate::engine::context::Cx;
use crate::engine::step::{Run, RunAgain};
use crate::error::{Error, Site};
use crate::fiber::Fiber;
use crate::instant::Instant;
use crate::outcome::Outcome;
use crate::policy::{Policy, Recurrence};

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Runs this fiber again when it fails, as long as `policy` allows. The policy sees the errors. Each attempt runs a
    /// clone; use [`retry_with`](Fiber::retry_with) for fibers that are not `Clone`.
    ///
    /// ```
    /// use fiber_core::{Error, Fiber, Policy};
    /// use fiber_test::TestScheduler;
    /// use std::sync::{Arc, atomic::{AtomicU32, Ordering}};
    /// use std::time::Duration;
    ///
    /// let attempts = Arc::new(AtomicU32::new(0));
    /// let flaky = Fiber::try_lazy(move || match attempts.fetch_add(1, Ordering::Relaxed) {
    ///     n @ 2.. => Ok(n),
    ///     _ => Err(Error::msg("not yet")),
    /// });
    /// let test = TestScheduler::new();
    /// let patient = flaky.retry(Policy::exponential(Duration::from_secs(1)) & Policy::recurs(5));
    /// assert_eq!(test.run(patient).unwrap(), 2);
    /// assert_eq!(test.now().as_nanos(), 3_000_000_000); // pauses of 1 s and 2 s
    /// ```
    ///
    /// # Errors
    /// The error of the last attempt, once the policy is over, or if the next attempt could not start before the
    /// [deadline](Fiber::with_deadline); in that case there is no further pause. (A deadline does not reach a finalizer or another
    /// uncancelable region, so it ends no retry there.) After several attempts, the error says how many: "after 3 attempts: ...".
    ///
    /// # Panics
    /// A panic of an attempt, of its clone or of the policy's conditions becomes the fiber's outcome. There is no
    /// further attempt.
    ///
    /// # Cancellation
    /// A pause ends at once, even one of zero length; an attempt handles the cancellation in its own way. There is no
    /// further attempt.
    #[track_caller]
    pub fn retry(self, policy: Policy) -> Fiber<T, Retry<R>>
    where
        R: RunAgain,
    {
        Fiber::new(again(Location::caller(), Cloned(self.into_run()), policy))
    }
}

impl<T: Send + 'static> Fiber<T> {
    /// Like [`retry`](Fiber::retry), but calls `attempt` to make each attempt just before it starts.
    ///
    /// ```
    /// use fiber_core::{Fiber, Policy};
    ///
    /// let mut servers = ["first", "second"].into_iter().cycle();
    /// let connect = move || match servers.next() {
    ///     Some("second") => Fiber::success("connected").boxed(),
    ///     _ => Fiber::fail("refused").boxed(),
    /// };
    /// assert_eq!(fiber_sched::run(Fiber::retry_with(Policy::recurs(3), connect)).unwrap(), "connected");
    /// ```
    ///
    /// # Errors
    /// As in [`retry`](Fiber::retry).
    ///
    /// # Panics
    /// A panic of `attempt`, of the fiber that it makes or of the policy's conditions becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// As in [`retry`](Fiber::retry).
    #[track_caller]
    pub fn retry_with<R, F>(policy: Policy, attempt: F) -> Fiber<T, RetryWith<F>>
    where
        R: Run<Out = T>,
        F: FnMut() -> Fiber<T, R> + Send + 'static,
    {
        Fiber::new(again(Location::caller(), iter::repeat_with(attempt), policy))
    }

    /// For combinators built on this one: `site` is the place where the user calls them.
    pub(crate) fn retry_with_at<R, F>(site: Site, policy: Policy, attempt: F) -> Fiber<T, RetryWith<F>>
    where
        R: Run<Out = T>,
        F: FnMut() -> Fiber<T, R> + Send + 'static,
    {
        Fiber::new(again(site, iter::repeat_with(attempt), policy))
    }
}

/// The description of [`Fiber::retry`].
pub(crate) type Retry<R> = Loop<Again<Cloned<R>, Recurrence<Error>, AfterFailure>>;
/// The description of [`Fiber::retry_with`].
pub(crate) type RetryWith<F> = Loop<Again<iter::RepeatWith<F>, Recurrence<Error>, AfterFailure>>;

/// Another attempt follows a failure, unless the policy says otherwise or the deadline is near.
#[derive(Clone, Copy, Debug)]
pub struct AfterFailure;

impl<T: Send + 'static> Kind<T> for AfterFailure {
    const NAME: &'static str = "retry";
    type Seen = Error;

    #[inline]
    fn see(outcome: Outcome<T>) -> Result<Error, Outcome<T>> {
        match outcome {
            Outcome::Failure(error) => Ok(error),
            other => Err(other),
        }
    }

    fn is_in_time(cx: &Cx<'_>, pause: Duration) -> bool {
        // In an uncancelable region, no deadline around it cuts an attempt short.
        cx.deadline() == Instant::FAR_FUTURE || cx.is_masked() || cx.scheduler().now() + pause < cx.deadline()
    }

    #[cold]
    fn end(last: Error, attempts: u64) -> Outcome<T> {
        Outcome::Failure(match attempts {
            1 => last,
            attempts => last.context(format_args!("after {attempts} attempts")),
        })
    }
}
