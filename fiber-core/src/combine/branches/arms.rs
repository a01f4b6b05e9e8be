//! A race of fibers of different types: what [`race!`](crate::race!) expands to.
//!
//! ```text
//!  race! { a => .., b => .., c => .. }     Arm(a, Arm(b, LastArm(c)))
//!  the branches                            First(a)   Other(First(b))   Other(Other(c))
//!  the value                               Left(a)    Right(Left(b))    Right(Right(c))
//! ```
//!
//! All arms are branches of one race, as in `race_all`. A race of races would be another program: while the loser of an inner race waits in
//! its finalizer, the outer one goes on, and another arm can win. Arms that are single waits have no finalizers, and are one wait of the fiber.

use std::panic::Location;
use std::sync::Arc;

use super::choice::{Choice, Sides};
use super::gather::{Plan, run_all};
use super::race_all::First;
use crate::cell::EventKey;
use crate::combine::sequence::OneOf;
use crate::combine::sequence::fibers::{Fibers, Out};
use crate::engine::context::Cx;
use crate::engine::side::{Side, Single};
use crate::engine::step::{Run, Step};
use crate::error::{Frame, Site};
use crate::fiber::{Fiber, IntoFiber};
use crate::outcome::Outcome;
use crate::panic::Panic;

/// An arm, and those after it.
#[derive(Debug)]
pub struct Arm<R, M>(Option<R>, M);

/// The last arm.
#[derive(Debug)]
pub struct LastArm<R>(Option<R>);

/// An arm, and those below it.
#[doc(hidden)]
#[inline]
#[track_caller]
pub fn arm<I: IntoFiber, M: Fibers>(fiber: I, rest: M) -> Arm<I::Run, M> {
    Arm(Some(fiber.into_fiber().into_run()), rest)
}

/// The lowest arm.
#[doc(hidden)]
#[inline]
#[track_caller]
pub fn last_arm<I: IntoFiber>(fiber: I) -> LastArm<I::Run> {
    LastArm(Some(fiber.into_fiber().into_run()))
}

/// One of two arms.
#[doc(hidden)]
#[inline]
#[track_caller]
pub fn into_fiber<I: IntoFiber>(fiber: I) -> Fiber<I::Out, I::Run> {
    fiber.into_fiber()
}

/// The race of three arms or more.
#[doc(hidden)]
#[inline]
#[track_caller]
pub fn race_arms<M: Fibers>(arms: M) -> Fiber<Out<M>, RaceArms<M>> {
    Fiber::new(RaceArms { arms, site: Location::caller() })
}

/// An arm with a condition. Without a fiber, it is switched off.
#[doc(hidden)]
#[inline]
#[track_caller]
pub fn switched<T: Send + 'static, R: Run<Out = T>>(fiber: Option<Fiber<T, R>>) -> Fiber<T, Switched<R>> {
    Fiber::new(Switched { run: fiber.map(Fiber::into_run), site: Location::caller() })
}

impl<R: Run, M: Fibers> Fibers for Arm<R, M> {
    type Run = OneOf<R, M::Run>;
    const COUNT: usize = M::COUNT + 1;
    const SINGLE: Option<Single> = Single::and_of_types(R::SINGLE, M::SINGLE);

    #[inline]
    fn single(&self) -> Single {
        self.0.as_ref().map_or(Single::NO, R::single).and(self.1.single())
    }

    #[inline]
    fn pull(&mut self) -> Option<Self::Run> {
        match self.0.take() {
            Some(first) => Some(OneOf::First(first)),
            None => self.1.pull().map(OneOf::Other),
        }
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        if let Some(first) = self.0 {
            first.discard(torn);
        }
        self.1.discard(torn);
    }

    fn into_side(self) -> impl Side<Out = Out<Self>> {
        Sides(self.0.expect("it was not pulled").into_side(), self.1.into_side())
    }
}

impl<R: Run> Fibers for LastArm<R> {
    type Run = R;
    const COUNT: usize = 1;
    const SINGLE: Option<Single> = R::SINGLE;

    #[inline]
    fn single(&self) -> Single {
        self.0.as_ref().map_or(Single::NO, R::single)
    }

    #[inline]
    fn pull(&mut self) -> Option<R> {
        self.0.take()
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        if let Some(last) = self.0 {
            last.discard(torn);
        }
    }

    fn into_side(self) -> impl Side<Out = R::Out> {
        self.0.expect("it was not pulled").into_side()
    }
}

/// The description of a race of arms.
#[derive(Debug)]
pub struct RaceArms<M> {
    arms: M,
    site: Site,
}

impl<M: Fibers> RaceArms<M> {
    /// A constant, so that the compiler looks into one of both only, if the types say which.
    const RUN: for<'s> fn(Self, &'s Cx<'_>) -> Step<'s, Out<M>> = match M::SINGLE {
        Some(single) if single.is_one() && M::COUNT <= EventKey::MAX_EVENTS => Self::run_as_choice,
        None if M::COUNT <= EventKey::MAX_EVENTS => Self::run_as_either,
        _ => Self::run_as_branches,
    };

    fn run_as_either<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Out<M>> {
        if self.arms.single().is_one() { self.run_as_choice(cx) } else { self.run_as_branches(cx) }
    }

    #[inline]
    fn run_as_choice<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Out<M>> {
        Choice::leaf(self.arms.into_side(), self.site).run(cx)
    }

    #[inline]
    fn run_as_branches<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Out<M>> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let frame = Frame::new("race", self.site);
        run_all(cx, self.arms, First::new(frame), Plan { limit: usize::MAX, frame })
    }
}

impl<M: Fibers> Run for RaceArms<M> {
    type Out = Out<M>;

    #[inline]
    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Self::Out> {
        Self::RUN(self, cx)
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.arms.discard(torn);
    }
}

/// The description of an arm with a condition.
#[derive(Clone, Debug)]
pub struct Switched<R> {
    run: Option<R>,
    site: Site,
}

impl<R: Run> Run for Switched<R> {
    type Out = R::Out;

    #[inline]
    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, R::Out> {
        match self.run {
            Some(run) => run.run(cx),
            None => Fiber::never_at(self.site).into_run().run(cx),
        }
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        if let Some(run) = self.run {
            run.discard(torn);
        }
    }

    fn end_unstarted(self, cx: &Cx<'_>) -> Outcome<R::Out> {
        self.run.map_or(Outcome::Cancelled, |run| run.end_unstarted(cx))
    }

    fn name(&self) -> Option<Arc<str>> {
        self.run.as_ref().and_then(R::name)
    }

    const SINGLE: Option<Single> = R::SINGLE;

    #[inline]
    fn single(&self) -> Single {
        match &self.run {
            Some(run) => run.single(),
            None => R::SINGLE.unwrap_or(Single::ONCE),
        }
    }

    fn is_program(&self) -> bool {
        self.run.as_ref().is_some_and(R::is_program)
    }

    fn into_side(self) -> impl Side<Out = R::Out> {
        self.run.map(R::into_side)
    }
}
