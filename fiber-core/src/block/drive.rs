//! The driver of a block, and the waits of the macro. All unsafe code of blocks is in this file.
//!
//! ```text
//!  one allocation:  Block { future: { .. Wait { slot, stage: Waiting } .. }, .. } <── frame: Resume { block, slot }
//!                                     ^                                                           |
//!                                     +-----------------------------------------------------------+
//! ```
//!
//! The code follows two pointers. One leads from the waker to the [`Port`], which is on the driver's stack while the
//! block is polled. The other leads from the frame [`Resume`] to the slot of the [`Wait`] that returned `Pending`, inside the pinned
//! future. Only that frame, which owns the block's box, may follow it.
#![allow(unsafe_code)]

use std::any::Any;
use std::cell::{Cell, OnceCell};
use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomPinned;
use std::mem::{self, ManuallyDrop};
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};
use std::task::{self, Poll, RawWaker, RawWakerVTable, Waker};

use super::awaited::{Arrival, Arrived, Asked, end_apart};
use super::exchange::{Exchange, Shared, Ticket};
use super::stop::{Gives, Leaving, Stop};
use super::waker::{BlockWaker, Park};
use crate::drop_queue::drop_nested;
use crate::engine::boxed::{Boxed, Erased};
use crate::engine::context::{Context, Cx, Forks, NodeGuard};
use crate::engine::frames::{Frame as FrameOf, Left, Visit, Waiting};
use crate::engine::scheduler::SwitchPoint;
use crate::engine::step::{Run, Step};
use crate::error::{Cancelled, Frame, Site};
use crate::fiber::{Fiber, IntoFiber};
use crate::leaf::Leaf;
use crate::outcome::Outcome;
use crate::panic::guard;

/// Makes the fiber of a block of the macro.
#[doc(hidden)]
#[inline]
#[track_caller]
pub fn block<T, F>(_: Gives<T>, future: F) -> Fiber<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Stop<T>>> + Send + 'static,
{
    Fiber::new(new(future, Frame::new("fiber!", Location::caller()), |output, _| output))
}

/// Makes a block, erased. `end` translates the output of its future.
#[inline]
pub(crate) fn new<T: Send + 'static, F: Future + Send + 'static>(
    future: F,
    frame: Frame,
    end: fn(F::Output, Frame) -> Result<T, Stop<T>>,
) -> Boxed<T> {
    Boxed::erased(Box::new(Block { future, is_paused: false, own: Own::default(), frame, end }))
}

// ---- the wait of the macro ----

/// `let!` and `do!`: waits for the value. Code of the block may have run before it in the same turn.
///
/// # Safety
/// The future is awaited at once, by the `async` block that is passed to [`block`], and not inside another future,
/// which might drop it before the block ends, or poll it beside another one.
#[doc(hidden)]
#[inline]
#[track_caller]
pub unsafe fn wait<I: IntoFiber>(fiber: I) -> Wait<I::Run, I::Out> {
    Wait::new(fiber)
}

/// As [`wait`], where the block has run no code yet, except between other waits.
///
/// # Safety
/// As [`wait`].
#[doc(hidden)]
#[inline]
#[track_caller]
pub unsafe fn wait_first<I: IntoFiber>(fiber: I) -> Wait<I::Run, I::Out, false> {
    Wait::new(fiber)
}

impl<R: Run, const AFTER_CODE: bool> Wait<R, R::Out, AFTER_CODE> {
    #[inline]
    #[track_caller]
    fn new<I: IntoFiber<Run = R, Out = R::Out>>(fiber: I) -> Self {
        Wait {
            slot: Slot { value: None, site: Location::caller() },
            stage: Stage::New(fiber.into_fiber().into_run()),
            _pin: PhantomPinned,
        }
    }
}

/// Replaces a wait in a position where none is allowed, so that its type is known and the misplaced wait is the only error.
#[doc(hidden)]
pub fn misplaced<I: IntoFiber>(_: I) -> I::Out {
    unreachable!("the macro has reported an error")
}

/// The future behind `let!` and `do!`.
///
/// `T` is the value of `R`. It is a parameter of its own, because the compiler checks the auto traits of a block with all lifetimes
/// erased, where a bound `R: Run` does not hold (rust-lang/rust#110338).
///
/// `AFTER_CODE`: code of the block may have run before it in the same turn, so it is a scheduling point.
#[must_use = "waits for nothing until it is awaited"]
pub struct Wait<R, T, const AFTER_CODE: bool = true> {
    slot: Slot<T>,
    stage: Stage<R>,
    _pin: PhantomPinned,
}

// SAFETY: only `Wait::new` makes a `Wait`, and it requires `R: Run`, which implies `R: Send` and `R::Out: Send`. The doc of the type says why the impl itself has no bounds.
unsafe impl<R, T, const AFTER_CODE: bool> Send for Wait<R, T, AFTER_CODE> {}

impl<R, T, const AFTER_CODE: bool> fmt::Debug for Wait<R, T, AFTER_CODE> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wait at {}", self.slot.site)
    }
}

/// The slot for the value of a wait.
struct Slot<T> {
    value: Option<T>,
    site: Site,
}

impl<T> Slot<T> {
    fn frame(&self) -> Frame {
        Frame::new("bind", self.site)
    }
}

enum Stage<R> {
    New(R),
    Waiting,
    Gone,
}

impl<R: Run, const AFTER_CODE: bool> Future for Wait<R, R::Out, AFTER_CODE> {
    type Output = R::Out;

    #[inline]
    fn poll(self: Pin<&mut Self>, task: &mut task::Context<'_>) -> Poll<R::Out> {
        // SAFETY: nothing that is pinned is moved: descriptions and values are not pinned.
        let this = unsafe { self.get_unchecked_mut() };
        let Some(port) = Port::of(task) else { not_in_a_block() };
        if !matches!(this.stage, Stage::New(_)) {
            return port.arrived(this.slot.value.take());
        }
        if port.has.get() != 0 && !port.free() || !port.begin(AFTER_CODE, || this.slot.frame()) {
            return Poll::Pending;
        }
        let Stage::New(run) = mem::replace(&mut this.stage, Stage::Gone) else {
            unreachable!("the state was matched above")
        };
        match run.run(&port.cx) {
            Step::Done(Outcome::Success(value)) => return port.arrived(Some(value)),
            Step::Done(other) => port.stop(failed(other, this.slot.frame())),
            Step::Wait(_) => {
                this.stage = Stage::Waiting;
                port.ask(Waits::Pushed(NonNull::from(&mut this.slot).cast(), push::<R::Out>));
            }
        }
        Poll::Pending
    }
}

#[cold]
fn not_in_a_block() -> ! {
    panic!("a wait outside of the block that it belongs to")
}

#[cold]
fn failed<T>(outcome: Outcome<T>, frame: Frame) -> Outcome<Infallible> {
    outcome.passed(frame).map(|_| unreachable!("a success does not stop a block"))
}

/// Pushes the frame that continues a block after its [`Wait`], behind the frames that the wait has pushed.
type Push = unsafe fn(NonNull<()>, &Cx<'_>, Box<dyn Rest>);

/// # Safety
/// `slot` is that of a `Wait` of `T` in the future of `block`, whose frames were pushed by the last poll of it.
unsafe fn push<T: Send + 'static>(slot: NonNull<()>, cx: &Cx<'_>, block: Box<dyn Rest>) {
    // SAFETY: by the contract, and a poll of a block pushes nothing after that.
    let waiting = unsafe { Waiting::<T>::of_newest(cx) };
    let _ = waiting.push(cx, Resume { block: Woken::new(block), slot: slot.cast() });
}

// ---- the driver's side of a wait ----

/// The state of a poll that the waits of the block share with the driver. It is on the driver's stack.
pub(super) struct Port<'a> {
    cx: Cx<'a>,
    left: &'a LeftBy,
    /// What has happened in this poll: [`ASKED`] and the other flags.
    has: Cell<u8>,
    /// Whether a scheduling point is due before the next wait begins.
    point: Cell<Point>,
    /// The end of the fiber that the block has waited for in place, until its future takes it.
    arrived: Cell<Option<&'a dyn Arrived>>,
    own: &'a Own,
    /// The port of the block whose code polls this one, by an executor that blocks.
    outer: Cell<Option<NonNull<Port<'static>>>>,
}

/// The block waits for anything but its waker.
const ASKED: u8 = 1;
/// The guest is `Ready`.
const ENTERED: u8 = 2;
/// The guest is `Waits`.
const AWAITS: u8 = 4;
/// The future of that guest was dropped.
const GIVEN_UP: u8 = 8;
/// The block has ended.
const STOPPED: u8 = 16;

/// What a poll of the block leaves for what follows. It is on the stack below the poll, where it is written and read without being moved.
struct LeftBy {
    /// The event that the block waits for at this point of the poll.
    waits: Cell<Waits>,
    guest: Cell<Guest>,
}

/// A fiber that runs in the context of the block because the block awaits it.
enum Guest {
    None,
    /// It runs, or has ended, and the block has begun no other wait since. The context has the parent of its forks, this is the block's.
    Ready(Forks),
    /// It has to wait. The block waits for it, if nothing else happens in this poll.
    Waits(Asked),
}

/// Whether the next wait of a turn is a scheduling point.
#[derive(Clone, Copy, PartialEq)]
enum Point {
    /// No: it has just been one.
    Passed,
    /// No wait has ended in this turn. It is a point if the block has run code.
    AfterCode,
    /// Yes: a wait has ended in this turn.
    Due,
}

/// Why a poll of a block returned `Pending`.
enum Waits {
    /// The block waits for its waker.
    Parked,
    /// The block waits for the frames that a `Wait` inside it, with this slot, has pushed.
    Pushed(NonNull<()>, Push),
    /// The block waits for its guest.
    Await,
    /// The block waits for its next turn, which begins with the wait that is due.
    Paused,
    /// The block has ended, and will not be polled again.
    Stopped(Outcome<Infallible>),
}

// SAFETY: the pointer points into the block, which is `Send`, and moves between threads with the block. All other
// variants are `Send`.
unsafe impl Send for Waits {}

thread_local! {
    // Inside another future with its own waker, the waker does not lead to the port.
    static CURRENT: Cell<Option<NonNull<Port<'static>>>> = const { Cell::new(None) };
}

/// While it lives, awaited fibers on this thread find its port. It has the one that they found before.
struct Current<'p>(&'p Cell<Option<NonNull<Port<'static>>>>);

impl<'p> Current<'p> {
    #[inline]
    fn enter(port: &'p Port<'_>) -> Self {
        port.outer.set(CURRENT.replace(Some(NonNull::from(port).cast())));
        Current(&port.outer)
    }
}

impl Drop for Current<'_> {
    #[inline]
    fn drop(&mut self) {
        CURRENT.set(self.0.get());
    }
}

/// Calls `f`, which polls a future on behalf of no block: fibers that the future awaits find no port.
#[cfg(feature = "stream")]
pub(crate) fn outside<A>(f: impl FnOnce() -> A) -> A {
    let before = Cell::new(CURRENT.replace(None));
    let _outside = Current(&before);
    f()
}

impl Port<'_> {
    /// The port behind the waker of a block.
    #[inline]
    fn of<'t>(task: &'t task::Context<'_>) -> Option<&'t Port<'t>> {
        let waker = task.waker();
        // SAFETY: a waker with this table has a port as its data, and the port lives as long as the waker. Only a
        // `Wait` calls this function, and by its contract the block itself polls the wait, so this is the thread of the
        // driver.
        std::ptr::eq(waker.vtable(), &VTABLE).then(|| unsafe { &*waker.data().cast::<Port<'t>>() })
    }

    /// Calls `f` with the port of the block that this thread polls, if it polls one.
    pub(super) fn with_current<A>(f: impl FnOnce(Option<&Port<'_>>) -> A) -> A {
        match CURRENT.get() {
            // SAFETY: `Current` made the pointer from a live reference on this thread, and removes it before that
            // reference ends.
            Some(port) => f(Some(unsafe { port.as_ref() })),
            None => f(None),
        }
    }

    /// Whether the waker is the block's own.
    pub(super) fn is_behind(&self, waker: &Waker) -> bool {
        std::ptr::eq(waker.data(), std::ptr::from_ref(self).cast())
    }

    pub(super) fn cx(&self) -> &Cx<'_> {
        &self.cx
    }

    /// Begins a wait. `false`: the turn is over, and the block will be polled again in the next one. `after_code`: the
    /// block may have run code before it.
    #[inline]
    fn begin(&self, after_code: bool, frame: impl FnOnce() -> Frame) -> bool {
        if self.pass_point(after_code) && !(self.cx.spend() || self.cx.ask(SwitchPoint::Bind(frame()))) {
            self.ask(Waits::Paused);
            return false;
        }
        true
    }

    /// Begins a wait for an awaited fiber.
    #[inline]
    pub(super) fn begin_await(&self, frame: impl FnOnce() -> Frame) -> bool {
        // What an `async` block has done before is unknown, so the wait counts as one after code.
        (!self.has(ASKED) || self.clear()) && self.begin(true, frame)
    }

    /// An awaited fiber runs in the context of the block, but for the parent of its forks.
    #[inline]
    pub(super) fn enter(&self) {
        if !self.has(ENTERED) {
            self.has.set(self.has.get() | ENTERED);
            let place = self.own.apart.get().map(|apart| Context::clone(apart));
            let forks = Forks::apart(place, self.cx.is_masked());
            self.left.guest.set(Guest::Ready(self.cx.context().set_forks(forks)));
        }
    }

    /// The parent of the block's own forks. The context still has that of the awaited fiber, which has to wait.
    pub(super) fn take_forks(&self) -> Forks {
        self.has.set(self.has.get() & !ENTERED);
        match self.left.guest.replace(Guest::None) {
            Guest::Ready(forks) => forks,
            _ => unreachable!("a fiber is awaited"),
        }
    }

    #[inline]
    fn has(&self, flag: u8) -> bool {
        self.has.get() & flag != 0
    }

    /// Whether a scheduling point is due, which is passed herewith.
    #[inline]
    fn pass_point(&self, after_code: bool) -> bool {
        match self.point.replace(Point::Passed) {
            Point::Passed => false,
            Point::AfterCode => after_code,
            Point::Due => true,
        }
    }

    /// Records that a wait has ended: a scheduling point is due before the next wait.
    #[inline]
    pub(super) fn owe_point(&self) {
        self.point.set(Point::Due);
    }

    /// Records that the block runs on beside a wait.
    pub(super) fn runs_on(&self) {
        self.point.set(Point::AfterCode);
    }

    /// Ends a wait if there is a value.
    #[inline]
    fn arrived<T>(&self, value: Option<T>) -> Poll<T> {
        self.owe_point();
        // Without a value, another event has woken the block.
        value.map_or(Poll::Pending, Poll::Ready)
    }

    /// Frees the context for a wait of the macro.
    #[cold]
    fn free(&self) -> bool {
        if self.has(ENTERED) {
            self.leave();
        }
        self.clear()
    }

    /// The context has the block's own parent of forks again.
    fn leave(&self) {
        let forks = self.take_forks();
        self.keep(self.cx.context().set_forks(forks).place());
    }

    /// Frees the context for the next wait: the awaited fiber that waits in it moves to a context of its own.
    #[cold]
    fn clear(&self) -> bool {
        if self.has(AWAITS) {
            self.move_guest();
        }
        !self.has(ASKED)
    }

    fn move_guest(&self) {
        let Guest::Waits(asked) = self.left.guest.replace(Guest::None) else {
            unreachable!("it was asked for")
        };
        self.has.set(self.has.get() & !(ASKED | AWAITS | GIVEN_UP));
        self.left.waits.set(Waits::Parked);
        asked.move_apart(self, self.block_waker());
    }

    /// Handles another poll of an awaited fiber. With a waker other than the block's, the fiber cannot stay in place:
    /// the waker may belong to an executor that blocks until it is woken.
    pub(super) fn wait_beside(&self, waker: &Waker) {
        if self.has(AWAITS) && !self.is_behind(waker) {
            self.move_guest();
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn ask(&self, waits: Waits) {
        self.has.set(self.has.get() | ASKED);
        self.left.waits.set(waits);
    }

    /// Makes the block wait for an awaited fiber, unless it waits for another one too.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn ask_for(&self, asked: Asked) {
        self.left.guest.set(Guest::Waits(asked));
        self.has.set(self.has.get() | AWAITS);
        self.ask(Waits::Await);
    }

    #[cold]
    pub(super) fn stop(&self, outcome: Outcome<Infallible>) {
        if self.has(AWAITS) {
            self.move_guest();
        }
        self.has.set(self.has.get() | STOPPED);
        self.ask(Waits::Stopped(outcome));
    }

    /// The exchange of the block, and a ticket for the fiber that has to wait.
    pub(super) fn exchange(&self) -> (Arc<Exchange>, Ticket) {
        let exchange = self.own.exchange.get_or_init(Arc::default);
        (exchange.clone(), exchange.ticket())
    }

    /// Whether this is a poll of the block with this exchange.
    pub(super) fn is_of(&self, exchange: &Arc<Exchange>) -> bool {
        self.own.exchange.get().is_some_and(|own| Arc::ptr_eq(own, exchange))
    }

    /// The end of the fiber with this ticket, if its block is polled because of it: this block, or one around it.
    pub(super) fn take_arrived<T: Send + 'static>(
        &self,
        exchange: &Arc<Exchange>,
        ticket: Ticket,
    ) -> Option<(Context, Outcome<T>)> {
        let mut port = self;
        while !port.is_of(exchange) {
            // SAFETY: the port around this one lives on the same stack, below it.
            port = unsafe { port.outer.get()?.cast().as_ref() };
        }
        port.take_arrived_here(ticket)
    }

    fn take_arrived_here<T: Send + 'static>(&self, ticket: Ticket) -> Option<(Context, Outcome<T>)> {
        let arrived = self.arrived.get().filter(|arrived| arrived.ticket() == ticket)?;
        self.arrived.set(None);
        let arrived: &dyn Any = arrived;
        arrived.downcast_ref::<Arrival<T>>()?.take()
    }

    /// The future with this ticket is dropped. `false`: its fiber has not arrived.
    pub(super) fn forget(&self, ticket: Ticket) -> bool {
        if let Some(arrived) = self.arrived.get()
            && arrived.ticket() == ticket
        {
            self.arrived.set(None);
            arrived.forget();
            return true;
        }
        let guest = self.left.guest.replace(Guest::None);
        if matches!(&guest, Guest::Waits(asked) if asked.ticket == ticket) {
            self.has.set(self.has.get() | GIVEN_UP);
        }
        self.left.guest.set(guest);
        false
    }

    fn begun_exchange(&self) -> &Exchange {
        self.own.exchange.get().expect("its tickets are of the exchange")
    }

    /// Gives an awaited fiber that leaves the block to its future.
    pub(super) fn hand_over(&self, ticket: Ticket, shared: Arc<dyn Shared>, waker: Option<Waker>) {
        self.begun_exchange().hand_over(ticket, shared, waker);
    }

    /// The place of awaited fibers that move apart.
    pub(super) fn place_apart(&self) -> &Context {
        self.own.apart.get_or_init(|| NodeGuard::new(self.cx.context().place_of_awaited(self.cx.is_masked())))
    }

    /// Makes this the place of awaited fibers and their forks, if the block has none yet.
    #[inline]
    pub(super) fn keep(&self, place: Option<&Context>) {
        keep(&self.own.apart, place);
    }

    fn block_waker(&self) -> Waker {
        Waker::from(self.own.waker.get_or_init(Arc::default).clone())
    }

    /// Whether only the awaited fiber can make the block continue: no other code holds the block's waker, or has used
    /// it.
    fn is_alone(&self) -> bool {
        self.own.waker.get().is_none_or(|waker| Arc::strong_count(waker) == 1 && !waker.is_woken())
    }

    /// Decides at the end of the poll what the block waits for.
    #[inline]
    fn settle(&self, is_over: bool) {
        if self.has(ENTERED) {
            self.leave();
        }
        if let Some(arrived) = self.arrived.get() {
            arrived.leave(self.begun_exchange());
        }
        if self.has(AWAITS) && (is_over || self.has(GIVEN_UP) || !self.is_alone()) {
            self.move_guest();
        }
    }
}

#[inline]
fn keep(apart: &OnceCell<NodeGuard>, place: Option<&Context>) {
    if let Some(place) = place {
        apart.get_or_init(|| NodeGuard::new(place.clone()));
    }
}

// The waker that polls a block. It needs no allocation; a clone of it is a counted waker, which can be kept.
static VTABLE: RawWakerVTable = RawWakerVTable::new(clone_waker, wake, wake, |_| {});

unsafe fn clone_waker(port: *const ()) -> RawWaker {
    // SAFETY: this is called with a live port. It reads one field, which no thread writes, without making a reference to
    // the other fields, which belong to the driver's thread. An `OnceLock` may be shared.
    let waker = unsafe { &(*port.cast::<Port<'_>>()).own.waker };
    let waker = ManuallyDrop::new(Waker::from(waker.get_or_init(Arc::default).clone()));
    RawWaker::new(waker.data(), waker.vtable())
}

unsafe fn wake(port: *const ()) {
    // SAFETY: as in `clone_waker`.
    let waker = unsafe { &(*port.cast::<Port<'_>>()).own.waker };
    task::Wake::wake(waker.get_or_init(Arc::default).clone());
}

// ---- the block ----

/// A block, in one allocation for its whole life: not started, running, waiting.
struct Block<T, F: Future> {
    future: F,
    /// Whether the next turn begins with the wait that is due.
    is_paused: bool,
    own: Own,
    frame: Frame,
    /// Translates the output of the future into the end of the block.
    end: fn(F::Output, Frame) -> Result<T, Stop<T>>,
}

/// What a block makes when it needs it.
#[derive(Default)]
struct Own {
    /// Made when code in the block clones the waker.
    waker: OnceLock<Arc<BlockWaker>>,
    /// Made when a fiber has to wait that the block awaits in place.
    exchange: OnceCell<Arc<Exchange>>,
    /// The node of the awaited fibers that have moved apart. It ends before the block does.
    apart: OnceCell<NodeGuard>,
}

impl<T: Send + 'static, F: Future + Send + 'static> Block<T, F> {
    /// Returns `None` if the block has to [wait](Block::wait).
    fn poll(&mut self, cx: &Cx<'_>, arrived: Option<&dyn Arrived>, left: &LeftBy) -> Option<Over<T>> {
        if let Some(waker) = self.own.waker.get() {
            waker.begin_poll();
        }
        let is_paused = mem::replace(&mut self.is_paused, false);
        let port = Port {
            cx: *cx,
            left,
            has: Cell::new(0),
            point: Cell::new(if is_paused { Point::Passed } else { Point::AfterCode }),
            arrived: Cell::new(arrived),
            own: &self.own,
            outer: Cell::new(None),
        };
        // SAFETY: the functions of the table keep the contract of a waker while the port lives.
        let waker = unsafe { Waker::from_raw(RawWaker::new((&raw const port).cast(), &VTABLE)) };
        // The waker does not own the port.
        let waker = ManuallyDrop::new(waker);
        // SAFETY: the block is in a box, and is never moved out of it.
        let future = unsafe { Pin::new_unchecked(&mut self.future) };
        let polled = {
            let _current = Current::enter(&port);
            guard(|| future.poll(&mut task::Context::from_waker(&waker)))
        };
        port.settle(!matches!(polled, Ok(Poll::Pending)));
        if matches!(polled, Ok(Poll::Pending)) && !port.has(STOPPED) {
            return None;
        }
        let waits = left.waits.replace(Waits::Parked);
        Some(match (polled, waits) {
            (Ok(Poll::Ready(output)), _) => over((self.end)(output, self.frame), &port),
            (Err(panic), _) => Over::Done(Outcome::Panicked(panic).passed(self.frame)),
            (Ok(Poll::Pending), Waits::Stopped(outcome)) => Over::Done(outcome.map(|never| match never {})),
            (Ok(Poll::Pending), _) => unreachable!("the block has ended"),
        })
    }

    fn wait<'s>(mut self: Box<Self>, cx: &'s Cx<'_>, left: &mut LeftBy) -> Step<'s, T> {
        match left.waits.get_mut() {
            // SAFETY: the pointer came from the last poll of this block, which this call owns.
            Waits::Pushed(slot, push) => unsafe { push(*slot, cx, self) },
            Waits::Await => match left.guest.replace(Guest::None) {
                Guest::Waits(asked) => asked.wait_here(cx, self),
                _ => unreachable!("it was asked for"),
            },
            Waits::Paused => {
                self.is_paused = true;
                let _ = cx.yields().push(cx, Woken::new(self));
            }
            Waits::Parked => {
                let park = Park(self.own.waker.get_or_init(Arc::default).clone());
                let _ = cx.wait(Leaf::new(park, self.frame.location()).placed()).push(cx, Woken::new(self));
            }
            Waits::Stopped(_) => unreachable!("the block would have ended"),
        }
        // SAFETY: the newest frame continues this block, which gives a `T`.
        Step::Wait(unsafe { Waiting::of_newest(cx) })
    }

    /// Drops the variables of the block, which is user code. That cancels awaited fibers that have moved apart, which
    /// have to end before the block does. Continues with the rest of the program.
    fn end<'s>(mut self: Box<Self>, cx: &'s Cx<'_>, over: Over<T>) -> Step<'s, T> {
        let apart = self.own.apart.take();
        let over = match over {
            Over::Done(outcome) => Over::Done(outcome.without(self, cx)),
            Over::Tail(next, may_start) => match guard(|| drop(self)) {
                Ok(()) => Over::Tail(next, may_start),
                Err(panic) => Over::Done(Outcome::Panicked(panic).without(next, cx)),
            },
        };
        end_apart(cx, over, apart)
    }

    /// Polls the block.
    fn step<'s>(mut self: Box<Self>, cx: &'s Cx<'_>, arrived: Option<&dyn Arrived>) -> Step<'s, T> {
        // Not dropped: nothing in it has a drop when this ends.
        let mut left =
            ManuallyDrop::new(LeftBy { waits: Cell::new(Waits::Parked), guest: Cell::new(Guest::None) });
        match self.poll(cx, arrived, &left) {
            None => self.wait(cx, &mut left),
            Some(over) => self.end(cx, over),
        }
    }
}

/// The end of a block, for its driver.
pub(super) enum Over<T> {
    Done(Outcome<T>),
    /// It continues as the fiber in tail position; the flag says whether that may start in this turn.
    Tail(Boxed<T>, bool),
}

impl<T: Send + 'static> Over<T> {
    pub(super) fn go_on<'s>(self, cx: &'s Cx<'_>) -> Step<'s, T> {
        match self {
            Over::Done(outcome) => Step::Done(outcome),
            Over::Tail(next, false) => next.run_later(cx),
            Over::Tail(next, true) => next.run(cx),
        }
    }
}

fn over<T: Send + 'static>(end: Result<T, Stop<T>>, port: &Port<'_>) -> Over<T> {
    match end {
        Ok(value) => Over::Done(Outcome::Success(value)),
        // An ancestor was cancelled, and with it the block and a fiber that the block awaited.
        Err(Stop(Leaving::Failed(error))) if error.is::<Cancelled>() && port.cx.is_interrupted() => {
            Over::Done(Outcome::Cancelled)
        }
        Err(Stop(Leaving::Failed(error))) => Over::Done(Outcome::Failure(error)),
        Err(Stop(Leaving::Tail(next, site, after_code))) => {
            let goes_on = !port.pass_point(after_code)
                || port.cx.spend()
                || port.cx.ask(SwitchPoint::Bind(Frame::new("return!", site)));
            Over::Tail(next, goes_on)
        }
    }
}

impl<T: Send + 'static, F: Future + Send + 'static> Erased<T> for Block<T, F> {
    fn run_boxed<'s>(self: Box<Self>, cx: &'s Cx<'_>) -> Step<'s, T> {
        if cx.is_interrupted() { self.end(cx, Over::Done(Outcome::Cancelled)) } else { self.step(cx, None) }
    }
}

/// A block that waits, with its type erased.
///
/// Its future may refer to itself, so nothing makes a shared reference to the whole of it, which would deny the references inside.
pub(super) trait Rest: Any + Send {
    /// Polls the block again. `arrived`: because of the end of an awaited fiber.
    fn go_on(self: Box<Self>, cx: &Cx<'_>, arrived: Option<&dyn Arrived>) -> Left;
    /// Drops the block, and continues with the outcome.
    fn stop(self: Box<Self>, cx: &Cx<'_>, outcome: Outcome<Infallible>) -> Left;
    /// Stores the place in which a fiber that was awaited in place has forked.
    fn keep(&mut self, place: &Context);
    /// Shows the node of the awaited fibers that have moved apart.
    fn visit(&mut self, visit: &mut Visit<'_>);
    /// Drops the block. `arrived`: the end of the fiber that it has waited for in place, whose future may be elsewhere.
    fn abandon(self: Box<Self>, arrived: &dyn Arrived);
}

impl<T: Send + 'static, F: Future + Send + 'static> Rest for Block<T, F> {
    fn go_on(self: Box<Self>, cx: &Cx<'_>, arrived: Option<&dyn Arrived>) -> Left {
        cx.leave_step(self.step(cx, arrived))
    }

    fn stop(self: Box<Self>, cx: &Cx<'_>, outcome: Outcome<Infallible>) -> Left {
        let step = self.end(cx, Over::Done(outcome.map(|never| match never {})));
        cx.leave_step(step)
    }

    fn visit(&mut self, visit: &mut Visit<'_>) {
        if let Visit::Parts(found) = visit {
            found.extend(self.own.apart.get().map(|apart| Context::clone(apart)));
        }
    }

    fn keep(&mut self, place: &Context) {
        keep(&self.own.apart, Some(place));
    }

    fn abandon(mut self: Box<Self>, arrived: &dyn Arrived) {
        let exchange = self.own.exchange.take();
        drop_nested(self);
        // With one reference, the future was in the block.
        if let Some(exchange) = exchange.filter(|exchange| Arc::strong_count(exchange) > 1) {
            arrived.leave(&exchange);
        }
    }
}

/// Continues a block whose [`Wait`] has an outcome: stores the value in its slot, and polls.
pub(crate) struct Resume<T> {
    block: Woken,
    /// The slot, which is inside the block.
    slot: NonNull<Slot<T>>,
}

// SAFETY: the slot is a part of the block, which this owns. The block is `Send`, and so is the value.
unsafe impl<T: Send> Send for Resume<T> {}

impl<T: Send + 'static> FrameOf<T> for Resume<T> {
    // The block leaves an outcome of its own type.
    type Out = ();
    const VISITS: bool = true;

    fn resume(mut self, cx: &Cx<'_>, outcome: Outcome<T>) -> Left {
        let block = self.block.take();
        // SAFETY: the slot is inside the block, which this owns, so no other reference to it exists.
        let slot = unsafe { self.slot.as_mut() };
        match outcome {
            Outcome::Success(value) => {
                slot.value = Some(value);
                block.go_on(cx, None)
            }
            other => {
                let outcome = failed(other, slot.frame());
                block.stop(cx, outcome)
            }
        }
    }

    fn visit(&mut self, visit: &mut Visit<'_>) {
        self.block.visit(visit);
    }
}

/// Continues a block that its waker has woken, or that has to be polled again for another reason.
struct Woken(Option<Box<dyn Rest>>);

impl Woken {
    #[inline]
    fn new(block: Box<dyn Rest>) -> Self {
        Woken(Some(block))
    }

    #[inline]
    fn take(&mut self) -> Box<dyn Rest> {
        self.0.take().expect("a frame is resumed once")
    }
}

impl FrameOf<()> for Woken {
    type Out = ();
    const VISITS: bool = true;

    fn visit(&mut self, visit: &mut Visit<'_>) {
        self.0.iter_mut().for_each(|block| block.visit(visit));
    }

    fn resume(mut self, cx: &Cx<'_>, outcome: Outcome<()>) -> Left {
        let block = self.take();
        match outcome.split::<Infallible>() {
            Ok(()) => block.go_on(cx, None),
            Err(other) => block.stop(cx, other),
        }
    }
}

impl Drop for Woken {
    #[inline]
    fn drop(&mut self) {
        if let Some(block) = self.0.take() {
            drop_nested(block);
        }
    }
}
