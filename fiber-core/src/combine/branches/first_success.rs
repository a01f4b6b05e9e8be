use std::panic::Location;
use std::time::Duration;

use super::failures::Failures;
use super::gather::{Arrived, Gather, run_pulled};
use crate::combine::sequence::then::Then;
use crate::engine::context::{Context, Cx};
use crate::engine::scheduler::Unobserved;
use crate::engine::step::{Follow, Run, Step};
use crate::engine::suppress::{HasContext, discard};
use crate::error::{Frame, Site};
use crate::fiber::Fiber;
use crate::leaf::{Leaf, Sleep};
use crate::outcome::{Outcome, Panic};

impl<T: Send + 'static> Fiber<T> {
    /// Runs all fibers; the first to succeed wins. The others are then cancelled, and awaited.
    ///
    /// The iterator is read to its end when the fiber runs, before the first branch starts.
    ///
    /// ```
    /// use fiber_core::{Error, Fiber};
    /// let mirrors = [Fiber::fail(Error::msg("down")).boxed(), Fiber::success("the file").boxed()];
    /// assert_eq!(fiber_sched::run(Fiber::first_success(mirrors)).unwrap(), "the file");
    /// ```
    ///
    /// # Errors
    /// If all branches have failed: the first failure, with all others suppressed into it. An empty iterator is a
    /// failure too.
    ///
    /// # Panics
    /// A panic of a branch goes to [`Scheduler::unobserved`](crate::Scheduler::unobserved) if another branch succeeds;
    /// otherwise it becomes the outcome. A panic of the iterator becomes the outcome.
    ///
    /// # Cancellation
    /// All branches are cancelled and awaited.
    #[track_caller]
    pub fn first_success<I, R>(fibers: I) -> Fiber<T, FirstSuccess<I::IntoIter>>
    where
        I: IntoIterator<Item = Fiber<T, R>>,
        I::IntoIter: Send + 'static,
        R: Run<Out = T>,
    {
        Fiber::new(FirstSuccess {
            fibers: fibers.into_iter(),
            site: Location::caller(),
            name: "first_success",
        })
    }

    /// Runs further attempts beside a slow one: starts one of `attempts` fibers every `pause` until one succeeds and
    /// wins. Use it against the slow tail of a service whose requests may be repeated.
    ///
    /// When the fiber runs, it calls `make` for all attempts before the first one starts.
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
    /// If all attempts have failed, as in [`first_success`](Fiber::first_success).
    ///
    /// # Panics
    /// This function panics if `attempts` is zero. A panic of `make` becomes the fiber's outcome.
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
        let site = Location::caller();
        let fibers = Attempts { made: 0, attempts, pause, make, site };
        Fiber::new(FirstSuccess { fibers, site, name: "hedge" })
    }
}

/// The description of [`Fiber::hedge`].
pub type Hedge<F> = FirstSuccess<Attempts<F>>;

/// The attempts of [`Fiber::hedge`], each one pause later than the one before.
#[derive(Clone, Debug)]
pub struct Attempts<F> {
    made: u32,
    attempts: u32,
    pause: Duration,
    make: F,
    site: Site,
}

impl<R: Run, F: FnMut() -> Fiber<R::Out, R>> Iterator for Attempts<F> {
    type Item = Fiber<R::Out, Then<Leaf<Sleep>, Afterwards<R>>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.made == self.attempts {
            return None;
        }
        let delay = Fiber::delay_at(self.site, self.pause.saturating_mul(self.made));
        self.made += 1;
        Some(Fiber::new(Then::new(delay.into_run(), Afterwards((self.make)().into_run()))))
    }
}

/// Runs `R` after a success, and drops its value.
#[derive(Clone, Debug)]
pub struct Afterwards<R>(R);

impl<R: Run> Follow<()> for Afterwards<R> {
    type Out = R::Out;
    const ROOM: usize = <R as Run>::ROOM;

    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<()>) -> Step<'s, R::Out> {
        match outcome.split() {
            Ok(()) => self.0.run(cx),
            Err(other) => Step::Done(other.without_run(self.0, cx)),
        }
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.0.discard(torn);
    }
}

/// The description of [`Fiber::first_success`].
#[derive(Clone, Debug)]
pub struct FirstSuccess<I> {
    fibers: I,
    site: Site,
    name: &'static str,
}

impl<R, I> Run for FirstSuccess<I>
where
    R: Run,
    I: Iterator<Item = Fiber<R::Out, R>> + Send + 'static,
{
    type Out = R::Out;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, R::Out> {
        let frame = Frame::new(self.name, self.site);
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let successes =
            Successes { winner: None, failures: Failures::default(), panics: Failures::default(), frame };
        run_pulled(cx, self.fibers, |_| Ok(successes), frame)
    }
}

/// The first success, or all failures.
#[derive(Debug)]
pub(crate) struct Successes<T> {
    winner: Option<T>,
    failures: Failures,
    /// Separate from the failures: a success makes up for failures, but must not hide a panic.
    panics: Failures,
    frame: Frame,
}

impl<T: Send + 'static> Gather<T> for Successes<T> {
    type Out = T;

    fn arrive(&mut self, _: usize, outcome: Outcome<T>, fiber: &impl HasContext) -> Arrived<T> {
        match outcome {
            outcome if self.winner.is_some() => return Arrived::Unused(outcome),
            Outcome::Success(value) => {
                self.winner = Some(value);
                return Arrived::Decided;
            }
            Outcome::Panicked(_) => self.panics.add(fiber, outcome),
            outcome => self.failures.add(fiber, outcome),
        }
        Arrived::Kept
    }

    fn conclude(self, cx: &Cx<'_>) -> Outcome<T> {
        let panicked = self.panics.take();
        let failed = self.failures.take();
        if let Some(value) = self.winner {
            panicked.iter().for_each(|panicked| Unobserved::report(cx, panicked));
            // The drop of an error may panic, which must not lose the winner's value.
            discard::<Option<Outcome<T>>>(failed, cx);
            return Outcome::Success(value);
        }
        // There is at least one branch, and none has succeeded.
        let outcome = match (panicked, failed) {
            (Some(panicked), Some(failed)) => panicked.suppress(failed, cx),
            (one, other) => one.or(other).unwrap_or(Outcome::Cancelled),
        };
        outcome.passed(self.frame)
    }

    fn discard(self, fiber: &Context) {
        discard(self.winner, fiber);
        discard(self.failures, fiber);
        discard(self.panics, fiber);
    }
}
