//! The sequential primitive: run a description, then pass its outcome to the next step.

#![allow(unsafe_code)]

use crate::cell::EventKey;
use crate::engine::context::Cx;
use crate::engine::event::Event;
use crate::engine::side::{Awaited, Side, Single};
use crate::engine::step::{Follow, Run, Step, follow, larger, room_with};
use crate::error::Frame;
use crate::outcome::Outcome;
use crate::panic::Panic;

/// Runs `R`, then `N` with its outcome. Every sequential combinator is a `Then`.
#[derive(Clone, Debug)]
pub struct Then<R, N> {
    first: R,
    next: N,
}

impl<R, N> Then<R, N> {
    #[inline]
    pub(crate) fn new(first: R, next: N) -> Self {
        Then { first, next }
    }
}

impl<R: Run, N: Follow<R::Out>> Then<R, N> {
    /// A constant, and not a branch: the compiler would look into both branches, for each pair of steps in a long chain.
    const RUN: for<'s> fn(Self, &'s Cx<'_>) -> Step<'s, N::Out> =
        if N::NEVER_WAITS { Self::run_as_one } else { Self::run_both };

    #[inline]
    fn run_as_one<'s>(self, cx: &'s Cx<'_>) -> Step<'s, N::Out> {
        self.first.run_then(cx, self.next)
    }

    #[inline]
    fn run_both<'s>(self, cx: &'s Cx<'_>) -> Step<'s, N::Out> {
        match self.first.run(cx) {
            Step::Done(outcome) => follow(self.next, cx, outcome),
            Step::Wait(first) => {
                if let Some(frame) = self.next.as_finalizer() {
                    cx.observe(Event::Guarded(frame));
                }
                Step::Wait(first.then(cx, self.next))
            }
        }
    }
}

impl<R: Run, N: Follow<R::Out>> Run for Then<R, N> {
    type Out = N::Out;
    const ROOM: usize = larger(room_with::<N>(R::ROOM), N::ROOM);

    #[inline]
    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, N::Out> {
        Self::RUN(self, cx)
    }

    #[inline]
    fn run_then<'s, P: Follow<N::Out>>(self, cx: &'s Cx<'_>, plain: P) -> Step<'s, P::Out> {
        Then::new(self.first, Fused(self.next, plain)).run(cx)
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.first.discard(torn);
        self.next.discard(torn);
    }

    const SINGLE: Option<Single> = if N::IS_PLAIN { R::SINGLE } else { Some(Single::NO) };

    #[inline]
    fn single(&self) -> Single {
        if N::IS_PLAIN { self.first.single() } else { Single::NO }
    }

    fn is_program(&self) -> bool {
        !N::NEVER_WAITS || self.first.is_program()
    }

    fn into_side(self) -> impl Side<Out = N::Out> {
        WithSteps { side: self.first.into_side(), steps: self.next }
    }
}

/// A side of a race, and the plain steps behind it.
struct WithSteps<S, N> {
    side: S,
    steps: N,
}

impl<S: Side, N: Follow<S::Out>> Side for WithSteps<S, N> {
    type Event = S::Event;
    type Out = N::Out;

    fn poll(&mut self, cx: &Cx<'_>) -> Option<S::Event> {
        self.side.poll(cx)
    }

    unsafe fn register(&mut self, cx: &Cx<'_>, event: EventKey) -> Option<S::Event> {
        // SAFETY: by the contract.
        unsafe { self.side.register(cx, event) }
    }

    fn woken(&mut self, cx: &Cx<'_>, index: u64) -> Option<S::Event> {
        self.side.woken(cx, index)
    }

    fn missed(&mut self, cx: &Cx<'_>) -> Option<S::Event> {
        self.side.missed(cx)
    }

    fn deregister(&mut self, cx: &Cx<'_>) {
        self.side.deregister(cx);
    }

    fn leave(&mut self) {
        self.side.leave();
    }

    fn end(self, cx: &Cx<'_>, event: S::Event) -> Outcome<N::Out> {
        let outcome = self.side.end(cx, event);
        match self.steps.follow(cx, outcome) {
            Step::Done(outcome) => outcome,
            Step::Wait(_) => unreachable!("a plain closure gives an outcome"),
        }
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.side.discard(torn);
        self.steps.discard(torn);
    }

    fn awaited(&self) -> Awaited<'_> {
        self.side.awaited()
    }
}

/// Two steps in one frame. The second never waits.
struct Fused<A, B>(A, B);

impl<T: Send + 'static, A: Follow<T>, B: Follow<A::Out>> Follow<T> for Fused<A, B> {
    type Out = B::Out;
    const NEVER_WAITS: bool = A::NEVER_WAITS;
    const ROOM: usize = room_with::<B>(A::ROOM);

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, B::Out> {
        match self.0.follow(cx, outcome) {
            Step::Done(outcome) => self.1.follow(cx, outcome),
            Step::Wait(waiting) => Step::Wait(waiting.then(cx, self.1)),
        }
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.0.discard(torn);
        self.1.discard(torn);
    }

    #[inline]
    fn as_bind(&self, outcome: &Outcome<T>) -> Option<Frame> {
        self.0.as_bind(outcome)
    }

    #[inline]
    fn as_finalizer(&self) -> Option<Frame> {
        self.0.as_finalizer()
    }
}
