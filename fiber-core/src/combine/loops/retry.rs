use std::ops::ControlFlow;
use std::panic::Location;

use super::again::{After, Cloned, Lap, Made, Source};
use super::iterate::{Loop, Rounds};
use crate::engine::context::Cx;
use crate::engine::step::Run;
use crate::error::{Error, Site};
use crate::fiber::Fiber;
use crate::instant::Instant;
use crate::outcome::{Outcome, Panic, discard_part};
use crate::policy::{Policy, Recurrence};

impl<T: Send + 'static, R: Run<Out = T> + Clone> Fiber<T, R> {
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
    /// The error of the last attempt, if the policy is over, or if the next attempt could not start before the
    /// [deadline](Fiber::with_deadline); in that case there is no further pause. After several attempts, the error says
    /// how many: "after 3 attempts: ...".
    ///
    /// # Panics
    /// A panic of an attempt, of its clone or of the policy's conditions becomes the fiber's outcome. There is no
    /// further attempt.
    ///
    /// # Cancellation
    /// A pause ends at once, even one of no length; an attempt handles the cancellation in its own way. There is no
    /// further attempt.
    #[track_caller]
    pub fn retry(self, policy: Policy) -> Fiber<T, Retry<R>> {
        Fiber::new(Loop::new(RetryRounds::new(Cloned(self.into_run()), policy)))
    }
}

impl<T: Send + 'static> Fiber<T> {
    /// Like [`retry`](Fiber::retry), but calls `attempt` to make each attempt just before it starts.
    ///
    /// ```
    /// use fiber_core::{Error, Fiber, Policy};
    ///
    /// let mut servers = ["first", "second"].into_iter().cycle();
    /// let connect = move || match servers.next() {
    ///     Some("second") => Fiber::success("connected").boxed(),
    ///     _ => Fiber::fail(Error::msg("refused")).boxed(),
    /// };
    /// assert_eq!(fiber_sched::run(Fiber::retry_with(Policy::recurs(3), connect)).unwrap(), "connected");
    /// ```
    ///
    /// # Errors
    /// As in [`retry`](Fiber::retry).
    ///
    /// # Panics
    /// A panic of `attempt`, of what it makes or of the policy's conditions becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// As in [`retry`](Fiber::retry).
    #[track_caller]
    pub fn retry_with<R, F>(policy: Policy, attempt: F) -> Fiber<T, RetryWith<F>>
    where
        R: Run<Out = T>,
        F: FnMut() -> Fiber<T, R> + Send + 'static,
    {
        Fiber::new(Loop::new(RetryRounds::new(Made(attempt), policy)))
    }
}

/// The description of [`Fiber::retry`].
pub type Retry<R> = Loop<RetryRounds<Cloned<R>>>;
/// The description of [`Fiber::retry_with`].
pub type RetryWith<F> = Loop<RetryRounds<Made<F>>>;

/// The attempts of a retry, and the pauses between them.
#[derive(Clone, Debug)]
pub struct RetryRounds<S> {
    source: S,
    recurrence: Recurrence<Error>,
    site: Site,
}

impl<S> RetryRounds<S> {
    #[track_caller]
    fn new(source: S, policy: Policy) -> Self {
        RetryRounds { source, recurrence: Recurrence::new(policy), site: Location::caller() }
    }

    /// The next lap after a failed attempt.
    fn after<T, R>(&mut self, cx: &Cx<'_>, error: Error) -> ControlFlow<Outcome<T>, Lap<R>> {
        let in_time =
            |pause| cx.deadline() == Instant::FAR_FUTURE || cx.scheduler().now() + pause <= cx.deadline();
        match self.recurrence.next_pause(cx.scheduler(), &error) {
            Some(pause) if in_time(pause) => ControlFlow::Continue(Lap::pause(self.site, pause)),
            _ => ControlFlow::Break(Outcome::Failure(self.last_error(error))),
        }
    }

    #[cold]
    fn last_error(&self, error: Error) -> Error {
        match self.recurrence.rounds() {
            1 => error,
            attempts => error.context(format_args!("after {attempts} attempts")),
        }
    }
}

impl<S: Source> Rounds for RetryRounds<S> {
    type Item = Option<<S::Round as Run>::Out>;
    type Carry = After<Error>;
    type Out = <S::Round as Run>::Out;
    type Round = Lap<S::Round>;
    const NAME: &'static str = "retry";

    #[inline]
    fn carry(outcome: Outcome<Self::Item>) -> Result<After<Error>, Outcome<Self::Out>> {
        match outcome {
            Outcome::Success(Some(value)) => Err(Outcome::Success(value)),
            Outcome::Success(None) => Ok(After::Pause),
            Outcome::Failure(error) => Ok(After::Round(error)),
            Outcome::Panicked(panic) => Err(Outcome::Panicked(panic)),
            Outcome::Cancelled => Err(Outcome::Cancelled),
        }
    }

    #[inline]
    fn next(
        &mut self,
        cx: &Cx<'_>,
        last: Option<After<Error>>,
    ) -> ControlFlow<Outcome<Self::Out>, Lap<S::Round>> {
        match last {
            Some(After::Round(error)) => self.after(cx, error),
            Some(After::Pause) | None => {
                self.recurrence.start_round(cx.scheduler());
                ControlFlow::Continue(Lap::Round(self.source.round()))
            }
        }
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.source.discard(torn);
        discard_part(self.recurrence, torn);
    }
}
