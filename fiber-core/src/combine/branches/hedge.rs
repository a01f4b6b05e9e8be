//! Hedges: further attempts beside a slow one.
//!
//! Every attempt is a branch. The branches that have not started stand in a line. The one that has the front lets time pass:
//! it starts after the pause, or when an attempt fails, and passes the front on.
//!
//! ```text
//!   branch 0:   has the front                          start
//!   branch n:   wait for the front   pause or failure  start
//!   start:      pass the front on, make the attempt, run it
//! ```
//!
//! The front is a value that passes itself on when it is dropped. So the others do not wait for a branch that never starts,
//! because its scheduler has thrown it away.

use std::collections::VecDeque;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::first_success::Successes;
use super::gather::{Arrived, Gather, Gathered, Pulled, run_pulled};
use crate::combine::region::group::Group;
use crate::combine::sequence::then::{Follow, Next, Then};
use crate::engine::boxed::Boxed;
use crate::engine::context::{Context, Cx};
use crate::engine::step::{Run, Step};
use crate::engine::suppress::{HasContext, discard};
use crate::error::{Error, Frame, Site};
use crate::fiber::Fiber;
use crate::leaf::{FromOutcome, Resume};
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
    /// If all attempts have failed: the first failure, with all others suppressed into it.
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
    #[must_use]
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
    type Suspension = Group<Gathered<Pulled<Attempt<F>>, Attempts<R::Out, F>>>;

    fn run(self, cx: &Cx<'_>) -> Step<R::Out, Self::Suspension> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let Hedge { pause, attempts, make, goes_on, site } = self;
        let frame = Frame::new("hedge", site);
        let line = Line { is_free: false, behind: VecDeque::new(), pausing: None, failures: 0 };
        let plan = Arc::new(Plan { make: Mutex::new(make), goes_on, pause, line: Mutex::new(line), site });
        let branches = (0..attempts).map({
            let plan = plan.clone();
            move |n| {
                let front = (n == 0).then(|| Front::of(plan.clone()));
                Fiber::new(Attempt { plan: plan.clone(), front })
            }
        });
        run_pulled(cx, branches, |_| Ok(Attempts { ends: Successes::new(frame), plan }), frame)
    }
}

/// What the attempts share.
struct Plan<F> {
    make: Mutex<F>,
    goes_on: Option<Condition>,
    pause: Duration,
    line: Mutex<Line<F>>,
    site: Site,
}

/// The branches that have not started.
struct Line<F> {
    /// No branch has the front.
    is_free: bool,
    /// Those that wait for the front.
    behind: VecDeque<Resume<Front<F>>>,
    /// The one that has the front, in its pause.
    pausing: Option<Resume<()>>,
    /// The number of failures that have not started an attempt yet.
    failures: usize,
}

impl<F> Plan<F> {
    /// Gives `branch` the front, now or later.
    fn line_up(self: Arc<Self>, branch: Resume<Front<F>>) {
        let mut line = self.line.lock();
        if !line.is_free {
            line.behind.push_back(branch);
            return;
        }
        line.is_free = false;
        drop(line);
        branch.success(Front::of(self));
    }

    /// Resumes the branch that has the front after a failure.
    fn pause(&self, branch: Resume<()>) {
        let mut line = self.line.lock();
        if line.failures == 0 {
            line.pausing = Some(branch);
            return;
        }
        line.failures -= 1;
        drop(line);
        branch.success(());
    }

    /// An attempt has failed, so the next one starts.
    fn start_next(&self) {
        loop {
            let mut line = self.line.lock();
            let Some(front) = line.pausing.take() else {
                line.failures += 1;
                return;
            };
            drop(line);
            // If its pause is over, this failure is for the one behind it.
            if front.send(()).is_ok() {
                return;
            }
        }
    }
}

/// The front of the line.
struct Front<F>(
    /// `None`: it was passed on.
    Option<Arc<Plan<F>>>,
);

impl<F> Front<F> {
    fn of(plan: Arc<Plan<F>>) -> Self {
        Front(Some(plan))
    }
}

impl<F> Drop for Front<F> {
    fn drop(&mut self) {
        // A loop, because any number of branches may wait no longer.
        while let Some(plan) = self.0.take() {
            let mut line = plan.line.lock();
            let Some(next) = line.behind.pop_front() else {
                line.is_free = true;
                return;
            };
            drop(line);
            if let Err(mut back) = next.send(Front::of(plan)) {
                self.0 = back.0.take();
            }
        }
    }
}

/// A branch. It succeeds with the outcome that decides the hedge.
pub struct Attempt<F> {
    plan: Arc<Plan<F>>,
    front: Option<Front<F>>,
}

impl<F> fmt::Debug for Attempt<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an attempt of the hedge at {}", self.plan.site)
    }
}

impl<R: Run, F: FnMut() -> Fiber<R::Out, R> + Send + 'static> Attempt<F> {
    /// Makes the attempt, and runs it.
    fn start(plan: Arc<Plan<F>>, front: Front<F>) -> Boxed<Outcome<R::Out>> {
        drop(front);
        match guard(|| (plan.make.lock())()) {
            Ok(fiber) => Then::new(fiber.into_run(), Judged(plan)).boxed(),
            Err(panic) => Fiber::success(Outcome::Panicked(panic)).into_run().boxed(),
        }
    }
}

impl<R: Run, F: FnMut() -> Fiber<R::Out, R> + Send + 'static> Run for Attempt<F> {
    type Out = Outcome<R::Out>;
    type Suspension = Boxed<Outcome<R::Out>>;

    fn run(self, cx: &Cx<'_>) -> Step<Self::Out, Self::Suspension> {
        let Attempt { plan, front } = self;
        if let Some(front) = front {
            return Attempt::start(plan, front).run(cx);
        }
        let (line, pausing, site) = (plan.clone(), plan.clone(), plan.site);
        let turn = Fiber::callback(move |branch| line.line_up(branch)).bind_at(site, move |front| {
            let limit = pausing.pause;
            let pause = Fiber::callback(move |branch| pausing.pause(branch)).timeout_option_at(site, limit);
            pause.map_at(site, move |_| front)
        });
        Then::new(turn.into_run(), Begin(plan)).boxed().run(cx)
    }
}

/// The start of an attempt after its pause.
struct Begin<F>(Arc<Plan<F>>);

impl<R: Run, F: FnMut() -> Fiber<R::Out, R> + Send + 'static> Follow<Front<F>> for Begin<F> {
    type Out = Outcome<R::Out>;
    type Run = Boxed<Outcome<R::Out>>;

    fn follow(self, _: &Cx<'_>, outcome: Outcome<Front<F>>) -> Next<Self::Out, Self::Run> {
        match outcome.split() {
            Ok(front) => Next::Run(Attempt::start(self.0, front)),
            Err(other) => Next::Done(other),
        }
    }
}

/// Judges the end of an attempt.
struct Judged<F>(Arc<Plan<F>>);

impl<T: Send + 'static, F: Send + 'static> Follow<T> for Judged<F> {
    type Out = Outcome<T>;
    type Run = FromOutcome<Outcome<T>>;

    fn follow(self, cx: &Cx<'_>, outcome: Outcome<T>) -> Next<Self::Out, Self::Run> {
        let goes_on = match (&outcome, &self.0.goes_on) {
            (Outcome::Success(_), _) => Ok(false),
            (Outcome::Failure(error), Some(condition)) => guard(|| condition(error)),
            _ => Ok(true),
        };
        Next::Done(match goes_on {
            Ok(false) => Outcome::Success(outcome),
            Err(panic) => Outcome::Success(Outcome::Panicked(panic).suppress(outcome, cx)),
            Ok(true) => {
                self.0.start_next();
                outcome.split().err().expect("a success decides")
            }
        })
    }
}

/// The outcome that decides, or all failures.
pub struct Attempts<T, F> {
    ends: Successes<T>,
    /// Dropped when all branches have ended, because the drop of the factory may panic.
    plan: Arc<Plan<F>>,
}

impl<T: fmt::Debug, F> fmt::Debug for Attempts<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ends.fmt(f)
    }
}

impl<T: Send + 'static, F: Send + 'static> Gather<Outcome<T>> for Attempts<T, F> {
    type Out = T;

    fn arrive(
        &mut self,
        index: usize,
        outcome: Outcome<Outcome<T>>,
        fiber: &impl HasContext,
    ) -> Arrived<Outcome<T>> {
        let arrived = match outcome.split() {
            Ok(end) => self.ends.decide(end),
            Err(other) => self.ends.arrive(index, other, fiber),
        };
        match arrived {
            Arrived::Kept => Arrived::Kept,
            Arrived::Decided => Arrived::Decided,
            Arrived::Unused(outcome) => Arrived::Unused(outcome.map(Outcome::Success)),
        }
    }

    fn conclude(self, cx: &Cx<'_>) -> Outcome<T> {
        self.ends.conclude(cx).without(self.plan, cx)
    }

    fn discard(self, fiber: &Context) {
        self.ends.discard(fiber);
        discard(self.plan, fiber);
    }
}
