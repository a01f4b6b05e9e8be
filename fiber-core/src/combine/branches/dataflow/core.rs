//! The state of a dataflow: its program, and its failures.

use super::hands::Start;
use super::values::{Failed, Made, Put, Step};
use crate::combine::branches::failures::Failures;
use crate::engine::context::Cx;
use crate::engine::step::Run;
use crate::engine::suppress::HasContext;
use crate::error::{Frame, Site};
use crate::outcome::Outcome;
use crate::panic::guard;

/// A dataflow, and how far it has come. [`Block`](super::Block) is the only implementation; the trait gives its five types one name.
pub trait Program: Send + 'static + Sized {
    /// The value of a success.
    type Out: Send + 'static;
    /// The variables.
    type Values: Send + 'static;
    /// The steps, each of a type of its own.
    type Steps: Send + 'static;

    /// The variables, and the steps that read and write them.
    fn parts(&mut self) -> (&mut Self::Values, &mut Self::Steps);
    /// Calls [`Start::run`] with the step of a given index.
    fn starter(&self) -> Starter<Self>;
    /// Makes the value of the dataflow.
    ///
    /// # Errors
    /// That of a `?`.
    fn end(&mut self) -> Result<Self::Out, Failed>;
    /// The step that starts now.
    fn start_next(&mut self) -> Option<usize>;
    /// Whether a ready step is waiting for a thread.
    fn has_ready(&self) -> bool;
    /// The expression of the step has been evaluated.
    fn has_started(&mut self, step: usize);
    /// The step has succeeded.
    fn has_ended(&mut self, step: usize);
    /// Whether all steps have succeeded.
    fn is_over(&self) -> bool;
}

/// Starts the step of a given index.
pub(super) type Starter<P> = fn(usize, Start<'_, '_, P>);

/// The state of a running dataflow. One thread at a time holds it, because expressions of the user borrow and move its
/// values.
pub(super) struct Core<P> {
    program: P,
    failures: Failures,
    /// No more steps start.
    is_decided: bool,
    pub(super) site: Site,
}

pub(super) const NAME: &str = "dataflow!";

impl<P: Program> Core<P> {
    pub(super) fn new(program: P, site: Site) -> Self {
        Core { program, failures: Failures::default(), is_decided: false, site }
    }

    pub(super) fn starter(&self) -> Starter<P> {
        self.program.starter()
    }

    pub(super) fn is_decided(&self) -> bool {
        self.is_decided
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_decided || self.program.is_over()
    }

    pub(super) fn has_ready(&self) -> bool {
        !self.is_decided && self.program.has_ready()
    }

    /// The step that starts now. A cancelled dataflow starts no further steps.
    pub(super) fn start_next(&mut self, is_cancelled: bool, fiber: &dyn HasContext) -> Option<usize> {
        if is_cancelled && !self.is_over() {
            self.fail(Outcome::<()>::Cancelled, fiber);
        }
        if self.is_decided { None } else { self.program.start_next() }
    }

    /// Evaluates the expression of a step.
    pub(super) fn make<R, F>(
        &mut self,
        step: usize,
        pick: impl FnOnce(&mut P::Steps) -> &mut Step<F>,
        fiber: &dyn HasContext,
    ) -> Option<(Made<P::Values, R>, Site)>
    where
        R: Run,
        F: FnOnce(&mut P::Values) -> Result<Made<P::Values, R>, Failed>,
    {
        let (values, steps) = self.program.parts();
        let (make, site) = pick(steps).take();
        let failed: Outcome<()> = match guard(|| make(values)) {
            Ok(Ok(made)) => {
                self.program.has_started(step);
                return Some((made, site));
            }
            Ok(Err(Failed(error))) => Outcome::Failure(error),
            Err(panic) => Outcome::Panicked(panic),
        };
        self.fail(failed.passed(Frame::new(NAME, site)), fiber);
        None
    }

    /// Takes the outcome of a step's fiber.
    #[inline]
    pub(super) fn arrive<T>(
        &mut self,
        step: usize,
        site: Site,
        outcome: Outcome<T>,
        put: Put<P::Values, T>,
        fiber: &dyn HasContext,
    ) {
        let failed: Outcome<()> = match outcome.split() {
            // The pattern of the step may drop parts of the value.
            Ok(value) => match guard(|| put(self.program.parts().0, value)) {
                Ok(()) => return self.program.has_ended(step),
                Err(panic) => Outcome::Panicked(panic),
            },
            Err(other) => other,
        };
        self.fail(failed.passed(Frame::new(NAME, site)), fiber);
    }

    /// No more steps start.
    #[cold]
    pub(super) fn fail<T>(&mut self, other: Outcome<T>, fiber: &dyn HasContext) {
        self.is_decided = true;
        self.failures.add(fiber, other);
    }

    /// The outcome, after all started steps have ended.
    pub(super) fn conclude(self, cx: &Cx<'_>) -> Outcome<P::Out> {
        let Core { mut program, failures, site, .. } = self;
        let outcome = failures.take().unwrap_or_else(|| match guard(|| program.end()) {
            Ok(Ok(value)) => Outcome::Success(value),
            Ok(Err(Failed(error))) => Outcome::Failure(error.passed(Frame::new(NAME, site))),
            Err(panic) => Outcome::Panicked(panic).passed(Frame::new(NAME, site)),
        });
        outcome.without(program, cx)
    }
}
