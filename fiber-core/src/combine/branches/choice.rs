//! A race of waits, as one wait of one fiber.
//!
//! A side that is a single wait, such as a delay or the receiving end of a channel, needs no fiber of its own: the fiber
//! registers a wake-up with each event. All wake-ups end the same wait, so the compare-and-swap on the parking slot decides
//! the race. A channel therefore never passes an item to a side that has lost.
//!
//! While a side registers, one before it may be served. So a side that is ready at that moment makes the same compare-and-swap before it
//! takes or gives anything: [`Wakeup::claim`](crate::scheduler::Wakeup::claim).

#![allow(unsafe_code)]

use crate::cell::EventKey;
use crate::combine::sequence::Either;
use crate::engine::context::{Cx, WaitsFor};
use crate::engine::side::{Awaited, Side, Single};
use crate::error::{Frame, Site};
use crate::leaf::{Awaits, Leaf};
use crate::outcome::Outcome;
use crate::panic::{Panic, guard};

/// The wait for the first event of a race.
pub(crate) struct Choice<S: Side> {
    /// `None` at the end.
    side: Option<S>,
    site: Site,
}

impl<S: Side> Choice<S> {
    #[inline]
    pub(super) fn leaf(side: S, site: Site) -> Leaf<Self> {
        Leaf::new(Choice { side: Some(side), site }, site)
    }

    /// A side has won. None is registered any more.
    #[inline]
    fn end(&mut self, cx: &Cx<'_>, event: S::Event) -> Option<Outcome<S::Out>> {
        Some(self.side.take()?.end(cx, event).passed(Frame::new("race", self.site)))
    }
}

impl<S: Side> Awaits for Choice<S> {
    type Out = S::Out;
    // The sides have their places.
    type Place = ();
    const CAN_LOSE: bool = true;
    const SINGLE: Single = Single::AGAIN;

    #[inline]
    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<S::Out>> {
        let event = self.side.as_mut()?.poll(cx)?;
        self.end(cx, event)
    }

    #[inline]
    unsafe fn register(&mut self, (): &mut (), cx: &Cx<'_>, event: EventKey) -> Option<Outcome<S::Out>> {
        // SAFETY: by the contract; `end` follows only when the sides are not registered any more.
        let event = unsafe { self.side.as_mut()?.register(cx, event) }?;
        self.end(cx, event)
    }

    #[inline]
    fn woken(&mut self, (): &mut (), cx: &Cx<'_>) -> Option<Outcome<S::Out>> {
        let event = self.side.as_mut()?.woken(cx, cx.last_event())?;
        self.end(cx, event)
    }

    fn deregister(&mut self, (): &mut (), cx: &Cx<'_>) {
        if let Some(side) = &mut self.side {
            side.deregister(cx);
        }
    }

    fn leave(&mut self, (): &mut ()) {
        if let Some(side) = &mut self.side {
            side.leave();
        }
    }

    fn missed(&mut self, (): &mut (), cx: &Cx<'_>) -> Option<Outcome<S::Out>> {
        let event = self.side.as_mut()?.missed(cx)?;
        self.end(cx, event)
    }

    fn awaited(&self) -> Awaited<'_> {
        self.side.as_ref().map_or(Awaited::of(WaitsFor::Nothing), Side::awaited)
    }
}

impl<S: Side> Drop for Choice<S> {
    fn drop(&mut self) {
        let Some(side) = self.side.take() else { return };
        let mut torn = Vec::new();
        side.discard(&mut torn);
        Panic::rethrow(torn);
    }
}

/// Two sides, as one: a single wait, and another one or the rest of the sides.
pub(super) struct Sides<A, B>(pub(super) A, pub(super) B);

impl<A: Side, B: Side> Side for Sides<A, B> {
    type Event = Either<A::Event, B::Event>;
    type Out = Either<A::Out, B::Out>;

    /// Polls the left side first.
    #[inline]
    fn poll(&mut self, cx: &Cx<'_>) -> Option<Self::Event> {
        match self.0.poll(cx) {
            Some(event) => Some(Either::Left(event)),
            None => self.1.poll(cx).map(Either::Right),
        }
    }

    #[inline]
    unsafe fn register(&mut self, cx: &Cx<'_>, event: EventKey) -> Option<Self::Event> {
        // SAFETY: by the contract; the side that is registered leaves its event before the other one gives an outcome.
        if let Some(event) = unsafe { self.0.register(cx, event) } {
            return Some(Either::Left(event));
        }
        // SAFETY: as above.
        let event = unsafe { self.1.register(cx, event.next()) }?;
        self.0.deregister(cx);
        Some(Either::Right(event))
    }

    /// After the wake-up of one side, the other one leaves its queue. If the first side still has to wait, both are registered again.
    #[inline]
    fn woken(&mut self, cx: &Cx<'_>, index: u64) -> Option<Self::Event> {
        if index == 0 {
            self.1.deregister(cx);
            self.0.woken(cx, 0).map(Either::Left)
        } else {
            self.0.deregister(cx);
            self.1.woken(cx, index - 1).map(Either::Right)
        }
    }

    /// Both sides leave their events. Each may have been told something that it will not see again; then the left one wins.
    fn missed(&mut self, cx: &Cx<'_>) -> Option<Self::Event> {
        match (self.0.missed(cx), self.1.missed(cx)) {
            (Some(event), _) => Some(Either::Left(event)),
            (None, event) => event.map(Either::Right),
        }
    }

    fn deregister(&mut self, cx: &Cx<'_>) {
        let Sides(left, right) = self;
        both(|| left.deregister(cx), || right.deregister(cx));
    }

    fn leave(&mut self) {
        let Sides(left, right) = self;
        both(|| left.leave(), || right.leave());
    }

    #[inline]
    fn end(self, cx: &Cx<'_>, event: Self::Event) -> Outcome<Self::Out> {
        let Sides(left, right) = self;
        match event {
            Either::Left(event) => left.end(cx, event).without_parts(right, B::discard, cx).map(Either::Left),
            Either::Right(event) => {
                right.end(cx, event).without_parts(left, A::discard, cx).map(Either::Right)
            }
        }
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.0.discard(torn);
        self.1.discard(torn);
    }

    /// Two events at primitives are two, although they are of the same kind: a report names one of the primitives. Of two locks, one may be
    /// held by a fiber that is stuck, and the other one not: so the fiber does not wait for the first.
    fn awaited(&self) -> Awaited<'_> {
        let (first, second) = (self.0.awaited(), self.1.awaited());
        match (first.what, second.what) {
            (WaitsFor::Never, _) => second,
            (_, WaitsFor::Never) => first,
            _ if first.is_like(second) => first,
            _ => Awaited { at: first.at.or(second.at), ..Awaited::of(WaitsFor::Either) },
        }
    }
}

/// Both sides leave their events. Each calls code of the user, such as the drop of an item that it passes on: the right one leaves although
/// the left one panics.
fn both(left: impl FnOnce(), right: impl FnOnce()) {
    let torn = [guard(left), guard(right)];
    Panic::rethrow(torn.into_iter().filter_map(Result::err).collect());
}
