//! A race of two waits, as one wait of one fiber.
//!
//! A side that is a single wait, such as a delay or the receiving end of a channel, needs no fiber of its own: the fiber
//! registers a wake-up with both events. Both wake-ups end the same wait, so the compare-and-swap on the parking slot decides
//! the race. A channel therefore never passes an item to a side that has lost.
//!
//! While the second side registers, the first one may be served. So a second side that is ready at that moment makes the same
//! compare-and-swap before it takes or gives anything: [`Wakeup::claim`].

use std::fmt;

use super::race::Either;
use crate::engine::context::{Cx, WaitsFor, Wakeup};
use crate::engine::step::Run;
use crate::engine::subject::Subject;
use crate::error::{Frame, Site};
use crate::leaf::Wait;
use crate::outcome::{Outcome, Panic, guard};

/// The wait for the first of two events.
pub(crate) struct Choice<R: Run, S: Run> {
    /// `None` at the end.
    sides: Option<(R, S)>,
    is_registered: bool,
    site: Site,
}

/// A race that is decided, or both sides of one that is not.
type Poll<R, S> = Result<Outcome<Either<<R as Run>::Out, <S as Run>::Out>>, (R, S)>;

impl<R: Run, S: Run> Choice<R, S> {
    pub(super) fn new(left: R, right: S, site: Site) -> Self {
        Choice { sides: Some((left, right)), is_registered: false, site }
    }

    /// Applies `decide` to both sides.
    fn step(&mut self, decide: impl FnOnce(R, S) -> Poll<R, S>) -> Option<Outcome<Either<R::Out, S::Out>>> {
        let (left, right) = self.sides.take()?;
        match decide(left, right) {
            Ok(outcome) => Some(outcome.passed(Frame::new("race", self.site))),
            Err(sides) => {
                self.sides = Some(sides);
                None
            }
        }
    }

    /// What each side waits for, and where.
    fn awaited(&self) -> [Option<(WaitsFor, Option<&Subject>)>; 2] {
        self.sides.as_ref().map_or([None, None], |(first, second)| [first.awaited(), second.awaited()])
    }
}

/// The left side has won.
fn left<R: Run, S: Run>(cx: &Cx<'_>, outcome: Outcome<R::Out>, loser: S) -> Poll<R, S> {
    Ok(outcome.without_run(loser, cx).map(Either::Left))
}

/// The right side has won.
fn right<R: Run, S: Run>(cx: &Cx<'_>, outcome: Outcome<S::Out>, loser: R) -> Poll<R, S> {
    Ok(outcome.without_run(loser, cx).map(Either::Right))
}

/// Called before the fiber waits; polls the left side first.
fn begin<R: Run, S: Run>(cx: &Cx<'_>, first: R, second: S) -> Poll<R, S> {
    match first.poll_wait(cx) {
        Ok(outcome) => left(cx, outcome, second),
        Err(first) => match second.poll_wait(cx) {
            Ok(outcome) => right(cx, outcome, first),
            Err(second) => Err((first, second)),
        },
    }
}

/// Called after the wake-up of one side. The other one leaves its queue. If the first side still has to wait, both are
/// registered again.
fn end<R: Run, S: Run>(cx: &Cx<'_>, mut first: R, mut second: S) -> Poll<R, S> {
    if cx.was_second() {
        first.deregister_wait(cx);
        match second.poll_wait(cx) {
            Ok(outcome) => right(cx, outcome, first),
            Err(second) => Err((first, second)),
        }
    } else {
        second.deregister_wait(cx);
        match first.poll_wait(cx) {
            Ok(outcome) => left(cx, outcome, second),
            Err(first) => Err((first, second)),
        }
    }
}

impl<R: Run, S: Run> Wait for Choice<R, S> {
    type Out = Either<R::Out, S::Out>;
    const CAN_LOSE: bool = true;

    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<Self::Out>> {
        let was_registered = std::mem::take(&mut self.is_registered);
        self.step(|first, second| match was_registered {
            true => end(cx, first, second),
            false => begin(cx, first, second),
        })
    }

    fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<Self::Out>> {
        self.is_registered = true;
        self.step(|first, second| {
            let wakeup_of_second = wakeup.second();
            match first.register_wait(cx, wakeup) {
                Ok(outcome) => left(cx, outcome, second),
                Err(mut first) => match second.register_wait(cx, wakeup_of_second) {
                    Ok(outcome) => {
                        first.deregister_wait(cx);
                        right(cx, outcome, first)
                    }
                    Err(second) => Err((first, second)),
                },
            }
        })
    }

    fn deregister(&mut self, cx: &Cx<'_>) {
        if let Some((first, second)) = &mut self.sides {
            // Code of the user, which may panic. The second side leaves its event nevertheless.
            let torn = [guard(|| first.deregister_wait(cx)), guard(|| second.deregister_wait(cx))];
            Panic::rethrow(torn.into_iter().filter_map(Result::err).collect());
        }
    }

    fn waits_for(&self) -> WaitsFor {
        match self.awaited() {
            [Some((first, _)), Some((second, _))] if first != second => WaitsFor::Either,
            [Some((what, _)), _] => what,
            _ => WaitsFor::Nothing,
        }
    }

    fn waits_at(&self) -> Option<&Subject> {
        self.awaited().into_iter().flatten().find_map(|(_, at)| at)
    }
}

impl<R: Run, S: Run> Drop for Choice<R, S> {
    fn drop(&mut self) {
        let Some((first, second)) = self.sides.take() else { return };
        let mut torn = Vec::new();
        first.discard(&mut torn);
        second.discard(&mut torn);
        Panic::rethrow(torn);
    }
}

impl<R: Run, S: Run> fmt::Debug for Choice<R, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "race at {}", self.site)
    }
}
