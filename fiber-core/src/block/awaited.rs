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

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::mem;
use std::panic::{Location, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, Waker};

use super::drive::{Over, Rest};
use super::exchange::{Exchange, Shared, Ticket};
use super::port::Port;
use super::settings::Settings;
use super::waker::wake_here;
use crate::cell::{Delivery, Joining, Seed};
use crate::combine::{RegionEnd, run_guarded, wait_last, when_childless};
use crate::engine::context::{Context, Cx, Forks, NodeGuard, Origin};
use crate::engine::event::Event;
use crate::engine::frames::{AnyPushed, Frame as FrameOf, Left, Pushed, Slot, Stepped, Suspended, Visit};
use crate::engine::step::{Follow, Run, Step};
use crate::engine::suppress::forget;
use crate::error::{Abandoned, Cancelled, Error, Frame, NoScheduler, Site};
use crate::fiber::Fiber;
use crate::footprint::{Access, Object};
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
    /// The block waits for the fiber in place, or will, after this poll. The flag: the future has left a waker in the exchange.
    Begun(Arc<Exchange>, Ticket, bool),
    // The type of the fiber is hidden, because its bounds do not hold where the compiler checks auto traits; see `Wait`.
    Apart(Arc<dyn Answer<T>>),
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
            State::Begun(exchange, ticket, is_wanted) => {
                let arrived = port.and_then(|port| port.take_arrived(&exchange, ticket));
                if let Some((context, outcome)) = arrived {
                    if is_wanted {
                        exchange.withdraw(ticket);
                    }
                    let is_cut_short = outcome.is_cancelled() && context.is_cut_short();
                    return self.end(outcome, is_cut_short, port, waker);
                }
                match exchange.find(ticket, waker) {
                    Some(shared) => self.ask(Awaited::of(shared), port, waker),
                    None => {
                        self.state = State::Begun(exchange, ticket, true);
                        self.wait(port, waker)
                    }
                }
            }
            State::Apart(awaited) => self.ask(awaited, port, waker),
            State::Cancelled => self.end(Outcome::Cancelled, true, port, waker),
            State::Over => panic!("polled after it was ready"),
        }
    }

    /// Polls a fiber that has left the block.
    fn ask(
        &mut self,
        awaited: Arc<dyn Answer<T>>,
        port: Option<&Port<'_>>,
        waker: &Waker,
    ) -> Poll<Result<T, Error>> {
        match awaited.answer(waker) {
            Some((outcome, is_cut_short)) => self.end(outcome, is_cut_short, port, waker),
            None => {
                self.state = State::Apart(awaited);
                self.wait(port, waker)
            }
        }
    }

    fn wait(&self, port: Option<&Port<'_>>, waker: &Waker) -> Poll<Result<T, Error>> {
        if let Some(port) = port {
            port.wait_beside(waker);
        }
        Poll::Pending
    }

    fn start(&mut self, fiber: Fiber<T, R>, port: &Port<'_>, waker: &Waker) -> Poll<Result<T, Error>> {
        let frame = || Frame::new("await", self.site);
        if !port.begin_await(frame) && self.put_off(port, waker) {
            self.state = State::New(fiber);
            return Poll::Pending;
        }
        self.put_off = 0;
        port.enter();
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
        let outside = Settings::of(cx);
        if cx.masks() > 0
            && let Some(fiber) = cx.own_node()
        {
            fiber.set_cut_short(false);
        }
        let pushed = match run_guarded(fiber.into_run(), cx).detach(cx) {
            Ok(outcome) => {
                let is_cut_short = outcome.is_cancelled() && cx.own_node().is_some_and(Context::is_cut_short);
                return self.end(outcome, is_cut_short, Some(port), waker);
            }
            Err(pushed) => pushed,
        };
        port.runs_on();
        let held = Held::after(outside, cx, port);
        self.state = if may_stay {
            let (exchange, ticket) = port.exchange();
            port.ask_for(Asked::new(ticket, pushed, held, self.site));
            State::Begun(exchange, ticket, false)
        } else {
            let (cx, mut suspended) = (port.cx(), pushed.take(&apart));
            let awaited = Awaited::apart(port, &mut suspended, held.inside(cx), self.site);
            // There is no other waker yet.
            let _ = awaited.outcome.join(waker.clone());
            awaited.clone().go_on(cx, suspended);
            State::Apart(awaited)
        };
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
        let outcome = match outcome {
            Outcome::Success(value) => return Poll::Ready(Ok(value)),
            other => other.passed(Frame::new("await", self.site)),
        };
        self.fail(outcome, is_cut_short, port, waker)
    }

    #[cold]
    fn fail(
        &mut self,
        outcome: Outcome<T>,
        is_cut_short: bool,
        port: Option<&Port<'_>>,
        waker: &Waker,
    ) -> Poll<Result<T, Error>> {
        match outcome {
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
        match &self.state {
            State::Begun(exchange, ticket, _) => {
                if !Port::with_current(|port| {
                    port.is_some_and(|port| port.is_of(exchange) && port.forget(*ticket))
                }) {
                    exchange.give_up(*ticket);
                }
            }
            State::Apart(awaited) => awaited.give_up(),
            State::New(_) | State::Cancelled | State::Over => {}
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
    /// begins, because no fiber forks there before.
    Outside(Forks),
    /// These are those of the fiber. The context has the block's.
    Inside(Box<(Settings, Forks)>),
}

impl Held {
    /// The fiber has pushed its frames to the slot of `cx`. `outside` are the settings of the block.
    #[inline]
    fn after(outside: Settings, cx: &Cx<'_>, port: &Port<'_>) -> Self {
        let context = cx.context();
        if !context.may_have_had_fork_place() && outside.hold(cx) {
            return Held::Outside(port.take_forks());
        }
        Held::after_changes(outside, cx, port)
    }

    fn after_changes(mut outside: Settings, cx: &Cx<'_>, port: &Port<'_>) -> Self {
        let context = cx.context();
        // Fibers that are awaited in place inside have already set their own parents of forks.
        let mut levels = Vec::new();
        cx.visit_newest(&mut Visit::Forks(&mut levels));
        let (outermost, forks) = (levels.pop(), port.take_forks());
        if !matches!(outermost, Some(Some(_)))
            && !context.has_fork_place()
            && forks.place().is_none()
            && outside.hold(cx)
        {
            return Held::Outside(forks);
        }
        outside.swap(cx);
        let (inside, forks) = (outside, context.set_forks(forks));
        match outermost {
            Some(place) => port.keep(place.as_ref()),
            None => port.keep(forks.place()),
        }
        Held::Inside(Box::new((inside, forks)))
    }

    /// The settings of the fiber. The context has those of the block from now on.
    fn inside(self, cx: &Cx<'_>) -> (Settings, Forks) {
        match self {
            Held::Outside(forks) => (Settings::of(cx), cx.context().set_forks(forks)),
            Held::Inside(inside) => *inside,
        }
    }

    /// The parent of the block's forks. The context has the settings of the fiber from now on.
    #[inline]
    fn outside(self, cx: &Cx<'_>) -> Forks {
        match self {
            Held::Outside(forks) => forks,
            Held::Inside(inside) => {
                let (mut settings, forks) = *inside;
                settings.swap(cx);
                cx.context().set_forks(forks)
            }
        }
    }
}

// ---- in place ----

/// A fiber that was begun in this poll of the block, and has to wait. Its frames are the newest ones of the block.
pub(super) struct Asked {
    pub(super) ticket: Ticket,
    pushed: AnyPushed,
    held: Held,
    site: Site,
    /// Functions for the type of its value.
    here: fn(Self, &Cx<'_>, Rest),
    apart: fn(Self, &Port<'_>, Waker),
}

impl Asked {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn new<T: Send + 'static>(ticket: Ticket, pushed: Pushed<T>, held: Held, site: Site) -> Self {
        Asked { ticket, pushed: pushed.erase(), held, site, here: Asked::here::<T>, apart: Asked::apart::<T> }
    }

    /// Waits in the context of the block, then continues with the block.
    pub(super) fn wait_here(self, cx: &Cx<'_>, block: Rest) {
        (self.here)(self, cx, block);
    }

    /// Continues in a context of its own, and wakes the block at its end.
    pub(super) fn move_apart(self, port: &Port<'_>, waker: Waker) {
        (self.apart)(self, port, waker);
    }

    fn here<T: Send + 'static>(self, cx: &Cx<'_>, block: Rest) {
        let waiting = Awaits { context: cx.context().clone(), outside: self.held.outside(cx), block };
        let here = Here::<T> { ticket: self.ticket, waiting: Some(waiting), gives: PhantomData };
        let _ = self.pushed.of::<T>().attach(cx).push(cx, here);
    }

    fn apart<T: Send + 'static>(self, port: &Port<'_>, waker: Waker) {
        let (cx, mut suspended) = (port.cx(), self.pushed.of::<T>().split(port.cx()));
        let awaited = Awaited::apart(port, &mut suspended, self.held.inside(cx), self.site);
        port.hand_over(self.ticket, awaited.clone(), Some(waker));
        awaited.go_on(cx, suspended);
    }
}

/// The frame after an awaited fiber in place: continues with the block, where its future takes the outcome.
struct Here<T: Send + 'static> {
    ticket: Ticket,
    waiting: Option<Awaits>,
    gives: PhantomData<fn(T)>,
}

/// A block that waits for a fiber in its own context.
struct Awaits {
    context: Context,
    /// The parent of the block's own forks.
    outside: Forks,
    block: Rest,
}

impl Awaits {
    /// The fiber has ended. Returns the context in which it has, and the block.
    fn end(self) -> (Context, Rest) {
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
        let arrival = Arrival(self.ticket, Cell::new(Some((context, outcome))));
        block.go_on(cx, Some(&arrival))
    }
}

impl<T: Send + 'static> Drop for Here<T> {
    fn drop(&mut self) {
        if let Some(waiting) = self.waiting.take() {
            let (context, block) = waiting.end();
            let abandoned = Outcome::<T>::Failure(Error::new(Abandoned));
            block.abandon(&Arrival(self.ticket, Cell::new(Some((context, abandoned)))));
        }
    }
}

/// The outcome of an awaited fiber in place, on the stack of the driver while it polls the block.
pub(super) struct Arrival<T>(Ticket, Cell<Option<(Context, Outcome<T>)>>);

impl<T> Arrival<T> {
    pub(super) fn take(&self) -> Option<(Context, Outcome<T>)> {
        self.1.take()
    }
}

/// An [`Arrival`], for the driver.
pub(super) trait Arrived: Any {
    fn ticket(&self) -> Ticket;
    /// Gives what the future has not taken to the exchange.
    fn leave(&self, exchange: &Exchange);
    /// The future was dropped.
    fn forget(&self);
}

impl<T: Send + 'static> Arrived for Arrival<T> {
    fn ticket(&self) -> Ticket {
        self.0
    }

    #[cold]
    fn leave(&self, exchange: &Exchange) {
        let Some(end) = self.take() else { return };
        let awaited = Arc::new(Awaited { outcome: Delivery::new(), apart: None, wakes: None });
        _ = awaited.outcome.complete(end);
        exchange.hand_over(self.0, awaited, None);
    }

    #[cold]
    fn forget(&self) {
        if let Some((context, outcome)) = self.take() {
            forget(outcome, &context);
        }
    }
}

// ---- apart ----

/// An awaited fiber that has left its block, shared by its future and its frames.
struct Awaited<T> {
    /// Where the fiber leaves its outcome, with the context in which it has ended, and its future the waker of the last poll.
    outcome: Delivery<(Context, Outcome<T>), Waker>,
    /// Its own context, and the contexts that it had made below the block before it moved. `None` if it has ended in place.
    apart: Option<(Context, Vec<Context>)>,
    /// What wakes the block touches this. A wrapper that is told of several ends wakes the block once, so each of them touches it.
    wakes: Option<Object>,
}

/// The same, as its future uses it.
trait Answer<T>: Send + Sync {
    /// The outcome, if the fiber has ended, and whether it is [cut short](FiberFuture::end). Otherwise the end of the fiber wakes `waker`.
    fn answer(&self, waker: &Waker) -> Option<(Outcome<T>, bool)>;
    /// Called when the future is dropped.
    fn give_up(&self);
}

impl<T: Send + 'static> Awaited<T> {
    /// Of the exchange, where the ticket of a future leads to a fiber of its type.
    fn of(shared: Arc<dyn Shared>) -> Arc<Self> {
        let shared: Arc<dyn Any + Send + Sync> = shared;
        shared.downcast().unwrap_or_else(|_| unreachable!("the ticket of another fiber"))
    }

    /// Moves the frames to a context below the block's place for them, with the settings `inside`.
    fn apart(
        port: &Port<'_>,
        suspended: &mut Suspended<T>,
        (inside, forks_inside): (Settings, Forks),
        site: Site,
    ) -> Arc<Self> {
        let (cx, above) = (port.cx(), port.place_apart());
        let block = cx.context();
        // In an uncancelable region, the place is shielded from a cancellation of the fiber, as branches are. A
        // restored part of the region is not shielded, so its context is below that of the block itself.
        let outside = inside.masks.min(cx.masks());
        let is_restored = outside < cx.masks();
        let shielded = is_restored && outside > cx.masks_outside();
        let parent = if is_restored { block } else { above };
        let fiber = parent.begun(shielded, Origin::unnamed(site), Seed::without(((), ())));
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
        inside.enter_new(&fiber);
        fiber.set_forks(forks.unwrap_or(forks_inside));
        // The block has not waited since the fiber began, so a limit without a node is one of the fiber.
        block.hand_limit(&fiber);
        Arc::new(Awaited { outcome: Delivery::new(), apart: Some((fiber, parts)), wakes: port.wakes() })
    }

    /// Waits in its own context.
    fn go_on(self: Arc<Self>, cx: &Cx<'_>, suspended: Suspended<T>) {
        let (fiber, _) = self.apart.as_ref().expect("the fiber has moved");
        let fiber = fiber.clone();
        let inside = NodeGuard::new(fiber.clone());
        suspended.wait_as(cx, fiber, Stepped(Apart(Some((self, inside)))));
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

impl<T: Send + 'static> Answer<T> for Awaited<T> {
    fn answer(&self, waker: &Waker) -> Option<(Outcome<T>, bool)> {
        if !self.outcome.is_done() {
            drop(self.outcome.withdraw());
            if let Joining::Waits = self.outcome.join(waker.clone()) {
                return None;
            }
        }
        let (fiber, outcome) = self.outcome.take()?;
        let is_cut_short = outcome.is_cancelled() && fiber.is_cut_short();
        Some((outcome, is_cut_short))
    }

    fn give_up(&self) {
        Shared::give_up(self);
    }
}

impl<T: Send + 'static> Shared for Awaited<T> {
    fn expect(&self, waker: Waker) -> Option<Waker> {
        match self.outcome.join(waker) {
            Joining::Waits => None,
            Joining::Over(waker) | Joining::Occupied(waker) => Some(waker),
        }
    }

    fn give_up(&self) {
        if let Some((context, outcome)) = self.outcome.forget() {
            return forget(outcome, &context);
        }
        // The end of this fiber needs no waker any more. While it kept that of the block, the next awaited fiber could not run in place.
        drop(self.outcome.withdraw());
        if let Some((fiber, parts)) = &self.apart {
            fiber.cancel();
            parts.iter().for_each(Context::cancel);
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
        if let (Some(wakes), Some(_)) = (awaited.wakes, &waker) {
            wakes.touch(Access::Write);
        }
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
