//! Two branches: the structure of `zip`, `race` and `race_with`.
//!
//! The fiber runs the left branch itself, and meanwhile lends the right one. If neither branch waits, and no other
//! thread takes the right one, no node and no allocation is needed.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use parking_lot::Mutex;

use super::race::Either;
use crate::combine::fork::branch::{Branch, Ran, Sink};
use crate::combine::region::end::RegionEnd;
use crate::combine::region::group::{self, Group};
use crate::engine::context::{Context, Cx, Part};
use crate::engine::lend::{Latent, Lendable, Lent};
use crate::engine::scheduler::SwitchPoint;
use crate::engine::step::{Run, Step};
use crate::engine::suppress::discard;
use crate::engine::task::Task;
use crate::error::{Frame, Site};
use crate::fiber::Fiber;
use crate::footprint::{Access, Side};
use crate::instant::Instant;
use crate::outcome::{Outcome, Panic};

/// Combines the outcomes of two branches.
pub trait Joint<A: Send + 'static, B: Send + 'static>: Copy + Send + Sync + 'static {
    /// The operator.
    const NAME: &'static str;
    /// The value of a success.
    type Out: Send + 'static;

    /// Whether this outcome of one branch decides the result, so that the other branch is no longer needed.
    fn decides<T>(outcome: &Outcome<T>) -> bool;

    /// The outcome when both have ended. A branch that was never started counts as cancelled.
    fn conclude(self, cx: &Cx<'_>, ended: Ended<A, B>, frame: Frame) -> Outcome<Self::Out>;
}

/// The description of two fibers that run in parallel. A `J` combines their outcomes.
#[derive(Clone, Debug)]
pub struct Pair<R, S, J> {
    left: R,
    right: S,
    joint: J,
    site: Site,
}

impl<R: Run, S: Run, J> Pair<R, S, J> {
    pub(super) fn new(left: Fiber<R::Out, R>, right: Fiber<S::Out, S>, joint: J, site: Site) -> Self {
        Pair { left: left.into_run(), right: right.into_run(), joint, site }
    }

    /// The branches, and the place where they were combined.
    pub(super) fn into_parts(self) -> (R, S, Site) {
        (self.left, self.right, self.site)
    }
}

impl<R: Run, S: Run, J: Joint<R::Out, S::Out>> Run for Pair<R, S, J> {
    type Out = J::Out;

    fn run<'s>(self, cx: &'s Cx<'_>) -> PairStep<'s, R, S, J> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        run_pair(cx, self.left, self.right, self.joint, self.site)
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.left.discard(torn);
        self.right.discard(torn);
    }
}

/// The ends of two branches.
#[derive(Debug)]
pub struct Ended<A, B> {
    pub(crate) left: Outcome<A>,
    pub(crate) right: Outcome<B>,
    /// Whether the right branch ended first.
    pub(crate) right_was_first: bool,
    /// The context of the branch that ended last, if it was a fiber.
    pub(crate) last: Option<Context>,
}

impl<A, B> Ended<A, B> {
    /// Two branches that were run one after the other.
    fn in_place(left: Outcome<A>, right: Outcome<B>) -> Self {
        Ended { left, right, right_was_first: false, last: None }
    }

    /// The outcomes in the order in which the branches ended.
    pub(crate) fn in_order(self) -> (Outcome<Either<A, B>>, Outcome<Either<A, B>>) {
        let (left, right) = (self.left.map(Either::Left), self.right.map(Either::Right));
        if self.right_was_first { (right, left) } else { (left, right) }
    }
}

/// Holds the outcomes of branches that are fibers.
pub(crate) struct Shared<A, B, J> {
    arrived: Mutex<Arrived<A, B>>,
    group: Context,
    joint: J,
    site: Site,
}

struct Arrived<A, B> {
    left: Option<Outcome<A>>,
    right: Option<Outcome<B>>,
    right_was_first: bool,
    last: Option<Context>,
}

impl<A, B, J> Shared<A, B, J>
where
    A: Send + 'static,
    B: Send + 'static,
    J: Joint<A, B>,
{
    fn new(group: &Context, joint: J, site: Site) -> Arc<Self> {
        let arrived = Arrived { left: None, right: None, right_was_first: false, last: None };
        Arc::new(Shared { arrived: Mutex::new(arrived), group: group.clone(), joint, site })
    }

    fn arrive<T>(
        &self,
        fiber: &Context,
        outcome: Outcome<T>,
        place: impl FnOnce(&mut Arrived<A, B>) -> &mut Option<Outcome<T>>,
    ) {
        let is_decided = J::decides(&outcome);
        let commutes = outcome.is_success() && !is_decided;
        self.group.touch(Side::Branches, if commutes { Access::Commute } else { Access::Write });
        let mut arrived = self.arrived.lock();
        *place(&mut arrived) = Some(outcome);
        arrived.right_was_first |= arrived.left.is_none();
        arrived.last = Some(fiber.clone());
        drop(arrived);
        if is_decided {
            self.group.cancel();
        }
    }
}

impl<A, B, J> Drop for Shared<A, B, J> {
    /// Outcomes are left if the scheduler has dropped the fiber. The drop of each of them may panic.
    fn drop(&mut self) {
        let Arrived { left, right, .. } = self.arrived.get_mut();
        discard(left.take(), &self.group);
        discard(right.take(), &self.group);
    }
}

struct Left<A, B, J>(Arc<Shared<A, B, J>>);
struct Right<A, B, J>(Arc<Shared<A, B, J>>);

impl<A: Send + 'static, B: Send + 'static, J: Joint<A, B>> Sink<A> for Left<A, B, J> {
    type Place = ();

    fn deliver(&self, fiber: &Context, outcome: Outcome<A>) {
        self.0.arrive(fiber, outcome, |arrived| &mut arrived.left);
    }
}

impl<A: Send + 'static, B: Send + 'static, J: Joint<A, B>> Sink<B> for Right<A, B, J> {
    type Place = ();

    fn deliver(&self, fiber: &Context, outcome: Outcome<B>) {
        self.0.arrive(fiber, outcome, |arrived| &mut arrived.right);
    }
}

/// Gives the outcome of both branches together.
pub(crate) struct Joined<A, B, J>(Arc<Shared<A, B, J>>);

impl<A: Send + 'static, B: Send + 'static, J: Joint<A, B>> RegionEnd<()> for Joined<A, B, J> {
    type Out = J::Out;

    fn conclude(self, cx: &Cx<'_>, _: Option<Outcome<()>>) -> Outcome<J::Out> {
        let mut arrived = self.0.arrived.lock();
        let (left, right) = (arrived.left.take(), arrived.right.take());
        let (right_was_first, last) = (arrived.right_was_first, arrived.last.take());
        drop(arrived);
        let (Some(left), Some(right)) = (left, right) else { unreachable!("both sides have ended") };
        let frame = Frame::new(J::NAME, self.0.site);
        self.0.joint.conclude(cx, Ended { left, right, right_was_first, last }, frame)
    }
}

impl<A, B, J> fmt::Debug for Joined<A, B, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.group.fmt(f)
    }
}

/// The right branch, before it is started.
struct Second<'a, A, S, J> {
    run: S,
    joint: J,
    group: &'a Part<'a>,
    site: Site,
    left: PhantomData<fn(A)>,
}

type SecondBranch<A, S, J> = Branch<S, Right<A, <S as Run>::Out, J>>;

impl<A: Send + 'static, S: Run, J: Joint<A, S::Out>> Latent for Second<'_, A, S, J> {
    type Promoted = (SecondBranch<A, S, J>, Arc<Shared<A, S::Out, J>>);

    fn promote(self) -> (Task, Self::Promoted) {
        let group = self.group.context();
        let shared = Shared::new(group, self.joint, self.site);
        let (branch, task) = Branch::new(group, self.run, Right(shared.clone()), self.site);
        (task, (branch, shared))
    }
}

/// Runs both branches, the left one first.
#[inline]
pub(crate) fn run_pair<'s, R: Run, S: Run, J: Joint<R::Out, S::Out>>(
    cx: &'s Cx<'_>,
    left: R,
    right: S,
    joint: J,
    site: Site,
) -> PairStep<'s, R, S, J> {
    let may_start = cx.spend(|| SwitchPoint::Branch);
    if !may_start || !cx.can_lend() {
        return run_apart(cx, left, right, joint, site, may_start);
    }
    let group = Part::structure(cx, J::NAME, Instant::FAR_FUTURE, site);
    let inside = &cx.within(&group);
    let mut second = Lendable::new(Second { run: right, joint, group: &group, site, left: PhantomData });
    let left = cx.lend(&mut second, || Ran::of::<Left<_, S::Out, J>, _>(inside, left, site));
    let right = match second.into_inner() {
        Lent::Back(second) => second.run,
        Lent::Taken((right, shared)) => {
            left.join(cx, group.context(), Left(shared.clone()));
            right.start_inline(cx);
            return Group::settle(cx, group.into_inside(), Joined(shared));
        }
    };
    let frame = Frame::new(J::NAME, site);
    let (left, right) = match left {
        Ran::Ended(left) if J::decides(&left) || inside.is_cancelled() => {
            let right = Outcome::Cancelled.without_run(right, cx);
            return Step::Done(joint.conclude(cx, Ended::in_place(left, right), frame));
        }
        Ran::Ended(left) if cx.spend(|| SwitchPoint::Branch) => {
            match Ran::of::<Right<R::Out, _, J>, _>(inside, right, site) {
                Ran::Ended(right) => {
                    return Step::Done(joint.conclude(cx, Ended::in_place(left, right), frame));
                }
                right => (Ran::Ended(left), Ok(right)),
            }
        }
        left => (left, Err(right)),
    };
    // One of the branches waits, or the turn is over.
    let shared = Shared::new(group.context(), joint, site);
    left.join(cx, group.context(), Left(shared.clone()));
    match right {
        Ok(right) => right.join(cx, group.context(), Right(shared.clone())),
        Err(right) => {
            let (right, task) = Branch::new(group.context(), right, Right(shared.clone()), site);
            right.run_last(cx, task);
        }
    }
    Group::settle(cx, group.into_inside(), Joined(shared))
}

type PairStep<'s, R, S, J> = Step<'s, <J as Joint<<R as Run>::Out, <S as Run>::Out>>::Out>;

/// Runs both branches as separate fibers, because the scheduler decides when each of them runs, or because the thread
/// cannot lend.
#[cold]
fn run_apart<'s, R: Run, S: Run, J: Joint<R::Out, S::Out>>(
    cx: &'s Cx<'_>,
    left: R,
    right: S,
    joint: J,
    site: Site,
    may_start: bool,
) -> PairStep<'s, R, S, J> {
    let group = group::open(cx, J::NAME, site);
    let shared = Shared::new(&group, joint, site);
    let (left, left_task) = Branch::new(&group, left, Left(shared.clone()), site);
    let (right, right_task) = Branch::new(&group, right, Right(shared.clone()), site);
    if may_start {
        cx.schedule(right_task);
        left.start(cx.view());
        right.start_inline(cx);
    } else {
        cx.schedule(left_task);
        cx.schedule(right_task);
    }
    Group::settle(cx, group, Joined(shared))
}
