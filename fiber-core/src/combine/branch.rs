//! A fiber of its own, to be started by whoever is first: what `fork`, `race`, `zip` and `parallel` are made of.

use std::panic::Location;
use std::sync::Arc;

use super::claim::Claim;
use super::group::{run_guarded, when_childless};
use crate::context::{Context, Cx, Slice};
use crate::error::{Abandoned, Error};
use crate::event::Event;
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

pub(super) struct Branch<R: Run, S: Sink<R::Out>> {
    context: Context,
    fiber: Claim<R>,
    sink: S,
}

impl<R: Run, S: Sink<R::Out>> Branch<R, S> {
    /// A branch below `parent`, not started.
    pub(super) fn new(parent: &Context, run: R, sink: S, site: &'static Location<'static>) -> Arc<Self> {
        let context = parent.child(run.name(), site);
        Arc::new(Branch { context, fiber: Claim::new(run), sink })
    }

    /// A branch that belongs to the scheduler alone.
    pub(super) fn detached(cx: &Cx<'_>, run: R, sink: S, site: &'static Location<'static>) -> Arc<Self> {
        let context = cx.context().detached_child(run.name(), site);
        Arc::new(Branch { context, fiber: Claim::new(run), sink })
    }

    pub(super) fn sink(&self) -> &S {
        &self.sink
    }

    /// Hands the branch to the scheduler.
    pub(super) fn offer(self: &Arc<Self>, cx: &Cx<'_>) {
        cx.scheduler().schedule(Task::start(self.clone()));
    }

    /// Starts the branch right here, unless somebody has or the scheduler wants it to be its own decision.
    pub(super) fn start_inline(self: &Arc<Self>, cx: &Cx<'_>) {
        if cx.spend(|| SwitchPoint::Branch) {
            self.clone().start(cx.slice());
        }
    }

    /// Starts the last of some branches, whose others were offered.
    pub(super) fn run_last(self: &Arc<Self>, cx: &Cx<'_>) {
        if cx.spend(|| SwitchPoint::Branch) {
            self.clone().start(cx.slice());
        } else {
            self.offer(cx);
        }
    }

    /// Offers all but the last, runs that one here, then those that nobody has started meanwhile.
    pub(super) fn run_all(mut branches: Vec<Arc<Self>>, cx: &Cx<'_>) {
        let Some(last) = branches.pop() else { return };
        branches.iter().for_each(|branch| branch.offer(cx));
        last.run_last(cx);
        // Others take the oldest first.
        branches.iter().rev().for_each(|branch| branch.start_inline(cx));
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
    fn start(self: Arc<Self>, slice: &Slice) {
        let Some(run) = self.fiber.claim() else { return };
        if self.context.is_cancelled() {
            // It never ran, so there is nothing to finalize. The drop of its closures is the user's code.
            return self.end(Outcome::Cancelled.without(run, &self.context));
        }
        let cx = &Cx::new(&self.context, slice);
        match run_guarded(run, cx) {
            Step::Done(outcome) => when_childless(cx, outcome, BranchEnd(Some(self.clone()))),
            Step::Suspend(suspension) => suspension.attach(cx, BranchCallback(BranchEnd(Some(self.clone())))),
        }
    }

    fn abandon(&self) {
        if let Some(run) = self.fiber.claim() {
            self.end(Outcome::Failure(Error::new(Abandoned)).without(run, &self.context));
        }
    }

    fn context(&self) -> &Context {
        &self.context
    }
}

impl<R: Run, S: Sink<R::Out>> Drop for Branch<R, S> {
    fn drop(&mut self) {
        self.sink.forget(&self.context);
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
