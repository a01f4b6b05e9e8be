//! A part of a program with its own node in the cancel tree, in sequence with the fiber around it. Its forks end with
//! it, and it can be cancelled without the fiber around it. `timeout`, `with_deadline` and `scope` are built on it.

use super::end::{Inside, Last, RegionEnd, in_time};
use super::group::{Childless, run_guarded, wait_last};
use crate::engine::context::{Context, Cx, LeftLimit, NodeGuard, Part, Timer, Watch};
use crate::engine::frames::{Frame as FrameOf, Left, Visit, Waiting};
use crate::engine::step::{Run, Step, room_with};
use crate::error::{Abandoned, Error, Frame};
use crate::instant::Instant;
use crate::outcome::Outcome;
use crate::panic::{Panic, discard_part};

/// For regions without a timer: passes on the outcome, and adds this place to the trace of a failure.
#[derive(Debug)]
pub(crate) struct Passed(pub(crate) Frame);

impl<T: Send + 'static> RegionEnd<T> for Passed {
    type Out = T;

    fn conclude(self, _: &Cx<'_>, ended: Option<Outcome<T>>) -> Outcome<T> {
        // Without a timer, the region never runs out of time.
        ended.unwrap_or(Outcome::Cancelled).passed(self.0)
    }
}

/// A failure with `error` when the time limit has passed.
#[derive(Clone, Debug)]
pub struct OrFail<E>(pub(crate) E, pub(crate) Frame);

impl<T: Send + 'static, E: std::error::Error + Send + Sync + 'static> RegionEnd<T> for OrFail<E> {
    type Out = T;

    fn conclude(self, _: &Cx<'_>, ended: Option<Outcome<T>>) -> Outcome<T> {
        ended.unwrap_or_else(|| Outcome::Failure(Error::new(self.0))).passed(self.1)
    }
}

/// Runs `run` in `part`, with the limit `until`. A region that ends at once needs no node and no timer.
#[inline]
pub(crate) fn run_region<'s, R: Run, E: RegionEnd<R::Out>>(
    cx: &'s Cx<'_>,
    operator: &'static &'static str,
    run: R,
    part: &mut Part<'_>,
    until: Option<Instant>,
    end: E,
) -> Step<'s, E::Out> {
    let step = {
        let limit = Watch::limit(cx, part, until);
        run_guarded(run, &cx.within(part).above(&limit)).detach(cx)
    };
    match step {
        Ok(outcome) => match part.leave() {
            None => Step::Done(end.conclude(cx, Some(outcome))),
            Some(inside) => end_region(cx, inside, outcome, end),
        },
        Err(pushed) => {
            let (waiting, masks) = (pushed.attach(cx), part.masks());
            if cx.begin_limit(operator, part, masks, until) {
                return Step::Wait(waiting.push(cx, LeaveLimit { end }));
            }
            wait_inside(cx, waiting, part.leave_inside(), until, end)
        }
    }
}

/// The room for the frames of a region.
pub(crate) const fn room_of_region<R: Run, E>() -> usize {
    room_with::<Leave<E>>(R::ROOM)
}

/// The work of a region waits.
fn wait_inside<'s, T: Send + 'static, E: RegionEnd<T>>(
    cx: &'s Cx<'_>,
    waiting: Waiting<'s, T>,
    inside: NodeGuard,
    until: Option<Instant>,
    end: E,
) -> Step<'s, E::Out> {
    let context = Context::clone(&inside);
    let timer = Timer::start(&context, until);
    let leave = Leave { timer, place: Inside::new(cx, inside), end };
    Step::Wait(waiting.push_inside(cx, context, leave))
}

/// Runs `run` in `inside`, without a time limit.
pub(crate) fn run_in<'s, R: Run, E: RegionEnd<R::Out>>(
    cx: &'s Cx<'_>,
    run: R,
    inside: NodeGuard,
    end: E,
) -> Step<'s, E::Out> {
    let step = {
        let _current = inside.set_current();
        run_guarded(run, &cx.enter(&inside)).detach(cx)
    };
    match step {
        Ok(outcome) => end_region(cx, inside, outcome, end),
        Err(pushed) => wait_inside(cx, pushed.attach(cx), inside, None, end),
    }
}

/// Ends a region once its children have ended.
pub(crate) fn end_region<'s, T: Send + 'static, E: RegionEnd<T>>(
    cx: &'s Cx<'_>,
    inside: NodeGuard,
    outcome: Outcome<T>,
    end: E,
) -> Step<'s, E::Out> {
    if !inside.finish_alone() {
        inside.cancel();
        return Step::Wait(wait_last(cx, inside, end, outcome));
    }
    let ended = in_time(&inside, outcome);
    inside.end();
    Step::Done(end.conclude(cx, ended))
}

/// The frame of a limit whose body waits, and has no node.
struct LeaveLimit<E> {
    end: E,
}

impl<T: Send + 'static, E: RegionEnd<T>> FrameOf<T> for LeaveLimit<E> {
    type Out = E::Out;
    const VISITS: bool = true;

    fn resume(self, cx: &Cx<'_>, outcome: Outcome<T>) -> Left {
        let Some(outside) = cx.resumed_limit() else { return self.resume_inside(cx, outcome) };
        if cx.own_node().is_some() {
            // The limit has got a node in this turn. It ends there.
            let waiting = cx.give_later(outcome).push(cx, self);
            return cx.leave_step(Step::Wait(waiting));
        }
        let ended = match outside.leave_limit() {
            LeftLimit::Over if outcome.is_cancelled() => None,
            LeftLimit::Lost if outcome.is_cancelled() => Some(Outcome::Failure(Error::new(Abandoned))),
            _ => Some(outcome),
        };
        cx.leave_limit(self.end.conclude(&cx.enter(outside), ended))
    }

    fn visit(&mut self, visit: &mut Visit<'_>) {
        if let Visit::Undo(cx) = visit
            && let Some(outside) = cx.own_node().filter(|outside| outside.is_in_limit())
        {
            outside.leave_limit();
            cx.set_masks(0);
        }
    }

    fn discard(self, torn: &mut Vec<Panic>, place: Option<&Context>) {
        if let Some(place) = place {
            place.abandon_limit();
        }
        discard_part(self.end, torn);
    }
}

impl<E> LeaveLimit<E> {
    /// The limit has got a node, in which the fiber runs.
    #[cold]
    fn resume_inside<T: Send + 'static>(self, cx: &Cx<'_>, outcome: Outcome<T>) -> Left
    where
        E: RegionEnd<T>,
    {
        let outside = cx.context().around().expect("a limit is in a fiber").clone();
        let (inside, timer) = outside.take_moved_limit().expect("this is its node");
        let place = Inside { inside, outside, masks: 0 };
        Leave { timer, place, end: self.end }.resume(cx, outcome)
    }
}

/// The frame of a region whose work waits.
struct Leave<E> {
    /// Stopped before the region ends, also by a drop.
    timer: Timer,
    place: Inside,
    end: E,
}

impl<T: Send + 'static, E: RegionEnd<T>> FrameOf<T> for Leave<E> {
    type Out = E::Out;
    const VISITS: bool = true;

    fn resume(self, cx: &Cx<'_>, outcome: Outcome<T>) -> Left {
        let Leave { mut timer, place, end } = self;
        let outcome = match outcome {
            Outcome::Cancelled if timer.stop() => Outcome::Failure(Error::new(Abandoned)),
            outcome => outcome,
        };
        drop(timer);
        if place.inside.finish_alone() {
            return place.conclude(cx, end, outcome);
        }
        place.inside.cancel();
        // The fiber already runs inside.
        let waiting = cx.wait(Childless::new(&place.inside));
        let last = Last { place, end, outcome };
        cx.leave_step(Step::Wait(waiting.push(cx, last)))
    }

    fn visit(&mut self, visit: &mut Visit<'_>) {
        self.place.visit(visit);
    }
}
