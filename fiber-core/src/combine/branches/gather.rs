//! Any number of branches of one type: the structure of `parallel`, `race_all` and `first_success`.
//!
//! The fiber runs one branch after the other itself, and meanwhile lends the rest:
//!
//! ```text
//!  alone:     Rest { members, gather } on the stack, lent while a branch runs
//!                 | a branch has to wait, without a limit         | a thread takes it, or a branch has to wait
//!                 v                                               |
//!  outcomes   Remaining { members } on the stack, lent as before; |
//!  shared:    Shared { gather } in the cell of the group          |
//!                 | a thread takes it                             |
//!                 v                                               v
//!  shared:    Shared { members, gather } in the cell of the group; the fiber and each thread that joins are helpers, which pull and
//!             run branches
//! ```
//!
//! If all branches end at once, before another thread takes the rest, no node and no allocation is needed.

use std::hint::spin_loop;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::vec;

use parking_lot::{Mutex, MutexGuard};

use crate::combine::fork::branch::{Branch, Ran};
use crate::combine::fork::sink::Sink;
use crate::combine::region::end::RegionEnd;
use crate::combine::region::group;
use crate::combine::sequence::fibers::{Fibers, Out, pull_all};
use crate::engine::context::{Context, Cx, Part};
use crate::engine::lend::{Latent, Lendable, Lent};
use crate::engine::scheduler::Unobserved;
use crate::engine::step::{Run, Step};
use crate::engine::suppress::{HasContext, discard, forget};
use crate::engine::task::Task;
use crate::error::{Error, Frame};
use crate::footprint::{Access, Side};
use crate::instant::Instant;
use crate::outcome::Outcome;
use crate::panic::{Panic, guard};

/// Combines the outcomes of branches.
pub(crate) trait Gather<T>: Send + 'static + Sized {
    /// The value of a success.
    type Out: Send + 'static;
    /// Whether the result depends only on which branches succeed, not on their order.
    const COMMUTES: bool = false;
    /// Whether the branches are the sides of a race: what an event gives to one that is not needed must not be lost.
    const RACES: bool = false;

    /// Branch `index` has ended, or the iterator panicked instead of giving that branch.
    fn arrive(&mut self, index: usize, outcome: Outcome<T>, fiber: &dyn HasContext) -> Arrived<T>;

    /// All branches have ended.
    fn conclude(self, cx: &Cx<'_>) -> Outcome<Self::Out>;

    /// The fiber was abandoned. Drops the values one after the other, because each of them may panic.
    fn discard(self, fiber: &Context);
}

/// The effect of a branch's end on the others.
#[derive(Debug)]
pub(crate) enum Arrived<T> {
    /// The others continue.
    Kept,
    /// The others are no longer needed.
    Decided,
    /// The others continue. This outcome is not needed: a failure is reported, and the outcome is dropped.
    Unused(Outcome<T>),
}

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
    pub(super) fibers: M,
    pub(super) gather: N,
    pub(super) frame: Frame,
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

/// The branches that are left, and the number of the others.
struct Members<M> {
    members: M,
    pulled: usize,
}

/// The branches of a fiber that runs them all, some of which wait.
struct Remaining<'a, M: Fibers, G: Gather<Out<M>>> {
    left: Members<M>,
    team: Team<'a, M, G>,
}

impl<M: Fibers, G: Gather<Out<M>>> Latent for Remaining<'_, M, G> {
    type Promoted = Helper<M, G>;

    fn promote(self) -> (Task, Self::Promoted) {
        self.team.put(self.left);
        let (helper, task) = self.team.helper();
        (task, helper)
    }
}

impl<M: Fibers, G: Gather<Out<M>>> Remaining<'_, M, G> {
    /// The next branch. `None`: there is none, or it is not needed.
    fn pull(&mut self) -> Option<(usize, M::Run)> {
        // Relaxed: an early check. If it is missed, the group is cancelled.
        if self.team.is_over() {
            return None;
        }
        let run = self.team.pull_from(&mut self.left.members)?;
        let index = self.left.pulled;
        self.left.pulled += 1;
        Some((index, run))
    }
}

/// The state shared by all fibers that run branches, in the cell of their group. A descendant may keep that cell for long, so
/// nothing of the user is left here when the fiber has the outcome, or was abandoned.
struct Shared<M, G> {
    source: Mutex<Source<M>>,
    /// `None` before it is shared, and after it was taken.
    gather: Mutex<Option<G>>,
    /// There are no more branches to pull.
    is_over: AtomicBool,
    /// The largest number of branches at a time. Set before a branch is shared.
    limit: AtomicUsize,
}

impl<M, G> Default for Shared<M, G> {
    fn default() -> Self {
        let source = Source { members: None, is_closed: false, pulled: 0, places: usize::MAX, missed: 0 };
        Shared {
            source: Mutex::new(source),
            gather: Mutex::new(None),
            is_over: AtomicBool::new(false),
            limit: AtomicUsize::new(usize::MAX),
        }
    }
}

/// The source of branches. Pulling runs user code, so one thread at a time does it, without the lock.
struct Source<M> {
    /// `None` while a branch is pulled, while one fiber runs them alone, and when no more branches are needed.
    members: Option<M>,
    is_closed: bool,
    pulled: usize,
    /// The number of branches that may still start. Without a limit, branches that end do not change it.
    places: usize,
    /// The number of threads that left because another thread was pulling.
    missed: usize,
}

/// How often a thread retries if another one is pulling, which usually takes some nanoseconds.
const PATIENCE: u32 = 64;

/// A group, and what its branches share.
struct Team<'a, M, G> {
    group: &'a Context,
    shared: &'a Shared<M, G>,
}

impl<M, G> Clone for Team<'_, M, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M, G> Copy for Team<'_, M, G> {}

impl<'a, M: Fibers, G: Gather<Out<M>>> Team<'a, M, G> {
    fn of(group: &'a Context) -> Self {
        Team { group, shared: group.shared().expect("the group of these branches") }
    }

    /// That of a branch: of `fiber`, or of one that has run in the group itself.
    fn around(fiber: &'a Context) -> Self {
        let around = if fiber.is_structure() { None } else { fiber.around() };
        Team::of(around.unwrap_or(fiber))
    }

    /// Shares the outcomes.
    fn share_outcomes(self, gather: G) {
        *self.shared.gather.lock() = Some(gather);
    }

    /// Shares the branches and their outcomes, while `running` branches run.
    fn share(self, left: Members<M>, gather: G, limit: usize, running: usize) {
        // Relaxed: branches that other threads run are made after this, and what shows them to the threads shows this.
        self.shared.limit.store(limit, Ordering::Relaxed);
        self.share_outcomes(gather);
        let mut source = self.shared.source.lock();
        (source.places, source.pulled) = (limit - running, left.pulled);
        source.members = Some(left.members);
    }

    fn is_over(self) -> bool {
        self.shared.is_over.load(Ordering::Relaxed)
    }

    /// Calls `schedule` with all branches, each as a separate fiber. Without a limit, no other thread pulls any, so none needs the lock.
    fn start_all(self, left: Members<M>, mut schedule: impl FnMut(Task)) {
        let mut rest = Remaining { left, team: self };
        while let Some((index, run)) = rest.pull() {
            schedule(self.branch(index, run));
        }
        self.discard(rest.left.members);
    }

    /// Calls `schedule` with as many branches as the limit allows now, each as a separate fiber.
    fn fill(self, mut schedule: impl FnMut(Task)) {
        while let Some((index, run)) = self.take() {
            schedule(self.branch(index, run));
        }
    }

    /// The task of a branch that is a separate fiber.
    fn branch(self, index: usize, run: M::Run) -> Task {
        Branch::new(self.group, run, Member::<M, G>::new(index, true), self.group.fork_site()).1
    }

    /// Whether not all branches may run at the same time.
    fn is_limited(self) -> bool {
        self.limit() < usize::MAX
    }

    fn limit(self) -> usize {
        // Relaxed: see `share`.
        self.shared.limit.load(Ordering::Relaxed)
    }

    /// Runs the branches that are left one after the other, until another thread takes them. Gives the helper that this thread has
    /// made then.
    fn run_alone(self, cx: &Cx<'_>, left: Members<M>) -> Option<Helper<M, G>> {
        let (inside, branches) = (&cx.enter(self.group), cx.branches());
        let mut part = Part::for_fibers(inside, self.group.fork_site());
        let mut rest = Lendable::new(Remaining { left, team: self });
        while let Some(alone) = rest.get_mut() {
            let Some((index, run)) = alone.pull() else { break };
            if inside.is_cancelled() {
                let refused = Outcome::Cancelled.without_run(run, self.group);
                self.join(cx, index, Ran::Ended(refused));
                continue;
            }
            let run = || Ran::of::<Member<M, G>, _>(cx, &mut part, run);
            let ran = cx.lend(branches, &mut rest, run);
            self.join(cx, index, ran);
            if !cx.spend_on_branch() {
                break;
            }
        }
        match rest.into_inner() {
            Lent::Taken(helper) => {
                self.help(cx);
                return Some(helper);
            }
            // Relaxed: this thread has set it, or another one that has decided the outcome.
            Lent::Back(alone) if self.is_over() => self.discard(alone.left.members),
            Lent::Back(alone) => {
                self.put(alone.left);
                self.offer_helper();
            }
        }
        None
    }

    /// Leaves the branches of one fiber to all.
    fn put(self, left: Members<M>) {
        let mut source = self.shared.source.lock();
        if source.is_closed {
            drop(source);
            return self.discard(left.members);
        }
        source.pulled = left.pulled;
        source.members = Some(left.members);
    }

    /// Runs branches one after the other, while there are any and the limit allows them.
    fn help(self, cx: &Cx<'_>) {
        let (inside, branches) = (&cx.enter(self.group), cx.branches());
        let mut part = Part::for_fibers(inside, self.group.fork_site());
        // A helper that perhaps no thread has started. One is enough.
        let mut next: Option<Helper<M, G>> = None;
        while let Some((index, run)) = self.take() {
            if branches.is_none() && self.limit() > 1 && next.is_none() {
                next = self.offer_helper();
            }
            if inside.is_cancelled() {
                let refused = Outcome::Cancelled.without_run(run, self.group);
                // Of a race that another side may hold.
                self.join(cx, index, Ran::Ended(refused));
                continue;
            }
            let has_helper = next.as_ref().is_some_and(|helper| !helper.context().is_claimed());
            let invites = !has_helper && !self.is_over();
            let mut join_in = Lendable::new(JoinIn(self));
            let run = || Ran::of::<Member<M, G>, _>(cx, &mut part, run);
            let ran = cx.lend(branches.filter(|_| invites), &mut join_in, run);
            if let Lent::Taken(helper) = join_in.into_inner() {
                next = Some(helper);
            }
            self.join(cx, index, ran);
            if !cx.spend_on_branch() {
                self.offer_helper();
                return;
            }
        }
        if let Some(helper) = next {
            helper.start_inline(cx);
        }
    }

    /// Handles a branch that a helper has run until it ended or had to wait.
    fn join(self, cx: &Cx<'_>, index: usize, ran: RanOf<M>) {
        // The helper itself reuses the place.
        let makes_place = matches!(ran, Ran::Lives(..));
        ran.join(cx, self.group, Member::<M, G>::new(index, makes_place));
    }

    fn helper(self) -> (Helper<M, G>, Task) {
        Branch::new(self.group, Help(PhantomData), Helped(PhantomData), self.group.fork_site())
    }

    /// Offers other threads to run branches beside, or instead of, the caller.
    fn offer_helper(self) -> Option<Helper<M, G>> {
        if self.is_over() {
            return None;
        }
        let (helper, task) = self.helper();
        self.group.schedule(task);
        Some(helper)
    }

    /// Takes a place and pulls a branch for it. `None`: there is no branch, or no place, or another thread is pulling; that
    /// thread is then asked to start a helper.
    fn take(self) -> Option<(usize, M::Run)> {
        let mut source = self.lock_source()?;
        let members = source.members.take()?;
        source.places -= 1;
        let index = source.pulled;
        source.pulled += 1;
        drop(source);
        self.pull(members).map(|run| (index, run))
    }

    /// Locks the source, which has members and a place. `None`: no more branches are needed, the limit allows none, or another
    /// thread is pulling and was asked to start a helper.
    fn lock_source(self) -> Option<MutexGuard<'a, Source<M>>> {
        let mut patience = PATIENCE;
        loop {
            // Relaxed: an early check that saves the lock; the value is read again under the lock.
            if self.is_over() {
                return None;
            }
            let mut source = self.shared.source.lock();
            if source.is_closed || source.places == 0 {
                return None;
            }
            if source.members.is_some() {
                return Some(source);
            }
            if patience == 0 {
                source.missed += 1;
                return None;
            }
            patience -= 1;
            drop(source);
            spin_loop();
        }
    }

    /// Pulls a branch, and makes the members available to other threads again. `None`: none is left, or the iterator
    /// panicked; the members are dropped.
    fn pull(self, mut members: M) -> Option<M::Run> {
        let Some(run) = self.pull_from(&mut members) else {
            self.discard(members);
            return None;
        };
        let mut source = self.shared.source.lock();
        let missed = std::mem::take(&mut source.missed).min(source.places);
        if source.is_closed {
            drop(source);
            self.discard(members);
        } else {
            source.members = Some(members);
            drop(source);
            (0..missed).for_each(|_| drop(self.offer_helper()));
        }
        Some(run)
    }

    /// The next branch. `None`: none is left, or the iterator panicked.
    fn pull_from(self, members: &mut M) -> Option<M::Run> {
        let pulled = guard(|| members.pull()).unwrap_or_else(|panic| {
            self.fail(self.group, Outcome::Panicked(panic));
            None
        });
        if pulled.is_none() {
            // Relaxed: an early check that saves the lock.
            self.shared.is_over.store(true, Ordering::Relaxed);
        }
        pulled
    }

    /// Drops the rest. A panic of that drop counts as a panic of the iterator.
    fn discard(self, members: M) {
        let mut torn = Vec::new();
        members.discard(&mut torn);
        torn.into_iter().for_each(|panic| self.fail(self.group, Outcome::Panicked(panic)));
    }

    /// Records a failure that did not come from a branch.
    fn fail(self, fiber: &Context, outcome: Outcome<Out<M>>) {
        self.arrive(fiber, usize::MAX, outcome);
    }

    fn arrive(self, fiber: &Context, index: usize, outcome: Outcome<Out<M>>) {
        // The end of a branch may allow another one to start.
        let commutes = G::COMMUTES && outcome.is_success() && !self.is_limited();
        self.group.touch(Side::Branches, if commutes { Access::Commute } else { Access::Write });
        let mut gather = self.shared.gather.lock();
        let Some(taker) = &mut *gather else {
            // The fiber was abandoned.
            drop(gather);
            return discard(outcome, fiber);
        };
        let arrived = taker.arrive(index, outcome, fiber);
        drop(gather);
        match arrived {
            Arrived::Kept => {}
            Arrived::Decided => self.close(),
            Arrived::Unused(outcome) => forget(outcome, fiber),
        }
    }

    /// Cancels the running branches, and starts no others.
    fn close(self) {
        if G::RACES {
            self.group.decide_race();
        }
        self.group.cancel();
        if let Some(members) = self.close_source() {
            self.discard(members);
        }
    }

    /// Starts no other branches. Gives those that are left.
    fn close_source(self) -> Option<M> {
        let mut source = self.shared.source.lock();
        source.is_closed = true;
        let unused = source.members.take();
        drop(source);
        // Relaxed: a look that saves the lock.
        self.shared.is_over.store(true, Ordering::Relaxed);
        unused
    }

    /// Takes what gathers the outcomes, after which none is needed. Drops the branches that are left, each of which may panic.
    fn finish(self) -> Option<G> {
        let gather = self.shared.gather.lock().take();
        // Usually, all were pulled.
        if !self.is_over() {
            let mut torn = Vec::new();
            self.close_source().into_iter().for_each(|members| members.discard(&mut torn));
            torn.into_iter()
                .for_each(|panic| Unobserved::report::<()>(self.group, &Outcome::Panicked(panic)));
        }
        gather
    }
}

type RanOf<M> = Ran<Out<M>>;

/// The sink of a branch.
struct Member<M, G> {
    index: usize,
    /// Whether the end of the branch allows another one to start.
    makes_place: bool,
    of: PhantomData<fn(M, G)>,
}

impl<M, G> Member<M, G> {
    fn new(index: usize, makes_place: bool) -> Self {
        Member { index, makes_place, of: PhantomData }
    }
}

impl<M: Fibers, G: Gather<Out<M>>> Sink<Out<M>> for Member<M, G> {
    type Place = ();
    const RACES: bool = G::RACES;
    const IS_OUTSIDE: bool = !G::RACES;

    fn deliver(self, fiber: &Context, outcome: Outcome<Out<M>>) {
        let team = Team::<M, G>::around(fiber);
        team.arrive(fiber, self.index, outcome);
        if team.is_limited() {
            team.shared.source.lock().places += 1;
            if self.makes_place {
                team.fill(|task| team.group.schedule(task));
            }
        }
    }
}

/// Lent to other threads: a thief becomes a helper.
struct JoinIn<'a, M, G>(Team<'a, M, G>);

impl<M: Fibers, G: Gather<Out<M>>> Latent for JoinIn<'_, M, G> {
    type Promoted = Helper<M, G>;

    fn promote(self) -> (Task, Self::Promoted) {
        let (helper, task) = self.0.helper();
        (task, helper)
    }
}

/// A fiber that runs branches beside the first one.
type Helper<M, G> = Branch<Help<M, G>, Helped<M, G>>;

struct Help<M, G>(PhantomData<fn(M, G)>);

impl<M: Fibers, G: Gather<Out<M>>> Run for Help<M, G> {
    type Out = ();

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, ()> {
        Team::<M, G>::around(cx.context()).help(cx);
        Step::Done(Outcome::Success(()))
    }
}

struct Helped<M, G>(PhantomData<fn(M, G)>);

impl<M: Fibers, G: Gather<Out<M>>> Sink<()> for Helped<M, G> {
    type Place = ();
    // A helper that is cancelled before it starts ends the branches that are left.
    const RACES: bool = G::RACES;
    const IS_OUTSIDE: bool = !G::RACES;

    fn deliver(self, fiber: &Context, outcome: Outcome<()>) {
        let team = Team::<M, G>::around(fiber);
        // If the helper could not start, no other fiber may be left to run the remaining branches.
        if let Err(other) = outcome.split()
            && !team.is_over()
        {
            team.fail(fiber, other);
        }
    }
}

/// Gives the outcome of all branches together.
struct Gathered<M: Fibers, G: Gather<Out<M>>> {
    /// `None` after the outcome was taken.
    group: Option<Context>,
    of: PhantomData<fn(M, G)>,
}

impl<M: Fibers, G: Gather<Out<M>>> Gathered<M, G> {
    fn new(team: Team<'_, M, G>) -> Self {
        Gathered { group: Some(team.group.clone()), of: PhantomData }
    }
}

impl<M: Fibers, G: Gather<Out<M>>> RegionEnd<()> for Gathered<M, G> {
    type Out = G::Out;

    fn conclude(mut self, cx: &Cx<'_>, _: Option<Outcome<()>>) -> Outcome<G::Out> {
        let group = self.group.take().expect("the branches are concluded once");
        let gather = Team::<M, G>::of(&group).finish().expect("only the fiber takes it");
        gather.conclude(cx)
    }
}

impl<M: Fibers, G: Gather<Out<M>>> Drop for Gathered<M, G> {
    /// Parts are left if the scheduler has dropped the fiber. The drop of each part may panic.
    fn drop(&mut self) {
        let Some(group) = self.group.take() else { return };
        if let Some(gather) = Team::<M, G>::of(&group).finish() {
            gather.discard(&group);
        }
    }
}
