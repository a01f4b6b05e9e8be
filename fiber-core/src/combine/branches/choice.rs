//! A race of two waits, as one wait of one fiber.
//!
//! A side that is a single wait, such as a delay or the receiving end of a channel, needs no fiber of its own: the fiber
//! registers a wake-up with both events. Both wake-ups end the same wait, so the compare-and-swap on the parking slot decides
//! the race. A channel therefore never passes an item to a side that has lost.
//!
//! While the second side registers, the first one may be served. So a second side that is ready at that moment makes the same
//! compare-and-swap before it takes or gives anything: [`Wakeup::claim`].

#![allow(unsafe_code)]

use crate::cell::EventKey;
use crate::combine::sequence::Either;
use crate::engine::context::{Cx, WaitsFor};
use crate::engine::side::Side;
use crate::engine::subject::Subject;
use crate::error::{Frame, Site};
use crate::leaf::Awaits;
use crate::outcome::Outcome;
use crate::panic::{Panic, guard};

/// The wait for the first of two events.
pub(crate) struct Choice<A: Side, B: Side> {
    /// `None` at the end.
    sides: Option<(A, B)>,
    site: Site,
}

impl<A: Side, B: Side> Choice<A, B> {
    pub(super) fn new(left: A, right: B, site: Site) -> Self {
        Choice { sides: Some((left, right)), site }
    }

    /// The left side has won. Neither is registered any more.
    fn left(&mut self, cx: &Cx<'_>, event: Outcome<A::Event>) -> Option<Outcome<Either<A::Out, B::Out>>> {
        let (winner, loser) = self.sides.take()?;
        let outcome = winner.end(cx, event).without_parts(loser, B::discard, cx);
        Some(outcome.map(Either::Left).passed(Frame::new("race", self.site)))
    }

    /// The right side has won.
    fn right(&mut self, cx: &Cx<'_>, event: Outcome<B::Event>) -> Option<Outcome<Either<A::Out, B::Out>>> {
        let (loser, winner) = self.sides.take()?;
        let outcome = winner.end(cx, event).without_parts(loser, A::discard, cx);
        Some(outcome.map(Either::Right).passed(Frame::new("race", self.site)))
    }

    /// What each side waits for, and where.
    fn awaited(&self) -> [Option<(WaitsFor, Option<&Subject>)>; 2] {
        self.sides
            .as_ref()
            .map_or([None, None], |(left, right)| [Some(left.awaited()), Some(right.awaited())])
    }
}

/// Both sides leave their events. Each calls code of the user, such as the drop of an item that it passes on: the right one leaves although
/// the left one panics.
fn both(left: impl FnOnce(), right: impl FnOnce()) {
    let torn = [guard(left), guard(right)];
    Panic::rethrow(torn.into_iter().filter_map(Result::err).collect());
}

impl<A: Side, B: Side> Awaits for Choice<A, B> {
    type Out = Either<A::Out, B::Out>;
    // The sides have their places.
    type Place = ();
    const CAN_LOSE: bool = true;

    /// Polls the left side first.
    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<Self::Out>> {
        let (left, right) = self.sides.as_mut()?;
        if let Some(event) = left.poll(cx) {
            return self.left(cx, event);
        }
        let event = right.poll(cx)?;
        self.right(cx, event)
    }

    unsafe fn register(&mut self, (): &mut (), cx: &Cx<'_>, event: EventKey) -> Option<Outcome<Self::Out>> {
        let (left, right) = self.sides.as_mut()?;
        // SAFETY: by the contract; `left` and `right` follow only when the sides are not registered any more.
        if let Some(outcome) = unsafe { left.register(cx, event) } {
            return self.left(cx, outcome);
        }
        // SAFETY: as above.
        let outcome = unsafe { right.register(cx, event.second()) }?;
        left.deregister(cx);
        self.right(cx, outcome)
    }

    /// After the wake-up of one side, the other one leaves its queue. If the first side still has to wait, both are registered again.
    fn woken(&mut self, (): &mut (), cx: &Cx<'_>) -> Option<Outcome<Self::Out>> {
        let (left, right) = self.sides.as_mut()?;
        if cx.was_second() {
            left.deregister(cx);
            let event = right.woken(cx)?;
            self.right(cx, event)
        } else {
            right.deregister(cx);
            let event = left.woken(cx)?;
            self.left(cx, event)
        }
    }

    fn deregister(&mut self, (): &mut (), cx: &Cx<'_>) {
        if let Some((left, right)) = &mut self.sides {
            both(|| left.deregister(cx), || right.deregister(cx));
        }
    }

    fn leave(&mut self, (): &mut ()) {
        if let Some((left, right)) = &mut self.sides {
            both(|| left.leave(), || right.leave());
        }
    }

    /// Both sides leave their events. Each may have been told something that it will not see again; then the left one wins.
    fn missed(&mut self, (): &mut (), cx: &Cx<'_>) -> Option<Outcome<Self::Out>> {
        let (left, right) = self.sides.as_mut()?;
        match (left.missed(cx), right.missed(cx)) {
            (Some(event), _) => self.left(cx, event),
            (None, event) => self.right(cx, event?),
        }
    }

    /// Two events at primitives are two, although they are of the same kind: a report names one of the primitives. Of two locks, one may be
    /// held by a fiber that is stuck, and the other one not: so the fiber does not wait for the first.
    fn waits_for(&self) -> WaitsFor {
        match self.awaited() {
            [Some((first, None)), Some((second, None))] if first == second => first,
            [Some(_), Some(_)] => WaitsFor::Either,
            _ => WaitsFor::Nothing,
        }
    }

    fn waits_at(&self) -> Option<&Subject> {
        self.awaited().into_iter().flatten().find_map(|(_, at)| at)
    }
}

impl<A: Side, B: Side> Drop for Choice<A, B> {
    fn drop(&mut self) {
        let Some((left, right)) = self.sides.take() else { return };
        let mut torn = Vec::new();
        left.discard(&mut torn);
        right.discard(&mut torn);
        Panic::rethrow(torn);
    }
}
