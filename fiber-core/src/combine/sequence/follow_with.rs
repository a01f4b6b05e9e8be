use std::panic::Location;

use super::then::Then;
use crate::engine::context::Cx;
use crate::engine::step::{Follow, Run, Step};
use crate::error::{Frame, Site};
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::panic::{Panic, guard};

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Continues with a step of your own, which handles every outcome. The library's sequential combinators are such steps. Unless the
    /// step [never waits](Follow::NEVER_WAITS), it counts as a bind in the budget of the turn.
    ///
    /// ```
    /// use fiber_core::scheduler::{Cx, Follow, Step};
    /// use fiber_core::{Fiber, Outcome, Run};
    ///
    /// /// Runs the fiber `0` instead of a failure, and waits for it.
    /// struct InsteadOfFailure(Fiber<u32>);
    ///
    /// impl Follow<u32> for InsteadOfFailure {
    ///     type Out = u32;
    ///
    ///     fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<u32>) -> Step<'s, u32> {
    ///         match outcome {
    ///             Outcome::Failure(_) => self.0.into_run().run(cx),
    ///             other => Step::Done(other),
    ///         }
    ///     }
    /// }
    /// let fails = Fiber::yield_now().bind(|()| Fiber::<u32>::fail(std::fmt::Error));
    /// let instead = Fiber::yield_now().map(|()| 7).boxed();
    /// assert_eq!(fiber_sched::run(fails.follow_with(InsteadOfFailure(instead))).unwrap(), 7);
    /// ```
    ///
    /// # Panics
    /// A panic of the step becomes the fiber's outcome.
    ///
    /// # Cancellation
    /// The step is called also if the fiber was cancelled. What it runs then ends as cancelled, where it begins to wait.
    #[inline]
    #[track_caller]
    pub fn follow_with<N: Follow<T>>(self, step: N) -> Fiber<N::Out, Then<R, Own<N>>> {
        Fiber::new(Then::new(self.into_run(), Own { step, site: Location::caller() }))
    }
}

/// The step of [`Fiber::follow_with`]. The library's own steps do not unwind; this one may.
#[derive(Clone, Debug)]
pub struct Own<N> {
    step: N,
    site: Site,
}

impl<T: Send + 'static, N: Follow<T>> Follow<T> for Own<N> {
    type Out = N::Out;
    const NEVER_WAITS: bool = N::NEVER_WAITS;
    const ROOM: usize = N::ROOM;

    #[inline]
    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, N::Out> {
        let step = guard(|| self.step.follow(cx, outcome));
        let step = step.unwrap_or_else(|panic| Step::Done(Outcome::Panicked(panic)));
        match step {
            Step::Wait(waiting) if N::NEVER_WAITS => Step::Done(waiting.refuse(cx)),
            step => step,
        }
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.step.discard(torn);
    }

    #[inline]
    fn as_bind(&self, outcome: &Outcome<T>) -> Option<Frame> {
        let named = || Frame::new("follow_with", self.site);
        self.step.as_bind(outcome).or_else(|| (!N::NEVER_WAITS).then(named))
    }

    #[inline]
    fn as_finalizer(&self) -> Option<Frame> {
        self.step.as_finalizer()
    }
}
