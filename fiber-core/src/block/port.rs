//! The port: what the driver of a block and the code in it share while the block is polled.
//!
//! The port is on the driver's stack. A wait of the macro finds it behind the waker; `fiber.await`, which may be inside another future with
//! a waker of its own, in a word of the thread.
#![allow(unsafe_code)]

use std::any::Any;
use std::cell::{Cell, OnceCell};
use std::convert::Infallible;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::sync::{Arc, OnceLock};
use std::task::{self, Poll, RawWaker, RawWakerVTable, Waker};

use super::awaited::{Arrival, Arrived, Asked};
use super::drive::Rest;
use super::exchange::{Exchange, Shared, Ticket};
use super::waker::BlockWaker;
use crate::engine::context::{Context, Cx, Forks, NodeGuard};
use crate::engine::scheduler::SwitchPoint;
use crate::error::Frame;
use crate::footprint::Object;
use crate::outcome::Outcome;

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

/// What a block makes when it needs it.
#[derive(Default)]
pub(super) struct Own {
    /// Made when code in the block clones the waker.
    pub(super) waker: OnceLock<Arc<BlockWaker>>,
    /// Made when a fiber has to wait that the block awaits in place.
    pub(super) exchange: OnceCell<Arc<Exchange>>,
    /// The node of the awaited fibers that have moved apart. It ends before the block does.
    pub(super) apart: OnceCell<NodeGuard>,
}

/// What a poll of the block leaves for what follows. It is on the stack below the poll, where it is written and read without being moved.
pub(super) struct LeftBy {
    /// The event that the block waits for at this point of the poll.
    pub(super) waits: Cell<Waits>,
    pub(super) guest: Cell<Guest>,
}

impl LeftBy {
    #[inline]
    pub(super) fn nothing() -> Self {
        LeftBy { waits: Cell::new(Waits::Parked), guest: Cell::new(Guest::None) }
    }
}

/// A fiber that runs in the context of the block because the block awaits it.
pub(super) enum Guest {
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

/// Pushes the frame that continues a block after its [`Wait`](super::Wait), behind the frames that the wait has pushed.
pub(super) type Push = unsafe fn(NonNull<()>, &Cx<'_>, Rest);

/// Why a poll of a block returned `Pending`.
pub(super) enum Waits {
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
pub(super) struct Current<'p>(&'p Cell<Option<NonNull<Port<'static>>>>);

impl<'p> Current<'p> {
    #[inline]
    pub(super) fn enter(port: &'p Port<'_>) -> Self {
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

impl<'a> Port<'a> {
    /// For a poll of the block that owns `own`. `is_paused`: it begins with the wait that was due when the turn before ended. `arrived`: because of
    /// the end of an awaited fiber.
    #[inline]
    pub(super) fn new(
        cx: &Cx<'a>,
        left: &'a LeftBy,
        own: &'a Own,
        is_paused: bool,
        arrived: Option<&'a dyn Arrived>,
    ) -> Self {
        Port {
            cx: *cx,
            left,
            has: Cell::new(0),
            point: Cell::new(if is_paused { Point::Passed } else { Point::AfterCode }),
            arrived: Cell::new(arrived),
            own,
            outer: Cell::new(None),
        }
    }

    /// The waker of this poll. It does not own the port.
    ///
    /// # Safety
    /// The port is neither moved nor dropped while the waker is used.
    #[inline]
    pub(super) unsafe fn waker(&self) -> ManuallyDrop<Waker> {
        // SAFETY: the functions of the table keep the contract of a waker while the port lives.
        ManuallyDrop::new(unsafe { Waker::from_raw(RawWaker::new(ptr::from_ref(self).cast(), &VTABLE)) })
    }
}

impl Port<'_> {
    /// The port behind the waker of a block.
    #[inline]
    pub(super) fn of<'t>(task: &'t task::Context<'_>) -> Option<&'t Port<'t>> {
        let waker = task.waker();
        // SAFETY: a waker with this table has a port as its data, and the port lives as long as the waker. Only a
        // `Wait` calls this function, and by its contract the block itself polls the wait, so this is the thread of the
        // driver.
        ptr::eq(waker.vtable(), &VTABLE).then(|| unsafe { &*waker.data().cast::<Port<'t>>() })
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
        ptr::eq(waker.data(), ptr::from_ref(self).cast())
    }

    pub(super) fn cx(&self) -> &Cx<'_> {
        &self.cx
    }

    /// Begins a wait of the macro. `false`: the block will be polled again.
    #[inline]
    pub(super) fn begin_wait(&self, after_code: bool, frame: impl FnOnce() -> Frame) -> bool {
        (self.has.get() == 0 || self.free()) && self.begin(after_code, frame)
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
    pub(super) fn pass_point(&self, after_code: bool) -> bool {
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
    pub(super) fn arrived<T>(&self, value: Option<T>) -> Poll<T> {
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

    /// Makes the block wait for the frames that a wait of the macro, with this slot, has pushed.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn ask_for_pushed(&self, slot: NonNull<()>, push: Push) {
        self.ask(Waits::Pushed(slot, push));
    }

    /// Makes the block wait for an awaited fiber, unless it waits for another one too.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn ask_for(&self, asked: Asked) {
        self.left.guest.set(Guest::Waits(asked));
        self.has.set(self.has.get() | AWAITS);
        self.ask(Waits::Await);
    }

    /// Ends the block.
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

    /// What a wake-up of the block touches, if other code may wake it.
    pub(super) fn wakes(&self) -> Option<Object> {
        self.own.waker.get().map(|waker| waker.object())
    }

    /// Whether only the awaited fiber can make the block continue: no other code holds the block's waker, or has used
    /// it.
    fn is_alone(&self) -> bool {
        self.own.waker.get().is_none_or(|waker| Arc::strong_count(waker) == 1 && !waker.is_woken())
    }

    /// Whether the block has ended.
    #[inline]
    pub(super) fn is_stopped(&self) -> bool {
        self.has(STOPPED)
    }

    /// Decides at the end of the poll what the block waits for.
    #[inline]
    pub(super) fn settle(&self, is_over: bool) {
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
pub(super) fn keep(apart: &OnceCell<NodeGuard>, place: Option<&Context>) {
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
