//! Hedges: further attempts beside a slow one.
//!
//! A hedge is two branches: an attempt, and the rest of the attempts, which waits for the pause or for a failure:
//!
//! ```text
//!   attempts(n) = attempt  beside  (wait, then attempts(n - 1))
//!   attempts(1) = attempt
//! ```
//!
//! So nothing exists beyond the next attempt, and one branch at a time waits. What an attempt decides is the outcome of its
//! branch. If it decides nothing, it leaves its outcome in the plan, and its branch ends as cancelled.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::choice::Choice;
use super::first_success::Successes;
use super::gather::Gather;
use super::pair::{Ended, Joint, Pair};
use super::race::{Either, lose};
use crate::combine::sequence::then::Then;
use crate::engine::context::{Cx, Wakeup};
use crate::engine::step::{Follow, Run, Step};
use crate::error::{Error, Frame, Site};
use crate::fiber::Fiber;
use crate::footprint::Noted;
use crate::leaf::{Leaf, Wait};
use crate::outcome::{Outcome, guard};

impl<T: Send + 'static> Fiber<T> {
    /// Runs further attempts beside a slow one, until one succeeds and wins. The others are then cancelled, and awaited. Use
    /// it against the slow tail of a service whose requests may be repeated.
    ///
    /// `make` is called for each attempt when it starts: for the first one at once, for each further one, up to `attempts`
    /// in all, one `pause` after the start of the one before, or as soon as an attempt has failed.
    /// [`while_error`](Fiber::while_error) says which failures another attempt cannot help.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let second = Duration::from_secs(1);
    /// let mut slow = [60, 2].into_iter();
    /// let request = Fiber::hedge(second, 2, move || {
    ///     let seconds = slow.next().unwrap();
    ///     Fiber::delay(seconds * second).map(move |()| seconds)
    /// });
    /// let test = TestScheduler::new();
    /// assert_eq!(test.run(request).unwrap(), 2);
    /// assert_eq!(test.now().as_nanos(), 3_000_000_000);
    /// ```
    ///
    /// # Errors
    /// If all attempts have failed: the first failure, with all others suppressed into it. An attempt that fails after another
    /// one has won is treated like the loser of a [`race`](Fiber::race).
    ///
    /// # Panics
    /// This function panics if `attempts` is zero. A panic of `make` ends the hedge, and becomes its outcome. After a panic of
    /// an attempt, the next one starts; the panic is treated as in [`first_success`](Fiber::first_success).
    ///
    /// # Cancellation
    /// All attempts are cancelled and awaited.
    #[track_caller]
    pub fn hedge<R, F>(pause: Duration, attempts: u32, make: F) -> Fiber<T, Hedge<F>>
    where
        R: Run<Out = T>,
        F: FnMut() -> Fiber<T, R> + Send + 'static,
    {
        assert!(attempts > 0, "a hedge of 0 attempts can never succeed; it has to be at least 1");
        Fiber::new(Hedge { pause, attempts, make, goes_on: None, site: Location::caller() })
    }
}

impl<R: Run, F: FnMut() -> Fiber<R::Out, R> + Send + 'static> Fiber<R::Out, Hedge<F>> {
    /// Makes a failure final if its error does not satisfy `condition`: the hedge ends with that failure, and the failures
    /// before it are suppressed into it. Attempts that run are cancelled, and awaited.
    ///
    /// The counterparts are [`Policy::while_input`](crate::Policy::while_input) for a retry, and
    /// [`CircuitBreaker::counting`](crate::sync::CircuitBreaker::counting); one function can serve all three.
    ///
    /// ```
    /// use fiber_core::{Error, Fiber, sync::CircuitOpen};
    /// use fiber_test::TestScheduler;
    /// use std::{io, time::Duration};
    ///
    /// fn is_transient(error: &Error) -> bool {
    ///     !error.is::<CircuitOpen>() && error.downcast_ref().is_none_or(|error: &io::Error| error.kind() != io::ErrorKind::NotFound)
    /// }
    /// let ask = || Fiber::<u32>::fail(io::Error::from(io::ErrorKind::NotFound));
    /// let hedge = Fiber::hedge(Duration::from_millis(50), 3, ask).while_error(is_transient);
    /// let test = TestScheduler::new();
    /// let error = test.run(hedge).failure().unwrap();
    /// assert!(error.is::<io::Error>() && error.suppressed().is_empty(), "there was one attempt");
    /// assert_eq!(test.now().as_nanos(), 0);
    /// ```
    ///
    /// # Panics
    /// A panic of `condition` ends the hedge, and becomes its outcome.
    pub fn while_error(self, condition: impl Fn(&Error) -> bool + Send + Sync + 'static) -> Self {
        let hedge = self.into_run();
        Fiber::new(Hedge { goes_on: Some(Arc::new(condition)), ..hedge })
    }
}

/// Whether another attempt may follow a failure.
type Condition = Arc<dyn Fn(&Error) -> bool + Send + Sync>;

/// The description of [`Fiber::hedge`].
#[derive(Clone)]
pub struct Hedge<F> {
    pause: Duration,
    attempts: u32,
    make: F,
    /// `None`: after every failure.
    goes_on: Option<Condition>,
    site: Site,
}

impl<F> fmt::Debug for Hedge<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hedge at {}", self.site)
    }
}

impl<R: Run, F: FnMut() -> Fiber<R::Out, R> + Send + 'static> Run for Hedge<F> {
    type Out = R::Out;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, R::Out> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let Hedge { pause, attempts, make, goes_on, site } = self;
        let ends = Successes::new(Frame::new("hedge", site));
        let state = Noted::new(State { ends: Some(ends), failures: 0, waiting: None });
        let plan = Arc::new(Plan { make: Mutex::new(make), goes_on, pause, state, site });
        Then::new(plan.clone().attempts(attempts).into_run(), Conclude(plan)).run(cx)
    }
}

/// What the attempts share.
struct Plan<T, F> {
    make: Mutex<F>,
    goes_on: Option<Condition>,
    pause: Duration,
    state: Noted<State<T>>,
    site: Site,
}

struct State<T> {
    /// The outcomes that decide nothing. `None` at the end.
    ends: Option<Successes<T>>,
    /// The number of them that have not started an attempt yet.
    failures: usize,
    /// The branch that waits for one.
    waiting: Option<Wakeup>,
}

impl<R: Run, F: FnMut() -> Fiber<R::Out, R> + Send + 'static> Plan<R::Out, F> {
    /// At most `left` attempts. The first one is made now.
    fn attempts(self: Arc<Self>, left: u32) -> Fiber<R::Out> {
        let (pause, site) = (self.pause, self.site);
        let attempt = match guard(|| (self.make.lock())()) {
            Ok(attempt) => Fiber::new(Then::new(attempt.into_run(), Judge(self.clone()))),
            Err(panic) => return Fiber::from_outcome(Outcome::Panicked(panic)).boxed(),
        };
        if left == 1 {
            return attempt.boxed();
        }
        let failure = Leaf::new(AwaitFailure(self.clone()), site);
        let wait =
            Choice::new(failure.into_side(), Fiber::delay_at(site, pause).into_run().into_side(), site);
        let rest = Fiber::new(Leaf::new(wait, site)).bind_at(site, move |_| self.attempts(left - 1));
        Fiber::new(Pair::new(attempt, rest, Decided, site)).boxed()
    }
}

/// The wait for a failure that has not started an attempt yet.
struct AwaitFailure<T, F>(Arc<Plan<T, F>>);

impl<T: Send + 'static, F: Send + 'static> Wait for AwaitFailure<T, F> {
    type Out = ();
    const CAN_LOSE: bool = true;

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<()>> {
        let mut state = self.0.state.lock();
        state.failures = state.failures.checked_sub(1)?;
        Some(Outcome::Success(()))
    }

    fn register(&mut self, _: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<()>> {
        let mut state = self.0.state.lock();
        if state.failures == 0 {
            // `None` before: a failure takes the wake-up that it fires, and `deregister` any other.
            state.waiting = Some(wakeup);
            return None;
        }
        let is_ready = wakeup.claim();
        state.failures -= usize::from(is_ready);
        is_ready.then_some(Outcome::Success(()))
    }

    fn deregister(&mut self, _: &Cx<'_>) {
        // Dropped without the lock, because it may hold the last reference to its fiber.
        let waiting = self.0.state.lock().waiting.take();
        drop(waiting);
    }
}

/// Judges the outcome of an attempt.
struct Judge<T, F>(Arc<Plan<T, F>>);

impl<T: Send + 'static, F: Send + 'static> Follow<T> for Judge<T, F> {
    type Out = T;
    const NEVER_WAITS: bool = true;

    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, T> {
        let goes_on = match (&outcome, &self.0.goes_on) {
            (Outcome::Success(_), _) => Ok(false),
            // Another attempt has decided, or the hedge was cancelled.
            _ if cx.is_interrupted() => Ok(false),
            (Outcome::Failure(error), Some(condition)) => guard(|| condition(error)),
            _ => Ok(true),
        };
        Step::Done(match goes_on {
            Ok(false) => outcome,
            Err(panic) => Outcome::Panicked(panic).suppress(outcome, cx),
            Ok(true) => {
                self.0.keep(outcome, cx);
                Outcome::Cancelled
            }
        })
    }
}

impl<T: Send + 'static, F> Plan<T, F> {
    /// Keeps an outcome that decides nothing, and starts the next attempt.
    fn keep(&self, outcome: Outcome<T>, cx: &Cx<'_>) {
        let mut state = self.state.lock();
        if let Some(ends) = &mut state.ends {
            ends.arrive(0, outcome, cx);
        }
        state.failures += 1;
        let waiting = state.waiting.take();
        drop(state);
        waiting.into_iter().for_each(Wakeup::fire);
    }
}

/// An outcome decides the hedge, unless the branch ends as cancelled.
#[derive(Clone, Copy)]
struct Decided;

impl<T: Send + 'static> Joint<T, T> for Decided {
    const NAME: &'static str = "hedge";
    const RACES: bool = true;
    type Out = T;

    fn decides<U>(outcome: &Outcome<U>) -> bool {
        !outcome.is_cancelled()
    }

    fn conclude(self, cx: &Cx<'_>, ended: Ended<T, T>, _: Frame) -> Outcome<T> {
        let (first, second) = ended.in_order();
        let (first, second) = (first.map(Either::into_inner), second.map(Either::into_inner));
        if first.is_cancelled() { second } else { lose(first, second, cx) }
    }
}

/// Gives the outcome that has decided, or all failures.
struct Conclude<T, F>(Arc<Plan<T, F>>);

impl<T: Send + 'static, F: Send + 'static> Follow<T> for Conclude<T, F> {
    type Out = T;
    const NEVER_WAITS: bool = true;

    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, T> {
        let mut ends = self.0.state.lock().ends.take().expect("a hedge is concluded once");
        if !outcome.is_cancelled() {
            ends.decide(outcome);
        }
        Step::Done(ends.conclude(cx).without(self, cx))
    }
}
