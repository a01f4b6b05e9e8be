//! Two branches: the structure of `zip` and `race`.
//!
//! The fiber runs the left branch itself, and lends the right one meanwhile. What needs no waiting, and is not taken by another
//! thread, needs no node and no allocation.

use std::marker::PhantomData;
use std::panic::Location;

use super::branch::{Branch, Ran, Sink};
use super::group::{self, Conclusion, Group};
use crate::context::{Context, Cx, Part};
use crate::instant::Instant;
use crate::lend::{Latent, Lendable, Lent};
use crate::outcome::Outcome;
use crate::scheduler::SwitchPoint;
use crate::step::{Run, Step};
use crate::task::Task;

type Site = &'static Location<'static>;

/// What a combinator makes of the outcomes of two branches.
pub(super) trait Joint<A: Send + 'static, B: Send + 'static>: Copy + Send + 'static {
    /// The operator.
    const NAME: &'static str;
    /// The value of a success.
    type Out: Send + 'static;
    /// Where the left branch leaves its outcome, when it is a fiber.
    type Left: Sink<A>;
    /// The same for the right one.
    type Right: Sink<B>;
    /// What gives the outcome when both are fibers.
    type End: Conclusion<Out = Self::Out>;

    /// The places for the outcomes of branches below `group`.
    fn open(self, group: &Context) -> (Self::Left, Self::Right, Self::End);

    /// Whether the right branch is still of interest after the left one has ended so.
    fn wants_right(left: &Outcome<A>) -> bool;

    /// The outcome when both have ended, the left one first. Without being of interest the right one ends as cancelled.
    fn conclude(self, cx: &Cx<'_>, left: Outcome<A>, right: Outcome<B>) -> Outcome<Self::Out>;
}

/// The right branch, as long as nobody has started it.
struct Right<'a, A, S, J> {
    run: S,
    joint: J,
    group: &'a Part<'a>,
    site: Site,
    left: PhantomData<fn(A)>,
}

impl<A: Send + 'static, S: Run, J: Joint<A, S::Out>> Latent for Right<'_, A, S, J> {
    type Promoted = (Branch<S, J::Right>, J::Left, J::End);

    fn promote(self) -> (Task, Self::Promoted) {
        let group = self.group.context();
        let (left, right, end) = self.joint.open(group);
        let branch = Branch::new(group, self.run, right, self.site);
        (branch.task(), (branch, left, end))
    }
}

/// Runs both branches, the left one first.
#[inline]
pub(super) fn run_pair<R: Run, S: Run, J: Joint<R::Out, S::Out>>(
    cx: &Cx<'_>,
    left: R,
    right: S,
    joint: J,
    site: Site,
) -> Step<J::Out, Group<J::End>> {
    let may_start = cx.spend(|| SwitchPoint::Branch);
    if !may_start || !cx.can_lend() {
        return run_apart(cx, left, right, joint, site, may_start);
    }
    let group = Part::structure(cx, J::NAME, Instant::FAR_FUTURE, None, site);
    let inside = &cx.within(&group);
    let mut right = Lendable::new(Right { run: right, joint, group: &group, site, left: PhantomData });
    let left = cx.lend(&mut right, || Ran::of::<J::Left, _>(inside, left, site));
    let right = match right.into_inner() {
        Lent::Back(right) => right.run,
        Lent::Taken((right, left_sink, end)) => {
            left.join(cx, group.context(), left_sink);
            right.start_inline(cx);
            return Group::settle(cx, group.into_inside(), end);
        }
    };
    match left {
        Ran::Ended(left) if !J::wants_right(&left) || inside.is_cancelled() => {
            let right = Outcome::Cancelled.without_run(right, cx);
            Step::Done(joint.conclude(cx, left, right))
        }
        Ran::Ended(left) if cx.spend(|| SwitchPoint::Branch) => {
            match Ran::of::<J::Right, _>(inside, right, site) {
                Ran::Ended(right) => Step::Done(joint.conclude(cx, left, right)),
                right => {
                    let (left_sink, right_sink, end) = joint.open(group.context());
                    Ran::<_, R::Suspension>::Ended(left).join(cx, group.context(), left_sink);
                    right.join(cx, group.context(), right_sink);
                    Group::settle(cx, group.into_inside(), end)
                }
            }
        }
        left => {
            let (left_sink, right_sink, end) = joint.open(group.context());
            left.join(cx, group.context(), left_sink);
            Branch::new(group.context(), right, right_sink, site).run_last(cx);
            Group::settle(cx, group.into_inside(), end)
        }
    }
}

/// Runs both branches as fibers of their own: the scheduler decides about each of them, or the thread lends nothing.
#[cold]
fn run_apart<R: Run, S: Run, J: Joint<R::Out, S::Out>>(
    cx: &Cx<'_>,
    left: R,
    right: S,
    joint: J,
    site: Site,
    may_start: bool,
) -> Step<J::Out, Group<J::End>> {
    let group = group::open(cx, J::NAME, site);
    let (left_sink, right_sink, end) = joint.open(&group);
    let left = Branch::new(&group, left, left_sink, site);
    let right = Branch::new(&group, right, right_sink, site);
    if may_start {
        right.offer(cx);
        left.start_here(cx);
        right.start_inline(cx);
    } else {
        left.offer(cx);
        right.offer(cx);
    }
    Group::settle(cx, group, end)
}
