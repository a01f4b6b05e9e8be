//! A fiber of its own, to be started by whoever is first: what `fork`, `race`, `zip` and `parallel` are made of.

use std::cell::Cell;
use std::panic::Location;
use std::sync::{Arc, Weak};

use super::claim::Claim;
use super::group::{run_guarded, when_childless};
use crate::context::{Context, Cx, Slice, Turn};
use crate::error::{Abandoned, Error, Frame};
use crate::event::Event;
use crate::fiber::Fiber;
use crate::outcome::{Outcome, guard};
use crate::scheduler::{SwitchPoint, Unobserved};
use crate::step::{Callback, Run, Step, Suspension};
use crate::task::{Start, Task};

/// Where a branch leaves its outcome.
pub(super) trait Sink<T>: Send + Sync + 'static {
    /// The branch of `context` and all its children have ended; its scope still counts it.
    fn deliver(&self, context: &Context, outcome: Outcome<T>);

    /// Nobody holds the branch any more.
    fn forget(&mut self, context: &Context) {
        let _ = context;
    }
}

/// Pulls an iterator of branches to its end. Its `next` and its drop are the user's code.
///
/// # Errors
/// The outcome of the operator: a panic of the iterator, or a failure if there is no branch.
pub(super) fn pull_all<R: Run>(
    cx: &Cx<'_>,
    mut fibers: impl Iterator<Item = Fiber<R::Out, R>>,
    frame: Frame,
) -> Result<Vec<R>, Outcome<R::Out>> {
    let mut pulled = Vec::new();
    let end = loop {
        match guard(|| fibers.next()) {
            Ok(Some(fiber)) => pulled.push(fiber.into_run()),
            Ok(None) => break Outcome::Success(()),
            Err(panic) => break Outcome::Panicked(panic),
        }
    };
    let outcome = match end.without(fibers, cx.context()).split() {
        Ok(()) if !pulled.is_empty() => return Ok(pulled),
        Ok(()) => Outcome::Failure(Error::msg(format!("{} of no fibers has no winner", frame.operator()))),
        Err(panicked) => panicked,
    };
    let without = |outcome: Outcome<_>, run| outcome.without(run, cx.context());
    Err(pulled.into_iter().fold(outcome, without).passed(frame))
}

pub(super) struct Branch<R: Run, S: Sink<R::Out>> {
    context: Context,
    fiber: Claim<R>,
    sink: S,
}

impl<R: Run, S: Sink<R::Out>> Branch<R, S> {
    /// A branch below `parent`, not started.
    pub(super) fn new(parent: &Context, run: R, sink: S, site: &'static Location<'static>) -> Arc<Self> {
        let name = run.name();
        Branch::make(run, sink, |starter| parent.child(name, site, starter))
    }

    /// A branch that belongs to the scheduler alone.
    pub(super) fn detached(cx: &Cx<'_>, run: R, sink: S, site: &'static Location<'static>) -> Arc<Self> {
        let name = run.name();
        Branch::make(run, sink, |starter| cx.context().detached_child(name, site, starter))
    }

    fn make(run: R, sink: S, context: impl FnOnce(Weak<dyn Start>) -> Context) -> Arc<Self> {
        let branch = Arc::new_cyclic(|branch: &Weak<Self>| {
            let context = context(branch.clone());
            Branch { context, fiber: Claim::new(run), sink }
        });
        if branch.context.is_cancelled_before() {
            // The one who cancelled it may not have found the branch.
            branch.clone().take_back();
        }
        branch
    }

    pub(super) fn sink(&self) -> &S {
        &self.sink
    }

    /// Hands the branch to the scheduler.
    pub(super) fn offer(self: &Arc<Self>, cx: &Cx<'_>) {
        cx.context().schedule(Task::start(self.clone()));
    }

    /// Starts the branch right here, unless somebody has. `false`: the scheduler wants it to be its own decision, and so with
    /// further ones.
    pub(super) fn start_inline(self: &Arc<Self>, cx: &Cx<'_>) -> bool {
        let is_allowed = cx.spend(|| SwitchPoint::Branch);
        if is_allowed {
            self.clone().start(cx.turn());
        }
        is_allowed
    }

    /// Starts the last of some branches, whose others were offered. `false`: it is offered too.
    pub(super) fn run_last(self: &Arc<Self>, cx: &Cx<'_>) -> bool {
        let is_allowed = self.start_inline(cx);
        if !is_allowed {
            self.offer(cx);
        }
        is_allowed
    }

    /// Offers all but the last, runs that one here, then those that nobody has started meanwhile. `false`: as in
    /// `start_inline`.
    pub(super) fn run_all(mut branches: Vec<Arc<Self>>, cx: &Cx<'_>) -> bool {
        let Some(last) = branches.pop() else { return true };
        branches.iter().for_each(|branch| branch.offer(cx));
        // Others take the oldest first.
        last.run_last(cx) && branches.iter().rev().all(|branch| branch.start_inline(cx))
    }

    /// Ends the branch without having run it. Children that were made from outside are awaited.
    fn end_unstarted(self: Arc<Self>, run: R, turn: Turn<'_>) {
        let outcome = Outcome::Cancelled.without_run(run, &self.context);
        when_childless(&Cx::new(&self.context, turn), outcome, BranchEnd(Some(self.clone())));
    }

    fn end(&self, outcome: Outcome<R::Out>) {
        self.context.observe(Event::Outcome((&outcome).into()));
        // What may unwind is the drop of a value that nobody wants: the user's code.
        if let Err(panic) = guard(|| self.sink.deliver(&self.context, outcome)) {
            Unobserved::report(&self.context, &Outcome::<()>::Panicked(panic));
        }
        self.context.end();
    }
}

impl<R: Run, S: Sink<R::Out>> Start for Branch<R, S> {
    fn start(self: Arc<Self>, turn: Turn<'_>) {
        let Some(run) = self.fiber.claim() else { return };
        if self.context.is_cancelled() {
            return self.end_unstarted(run, turn);
        }
        let cx = &Cx::new(&self.context, turn);
        match run_guarded(run, cx) {
            Step::Done(outcome) => when_childless(cx, outcome, BranchEnd(Some(self.clone()))),
            Step::Suspend(suspension) => suspension.attach(cx, BranchCallback(BranchEnd(Some(self.clone())))),
        }
    }

    fn is_claimed(&self) -> bool {
        self.fiber.is_claimed()
    }

    fn take_back(self: Arc<Self>) {
        let Some(_depth) = Depth::enter() else { return };
        if let Some(run) = self.fiber.claim() {
            Slice::new(&self.context).run(|slice| self.clone().end_unstarted(run, slice.into()));
        }
    }

    fn abandon(&self) {
        if let Some(run) = self.fiber.claim() {
            self.end(Outcome::Failure(Error::new(Abandoned)).without_run(run, &self.context));
        }
    }

    fn context(&self) -> &Context {
        &self.context
    }
}

impl<R: Run, S: Sink<R::Out>> Drop for Branch<R, S> {
    fn drop(&mut self) {
        // No effect, unless the branch was never offered to a scheduler.
        self.abandon();
        self.sink.forget(&self.context);
    }
}

/// How many branches are taken back inside each other on one thread. More are left to the scheduler, which has them anyway: a
/// value whose drop cancels the fiber that holds the next such value must not overflow the stack.
const DEEPEST: u32 = 32;

thread_local! {
    // A drop has no argument by which it could know that it is nested.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// While it lives, this thread takes back a branch.
struct Depth;

impl Depth {
    fn enter() -> Option<Depth> {
        let depth = DEPTH.get();
        (depth < DEEPEST).then(|| {
            DEPTH.set(depth + 1);
            Depth
        })
    }
}

impl Drop for Depth {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// The branch's work is over.
struct BranchCallback<R: Run, S: Sink<R::Out>>(BranchEnd<R, S>);

impl<R: Run, S: Sink<R::Out>> Callback<R::Out> for BranchCallback<R, S> {
    fn resume(self, cx: &Cx<'_>, outcome: Outcome<R::Out>) {
        when_childless(cx, outcome, self.0);
    }
}

/// The branch and its children have ended. Dropped unused, the branch was abandoned by its scheduler.
struct BranchEnd<R: Run, S: Sink<R::Out>>(Option<Arc<Branch<R, S>>>);

impl<R: Run, S: Sink<R::Out>> Callback<R::Out> for BranchEnd<R, S> {
    fn resume(mut self, _: &Cx<'_>, outcome: Outcome<R::Out>) {
        if let Some(branch) = self.0.take() {
            branch.end(outcome);
        }
    }
}

impl<R: Run, S: Sink<R::Out>> Drop for BranchEnd<R, S> {
    fn drop(&mut self) {
        if let Some(branch) = self.0.take() {
            branch.context.cancel();
            branch.end(Outcome::Failure(Error::new(Abandoned)));
        }
    }
}
