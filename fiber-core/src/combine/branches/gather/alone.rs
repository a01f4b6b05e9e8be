//! A fiber that runs branches one after the other, until another thread takes the rest, or a branch has to wait.

use std::vec;

use super::team::{Gathered, Helper, Member, Members, Shared, Team};
use super::{Arrived, Gather};
use crate::combine::fork::branch::Ran;
use crate::combine::region::group;
use crate::combine::sequence::fibers::{Fibers, Out, pull_all};
use crate::engine::context::{Cx, Part};
use crate::engine::lend::{Latent, Lendable, Lent};
use crate::engine::step::{Run, Step};
use crate::engine::suppress::forget;
use crate::engine::task::Task;
use crate::error::{Error, Frame};
use crate::instant::Instant;
use crate::outcome::Outcome;
use crate::panic::{Panic, guard};

/// How the branches are run.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// The largest number of branches at a time.
    pub(crate) limit: usize,
    pub(crate) frame: Frame,
}

/// Branches that were all pulled before the first one started.
#[derive(Debug)]
pub(crate) struct Pulled<R>(vec::IntoIter<R>);

impl<R: Run> Fibers for Pulled<R> {
    type Run = R;

    fn pull(&mut self) -> Option<R> {
        self.0.next()
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.0.for_each(|run| run.discard(torn));
    }
}

/// A race of any number of fibers, whose outcomes go to what `gather` makes.
#[derive(Clone, Debug)]
pub struct RaceOf<M, N> {
    pub(in super::super) fibers: M,
    pub(in super::super) gather: N,
    pub(in super::super) frame: Frame,
}

impl<M: Fibers, G: Gather<Out<M>, Out = Out<M>>> Run for RaceOf<M, fn(Frame) -> G> {
    type Out = Out<M>;

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, Out<M>> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        run_pulled(cx, self.fibers, |_| Ok((self.gather)(self.frame)), self.frame)
    }
}

/// Pulls an iterator of branches to its end, and runs them all. The `next` and the drop of the iterator are user code.
/// Without a branch, there is no winner. `gather` receives the number of branches, and may refuse to run them.
pub(crate) fn run_pulled<'s, M: Fibers, G: Gather<Out<M>>>(
    cx: &'s Cx<'_>,
    fibers: M,
    gather: impl FnOnce(usize) -> Result<G, Error>,
    frame: Frame,
) -> Step<'s, G::Out> {
    let mut pulled = Vec::new();
    let outcome = match pull_all(fibers, |run| pulled.push(run), cx).split() {
        Ok(()) if !pulled.is_empty() => match gather(pulled.len()) {
            Ok(gather) => {
                let plan = Plan { limit: usize::MAX, frame };
                return run_all(cx, Pulled(pulled.into_iter()), gather, plan);
            }
            Err(error) => Outcome::Failure(error),
        },
        Ok(()) => Outcome::Failure(Error::msg(format!("{} of no fibers has no winner", frame.operator()))),
        Err(panicked) => panicked,
    };
    let without = |outcome: Outcome<_>, run| outcome.without(run, cx);
    Step::Done(pulled.into_iter().fold(outcome, without).passed(frame))
}

/// Runs all branches, in their order.
pub(crate) fn run_all<'s, M: Fibers, G: Gather<Out<M>>>(
    cx: &'s Cx<'_>,
    members: M,
    gather: G,
    plan: Plan,
) -> Step<'s, G::Out> {
    if G::RACES && cx.is_raced() {
        cx.release_race();
    }
    let may_start = cx.spend_on_branch();
    let branches = cx.branches();
    if !may_start || branches.is_none() {
        return run_in_group(cx, members, gather, plan, may_start);
    }
    let (operator, site) = (plan.frame.operator(), plan.frame.location());
    let mut group = Part::sharing::<Shared<M, G>>(cx, operator, Instant::FAR_FUTURE, site);
    group.set_races(G::RACES);
    let mut part = Part::for_fibers_in(&group);
    let branches = branches.filter(|_| plan.limit > 1);
    let limit = plan.limit;
    let mut rest =
        Lendable::new(Rest { members, gather, pulled: 0, is_decided: false, limit, group: &group });
    let (index, ran) = loop {
        let alone = rest.get_mut().expect("no thread has promoted it");
        let Some((index, run)) = alone.pull(cx) else {
            let Lent::Back(alone) = rest.into_inner() else { unreachable!("no thread has promoted it") };
            return Step::Done(alone.conclude(cx));
        };
        let ran = cx.lend(branches, &mut rest, || Ran::of::<Member<M, G>, _>(cx, &mut part, run));
        match (rest.get_mut(), ran) {
            (Some(alone), Ran::Ended(outcome)) => alone.arrive(cx, index, outcome),
            (_, ran) => break (index, Some(ran)),
        }
        let goes_on = rest.get_mut().is_some_and(|alone| !alone.is_decided);
        if goes_on && !cx.spend_on_branch() {
            break (index, None);
        }
    };
    let (members, mut helper) = match rest.into_inner() {
        Lent::Back(alone) if ran.is_some() && limit == usize::MAX => (Some(alone.share_outcomes()), None),
        Lent::Back(alone) => {
            alone.share(usize::from(ran.is_some()));
            (None, None)
        }
        Lent::Taken(helper) => (None, Some(helper)),
    };
    let team = Team::<M, G>::of(group.context());
    let gathered = Gathered::new(team);
    match ran {
        Some(ran) => {
            team.join(cx, index, ran);
            match members {
                Some(members) => helper = team.run_alone(cx, members),
                None => team.help(cx),
            }
        }
        None => _ = team.offer_helper(),
    }
    if let Some(helper) = helper {
        // If no thread has started the helper, there is one branch less to wait for.
        helper.start_inline(cx);
    }
    group::settle(cx, group.leave_inside(), gathered)
}

/// Runs the branches in a group that has a node from the start. If they may not start here, each is a separate fiber whose
/// start the scheduler decides about. Otherwise the thread cannot lend, and runs them itself.
#[cold]
fn run_in_group<'s, M: Fibers, G: Gather<Out<M>>>(
    cx: &'s Cx<'_>,
    members: M,
    gather: G,
    plan: Plan,
    may_start: bool,
) -> Step<'s, G::Out> {
    let group = group::open_sharing::<Shared<M, G>>(cx, plan.frame.operator(), plan.frame.location());
    group.set_races(G::RACES);
    let team = Team::of(&group);
    let gathered = Gathered::new(team);
    let left = Members { members, pulled: 0 };
    if !may_start && plan.limit == usize::MAX {
        team.share_outcomes(gather);
        team.start_all(left, |task| cx.schedule(task));
    } else {
        team.share(left, gather, plan.limit, 0);
        if may_start {
            team.help(cx);
        } else {
            team.fill(|task| cx.schedule(task));
        }
    }
    group::settle(cx, group, gathered)
}

/// The state of a fiber that runs all branches alone.
struct Rest<'a, M, G> {
    members: M,
    gather: G,
    pulled: usize,
    /// Further branches are not needed.
    is_decided: bool,
    limit: usize,
    group: &'a Part<'a>,
}

impl<M: Fibers, G: Gather<Out<M>>> Rest<'_, M, G> {
    /// The next branch. `None`: there is none, or it is not needed.
    #[inline]
    fn pull(&mut self, cx: &Cx<'_>) -> Option<(usize, M::Run)> {
        while !self.is_decided {
            let index = self.pulled;
            let run = match guard(|| self.members.pull()) {
                Ok(run) => run?,
                Err(panic) => {
                    self.arrive(cx, index, Outcome::Panicked(panic));
                    return None;
                }
            };
            self.pulled += 1;
            if !cx.within(self.group).is_cancelled() {
                return Some((index, run));
            }
            self.arrive(cx, index, Outcome::Cancelled.without_run(run, cx));
        }
        None
    }

    #[inline]
    fn arrive(&mut self, cx: &Cx<'_>, index: usize, outcome: Outcome<Out<M>>) {
        match self.gather.arrive(index, outcome, cx) {
            Arrived::Kept => {}
            Arrived::Decided => self.is_decided = true,
            Arrived::Unused(outcome) => forget(outcome, cx),
        }
    }

    /// Ends the operator. All branches have ended, or are not needed.
    fn conclude(self, cx: &Cx<'_>) -> Outcome<G::Out> {
        let Rest { members, mut gather, pulled, .. } = self;
        let mut torn = Vec::new();
        members.discard(&mut torn);
        for panic in torn {
            if let Arrived::Unused(outcome) = gather.arrive(pulled, Outcome::Panicked(panic), cx) {
                forget(outcome, cx);
            }
        }
        gather.conclude(cx)
    }

    /// Shares the branches with other threads, while `running` branches run.
    fn share(self, running: usize) {
        let Rest { members, gather, pulled, limit, group, .. } = self;
        Team::of(group.context()).share(Members { members, pulled }, gather, limit, running);
    }

    /// Shares only the outcomes, and gives the branches, which have no limit.
    fn share_outcomes(self) -> Members<M> {
        let Rest { members, gather, pulled, group, .. } = self;
        Team::<M, G>::of(group.context()).share_outcomes(gather);
        Members { members, pulled }
    }
}

impl<M: Fibers, G: Gather<Out<M>>> Latent for Rest<'_, M, G> {
    type Promoted = Helper<M, G>;

    fn promote(self) -> (Task, Self::Promoted) {
        let group = self.group;
        self.share(1);
        let (helper, task) = Team::of(group.context()).helper();
        (task, helper)
    }
}
