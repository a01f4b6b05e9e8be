use std::panic::Location;

use crate::cell::Signal;
use crate::engine::context::Cx;
use crate::engine::event::Event;
use crate::engine::frames::{Waits, frame_size};
use crate::engine::step::{Follow, Run, Step};
use crate::error::Frame;
use crate::fiber::Fiber;
use crate::outcome::Outcome;

impl Fiber<()> {
    /// Yields to the scheduler, which runs the rest of the fiber later. Binds yield by themselves from time to time;
    /// this function is for long computations between binds.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// assert!(fiber_sched::run(Fiber::yield_now()).is_success());
    /// ```
    ///
    /// # Cancellation
    /// A cancellation is noticed before and after the yield.
    #[track_caller]
    pub fn yield_now() -> Fiber<(), YieldNow> {
        Fiber::new(YieldNow { site: Location::caller() })
    }
}

/// The description of [`Fiber::yield_now`].
#[derive(Clone, Copy, Debug)]
pub struct YieldNow {
    site: &'static Location<'static>,
}

impl Run for YieldNow {
    type Out = ();
    const ROOM: usize = frame_size::<Turned>();

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, ()> {
        if self.is_refused(cx) { Step::Done(Outcome::Cancelled) } else { Step::Wait(cx.wait(Turned)) }
    }

    #[inline]
    fn run_then<'s, P: Follow<()>>(self, cx: &'s Cx<'_>, plain: P) -> Step<'s, P::Out> {
        if self.is_refused(cx) {
            plain.follow(cx, Outcome::Cancelled)
        } else {
            Step::Wait(cx.wait_then(Turned, plain))
        }
    }
}

impl YieldNow {
    /// Whether the fiber was cancelled. If not, reports the yield.
    // Not inlined, so that the code of each yield is short. What it calls comes last, so it needs no registers of its own.
    #[inline(never)]
    fn is_refused(&self, cx: &Cx<'_>) -> bool {
        if cx.is_observed() { self.is_refused_observed(cx) } else { cx.is_interrupted() }
    }

    #[cold]
    fn is_refused_observed(&self, cx: &Cx<'_>) -> bool {
        let is_interrupted = cx.is_interrupted();
        if !is_interrupted {
            cx.observe(Event::Yields(Frame::new("yield_now", self.site)));
        }
        is_interrupted
    }
}

/// Waits for the next turn.
struct Turned;

impl Waits for Turned {
    type Event = ();
    type Out = ();
    const YIELDS: bool = true;

    #[inline]
    fn wake(&mut self, cx: &Cx<'_>, _: Signal) -> Option<Outcome<()>> {
        Some(if cx.is_interrupted() { Outcome::Cancelled } else { Outcome::Success(()) })
    }

    #[inline]
    fn end(self, _: &Cx<'_>, outcome: Outcome<()>) -> Outcome<()> {
        outcome
    }
}
