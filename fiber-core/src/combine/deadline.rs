use std::panic::Location;

use super::confined::{Confined, run_confined};
use super::then::{Follow, Next, Then};
use crate::context::Cx;
use crate::error::{DeadlineExceeded, Error, Frame};
use crate::fiber::Fiber;
use crate::instant::Instant;
use crate::leaf::FromOutcome;
use crate::outcome::Outcome;
use crate::step::{Run, Step};

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Has to end by `deadline`, with all that it does: it is cancelled then, and awaited. Inherited by everything below,
    /// which can read it ([`Context::deadline`](crate::Context::deadline)); an earlier deadline from above counts.
    ///
    /// ```
    /// use fiber_core::{Fiber, error::DeadlineExceeded};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let second = Duration::from_secs(1);
    /// let request = Fiber::now().bind(move |now| {
    ///     let both = Fiber::delay(second).bind(move |()| Fiber::delay(60 * second));
    ///     both.with_deadline(now + 5 * second)
    /// });
    /// let test = TestScheduler::new();
    /// assert!(test.run(request).failure().unwrap().is::<DeadlineExceeded>());
    /// assert_eq!(test.now().as_nanos(), 5_000_000_000);
    /// ```
    ///
    /// # Errors
    /// [`DeadlineExceeded`]. A fiber that succeeds while it is being cancelled succeeds.
    ///
    /// # Cancellation
    /// As that of the fiber.
    #[track_caller]
    pub fn with_deadline(self, deadline: Instant) -> Fiber<T, WithDeadline<R>> {
        let site = Location::caller();
        Fiber::new(Then::new(Due { run: self.into_run(), deadline, site }, OrTooLate { deadline, site }))
    }
}

/// The description of [`Fiber::with_deadline`].
pub type WithDeadline<R> = Then<Due<R>, OrTooLate>;

/// Runs `R` until a deadline. `None`: it has passed.
#[derive(Clone, Debug)]
pub struct Due<R> {
    run: R,
    deadline: Instant,
    site: &'static Location<'static>,
}

impl<R: Run> Run for Due<R> {
    type Out = Option<R::Out>;
    type Suspension = Confined<R>;

    fn run(self, cx: &Cx<'_>) -> Step<Self::Out, Self::Suspension> {
        if cx.is_interrupted() {
            return Step::Done(Outcome::Cancelled);
        }
        if cx.scheduler().now() >= self.deadline {
            return Step::Done(Outcome::Success(None));
        }
        let child =
            cx.context().part(cx.is_masked(), self.deadline, "with_deadline", self.run.name(), self.site);
        run_confined(cx, self.run, child, cx.timer(self.deadline))
    }
}

/// What follows in [`Fiber::with_deadline`].
#[derive(Clone, Debug)]
pub struct OrTooLate {
    deadline: Instant,
    site: &'static Location<'static>,
}

impl<T: Send + 'static> Follow<Option<T>> for OrTooLate {
    type Out = T;
    type Run = FromOutcome<T>;

    fn follow(self, _: &Cx<'_>, outcome: Outcome<Option<T>>) -> Next<T, FromOutcome<T>> {
        let outcome = match outcome.split() {
            Ok(Some(value)) => Outcome::Success(value),
            Ok(None) => Outcome::Failure(Error::new(DeadlineExceeded::new(self.deadline, self.site))),
            Err(other) => other,
        };
        Next::Done(outcome.passed(Frame::new("with_deadline", self.site)))
    }
}
