//! Two branches: the structure of `zip`, `race` and `race_with`.
//!
//! The fiber runs the left branch itself, and meanwhile lends the right one. If neither branch waits, and no other
//! thread takes the right one, no node and no allocation is needed.

use std::marker::PhantomData;

use parking_lot::Mutex;

use crate::combine::fork::branch::{Branch, Ran};
use crate::combine::fork::sink::Sink;
use crate::combine::region::end::RegionEnd;
use crate::combine::region::group;
use crate::combine::sequence::Either;
use crate::engine::context::{Context, Cx, NodeGuard, Part};
use crate::engine::lend::{Latent, Lendable, Lent};
use crate::engine::side::Single;
use crate::engine::step::{Run, Step};
use crate::engine::suppress::discard;
use crate::engine::task::Task;
use crate::error::{Frame, Site};
use crate::fiber::Fiber;
use crate::footprint::{Access, Side};
use crate::instant::Instant;
use crate::outcome::Outcome;
use crate::panic::Panic;

/// Combines the outcomes of two branches.
pub trait Joint<A: Send + 'static, B: Send + 'static>: Copy + Send + Sync + 'static {
    /// The operator.
    const NAME: &'static str;
    /// The value of a success.
    type Out: Send + 'static;

    /// Whether the branches are the sides of a race: what an event gives to one that loses must not be lost.
    const RACES: bool = false;

    /// Whether `conclude` wants to know the branch that ended last.
    const NAMES_LAST: bool = true;

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

    /// Whether both sides are single waits.
    pub(super) fn single(&self) -> Single
    where
        R: Run,
        S: Run,
    {
        self.left.single().and(self.right.single())
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
    /// The context of the branch that ended last, if it was a fiber, and the operator [asks](Joint::NAMES_LAST) for it.
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

/// The outcomes of branches that are fibers, in the cell of the group.
struct Sides<A, B>(Mutex<Arrived<A, B>>);

struct Arrived<A, B> {
    left: Option<Outcome<A>>,
    right: Option<Outcome<B>>,
    right_was_first: bool,
    /// Keeps the group, in whose cell this is, until it is taken.
    last: Option<Context>,
    /// The fiber was abandoned, and takes no outcomes.
    is_closed: bool,
}

impl<A, B> Default for Sides<A, B> {
    fn default() -> Self {
        let arrived =
            Arrived { left: None, right: None, right_was_first: false, last: None, is_closed: false };
        Sides(Mutex::new(arrived))
    }
}

impl<A: Send + 'static, B: Send + 'static> Sides<A, B> {
    fn of(group: &Context) -> &Self {
        group.shared().expect("the group of two branches")
    }
}

/// Records the outcome of a branch: of `fiber`, or of one that has run in the group itself.
fn arrive<A: Send + 'static, B: Send + 'static, J: Joint<A, B>, T>(
    fiber: &Context,
    outcome: Outcome<T>,
    place: impl FnOnce(&mut Arrived<A, B>) -> &mut Option<Outcome<T>>,
) {
    let around = if fiber.is_structure() { None } else { fiber.around() };
    let group = around.unwrap_or(fiber);
    let is_decided = J::decides(&outcome);
    let commutes = outcome.is_success() && !is_decided;
    group.touch(Side::Branches, if commutes { Access::Commute } else { Access::Write });
    let mut arrived = Sides::<A, B>::of(group).0.lock();
    if arrived.is_closed {
        drop(arrived);
        return discard(outcome, group);
    }
    *place(&mut arrived) = Some(outcome);
    arrived.right_was_first |= arrived.left.is_none();
    if J::NAMES_LAST {
        arrived.last = Some(fiber.clone());
    }
    drop(arrived);
    if is_decided {
        if J::RACES {
            group.decide_race();
        }
        group.cancel();
    }
}

/// The sink of a branch.
struct SideOf<A, B, J, const IS_RIGHT: bool>(PhantomData<fn(A, B, J)>);
type LeftOf<R, S, J> = SideOf<<R as Run>::Out, <S as Run>::Out, J, false>;
type RightOf<R, S, J> = SideOf<<R as Run>::Out, <S as Run>::Out, J, true>;

impl<A, B, J, const IS_RIGHT: bool> SideOf<A, B, J, IS_RIGHT> {
    fn new() -> Self {
        SideOf(PhantomData)
    }
}

impl<A: Send + 'static, B: Send + 'static, J: Joint<A, B>> Sink<A> for SideOf<A, B, J, false> {
    type Place = ();
    const RACES: bool = J::RACES;

    fn deliver(self, fiber: &Context, outcome: Outcome<A>) {
        arrive::<A, B, J, A>(fiber, outcome, |arrived| &mut arrived.left);
    }
}

impl<A: Send + 'static, B: Send + 'static, J: Joint<A, B>> Sink<B> for SideOf<A, B, J, true> {
    type Place = ();
    const RACES: bool = J::RACES;

    fn deliver(self, fiber: &Context, outcome: Outcome<B>) {
        arrive::<A, B, J, B>(fiber, outcome, |arrived| &mut arrived.right);
    }
}

/// Gives the outcome of both branches together.
struct Joined<A: Send + 'static, B: Send + 'static, J> {
    /// `None` after the outcomes were taken.
    group: Option<Context>,
    joint: J,
    site: Site,
    of: PhantomData<fn(A, B)>,
}

impl<A: Send + 'static, B: Send + 'static, J: Joint<A, B>> Joined<A, B, J> {
    fn new(group: &Context, joint: J, site: Site) -> Self {
        Joined { group: Some(group.clone()), joint, site, of: PhantomData }
    }
}

impl<A: Send + 'static, B: Send + 'static, J: Joint<A, B>> RegionEnd<()> for Joined<A, B, J> {
    type Out = J::Out;

    fn conclude(mut self, cx: &Cx<'_>, _: Option<Outcome<()>>) -> Outcome<J::Out> {
        let group = self.group.take().expect("two branches are concluded once");
        let mut arrived = Sides::<A, B>::of(&group).0.lock();
        let (left, right) = (arrived.left.take(), arrived.right.take());
        let (right_was_first, last) = (arrived.right_was_first, arrived.last.take());
        drop(arrived);
        let (Some(left), Some(right)) = (left, right) else { unreachable!("both sides have ended") };
        let frame = Frame::new(J::NAME, self.site);
        self.joint.conclude(cx, Ended { left, right, right_was_first, last }, frame)
    }
}

impl<A: Send + 'static, B: Send + 'static, J> Drop for Joined<A, B, J> {
    /// Outcomes are left if the scheduler has dropped the fiber. The drop of each of them may panic.
    fn drop(&mut self) {
        let Some(group) = self.group.take() else { return };
        let mut arrived = Sides::<A, B>::of(&group).0.lock();
        arrived.is_closed = true;
        let (left, right, last) = (arrived.left.take(), arrived.right.take(), arrived.last.take());
        drop((arrived, last));
        discard(left, &group);
        discard(right, &group);
    }
}

/// The right branch, before it is started.
struct Second<'a, A, S, J> {
    run: S,
    group: &'a Part<'a>,
    site: Site,
    of: PhantomData<fn(A, J)>,
}

impl<A: Send + 'static, S: Run, J: Joint<A, S::Out>> Latent for Second<'_, A, S, J> {
    type Promoted = Branch<S, SideOf<A, S::Out, J, true>>;

    fn promote(self) -> (Task, Self::Promoted) {
        let (branch, task) = Branch::new(self.group.context(), self.run, SideOf::new(), self.site);
        (task, branch)
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
    if J::RACES && cx.is_raced() {
        cx.release_race();
    }
    let may_start = cx.spend_on_branch();
    let branches = cx.branches();
    if !may_start || branches.is_none() {
        return run_apart(cx, left, right, joint, site, may_start);
    }
    let mut group = Part::sharing::<Sides<R::Out, S::Out>>(cx, J::NAME, Instant::FAR_FUTURE, site);
    group.set_races(J::RACES);
    let mut part = Part::for_fibers_in(&group);
    let mut second =
        Lendable::new(Second::<R::Out, S, J> { run: right, group: &group, site, of: PhantomData });
    let left = cx.lend(branches, &mut second, || Ran::of::<LeftOf<R, S, J>, _>(cx, &mut part, left));
    let right = match second.into_inner() {
        Lent::Back(second) => second.run,
        Lent::Taken(right) => {
            left.join(cx, group.context(), LeftOf::<R, S, J>::new());
            right.start_inline(cx);
            return settle::<R, S, J>(cx, group.leave_inside(), joint, site);
        }
    };
    let frame = Frame::new(J::NAME, site);
    let (left, is_cancelled) = match left {
        Ran::Ended(left) => {
            if J::decides(&left) || cx.within(&group).is_cancelled() {
                let right = Outcome::Cancelled.without_run(right, cx);
                return Step::Done(joint.conclude(cx, Ended::in_place(left, right), frame));
            }
            (Some(left), false)
        }
        // It begins to wait before the right branch runs.
        left => {
            left.join(cx, group.context(), LeftOf::<R, S, J>::new());
            (None, cx.within(&group).is_cancelled())
        }
    };
    let may_start = !is_cancelled && cx.spend_on_branch();
    let right = if may_start { Ok(Ran::of::<RightOf<R, S, J>, _>(cx, &mut part, right)) } else { Err(right) };
    let (left, right) = match (left, right) {
        (Some(left), Ok(Ran::Ended(right))) => {
            return Step::Done(joint.conclude(cx, Ended::in_place(left, right), frame));
        }
        others => others,
    };
    if let Some(left) = left {
        Ran::Ended(left).join(cx, group.context(), LeftOf::<R, S, J>::new());
    }
    match right {
        Ok(right) => right.join(cx, group.context(), RightOf::<R, S, J>::new()),
        Err(right) => cx.schedule(Branch::new(group.context(), right, RightOf::<R, S, J>::new(), site).1),
    }
    settle::<R, S, J>(cx, group.leave_inside(), joint, site)
}

/// Waits for both branches.
fn settle<'s, R: Run, S: Run, J: Joint<R::Out, S::Out>>(
    cx: &'s Cx<'_>,
    group: NodeGuard,
    joint: J,
    site: Site,
) -> PairStep<'s, R, S, J> {
    let joined = Joined::new(&group, joint, site);
    group::settle(cx, group, joined)
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
    let group = group::open_sharing::<Sides<R::Out, S::Out>>(cx, J::NAME, site);
    group.set_races(J::RACES);
    let (left, left_task) = Branch::new(&group, left, LeftOf::<R, S, J>::new(), site);
    let (right, right_task) = Branch::new(&group, right, RightOf::<R, S, J>::new(), site);
    if may_start {
        cx.schedule(right_task);
        left.start(cx.view());
        right.start_inline(cx);
    } else {
        cx.schedule(left_task);
        cx.schedule(right_task);
    }
    settle::<R, S, J>(cx, group, joint, site)
}
