//! A fiber of its own, to be started by whoever is first: what `fork`, `race`, `zip` and `parallel` are made of.

use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::{Arc, Weak};

use super::claim::Claim;
use super::group::{run_guarded, when_childless};
use crate::context::{Context, Cx, Inside, Part, Slice, Turn};
use crate::error::{Abandoned, Error};
use crate::event::Event;
use crate::outcome::{Outcome, guard};
use crate::scheduler::{SwitchPoint, Unobserved};
use crate::step::{Callback, Run, Step, Suspension};
use crate::task::{Alone, Start, Task};

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

    /// Starts the branch right here, unless somebody has. The caller has asked the scheduler.
    pub(super) fn start_here(self: &Arc<Self>, cx: &Cx<'_>) {
        self.clone().start(cx.turn());
    }

    /// Starts the last of some branches, whose others were offered. `false`: it is offered too.
    pub(super) fn run_last(self: &Arc<Self>, cx: &Cx<'_>) -> bool {
        let is_allowed = self.start_inline(cx);
        if !is_allowed {
            self.offer(cx);
        }
        is_allowed
    }

    /// Ends the branch without having run it. Children that were made from outside are awaited.
    fn end_unstarted(self: Arc<Self>, run: R, turn: Turn<'_>) {
        let outcome = Outcome::Cancelled.without_run(run, &self.context);
        when_childless(&Cx::new(&self.context, turn), outcome, End::new(self.clone()));
    }
}

/// The work of a branch is over, and so are its children.
fn end<T>(context: &Context, sink: &impl Sink<T>, outcome: Outcome<T>) {
    context.observe(Event::Outcome((&outcome).into()));
    // What may unwind is the drop of a value that nobody wants: the user's code.
    if let Err(panic) = guard(|| sink.deliver(context, outcome)) {
        Unobserved::report(context, &Outcome::<()>::Panicked(panic));
    }
    context.end();
}

impl<R: Run, S: Sink<R::Out>> Start for Branch<R, S> {
    fn start(self: Arc<Self>, turn: Turn<'_>) {
        let Some(run) = self.fiber.claim() else { return };
        if self.context.is_cancelled() {
            return self.end_unstarted(run, turn);
        }
        let cx = &Cx::new(&self.context, turn);
        go_on(cx, run_guarded(run, cx), self.clone());
    }

    fn is_claimed(&self) -> bool {
        self.fiber.is_claimed()
    }

    fn take_back(self: Arc<Self>) {
        let Some(_depth) = Depth::enter() else { return };
        if let Some(run) = self.fiber.claim() {
            Slice::new(&self.context, &Alone).run(|slice| self.clone().end_unstarted(run, slice.into()));
        }
    }

    fn abandon(&self) {
        if let Some(run) = self.fiber.claim() {
            let outcome = Outcome::Failure(Error::new(Abandoned)).without_run(run, &self.context);
            end(&self.context, &self.sink, outcome);
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

/// A branch that has begun.
trait Begun<T>: Send + 'static {
    fn context(&self) -> &Context;
    fn end(self, outcome: Outcome<T>);
}

impl<R: Run, S: Sink<R::Out>> Begun<R::Out> for Arc<Branch<R, S>> {
    fn context(&self) -> &Context {
        &self.context
    }

    fn end(self, outcome: Outcome<R::Out>) {
        end(&self.context, &self.sink, outcome);
    }
}

/// A branch that its owner began itself, in a part which has a node by now.
struct Adopted<S> {
    context: Context,
    sink: S,
}

impl<T, S: Sink<T>> Begun<T> for Adopted<S> {
    fn context(&self) -> &Context {
        &self.context
    }

    fn end(self, outcome: Outcome<T>) {
        end(&self.context, &self.sink, outcome);
    }
}

/// What came of a branch that its owner has run in a part of its own stack.
pub(super) enum Ran<T, S> {
    /// It has ended, and needed no node.
    Ended(Outcome<T>),
    /// It has one, where it has to wait, or has ended but for what it forked.
    Lives(Inside, Step<T, S>),
}

impl<T: Send + 'static, S: Suspension<Out = T>> Ran<T, S> {
    /// Runs a branch below the place of `cx`.
    #[inline]
    pub(super) fn of<R>(cx: &Cx<'_>, run: R, site: &'static Location<'static>) -> Self
    where
        R: Run<Out = T, Suspension = S>,
    {
        let part = Part::fiber(cx, run.name(), site);
        match run_guarded(run, &cx.within(&part)) {
            Step::Suspend(suspension) => Ran::Lives(part.into_inside(), Step::Suspend(suspension)),
            done => match (part.into_made(), done) {
                (None, Step::Done(outcome)) => Ran::Ended(outcome),
                (Some(inside), done) => Ran::Lives(inside, done),
                (None, Step::Suspend(_)) => unreachable!("it is done"),
            },
        }
    }

    /// Lets it go on as a branch of `group`, which delivers its outcome to `sink`.
    pub(super) fn join(self, cx: &Cx<'_>, group: &Context, sink: impl Sink<T>) {
        match self {
            Ran::Ended(outcome) => {
                // As in `end`.
                if let Err(panic) = guard(|| sink.deliver(group, outcome)) {
                    Unobserved::report(group, &Outcome::<()>::Panicked(panic));
                }
            }
            Ran::Lives(inside, step) => {
                let context = inside.into_context();
                go_on(&cx.enter(&context.clone()), step, Adopted { context, sink });
            }
        }
    }
}

/// The branch has run as far as it could at once.
fn go_on<T, S, B>(cx: &Cx<'_>, step: Step<T, S>, branch: B)
where
    T: Send + 'static,
    S: Suspension<Out = T>,
    B: Begun<T>,
{
    let end = End::new(branch);
    match step {
        Step::Done(outcome) => when_childless(cx, outcome, end),
        Step::Suspend(suspension) => suspension.attach(cx, WorkEnd(end)),
    }
}

/// The branch's work is over.
struct WorkEnd<T, B: Begun<T>>(End<T, B>);

impl<T: Send + 'static, B: Begun<T>> Callback<T> for WorkEnd<T, B> {
    fn resume(self, cx: &Cx<'_>, outcome: Outcome<T>) {
        when_childless(cx, outcome, self.0);
    }
}

/// The branch and its children have ended. Dropped unused, the branch was abandoned by its scheduler.
struct End<T, B: Begun<T>>(Option<B>, PhantomData<fn(T)>);

impl<T, B: Begun<T>> End<T, B> {
    fn new(branch: B) -> Self {
        End(Some(branch), PhantomData)
    }
}

impl<T: Send + 'static, B: Begun<T>> Callback<T> for End<T, B> {
    fn resume(mut self, _: &Cx<'_>, outcome: Outcome<T>) {
        if let Some(branch) = self.0.take() {
            branch.end(outcome);
        }
    }
}

impl<T, B: Begun<T>> Drop for End<T, B> {
    fn drop(&mut self) {
        if let Some(branch) = self.0.take() {
            branch.context().cancel();
            branch.end(Outcome::Failure(Error::new(Abandoned)));
        }
    }
}
