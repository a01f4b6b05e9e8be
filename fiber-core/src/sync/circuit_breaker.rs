use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::combine::Then;
use crate::engine::context::Cx;
use crate::engine::step::{Follow, Run, Step};
use crate::error::{Error, Frame, Site, counted};
use crate::fiber::Fiber;
use crate::footprint::Noted;
use crate::instant::Instant;
use crate::outcome::Outcome;
use crate::panic::guard;
use crate::primitive::{AtomicU64, Ordering};

/// Stops calls to an operation that fails again and again, so that it can recover and its callers fail fast.
///
/// | state | a call | left when | to |
/// |---|---|---|---|
/// | closed | runs | `failures` calls in a row have failed | open |
/// | open | fails with [`CircuitOpen`] | the pause is over, at the next call | half open |
/// | half open | one is tried, the others fail with [`CircuitOpen`] | the trial succeeds | closed |
/// | | | the trial fails | open |
/// | | | the trial is cancelled | half open, with the next call as the trial |
///
/// A panic is a failure. A cancellation is neither a success nor a failure. [`counting`](CircuitBreaker::counting) says which
/// errors are failures of the operation. The others, such as "not found", show that it works, and are successes here.
///
/// ```
/// use fiber_core::{Fiber, fiber, sync::{CircuitBreaker, CircuitOpen}};
/// use fiber_test::TestScheduler;
/// use std::time::Duration;
///
/// let breaker = CircuitBreaker::new(2, Duration::from_secs(30));
/// let call = move |works: bool| {
///     let server = if works { Fiber::success("answer").boxed() } else { Fiber::fail("down").boxed() };
///     breaker.protect(server)
/// };
/// let outcomes = fiber! {
///     for _ in 0..2 {
///         do! call(false).catch(|_| Fiber::success("down"));
///     }
///     let! refused = call(true).map(|_| None).catch(|error| Fiber::success(Some(error)));
///     do! Fiber::delay(Duration::from_secs(30));
///     let! answer = call(true);
///     (refused.is_some_and(|error| error.is::<CircuitOpen>()), answer)
/// };
/// assert_eq!(TestScheduler::new().run(outcomes).unwrap(), (true, "answer"));
/// ```
///
/// Clones share the state. Use it on one scheduler only: another one has another clock.
#[derive(Clone)]
pub struct CircuitBreaker(Arc<Counting>);

/// The state, and which errors count as failures there.
struct Counting {
    shared: Arc<Shared>,
    /// `None`: every error counts.
    counts: Option<Condition>,
}

/// Whether an error counts as a failure.
type Condition = Box<dyn Fn(&Error) -> bool + Send + Sync>;

struct Shared {
    most_failures: u32,
    pause: Duration,
    state: Noted<State>,
    /// The number of times it has closed. Written under the lock of the state only.
    closed: AtomicU64,
}

#[derive(Clone, Copy)]
enum State {
    Closed {
        /// The number of failures in a row.
        failures: u32,
    },
    Open {
        until: Instant,
    },
    HalfOpen {
        is_tried: bool,
    },
}

impl CircuitBreaker {
    /// A breaker that opens after `failures` in a row, and rejects all calls for `pause`.
    ///
    /// # Panics
    /// If `failures` is 0.
    #[track_caller]
    pub fn new(failures: u32, pause: Duration) -> Self {
        assert!(failures > 0, "a circuit breaker opens after at least one failure");
        let state = Noted::new(State::Closed { failures: 0 });
        let shared = Shared { most_failures: failures, pause, state, closed: AtomicU64::new(0) };
        CircuitBreaker(Arc::new(Counting { shared: Arc::new(shared), counts: None }))
    }

    /// Counts a failure only if its error satisfies `condition`, in calls through this handle and clones made from it. A
    /// failure that does not count is a success of the operation: it closes a breaker that is half open.
    ///
    /// ```
    /// use fiber_core::{Error, Fiber, sync::CircuitBreaker};
    /// use fiber_test::TestScheduler;
    /// use std::{io, time::Duration};
    ///
    /// let breaker = CircuitBreaker::new(1, Duration::from_secs(30)).counting(|error: &Error| !error.is::<io::Error>());
    /// let test = TestScheduler::new();
    /// let not_found = breaker.protect(Fiber::<()>::fail(io::Error::from(io::ErrorKind::NotFound)));
    /// assert!(test.run(not_found).is_failure());
    /// assert!(test.run(breaker.protect(Fiber::success(()))).is_success(), "the breaker is closed");
    /// ```
    ///
    /// # Panics
    /// A panic of `condition` is suppressed into the failure, as that of a finalizer is; the call does not count.
    #[must_use]
    pub fn counting(self, condition: impl Fn(&Error) -> bool + Send + Sync + 'static) -> Self {
        CircuitBreaker(Arc::new(Counting {
            shared: self.0.shared.clone(),
            counts: Some(Box::new(condition)),
        }))
    }

    /// Runs `fiber`, unless the breaker is open.
    ///
    /// # Errors
    /// The failure of `fiber`. [`CircuitOpen`], if it did not run.
    ///
    /// # Cancellation
    /// `fiber` is cancelled.
    #[track_caller]
    pub fn protect<T, R>(&self, fiber: Fiber<T, R>) -> Fiber<T, impl Run<Out = T> + use<T, R>>
    where
        T: Send + 'static,
        R: Run<Out = T>,
    {
        let site = Location::caller();
        let admitted = Fiber::new(Admit { breaker: self.clone(), site });
        admitted.bind_at(site, move |call| Fiber::new(Then::new(fiber.into_run(), Judge { call, site })))
    }

    fn admit(self, cx: &Cx<'_>) -> Result<Call, CircuitOpen> {
        let shared = &*self.0.shared;
        let mut state = shared.state.lock();
        let is_trial = match *state {
            State::Closed { .. } => false,
            State::Open { until } if cx.scheduler().now() < until => {
                return Err(CircuitOpen { until: Some(until) });
            }
            State::HalfOpen { is_tried: true } => return Err(CircuitOpen { until: None }),
            State::Open { .. } | State::HalfOpen { .. } => true,
        };
        if is_trial {
            *state = State::HalfOpen { is_tried: true };
        }
        drop(state);
        // Relaxed, here and below: the lock orders all accesses.
        let closed = shared.closed.load(Ordering::Relaxed);
        Ok(Call { breaker: self, is_trial, closed })
    }
}

/// Lets a call run, or refuses it.
struct Admit {
    breaker: CircuitBreaker,
    site: Site,
}

impl Run for Admit {
    type Out = Call;
    const ROOM: usize = 0;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Call> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        Step::Done(match self.breaker.admit(cx) {
            Ok(call) => Outcome::Success(call),
            Err(open) => Outcome::Failure(Error::new(open)).passed(Frame::new("protect", self.site)),
        })
    }
}

/// The step after a call, which tells the breaker how it has ended.
struct Judge {
    call: Call,
    site: Site,
}

impl<T: Send + 'static> Follow<T> for Judge {
    type Out = T;
    const NEVER_WAITS: bool = true;

    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, T> {
        let Judge { mut call, site } = self;
        let frame = Frame::new("protect", site);
        let judged = guard(|| match &outcome {
            Outcome::Success(_) => Some(false),
            Outcome::Failure(error) => Some(call.counts(error)),
            Outcome::Panicked(_) => Some(true),
            Outcome::Cancelled => None,
        });
        let outcome = match judged {
            Ok(has_failed) => {
                has_failed.into_iter().for_each(|has_failed| call.end(has_failed, cx));
                outcome.passed(frame)
            }
            Err(panic) => outcome.passed(frame).suppress(Outcome::<()>::Panicked(panic), cx),
        };
        // It may be the last handle of the breaker, with a closure of the user.
        Step::Done(outcome.without(call, cx))
    }
}

/// A running call.
struct Call {
    breaker: CircuitBreaker,
    /// Cleared when the call has ended.
    is_trial: bool,
    /// The number of times the breaker had closed when the call began.
    closed: u64,
}

impl Call {
    fn counts(&self, error: &Error) -> bool {
        self.breaker.0.counts.as_ref().is_none_or(|condition| condition(error))
    }

    fn end(&mut self, has_failed: bool, cx: &Cx<'_>) {
        let Shared { most_failures, pause, state, closed } = &*self.breaker.0.shared;
        let mut state = state.lock();
        let is_of_now = closed.load(Ordering::Relaxed) == self.closed;
        *state = match *state {
            // A call that began before the breaker opened says nothing about the present, even if the breaker
            // has closed since.
            later @ (State::Open { .. } | State::HalfOpen { .. }) if !self.is_trial => later,
            later @ State::Closed { .. } if !is_of_now => later,
            State::Closed { failures } if has_failed && failures + 1 < *most_failures => {
                State::Closed { failures: failures + 1 }
            }
            _ if has_failed => State::Open { until: cx.scheduler().now() + *pause },
            _ => State::Closed { failures: 0 },
        };
        if self.is_trial && !has_failed {
            closed.store(self.closed + 1, Ordering::Relaxed);
        }
        self.is_trial = false;
    }
}

impl Drop for Call {
    /// A trial that is abandoned allows the next one.
    fn drop(&mut self) {
        if self.is_trial {
            *self.breaker.0.shared.state.lock() = State::HalfOpen { is_tried: false };
        }
    }
}

impl fmt::Debug for CircuitBreaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self.0.shared.state.lock() {
            State::Closed { failures } => {
                write!(f, "CircuitBreaker: closed, {}", counted(failures, "failure"))
            }
            State::Open { until } => write!(f, "CircuitBreaker: open until {until}"),
            State::HalfOpen { is_tried } => write!(f, "CircuitBreaker: half open, is tried: {is_tried}"),
        }
    }
}

/// The error of a call that a [`CircuitBreaker`] rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CircuitOpen {
    /// When the next call will be allowed. `None`: when the trial that runs now succeeds.
    pub until: Option<Instant>,
}

impl fmt::Display for CircuitOpen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.until {
            Some(until) => write!(f, "too many calls have failed: the circuit is open until {until}"),
            None => write!(f, "too many calls have failed: the circuit is half open, and a trial runs"),
        }
    }
}

impl std::error::Error for CircuitOpen {}
