//! `fiber.await`: fibers as futures, inside a block.
//!
//! The first poll starts the fiber in that call, in the context of the block. If the fiber has to wait, its frames are the newest ones
//! of the block, like those of a `let!`. If the block waits for nothing else, the fiber stays in place. In all other cases it **moves
//! apart** with its frames: it continues in a context of its own, and wakes the block when it has ended.
//!
//! ```text
//!   poll: Wait    --> asked --- the poll ends, nothing else can wake the block ----> in place --> ended
//!                       |
//!                       +--- another wait begins, the future is dropped, the
//!                            block ends, or other code has its waker --------------> apart -----> ended
//! ```
//!
//! The contexts of fibers that moved apart are below one node, which is made with the first of them. The end of the
//! block cancels and awaits that node, so everything that the block has started ends before the outcome of the block is
//! delivered.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::mem;
use std::panic::{Location, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, Waker};

use parking_lot::Mutex;

use super::drive::{Over, Port, Rest};
use super::settings::Settings;
use super::waker::wake_here;
use crate::cell::{Delivery, Joining, Seed};
use crate::combine::{RegionEnd, run_guarded, wait_last, when_childless};
use crate::drop_queue::drop_nested;
use crate::engine::context::{Context, Cx, Forks, NodeGuard, Origin};
use crate::engine::event::Event;
use crate::engine::frames::{Frame as FrameOf, Left, Pushed, Slot, Stepped, Suspended, Visit};
use crate::engine::step::{Follow, Run, Step};
use crate::engine::suppress::forget;
use crate::error::{Abandoned, Cancelled, Error, Frame, NoScheduler, Site};
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::panic::guard;

/// The future of a fiber that is awaited in a block, or in an `async fn` that a block calls.
///
/// The fiber runs in place. If the future is polled beside another one, the fiber continues as a separate fiber.
/// Dropping the future cancels the fiber.
pub struct FiberFuture<T, R> {
    state: State<T, R>,
    site: Site,
    /// How often the wrapper was told to poll again in another turn.
    put_off: u8,
}

/// After this many deferred polls, a wrapper is treated as an executor that does not return before the fiber has ended.
const PATIENCE: u8 = 8;

enum State<T, R> {
    New(Fiber<T, R>),
    // The type of the fiber is hidden, because its bounds do not hold where the compiler checks auto traits; see `Wait`.
    Waiting(Arc<dyn Answer<T>>),
    /// The fiber was cancelled, and the block has not been told.
    Cancelled,
    Over,
}

// A fiber is moved before it runs, and its frames are stored elsewhere, so no field is ever pinned.
impl<T, R> Unpin for FiberFuture<T, R> {}

impl<T: Send + 'static, R: Run<Out = T>> IntoFuture for Fiber<T, R> {
    type Output = Result<T, Error>;
    type IntoFuture = FiberFuture<T, R>;

    #[track_caller]
    fn into_future(self) -> FiberFuture<T, R> {
        self.future_at(Location::caller())
    }
}

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// For futures of the library that await fibers: `site` is the place where the user calls them.
    pub(crate) fn future_at(self, site: Site) -> FiberFuture<T, R> {
        FiberFuture { state: State::New(self), site, put_off: 0 }
    }
}

impl<T: Send + 'static, R: Run<Out = T>> Future for FiberFuture<T, R> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, task: &mut std::task::Context<'_>) -> Poll<Result<T, Error>> {
        let waker = task.waker();
        Port::with_current(|port| {
            let polled = self.poll_at(port, waker);
            if let Some(port) = port
                && polled.is_pending()
                && !port.is_behind(waker)
            {
                // The wrapper may be an executor that blocks the thread until it is woken, perhaps by what this turn has put off.
                port.cx().schedule_put_off();
            }
            polled
        })
    }
}

impl<T: Send + 'static, R: Run<Out = T>> FiberFuture<T, R> {
    fn poll_at(&mut self, port: Option<&Port<'_>>, waker: &Waker) -> Poll<Result<T, Error>> {
        match mem::replace(&mut self.state, State::Over) {
            State::New(fiber) => match port {
                Some(port) => self.start(fiber, port, waker),
                None => Poll::Ready(Err(Error::new(NoScheduler))),
            },
            State::Waiting(awaited) => match awaited.answer(waker) {
                Some((outcome, is_cut_short)) => self.end(outcome, is_cut_short, port, waker),
                None => {
                    if let Some(port) = port {
                        port.wait_beside(waker);
                    }
                    self.state = State::Waiting(awaited);
                    Poll::Pending
                }
            },
            State::Cancelled => self.end(Outcome::Cancelled, true, port, waker),
            State::Over => panic!("polled after it was ready"),
        }
    }

    fn start(&mut self, fiber: Fiber<T, R>, port: &Port<'_>, waker: &Waker) -> Poll<Result<T, Error>> {
        let frame = || Frame::new("await", self.site);
        // Nobody can know what an `async` block has done before.
        if !port.begin(true, frame) && self.put_off(port, waker) {
            self.state = State::New(fiber);
            return Poll::Pending;
        }
        self.put_off = 0;
        // Another waker belongs to a wrapper, possibly an executor that blocks until it is woken.
        let may_stay = port.is_behind(waker);
        let apart = Slot::apart();
        let elsewhere;
        let cx = if may_stay {
            port.cx()
        } else {
            elsewhere = port.cx().on(&apart);
            &elsewhere
        };
        let outside = Settings::begin(cx, port.forks());
        if cx.masks() > 0
            && let Some(fiber) = cx.own_node()
        {
            fiber.set_cut_short(false);
        }
        let pushed = match run_guarded(fiber.into_run(), cx).detach(cx) {
            Ok(outcome) => {
                if cx.has_left_over() {
                    cx.drop_left_over();
                }
                port.keep(outside.end(cx).place());
                let is_cut_short = outcome.is_cancelled() && cx.own_node().is_some_and(Context::is_cut_short);
                return self.end(outcome, is_cut_short, Some(port), waker);
            }
            Err(pushed) => pushed,
        };
        port.runs_on();
        let held = Held::after(outside, cx, port);
        let awaited = if may_stay {
            let awaited = Arc::new(Awaited::new(Stage::Asked(pushed, held), self.site));
            port.ask_for(awaited.clone());
            awaited
        } else {
            let awaited = Arc::new(Awaited::new(Stage::Left, self.site));
            let (cx, suspended) = (port.cx(), pushed.take(&apart));
            awaited.clone().go_apart(cx, port.place_apart(), suspended, held.inside(cx), waker.clone());
            awaited
        };
        self.state = State::Waiting(awaited);
        Poll::Pending
    }

    /// Whether the block will poll this again. `false` after too many deferrals, because a wrapper that keeps polling
    /// within one turn of the block would never stop.
    fn put_off(&mut self, port: &Port<'_>, waker: &Waker) -> bool {
        if port.is_behind(waker) {
            return true;
        }
        self.put_off = self.put_off.saturating_add(1);
        // A wrapper may poll only the futures that have woken it.
        waker.wake_by_ref();
        self.put_off < PATIENCE
    }

    /// The fiber has ended. `is_cut_short`: with a part that the cancellation of the block has ended in an uncancelable region.
    #[inline]
    fn end(
        &mut self,
        outcome: Outcome<T>,
        is_cut_short: bool,
        port: Option<&Port<'_>>,
        waker: &Waker,
    ) -> Poll<Result<T, Error>> {
        if let Some(port) = port {
            // Also after a failure, because code that awaits until it succeeds is a loop like any other.
            port.owe_point();
        }
        match outcome.passed(Frame::new("await", self.site)) {
            Outcome::Success(value) => Poll::Ready(Ok(value)),
            Outcome::Failure(error) => Poll::Ready(Err(error)),
            Outcome::Panicked(panic) => resume_unwind(Box::new(panic)),
            Outcome::Cancelled => match port {
                // The block is cancelled: it is dropped, and sees no failure. In a region, such as a finalizer, it goes on.
                Some(port)
                    if port.cx().is_cancelled()
                        && (is_cut_short || !port.cx().is_masked())
                        && self.put_off(port, waker) =>
                {
                    self.state = State::Cancelled;
                    port.stop(Outcome::Cancelled);
                    Poll::Pending
                }
                _ => Poll::Ready(Err(Error::new(Cancelled))),
            },
        }
    }
}

impl<T, R> Drop for FiberFuture<T, R> {
    fn drop(&mut self) {
        if let State::Waiting(awaited) = &self.state {
            awaited.give_up();
        }
    }
}

impl<T, R> fmt::Debug for FiberFuture<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fiber awaited at {}", self.site)
    }
}

/// An awaited fiber that has to wait, and its block: each has settings in their context.
enum Held {
    /// They differ in the parent of forks alone, and this is the block's. The context has the fiber's until another wait of the block
    /// begins, because nobody forks there before.
    Outside(Forks),
    /// These are those of the fiber. The context has the block's.
    Inside(Box<Settings>),
}

impl Held {
    /// The fiber has pushed its frames to the slot of `cx`. `outside` are the settings of the block.
    fn after(outside: Settings, cx: &Cx<'_>, port: &Port<'_>) -> Self {
        // Fibers that are awaited in place inside have already set their own parents of forks.
        let mut levels = Vec::new();
        if cx.context().may_have_had_fork_place() {
            cx.visit_newest(&mut Visit::Forks(&mut levels));
        }
        let outermost = levels.pop();
        if !matches!(outermost, Some(Some(_))) && outside.hold(cx) {
            return Held::Outside(outside.forks);
        }
        let inside = outside.enter(cx);
        match outermost {
            Some(place) => port.keep(place.as_ref()),
            None => port.keep(inside.forks.place()),
        }
        Held::Inside(Box::new(inside))
    }

    /// The settings of the fiber. The context has those of the block from now on.
    fn inside(self, cx: &Cx<'_>) -> Settings {
        match self {
            Held::Outside(forks) => Settings::begin(cx, forks),
            Held::Inside(inside) => *inside,
        }
    }

    /// The parent of the block's forks. The context has the settings of the fiber from now on.
    #[inline]
    fn outside(self, cx: &Cx<'_>) -> Forks {
        match self {
            Held::Outside(forks) => forks,
            Held::Inside(inside) => inside.enter(cx).forks,
        }
    }
}

/// An awaited fiber that had to wait, shared by its future and its frames.
struct Awaited<T: Send + 'static> {
    /// Where the fiber leaves its outcome, with the context in which it has ended, and its future the waker of the last poll.
    outcome: Delivery<(Context, Outcome<T>), Waker>,
    stage: Mutex<Stage<T>>,
    site: Site,
}

enum Stage<T: Send + 'static> {
    /// Started in this poll of the block; its wait has not begun. Its frames are the newest ones of the block.
    Asked(Pushed<T>, Held),
    InPlace,
    /// In its own context, with the contexts that it had made below the block before it moved.
    Apart(Context, Vec<Context>),
    /// About to move apart.
    Left,
}

/// An awaited fiber, as the driver uses it.
pub(super) trait Asked: Send + Sync {
    /// Waits in the context of the block, then continues with the block.
    fn attach_here(self: Arc<Self>, cx: &Cx<'_>, block: Box<dyn Rest>);
    /// Continues below `above`, and wakes the block at its end.
    fn move_apart(self: Arc<Self>, cx: &Cx<'_>, above: &Context, waker: Waker);
}

/// An awaited fiber, as its future uses it.
trait Answer<T>: Send + Sync {
    /// The outcome, if the fiber has ended, and whether it is [cut short](FiberFuture::end). Otherwise the end of the fiber wakes `waker`.
    fn answer(&self, waker: &Waker) -> Option<(Outcome<T>, bool)>;
    /// Called when the future is dropped.
    fn give_up(&self);
}

impl<T: Send + 'static> Awaited<T> {
    fn new(stage: Stage<T>, site: Site) -> Self {
        Awaited { outcome: Delivery::new(), stage: Mutex::new(stage), site }
    }

    fn leave_asked(&self, next: Stage<T>) -> (Pushed<T>, Held) {
        match mem::replace(&mut *self.stage.lock(), next) {
            Stage::Asked(pushed, held) => (pushed, held),
            _ => unreachable!("an awaited fiber waits once"),
        }
    }

    /// Delivers the outcome. Returns the waker to be woken.
    fn deliver(&self, context: Context, outcome: Outcome<T>) -> Option<Waker> {
        let before = self.outcome.complete((context, outcome))?;
        if !before.is_forgotten {
            return before.joiner;
        }
        if let Some((context, outcome)) = self.outcome.take() {
            forget(outcome, &context);
        }
        None
    }
}

impl<T: Send + 'static> Awaited<T> {
    /// Continues below `above` with these frames, and wakes the block at its end.
    fn go_apart(
        self: Arc<Self>,
        cx: &Cx<'_>,
        above: &Context,
        mut suspended: Suspended<T>,
        inside: Settings,
        waker: Waker,
    ) {
        let block = cx.context();
        // In an uncancelable region, the place is shielded from a cancellation of the fiber, as branches are. A
        // restored part of the region is not shielded, so its context is below that of the block itself.
        let outside = inside.masks.min(cx.masks());
        let is_restored = outside < cx.masks();
        let shielded = is_restored && outside > cx.masks_outside();
        let parent = if is_restored { block } else { above };
        let fiber = parent.begun(shielded, Origin::unnamed(self.site), Seed::without(((), ())));
        fiber.announce(parent);
        fiber.begin_in_masks(inside.masks, outside);
        let mut parts = Vec::new();
        suspended.frames().visit(&mut Visit::Parts(&mut parts));
        // They are below the block, whose locals may change. An event of theirs would claim the races around the block, as the fiber that
        // goes on in its own context releases none.
        parts.drain(..).for_each(|part| {
            part.keep_locals(inside.locals.clone());
            part.leave_races();
        });
        // Giving up a fiber does not interrupt an uncancelable region of that fiber.
        if inside.masks <= cx.masks() {
            suspended.frames().visit(&mut Visit::Parts(&mut parts));
        }
        let forks = Forks::apart(Some(above.clone()), cx.is_masked());
        let mut levels = Vec::new();
        suspended.frames().visit(&mut Visit::Forks(&mut levels));
        let (mut awaited, mut forks) = (levels.len(), Some(forks));
        let moves = &mut Visit::Move { from: block, to: &fiber, awaited: &mut awaited, forks: &mut forks };
        suspended.frames().visit(moves);
        inside.enter_new(&fiber, forks);
        // The block has not waited since the fiber began, so a limit without a node is one of the fiber.
        block.hand_limit(&fiber);
        *self.stage.lock() = Stage::Apart(fiber.clone(), parts);
        // Another task may have polled again already; its waker stays.
        _ = self.outcome.join(waker);
        if self.outcome.is_forgotten() {
            self.give_up();
        }
        let inside = NodeGuard::new(fiber.clone());
        suspended.wait_as(cx, fiber, Stepped(Apart(Some((self, inside)))));
    }
}

impl<T: Send + 'static> Asked for Awaited<T> {
    fn attach_here(self: Arc<Self>, cx: &Cx<'_>, block: Box<dyn Rest>) {
        let (pushed, held) = self.leave_asked(Stage::InPlace);
        let waiting = Awaits { context: cx.context().clone(), outside: held.outside(cx), block };
        let _ = pushed.attach(cx).push(cx, Here { awaited: self, waiting: Some(waiting) });
    }

    fn move_apart(self: Arc<Self>, cx: &Cx<'_>, above: &Context, waker: Waker) {
        let (pushed, held) = self.leave_asked(Stage::Left);
        self.go_apart(cx, above, pushed.split(cx), held.inside(cx), waker);
    }
}

impl<T: Send + 'static> Answer<T> for Awaited<T> {
    fn answer(&self, waker: &Waker) -> Option<(Outcome<T>, bool)> {
        let mut unanswered = None;
        while !self.outcome.is_done() {
            drop(self.outcome.withdraw());
            match self.outcome.join(unanswered.unwrap_or_else(|| waker.clone())) {
                Joining::Waits => return None,
                Joining::Over(_) => break,
                // The fiber moves apart meanwhile, with the waker of the first poll.
                Joining::Occupied(waker) => unanswered = Some(waker),
            }
        }
        let (fiber, outcome) = self.outcome.take()?;
        let is_cut_short = outcome.is_cancelled() && fiber.is_cut_short();
        Some((outcome, is_cut_short))
    }

    fn give_up(&self) {
        if let Some((context, outcome)) = self.outcome.forget() {
            return forget(outcome, &context);
        }
        // The end of this fiber needs no waker any more. While it kept that of the block, the next awaited fiber could not run in place.
        drop(self.outcome.withdraw());
        // A fiber that is about to move apart finds out by itself, after the same lock.
        let mut stage = self.stage.lock();
        let Stage::Apart(fiber, parts) = &mut *stage else { return };
        let (fiber, parts) = (fiber.clone(), mem::take(parts));
        drop(stage);
        fiber.cancel();
        parts.iter().for_each(Context::cancel);
    }
}

/// The frame after an awaited fiber in place: gives the outcome to its future, and continues with the block.
struct Here<T: Send + 'static> {
    awaited: Arc<Awaited<T>>,
    waiting: Option<Awaits>,
}

/// A block that waits for a fiber in its own context.
struct Awaits {
    context: Context,
    /// The parent of the block's own forks.
    outside: Forks,
    block: Box<dyn Rest>,
}

impl Awaits {
    /// The fiber has ended. Returns the context in which it has, and the block.
    fn end(self) -> (Context, Box<dyn Rest>) {
        let Awaits { context, outside, mut block } = self;
        if let Some(place) = context.set_forks(outside).place() {
            block.keep(place);
        }
        (context, block)
    }
}

impl<T: Send + 'static> FrameOf<T> for Here<T> {
    // The block leaves an outcome of its own type.
    type Out = ();
    const VISITS: bool = true;

    fn visit(&mut self, visit: &mut Visit<'_>) {
        let Some(waiting) = &mut self.waiting else { return };
        match visit {
            Visit::Forks(found) => found.push(waiting.outside.place().cloned()),
            Visit::Move { from, to, awaited, forks } => {
                if waiting.context.is_same(from) {
                    waiting.context = to.clone();
                }
                **awaited -= 1;
                if **awaited == 0
                    && let Some(forks) = forks.take()
                {
                    waiting.outside = forks;
                }
            }
            Visit::Parts(_) => waiting.block.visit(visit),
            Visit::Home(_) | Visit::Undo(_) => {}
        }
    }

    fn resume(mut self, cx: &Cx<'_>, outcome: Outcome<T>) -> Left {
        let (context, block) = self.waiting.take().expect("a frame is run once").end();
        if let Some(waker) = self.awaited.deliver(context, outcome) {
            // By now, a wrapper owns the future.
            drop(guard(|| waker.wake()));
        }
        block.go_on(cx)
    }
}

impl<T: Send + 'static> Drop for Here<T> {
    fn drop(&mut self) {
        if let Some(waiting) = self.waiting.take() {
            drop_nested(waiting.end().1);
        }
    }
}

/// The step after an awaited fiber that has moved apart. If it is dropped unused, the fiber was abandoned.
struct Apart<T: Send + 'static>(Option<(Arc<Awaited<T>>, NodeGuard)>);

impl<T: Send + 'static> Follow<T> for Apart<T> {
    type Out = ();

    fn follow<'s>(mut self, cx: &'s Cx<'_>, outcome: Outcome<T>) -> Step<'s, ()> {
        when_childless(cx, outcome, move |cx, outcome| {
            if let Some(waker) = self.end(outcome) {
                wake_here(cx, waker);
            }
        })
    }
}

impl<T: Send + 'static> Apart<T> {
    /// Returns the waker to be woken.
    fn end(&mut self, outcome: Outcome<T>) -> Option<Waker> {
        let (awaited, inside) = self.0.take()?;
        inside.observe(Event::Outcome((&outcome).into()));
        let waker = awaited.deliver(inside.clone(), outcome);
        inside.end();
        waker
    }
}

impl<T: Send + 'static> Drop for Apart<T> {
    fn drop(&mut self) {
        if let Some(waker) = self.end(Outcome::Failure(Error::new(Abandoned))) {
            drop(guard(|| waker.wake()));
        }
    }
}

/// The end of a block, except for awaited fibers that have moved apart: cancels them, and continues when they have ended.
pub(super) fn end_apart<'s, T: Send + 'static>(
    cx: &'s Cx<'_>,
    over: Over<T>,
    apart: Option<NodeGuard>,
) -> Step<'s, T> {
    match apart {
        Some(apart) if !apart.finish_alone() => {
            apart.cancel();
            Step::Wait(wait_last(cx, apart, Silent, Outcome::Success(())).then(cx, Ended(over)))
        }
        apart => {
            apart.into_iter().for_each(NodeGuard::end);
            over.go_on(cx)
        }
    }
}

/// The end of the place of awaited fibers.
struct Silent;

impl RegionEnd<()> for Silent {
    type Out = ();

    fn conclude(self, _: &Cx<'_>, _: Option<Outcome<()>>) -> Outcome<()> {
        Outcome::Success(())
    }
}

struct Ended<T>(Over<T>);

impl<T: Send + 'static> Follow<()> for Ended<T> {
    type Out = T;

    fn follow<'s>(self, cx: &'s Cx<'_>, _: Outcome<()>) -> Step<'s, T> {
        self.0.go_on(cx)
    }
}
