use std::time::Duration;

use super::then::Then;
use crate::engine::context::Cx;
use crate::engine::step::{Follow, Run, Step};
use crate::fiber::Fiber;
use crate::instant::Instant;
use crate::outcome::Outcome;
use crate::panic::Panic;

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Gives the value with the time that the fiber took, by the clock of the scheduler.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let second = Duration::from_secs(1);
    /// let query = Fiber::delay(second).map(|()| "row").timed();
    /// assert_eq!(TestScheduler::new().run(query).unwrap(), (second, "row"));
    /// ```
    pub fn timed(self) -> Fiber<(Duration, T), Timed<R>> {
        Fiber::new(Timed(self.into_run()))
    }
}

/// The description of [`Fiber::timed`].
#[derive(Clone, Debug)]
pub struct Timed<R>(R);

impl<R: Run> Run for Timed<R> {
    type Out = (Duration, R::Out);

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Self::Out> {
        Then::new(self.0, Since(cx.scheduler().now())).run(cx)
    }

    fn is_program(&self) -> bool {
        self.0.is_program()
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.0.discard(torn);
    }
}

/// Adds the time since the start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Since(Instant);

impl<T: Send + 'static> Follow<T> for Since {
    type Out = (Duration, T);
    const NEVER_WAITS: bool = true;

    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, Self::Out> {
        Step::Done(outcome.map(|value| (cx.scheduler().now() - self.0, value)))
    }
}
