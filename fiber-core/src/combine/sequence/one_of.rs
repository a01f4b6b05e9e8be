//! One of two fibers.

use std::sync::Arc;

use super::either::Either;
use super::map::Mapped;
use crate::engine::context::Cx;
use crate::engine::step::{Run, Step, larger, room_with};
use crate::outcome::Outcome;
use crate::panic::Panic;

/// One of two fibers: an arm of a race, a pause or a round.
#[derive(Debug)]
pub enum OneOf<A, B> {
    First(A),
    Other(B),
}

impl<A: Run, B: Run> Run for OneOf<A, B> {
    type Out = Either<A::Out, B::Out>;
    const ROOM: usize = room_with::<Mapped<A::Out, A::Out>>(larger(A::ROOM, B::ROOM));

    #[inline]
    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Self::Out> {
        match self {
            OneOf::First(run) => run.run_then(cx, Mapped(Either::Left)),
            OneOf::Other(run) => run.run_then(cx, Mapped(Either::Right)),
        }
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        match self {
            OneOf::First(run) => run.discard(torn),
            OneOf::Other(run) => run.discard(torn),
        }
    }

    fn end_unstarted(self, cx: &Cx<'_>) -> Outcome<Self::Out> {
        match self {
            OneOf::First(run) => run.end_unstarted(cx).map(Either::Left),
            OneOf::Other(run) => run.end_unstarted(cx).map(Either::Right),
        }
    }

    fn name(&self) -> Option<Arc<str>> {
        match self {
            OneOf::First(run) => run.name(),
            OneOf::Other(run) => run.name(),
        }
    }

    fn is_program(&self) -> bool {
        match self {
            OneOf::First(run) => run.is_program(),
            OneOf::Other(run) => run.is_program(),
        }
    }
}
