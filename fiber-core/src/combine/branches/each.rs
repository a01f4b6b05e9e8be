//! Branches that give nothing. Unlike [`parallel`](super::parallel), they may be without end: nothing is kept of one that has ended.

use super::failures::Failures;
use super::gather::{Arrived, Gather, Plan, run_all};
use crate::combine::sequence::fibers::Fibers;
use crate::engine::context::{Context, Cx};
use crate::engine::step::{Run, Step};
use crate::engine::suppress::HasContext;
use crate::error::{Frame, Site};
use crate::fiber::Fiber;
use crate::outcome::Outcome;

/// Runs all fibers, at most `limit` at a time. The first failure stops the others.
pub(crate) fn each<I>(fibers: I, limit: usize, site: Site) -> Fiber<(), Each<I>>
where
    I: Fibers<Run: Run<Out = ()>>,
{
    Fiber::new(Each { fibers, plan: Plan { limit, frame: Frame::new("parallel", site) } })
}

/// The description of [`each`].
pub(crate) struct Each<I> {
    fibers: I,
    plan: Plan,
}

impl<I: Fibers<Run: Run<Out = ()>>> Run for Each<I> {
    type Out = ();

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, ()> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let Each { fibers, plan } = self;
        run_all(cx, fibers, Ended { failure: Failures::default(), frame: plan.frame }, plan)
    }
}

/// The failures.
struct Ended {
    failure: Failures,
    frame: Frame,
}

impl Gather<()> for Ended {
    type Out = ();
    const COMMUTES: bool = true;

    fn arrive(&mut self, _: usize, outcome: Outcome<()>, fiber: &dyn HasContext) -> Arrived<()> {
        match self.failure.sift(fiber, outcome) {
            Some(()) => Arrived::Kept,
            None => Arrived::Decided,
        }
    }

    fn conclude(self, _: &Cx<'_>) -> Outcome<()> {
        self.failure.take().map_or(Outcome::Success(()), |failure| failure.passed(self.frame))
    }

    fn discard(self, _: &Context) {}
}
