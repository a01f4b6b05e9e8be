//! A fiber of its own, to be started by whoever is first: what `fork`, `race`, `zip` and `parallel` are made of.

use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::Location;

use super::group::{run_guarded, when_childless};
use super::result_cell::ResultCell;
use crate::cell::Body;
use crate::context::{Context, Cx, FiberState, Slice, Turn};
use crate::error::{Abandoned, Error, Frame};
use crate::event::Event;
use crate::fiber::Fiber;
use crate::outcome::{Outcome, guard};
use crate::scheduler::{SwitchPoint, Unobserved};
use crate::step::{Callback, Run, Step, Suspension};
use crate::suppress::discard;
use crate::task::{Start, Task};

/// Where a branch leaves its outcome.
pub(super) trait Sink<T>: Send + Sync + 'static {
    /// The branch of `context` and all its children have ended; its scope still counts it.
    fn deliver(&self, context: &Context, outcome: Outcome<T>);

    /// Where a handle finds the outcome.
    fn result(&self) -> Option<&ResultCell<T>> {
        None
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
        Ok(()) => {
            Outcome::Failure(Error::msg(format_args!("{} of no fibers has no winner", frame.operator())))
        }
        Err(panicked) => panicked,
    };
    let without = |outcome: Outcome<_>, run| outcome.without(run, cx.context());
    Err(pulled.into_iter().fold(outcome, without).passed(frame))
}

/// The context of a fiber that is known to be an `R`, with an `S` for its outcome.
pub(super) struct Branch<R, S>(Context, PhantomData<fn() -> (R, S)>);

impl<R, S> Clone for Branch<R, S> {
    fn clone(&self) -> Self {
        Branch::of(&self.0)
    }
}

/// What lies in the cell of a branch, beside its description.
struct Outlet<R, S> {
    sink: S,
    run: PhantomData<fn() -> R>,
}

impl<R: Run, S: Sink<R::Out>> Body<FiberState> for Outlet<R, S> {
    type Description = R;
    type Front = ResultCell<R::Out>;

    const BEHAVIOR: &'static Start = &Start {
        start: |context, turn| Branch::<R, S>::of(context).start(turn),
        take_back: |context| Branch::<R, S>::of(context).take_back(),
        abandon: |context| Branch::<R, S>::of(context).abandon(),
        forget: |context| Branch::<R, S>::of(context).forget(),
    };

    fn front(&self) -> Option<&ResultCell<R::Out>> {
        self.sink.result()
    }
}

impl<R, S> Branch<R, S> {
    fn of(context: &Context) -> Self {
        Branch(context.clone(), PhantomData)
    }

    pub(super) fn context(&self) -> &Context {
        &self.0
    }

    pub(super) fn into_context(self) -> Context {
        self.0
    }
}

impl<R: Run, S: Sink<R::Out>> Branch<R, S> {
    /// A branch below `parent`, not started.
    pub(super) fn new(parent: &Context, run: R, sink: S, site: &'static Location<'static>) -> Self {
        let branch = Branch::make(parent, run, sink, site);
        branch.0.offer();
        branch
    }

    /// A branch that belongs to the scheduler alone. It carries what the fiber of `cx` carries, but for the deadline.
    pub(super) fn detached(cx: &Cx<'_>, run: R, sink: S, site: &'static Location<'static>) -> Self {
        let branch = Branch::make(&cx.context().topmost(), run, sink, site);
        discard(branch.0.set_locals(cx.context().locals()), &branch.0);
        branch.0.offer();
        branch
    }

    fn make(parent: &Context, run: R, sink: S, site: &'static Location<'static>) -> Self {
        let outlet = Outlet::<R, S> { sink, run: PhantomData };
        Branch(parent.child(run.name(), site, run, outlet), PhantomData)
    }

    pub(super) fn sink(&self) -> &S {
        let outlet = self.0.body::<Outlet<R, S>>();
        &outlet.expect("a branch is made with an outlet of its types").sink
    }

    /// Hands the branch to the scheduler.
    pub(super) fn offer(&self, cx: &Cx<'_>) {
        cx.context().schedule(Task::start(self.0.clone()));
    }

    /// Starts the branch right here, unless somebody has. `false`: the scheduler wants it to be its own decision, and so with
    /// further ones.
    pub(super) fn start_inline(&self, cx: &Cx<'_>) -> bool {
        let is_allowed = cx.spend(|| SwitchPoint::Branch);
        if is_allowed {
            self.start(cx.turn());
        }
        is_allowed
    }

    /// Starts the last of some branches, whose others were offered. `false`: it is offered too.
    pub(super) fn run_last(&self, cx: &Cx<'_>) -> bool {
        let is_allowed = self.start_inline(cx);
        if !is_allowed {
            self.offer(cx);
        }
        is_allowed
    }

    /// Offers all but the last, runs that one here, then those that nobody has started meanwhile. `false`: as in
    /// `start_inline`.
    pub(super) fn run_all(mut branches: Vec<Self>, cx: &Cx<'_>) -> bool {
        let Some(last) = branches.pop() else { return true };
        branches.iter().for_each(|branch| branch.offer(cx));
        // Others take the oldest first.
        last.run_last(cx) && branches.iter().rev().all(|branch| branch.start_inline(cx))
    }

    /// Runs the fiber, if nobody has claimed it yet.
    pub(super) fn start(&self, turn: Turn<'_>) {
        let Some(run) = self.claim() else { return };
        if self.0.is_cancelled() {
            return self.end_unstarted(run, turn);
        }
        let cx = &Cx::new(&self.0, turn);
        match run_guarded(run, cx) {
            Step::Done(outcome) => when_childless(cx, outcome, BranchEnd(Some(self.clone()))),
            Step::Suspend(suspension) => suspension.attach(cx, BranchCallback(BranchEnd(Some(self.clone())))),
        }
    }

    fn claim(&self) -> Option<R> {
        self.0.claim::<Outlet<R, S>>()
    }

    fn take_back(&self) {
        let Some(_depth) = Depth::enter() else { return };
        if let Some(run) = self.claim() {
            Slice::new(&self.0).run(|slice| self.end_unstarted(run, slice.into()));
        }
    }

    fn abandon(&self) {
        if let Some(run) = self.claim() {
            self.end(Outcome::Failure(Error::new(Abandoned)).without_run(run, &self.0));
        }
    }

    fn forget(&self) {
        if let Some(result) = self.sink().result() {
            result.forget(&self.0);
        }
    }

    /// Ends the branch without having run it. Children that were made from outside are awaited.
    fn end_unstarted(&self, run: R, turn: Turn<'_>) {
        let outcome = Outcome::Cancelled.without_run(run, &self.0);
        when_childless(&Cx::new(&self.0, turn), outcome, BranchEnd(Some(self.clone())));
    }

    fn end(&self, outcome: Outcome<R::Out>) {
        self.0.observe(Event::Outcome((&outcome).into()));
        // What may unwind is the drop of a value that nobody wants: the user's code.
        if let Err(panic) = guard(|| self.sink().deliver(&self.0, outcome)) {
            Unobserved::report(&self.0, &Outcome::<()>::Panicked(panic));
        }
        self.0.end();
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
struct BranchEnd<R: Run, S: Sink<R::Out>>(Option<Branch<R, S>>);

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
            branch.0.cancel();
            branch.end(Outcome::Failure(Error::new(Abandoned)));
        }
    }
}
