//! A separate fiber, started by the first thread that claims it. `fork`, `race`, `zip` and `parallel` are built on
//! it.

use std::convert::Infallible;
use std::marker::PhantomData;

use super::result_cell::{Home, ResultCell};
use super::sink::Sink;
use crate::cell::{Body, Seed, Signal};
use crate::combine::region::group::{Childless, run_guarded};
use crate::engine::context::{
    Context, Cx, FiberState, Make, NewFiber, NodeGuard, Origin, Part, Place as At, TurnView, WaitsFor,
};
use crate::engine::event::Event;
use crate::engine::frames::{
    Begun as BegunAs, Frame, Frames, Left, OVERHEAD, Slot, Suspended, Waiting, Waits, frame_size,
};
use crate::engine::scheduler::Unobserved;
use crate::engine::side::Awaited;
use crate::engine::step::{Run, Step};
use crate::engine::task::{Start, Task};
use crate::error::{Abandoned, Error, Site};
use crate::local::Locals;
use crate::outcome::Outcome;
use crate::panic::{Panic, catch_panic, discard_part, guard};

/// The context of a fiber that is known to be an `R`, with an `S` for its outcome.
pub(crate) struct Branch<R, S>(Context, PhantomData<fn() -> (R, S)>);

/// The body of a branch's cell. In front of it is the place of the sink. The thread that claims the branch takes the description and
/// the sink out: descendants may keep the cell alive for long, but must not keep user values with it.
struct Outlet<R, S>(PhantomData<fn() -> (R, S)>);

impl<R: Run, S: Sink<R::Out>> Body<FiberState> for Outlet<R, S> {
    type Description = (R, S);
    const ROOM: usize = room_of::<R, S>();
    type Front = S::Place;
    const IS_OUTSIDE: bool = S::IS_OUTSIDE;
    const NESTS: bool = S::IS_CALLED;

    const BEHAVIOR: &'static Start =
        &Start { start: Self::start, abandon: Self::abandon, joiners: joiners::<R::Out> };
}

/// The room for the frames of a fiber at its first wait.
const fn room_of<R: Run, S: Sink<R::Out>>() -> usize {
    if R::ROOM == 0 { 0 } else { OVERHEAD + R::ROOM + frame_size::<Closing<S>>() }
}

/// The same, for a branch that its owner began on its stack and that therefore has no description.
struct Begun<R, S>(PhantomData<fn() -> (R, S)>);

impl<R: Run, S: Sink<R::Out>> Body<FiberState> for Begun<R, S> {
    type Description = Infallible;
    const ROOM: usize = room_of::<R, S>();
    type Front = S::Place;

    const BEHAVIOR: &'static Start = &Start { joiners: joiners::<R::Out>, ..Start::NONE };
}

impl<R: Run, S: Sink<R::Out>> Begun<R, S> {
    /// Makes the context of such a branch below `parent`.
    fn below(parent: &Context, origin: Origin) -> Context {
        parent.begun(false, origin, Seed::without((S::Place::default(), Begun::<R, S>(PhantomData))))
    }
}

impl<R, S> Branch<R, S> {
    pub(crate) fn context(&self) -> &Context {
        &self.0
    }

    pub(crate) fn into_context(self) -> Context {
        self.0
    }
}

impl<R: Run, S: Sink<R::Out>> Branch<R, S> {
    /// A branch or fork below `parent`, and the task that starts it unless another thread has.
    #[inline]
    pub(crate) fn new(parent: &Context, run: R, sink: S, site: Site) -> (Self, Task) {
        Branch::started_by(Branch::made(parent, parent.locals(), run, sink, site).show())
    }

    /// A fiber below `parent`, by code that may be outside of its fiber. It is cancelled unless `admits` agrees, which is
    /// called before any thread can start the fiber or take it back.
    pub(crate) fn introduced(
        parent: &Context,
        run: R,
        sink: S,
        site: Site,
        admits: impl FnOnce(&Context) -> bool,
    ) -> Self {
        let (origin, held) = (Origin::of(&run, site), parent.hold());
        let enter = |context: &Context| {
            if held.is_none() || !admits(context) {
                context.cancel();
            }
        };
        let (branch, task) = Branch::started_by(parent.introduced(origin, Self::seed(run, sink), enter));
        if !task.is_void() {
            branch.context().schedule(task);
        }
        branch
    }

    /// A fork below `parent` that carries the locals which forks of the fiber of `cx` inherit.
    pub(crate) fn forked(cx: &Cx<'_>, parent: &Context, run: R, sink: S, site: Site) -> (Self, Task) {
        Branch::with_locals(cx.nearest().locals_of_fork(), cx, parent, run, sink, site)
    }

    fn with_locals(
        locals: Option<Locals>,
        cx: &Cx<'_>,
        parent: &Context,
        run: R,
        sink: S,
        site: Site,
    ) -> (Self, Task) {
        let fiber = Branch::made(parent, locals, run, sink, site);
        fiber.context().set_place(cx.nearest().place());
        Branch::started_by(fiber.show())
    }

    /// A fork below `parent` by code that may be outside of its fiber, with the locals which forks of that inherit.
    pub(crate) fn spawned(parent: &Context, run: R, sink: S, site: Site) -> (Self, Task) {
        Branch::started_by(Branch::made(parent, parent.locals_of_fork(), run, sink, site).show())
    }

    /// A fiber directly below the root of the scheduler, which carries all locals of the fiber of `cx`.
    pub(crate) fn detached(cx: &Cx<'_>, run: R, sink: S, site: Site) -> (Self, Task) {
        Branch::with_locals(cx.locals(), cx, &cx.context().topmost(), run, sink, site)
    }

    #[inline]
    fn made(parent: &Context, locals: Option<Locals>, run: R, sink: S, site: Site) -> NewFiber {
        let origin = Origin::of(&run, site);
        let is_program = S::RACES && run.is_program();
        let fiber = parent.child(locals, origin, Self::seed(run, sink));
        if S::RACES {
            fiber.context().become_side(is_program);
        }
        fiber
    }

    #[inline]
    fn seed(run: R, sink: S) -> Seed<FiberState> {
        Seed::with((run, sink), (S::Place::default(), Outlet::<R, S>(PhantomData)))
    }

    fn started_by([context, of_task]: [Context; 2]) -> (Self, Task) {
        (Branch(context, PhantomData), Task::start(of_task))
    }

    /// Starts the branch on this thread, unless it has been started. `false`: the scheduler decides when this branch and
    /// further ones start.
    pub(crate) fn start_inline(&self, cx: &Cx<'_>) -> bool {
        let is_allowed = cx.spend_on_branch();
        if is_allowed {
            self.start(cx.view());
        }
        is_allowed
    }

    /// Starts the last of several branches; the others were scheduled. If the scheduler decides when this one starts too, it
    /// receives the task.
    pub(crate) fn run_last(&self, cx: &Cx<'_>, task: Task) {
        if !self.start_inline(cx) {
            cx.schedule(task);
        }
    }

    /// Runs the fiber, unless another thread has claimed it. The caller has asked the scheduler.
    pub(crate) fn start(&self, view: TurnView<'_>) {
        self.0.start_here(view);
    }
}

impl<R: Run> Branch<R, Home> {
    /// The context of a running fork below `parent`, which was spawned from outside of `parent`.
    pub(crate) fn begun_from_outside(parent: &Context, origin: Origin) -> Context {
        let held = parent.hold();
        let context = Begun::<R, Home>::below(parent, origin);
        if held.is_none() {
            // The fiber above no longer waits for this one.
            context.cancel();
        }
        context
    }

    /// Continues the fork whose context is `inside`.
    pub(crate) fn adopt(inside: NodeGuard, cx: &Cx<'_>, rest: Unended<R::Out>) -> Self {
        let branch = Branch(inside.into_context(), PhantomData);
        // A leaf that panics has dropped the frames, so the fiber is abandoned, and its handle reports that.
        catch_panic(|| rest.go_on(cx, branch.context().clone(), Home));
        branch
    }
}

impl<R: Run, S: Sink<R::Out>> Outlet<R, S> {
    fn start(context: &Context, view: TurnView<'_>) -> Option<Frames> {
        let ((run, sink), room) = context.claim::<Self>()?;
        let slot = Slot::in_room(room);
        let cx = &Cx::new(context, view, &slot);
        let _current = context.set_current();
        if context.is_cancelled() {
            end_unstarted(cx, run, sink);
            return None;
        }
        match closes(cx, run_guarded(run, cx), sink) {
            Step::Done(_) => None,
            Step::Wait(_) => slot.take(),
        }
    }

    fn abandon(context: &Context) {
        if let Some(((run, sink), _)) = context.claim::<Self>() {
            let _current = context.set_current();
            end(context, sink, Outcome::Failure(Error::new(Abandoned)).without_run(run, context));
        }
    }
}

fn joiners<T: Send + 'static>(context: &Context) -> Vec<(Context, u64)> {
    context.front::<ResultCell<T>>().map_or_else(Vec::new, ResultCell::joiners)
}

/// Ends a branch without running it. Children that were made from outside are awaited.
fn end_unstarted<R: Run, S: Sink<R::Out>>(cx: &Cx<'_>, run: R, sink: S) {
    let outcome = guard(|| run.end_unstarted(cx)).unwrap_or_else(Outcome::Panicked);
    go_on(cx, Step::Done(outcome), sink);
}

/// A branch after its owner has run it in place.
pub(crate) enum Ran<T> {
    /// The branch has ended, and needed no node.
    Ended(Outcome<T>),
    /// The branch has a node, because it has to wait, or because its forks have not ended.
    Lives(NodeGuard, Unended<T>),
}

/// The rest of a branch that its owner has run in place.
pub(crate) enum Unended<T> {
    /// Its forks have not ended.
    Done(Outcome<T>),
    Waits(Suspended<T>),
}

impl<T: Send + 'static> Unended<T> {
    fn go_on<S: Sink<T>>(self, cx: &Cx<'_>, context: Context, sink: S) {
        match self {
            Unended::Waits(suspended) => suspended.wait_as(cx, context, Closing(sink)),
            Unended::Done(outcome) => {
                let slot = Slot::of(&context);
                go_on(&Cx::new(&context, cx.view(), &slot), Step::Done(outcome), sink);
            }
        }
    }
}

/// Continues a branch that has run.
#[cfg_attr(not(debug_assertions), inline(always))]
fn go_on<T: Send + 'static, S: Sink<T>>(cx: &Cx<'_>, step: Step<'_, T>, sink: S) {
    if let Step::Wait(_) = closes(cx, step, sink) {
        cx.settle();
    }
}

/// Ends a branch that has run, or pushes its last frame.
#[cfg_attr(not(debug_assertions), inline(always))]
fn closes<'s, T: Send + 'static, S: Sink<T>>(cx: &'s Cx<'_>, step: Step<'_, T>, sink: S) -> Step<'s, ()> {
    match step.detach(cx) {
        Ok(outcome) => close(cx, outcome, sink),
        Err(pushed) => Step::Wait(pushed.attach(cx).push(cx, Closing(sink))),
    }
}

/// Ends the branch of `cx` after its own work: cancels its children, and delivers the outcome once none is left.
#[cfg_attr(not(debug_assertions), inline(always))]
fn close<'s, T: Send + 'static, S: Sink<T>>(cx: &'s Cx<'_>, outcome: Outcome<T>, sink: S) -> Step<'s, ()> {
    let context = cx.context();
    if !context.finish_alone() {
        return Step::Wait(close_later(cx, outcome, sink));
    }
    if S::RACES && !context.claim_end(None) {
        return Step::Wait(cx.wait(RaceIsFree).push(cx, Remains(outcome, sink)));
    }
    end(context, sink, outcome);
    Step::Done(Outcome::Success(()))
}

#[cold]
fn close_later<'s, T: Send + 'static, S: Sink<T>>(
    cx: &'s Cx<'_>,
    outcome: Outcome<T>,
    sink: S,
) -> Waiting<'s, ()> {
    cx.context().cancel();
    cx.wait(Childless::new(cx.context())).push(cx, Remains(outcome, sink))
}

impl<T: Send + 'static> Ran<T> {
    /// Runs a branch in this place. If the branch has to [join](Ran::join) a group, an `E` takes its outcome.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn of<E, R>(cx: &Cx<'_>, part: &mut Part<'_>, run: R) -> Self
    where
        R: Run<Out = T>,
        E: Sink<T>,
    {
        Ran::made_by(Begun::<R, E>::below, cx, part, run)
    }

    /// The same, with `make` to make the node that the branch may need.
    // Inlined, because the result is large: it would be written and read in pieces of other sizes, which stalls the reader.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn made_by<R>(make: Make, cx: &Cx<'_>, part: &mut Part<'_>, run: R) -> Self
    where
        R: Run<Out = T>,
    {
        part.begin_fiber(&run, make);
        let step = {
            let slot = Slot::at(At::Part(part));
            let cx = &cx.within(part).on(&slot);
            run_guarded(run, cx).detach(cx).map_err(|pushed| pushed.take(&slot))
        };
        match step {
            Err(suspended) => Ran::Lives(part.leave_inside(), Unended::Waits(suspended)),
            Ok(outcome) => match part.leave() {
                None => Ran::Ended(outcome),
                Some(inside) => Ran::Lives(inside, Unended::Done(outcome)),
            },
        }
    }

    /// Continues the branch as a part of `group`; its outcome goes to `sink`.
    pub(crate) fn join(self, cx: &Cx<'_>, group: &Context, sink: impl Sink<T>) {
        match self {
            Ran::Ended(outcome) => arrive(cx, group, sink, outcome),
            Ran::Lives(inside, rest) => rest.go_on(cx, inside.into_context(), sink),
        }
    }
}

/// The frame after the branch's own work. If it is not run, the scheduler has abandoned the branch.
struct Closing<S>(S);

/// The frame after the branch's last child.
struct Remains<T, S>(Outcome<T>, S);

impl<T: Send + 'static, S: Sink<T>> Frame<T> for Closing<S> {
    type Out = ();

    fn resume(self, cx: &Cx<'_>, outcome: Outcome<T>) -> Left {
        cx.leave_step(close(cx, outcome, self.0))
    }

    fn discard(self, _: &mut Vec<Panic>, place: Option<&Context>) {
        abandon::<T, S>(place, self.0);
    }
}

impl<T: Send + 'static, S: Sink<T>> Frame<()> for Remains<T, S> {
    type Out = ();

    fn resume(self, cx: &Cx<'_>, _: Outcome<()>) -> Left {
        if S::RACES && !cx.context().claim_end(None) {
            return cx.leave_step(Step::Wait(cx.wait(RaceIsFree).push(cx, self)));
        }
        end(cx.context(), self.1, self.0);
        cx.leave(Outcome::Success(()))
    }

    fn discard(self, torn: &mut Vec<Panic>, place: Option<&Context>) {
        discard_part(self.0, torn);
        abandon::<T, S>(place, self.1);
    }
}

/// Ends a branch that was abandoned in this place of it.
fn abandon<T: Send + 'static, S: Sink<T>>(place: Option<&Context>, sink: S) {
    let fiber = place.expect("the fiber waits, or its driver has put the context back").fiber();
    fiber.cancel();
    end(&fiber, sink, Outcome::Failure(Error::new(Abandoned)));
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn end<T: Send + 'static, S: Sink<T>>(context: &Context, sink: S, outcome: Outcome<T>) {
    if context.is_observed() {
        observe_end(context, &outcome);
    }
    deliver(context, sink, outcome);
    if S::RACES {
        context.end_side();
    }
    context.end();
}

#[cold]
fn observe_end<T>(context: &Context, outcome: &Outcome<T>) {
    context.observe(Event::Outcome(outcome.into()));
}

/// A branch of `group` has ended in place, and needed no node.
fn arrive<T: Send + 'static, S: Sink<T>>(cx: &Cx<'_>, group: &Context, sink: S, outcome: Outcome<T>) {
    if !S::RACES {
        return deliver(group, sink, outcome);
    }
    let ended = group.end_in_place((sink, outcome), |(sink, outcome)| deliver(group, sink, outcome));
    if let Err((sink, outcome)) = ended {
        // Another side holds the race. This one waits, as a fiber, until it may end.
        cx.schedule(Branch::new(group, HasEnded(outcome), sink, group.fork_site()).1);
    }
}

/// A side that has ended in place.
struct HasEnded<T>(Outcome<T>);

impl<T: Send + 'static> Run for HasEnded<T> {
    type Out = T;
    const ROOM: usize = 0;

    fn run<'s>(self, _: &'s Cx<'_>) -> Step<'s, T> {
        Step::Done(self.0)
    }

    fn end_unstarted(self, _: &Cx<'_>) -> Outcome<T> {
        self.0
    }
}

/// The last wait of a side that has ended while another one holds the race.
struct RaceIsFree;

impl Waits for RaceIsFree {
    type Event = ();
    type Out = ();
    const COUNTS: bool = false;

    fn begin(&mut self, cx: &Cx<'_>) -> BegunAs<()> {
        let context = cx.context();
        let event = context.begin_wait(context.fork_site(), Awaited::of(WaitsFor::Other));
        if context.claim_end(Some(event)) {
            context.end_wait();
            return BegunAs::Ready(Outcome::Success(()));
        }
        BegunAs::Registered { is_shielded: true }
    }

    fn wake(&mut self, _: &Cx<'_>, _: Signal) -> Option<Outcome<()>> {
        Some(Outcome::Success(()))
    }

    fn end(self, _: &Cx<'_>, outcome: Outcome<()>) -> Outcome<()> {
        outcome
    }
}

fn deliver<T, S: Sink<T>>(context: &Context, sink: S, outcome: Outcome<T>) {
    // The drop of an unwanted value, which is user code, may unwind.
    if let Err(panic) = guard(|| sink.deliver(context, outcome)) {
        Unobserved::report(context, &Outcome::<()>::Panicked(panic));
    }
}
