//! The sequential primitive: run a description, then pass its outcome to the next step.

#![allow(unsafe_code)]

use crate::engine::context::{Cx, WaitsFor, Wakeup};
use crate::engine::event::Event;
use crate::engine::step::{Follow, Run, Step, follow, larger, room_with};
use crate::engine::subject::Subject;
use crate::error::Frame;
use crate::outcome::{Outcome, Panic};

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

impl<R: Run, N: Follow<R::Out>> Run for Then<R, N> {
    type Out = N::Out;
    const ROOM: usize = larger(room_with::<N>(R::ROOM), N::ROOM);

    #[inline]
    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, N::Out> {
        if const { N::NEVER_WAITS } {
            return self.first.run_then(cx, self.next);
        }
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

    #[inline]
    fn run_then<'s, P: Follow<N::Out>>(self, cx: &'s Cx<'_>, plain: P) -> Step<'s, P::Out> {
        Then::new(self.first, Fused(self.next, plain)).run(cx)
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.first.discard(torn);
        self.next.discard(torn);
    }

    const IS_WAIT: bool = R::IS_WAIT && N::IS_PLAIN;

    fn poll_wait(self, cx: &Cx<'_>) -> Result<Outcome<N::Out>, Self> {
        let Then { first, next } = self;
        match first.poll_wait(cx) {
            Ok(outcome) => Ok(end(outcome, next, cx)),
            Err(first) => Err(Then { first, next }),
        }
    }

    unsafe fn register_wait(this: *mut Self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<N::Out>> {
        // SAFETY: by the contract.
        let outcome = unsafe { R::register_wait(&raw mut (*this).first, cx, wakeup) }?;
        // SAFETY: the first part was taken, so this is taken, too.
        Some(end(outcome, unsafe { (&raw const (*this).next).read() }, cx))
    }

    fn deregister_wait(&mut self, cx: &Cx<'_>) {
        self.first.deregister_wait(cx);
    }

    fn leave_wait(&mut self) {
        self.first.leave_wait();
    }

    fn awaited(&self) -> Option<(WaitsFor, Option<&Subject>)> {
        self.first.awaited()
    }
}

/// The outcome of a plain closure, after the wait before it.
fn end<T, N: Follow<T>>(outcome: Outcome<T>, next: N, cx: &Cx<'_>) -> Outcome<N::Out> {
    match next.follow(cx, outcome) {
        Step::Done(outcome) => outcome,
        Step::Wait(_) => unreachable!("a plain closure gives an outcome"),
    }
}

/// Two steps in one frame. The second never waits.
struct Fused<A, B>(A, B);

impl<T: Send + 'static, A: Follow<T>, B: Follow<A::Out>> Follow<T> for Fused<A, B> {
    type Out = B::Out;
    const NEVER_WAITS: bool = A::NEVER_WAITS;
    const ROOM: usize = room_with::<B>(A::ROOM);

    #[inline]
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
