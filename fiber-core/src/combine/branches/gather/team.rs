//! Branches that several fibers run, or that wait: what they share, and what each of them does.

use std::hint::spin_loop;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::{Mutex, MutexGuard};

use super::{Arrived, Gather};
use crate::combine::fork::branch::{Branch, Ran};
use crate::combine::fork::sink::Sink;
use crate::combine::region::end::RegionEnd;
use crate::combine::sequence::fibers::{Fibers, Out};
use crate::engine::context::{Context, Cx, Part};
use crate::engine::lend::{Latent, Lendable, Lent};
use crate::engine::scheduler::Unobserved;
use crate::engine::step::{Run, Step};
use crate::engine::suppress::{discard, forget};
use crate::engine::task::Task;
use crate::footprint::{Access, Side};
use crate::outcome::Outcome;
use crate::panic::guard;

/// The branches that are left, and the number of the others.
pub(super) struct Members<M> {
    pub(super) members: M,
    pub(super) pulled: usize,
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
pub(super) struct Shared<M, G> {
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
pub(super) struct Team<'a, M, G> {
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
    pub(super) fn of(group: &'a Context) -> Self {
        Team { group, shared: group.shared().expect("the group of these branches") }
    }

    /// That of a branch: of `fiber`, or of one that has run in the group itself.
    fn around(fiber: &'a Context) -> Self {
        let around = if fiber.is_structure() { None } else { fiber.around() };
        Team::of(around.unwrap_or(fiber))
    }

    /// Shares the outcomes.
    pub(super) fn share_outcomes(self, gather: G) {
        *self.shared.gather.lock() = Some(gather);
    }

    /// Shares the branches and their outcomes, while `running` branches run.
    pub(super) fn share(self, left: Members<M>, gather: G, limit: usize, running: usize) {
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
    pub(super) fn start_all(self, left: Members<M>, mut schedule: impl FnMut(Task)) {
        let mut rest = Remaining { left, team: self };
        while let Some((index, run)) = rest.pull() {
            schedule(self.branch(index, run));
        }
        self.discard(rest.left.members);
    }

    /// Calls `schedule` with as many branches as the limit allows now, each as a separate fiber.
    pub(super) fn fill(self, mut schedule: impl FnMut(Task)) {
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
    pub(super) fn run_alone(self, cx: &Cx<'_>, left: Members<M>) -> Option<Helper<M, G>> {
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
    pub(super) fn help(self, cx: &Cx<'_>) {
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
    pub(super) fn join(self, cx: &Cx<'_>, index: usize, ran: RanOf<M>) {
        // The helper itself reuses the place.
        let makes_place = matches!(ran, Ran::Lives(..));
        ran.join(cx, self.group, Member::<M, G>::new(index, makes_place));
    }

    pub(super) fn helper(self) -> (Helper<M, G>, Task) {
        Branch::new(self.group, Help(PhantomData), Helped(PhantomData), self.group.fork_site())
    }

    /// Offers other threads to run branches beside, or instead of, the caller.
    pub(super) fn offer_helper(self) -> Option<Helper<M, G>> {
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
pub(super) struct Member<M, G> {
    index: usize,
    /// Whether the end of the branch allows another one to start.
    makes_place: bool,
    pub(super) of: PhantomData<fn(M, G)>,
}

impl<M, G> Member<M, G> {
    pub(super) fn new(index: usize, makes_place: bool) -> Self {
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
pub(super) type Helper<M, G> = Branch<Help<M, G>, Helped<M, G>>;

pub(super) struct Help<M, G>(PhantomData<fn(M, G)>);

impl<M: Fibers, G: Gather<Out<M>>> Run for Help<M, G> {
    type Out = ();

    fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, ()> {
        Team::<M, G>::around(cx.context()).help(cx);
        Step::Done(Outcome::Success(()))
    }
}

pub(super) struct Helped<M, G>(PhantomData<fn(M, G)>);

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
pub(super) struct Gathered<M: Fibers, G: Gather<Out<M>>> {
    /// `None` after the outcome was taken.
    group: Option<Context>,
    of: PhantomData<fn(M, G)>,
}

impl<M: Fibers, G: Gather<Out<M>>> Gathered<M, G> {
    pub(super) fn new(team: Team<'_, M, G>) -> Self {
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
