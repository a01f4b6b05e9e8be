//! The driver of a block, and the waits of the macro. All unsafe code of blocks is in this file.
//!
//! ```text
//!  one allocation:  Block { future: { .. Wait { slot, stage: Waiting(suspension) } .. }, waits: Attach(&Wait), callback, .. }
//!                                     ^                                                          |
//!                                     +----------------------------------------------------------+
//! ```
//!
//! The code follows two pointers. One leads from the waker to the [`Port`], which is on the driver's stack while the
//! block is polled. The other leads from `waits` to the [`Wait`] that returned `Pending`, inside the pinned future.
//! Only the owner of the block's box may follow it: first the driver, then the callback of that wait.
#![allow(unsafe_code)]

use std::cell::{Cell, OnceCell};
use std::convert::Infallible;
use std::fmt;
use std::marker::{PhantomData, PhantomPinned};
use std::mem::{self, ManuallyDrop};
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};
use std::task::{self, Poll, RawWaker, RawWakerVTable, Waker};

use super::awaited::{Asked, Ending};
use super::stop::{ByMacro, Gives, Stop};
use super::waker::{BlockWaker, Park};
use crate::drop_queue::{Nested, drop_nested};
use crate::engine::boxed::{Boxed, BoxedCallback, Erased};
use crate::engine::context::{Context, Cx, Forks, NodeGuard};
use crate::engine::scheduler::SwitchPoint;
use crate::engine::step::{Callback, Run, Step, Suspension};
use crate::error::{Cancelled, Error, Frame, Site};
use crate::fiber::{Fiber, IntoFiber};
use crate::leaf::Leaf;
use crate::outcome::{Outcome, guard};

/// Makes the fiber of a block of the macro.
#[inline]
#[track_caller]
pub fn block<T, F>(_: Gives<T>, future: F) -> Fiber<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Stop<T>>> + Send + 'static,
{
    Fiber::new(new::<T, F, ByMacro>(future, Location::caller()))
}

/// Makes a block, erased.
#[inline]
pub(crate) fn new<T: Send + 'static, F, E>(future: F, site: Site) -> Boxed<T>
where
    F: Future<Output = E::Output> + Send + 'static,
    E: Ends<T>,
{
    Boxed::erased(Box::new(Block::<T, F, E> {
        future,
        waits: Waits::Parked,
        waker: OnceLock::new(),
        apart: OnceCell::new(),
        callback: None,
        site,
        ends: PhantomData,
    }))
}

/// Translates the output of a block's future into the end of the block.
pub(crate) trait Ends<T>: 'static {
    /// The output of the future.
    type Output;
    /// The name of the block in traces.
    const NAME: &'static str;

    fn end(output: Self::Output, site: Site) -> End<T>;
}

/// The end of a block.
pub(crate) enum End<T> {
    Value(T),
    Failed(Error),
    /// It continues as this fiber, from this place.
    Tail(Boxed<T>, Site),
}

// ---- the wait of the macro ----

/// `let!` and `do!`: waits for the value.
///
/// # Safety
/// The future is awaited at once, by the `async` block that is passed to [`block`], and not inside another future,
/// which might drop it before the block ends, or poll it beside another one.
#[inline]
#[track_caller]
pub unsafe fn wait<I: IntoFiber>(fiber: I) -> Wait<I::Run, <I::Run as Run>::Suspension, I::Out> {
    Wait {
        slot: Slot { value: None, site: Location::caller() },
        stage: Stage::New(fiber.into_fiber().into_run()),
        _pin: PhantomPinned,
    }
}

/// Replaces a wait in a position where none is allowed, so that its type is known and the misplaced wait is the only error.
pub fn misplaced<I: IntoFiber>(_: I) -> I::Out {
    unreachable!("the macro has reported an error")
}

/// The future behind `let!` and `do!`.
///
/// `S` and `T` are the suspension and the value of `R`. They are separate parameters, because the compiler checks the
/// auto traits of a block with all lifetimes erased, where a bound `R: Run` does not hold (rust-lang/rust#110338).
#[must_use = "waits for nothing until it is awaited"]
pub struct Wait<R, S, T> {
    slot: Slot<T>,
    stage: Stage<R, S>,
    _pin: PhantomPinned,
}

// SAFETY: only `wait` makes a `Wait`, and it requires `R: Run`, which implies `R: Send`, `R::Suspension: Send` and
// `R::Out: Send`. The doc of the type says why the impl itself has no bounds.
unsafe impl<R, S, T> Send for Wait<R, S, T> {}

impl<R, S, T> fmt::Debug for Wait<R, S, T> {
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

enum Stage<R, S> {
    New(R),
    Waiting(S),
    Gone,
}

impl<R: Run> Future for Wait<R, R::Suspension, R::Out> {
    type Output = R::Out;

    #[inline]
    fn poll(self: Pin<&mut Self>, task: &mut task::Context<'_>) -> Poll<R::Out> {
        // SAFETY: nothing that is pinned is moved: descriptions, suspensions and values are not pinned.
        let this = unsafe { self.get_unchecked_mut() };
        let Some(port) = Port::of(task) else { not_in_a_block() };
        if !matches!(this.stage, Stage::New(_)) {
            return port.arrived(this.slot.value.take());
        }
        if !port.begin(|| this.slot.frame()) {
            return Poll::Pending;
        }
        let Stage::New(run) = mem::replace(&mut this.stage, Stage::Gone) else {
            unreachable!("the state was matched above")
        };
        match run.run(&port.cx) {
            Step::Done(Outcome::Success(value)) => return port.arrived(Some(value)),
            Step::Done(other) => port.stop(failed(other, this.slot.frame())),
            Step::Suspend(suspension) => {
                this.stage = Stage::Waiting(suspension);
                port.ask(Waits::Attach(NonNull::from(this).cast(), &Self::TABLE));
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

/// The driver's operations on a [`Wait`] whose type it does not know.
pub(super) struct WaitTable {
    attach: unsafe fn(NonNull<()>, &Cx<'_>, Box<dyn Rest>),
    parts: unsafe fn(NonNull<()>, &mut Vec<Context>),
}

impl<R: Run> Wait<R, R::Suspension, R::Out> {
    const TABLE: WaitTable = WaitTable { attach: attach::<R>, parts: parts::<R> };
}

/// Attaches the suspension of a [`Wait`].
///
/// # Safety
/// `wait` points to a `Wait` of `R` in the future of `block`, and was made by the last poll of it.
unsafe fn attach<R: Run>(wait: NonNull<()>, cx: &Cx<'_>, block: Box<dyn Rest>) {
    let mut wait = wait.cast::<Wait<R, R::Suspension, R::Out>>();
    // SAFETY: the wait is inside the block, which the caller owns, so no other reference to it exists.
    let wait = unsafe { wait.as_mut() };
    let Stage::Waiting(suspension) = mem::replace(&mut wait.stage, Stage::Gone) else {
        unreachable!("the wait returned `Pending`")
    };
    let slot = NonNull::from(&mut wait.slot);
    suspension.attach(cx, Resume { block: Some(block), slot });
}

/// Collects the parts that the suspension of a [`Wait`] waits in.
///
/// # Safety
/// As for [`attach`], except that the caller has a reference to the block.
unsafe fn parts<R: Run>(wait: NonNull<()>, found: &mut Vec<Context>) {
    let wait = wait.cast::<Wait<R, R::Suspension, R::Out>>();
    // SAFETY: the wait is inside the block, which is not polled meanwhile.
    if let Stage::Waiting(suspension) = unsafe { &wait.as_ref().stage } {
        suspension.parts(found);
    }
}

// ---- the driver's side of a wait ----

/// The state of a poll that the waits of the block share with the driver. It is on the driver's stack.
pub(super) struct Port<'a> {
    cx: Cx<'a>,
    /// The event that the block waits for at this point of the poll.
    waits: Cell<Waits>,
    /// Whether `waits` is anything but `Parked`.
    has_asked: Cell<bool>,
    /// Whether a wait has ended in this turn, so that a scheduling point is due before the next wait begins.
    owes_point: Cell<bool>,
    waker: &'a OnceLock<Arc<BlockWaker>>,
    apart: &'a OnceCell<NodeGuard>,
}

/// Why a poll of a block returned `Pending`.
enum Waits {
    /// The block waits for its waker.
    Parked,
    /// The block waits for the suspension of this `Wait` inside it.
    Attach(NonNull<()>, &'static WaitTable),
    /// The block waits for an awaited fiber, in place.
    Await(Arc<dyn Asked>),
    /// The block waits for its next turn.
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

/// While it lives, awaited fibers on this thread find its port.
struct Current(Option<NonNull<Port<'static>>>);

impl Current {
    #[inline]
    fn enter(port: &Port<'_>) -> Self {
        Current(CURRENT.replace(Some(NonNull::from(port).cast())))
    }
}

impl Drop for Current {
    #[inline]
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
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

    /// Begins a wait. `false`: the turn is over, and the block will be polled again in the next one.
    #[inline]
    pub(super) fn begin(&self, frame: impl FnOnce() -> Frame) -> bool {
        if self.has_asked.get() && !self.clear() {
            return false;
        }
        if self.owes_point.replace(false) && !self.cx.spend(|| SwitchPoint::Bind(frame())) {
            self.ask(Waits::Paused);
            return false;
        }
        true
    }

    /// Records that a wait has ended: a scheduling point is due before the next wait.
    #[inline]
    pub(super) fn owe_point(&self) {
        self.owes_point.set(true);
    }

    /// Ends a wait if there is a value.
    #[inline]
    fn arrived<T>(&self, value: Option<T>) -> Poll<T> {
        self.owe_point();
        // Without a value, another event has woken the block.
        value.map_or(Poll::Pending, Poll::Ready)
    }

    /// Frees the context for the next wait: the awaited fiber that waits in it moves to a context of its own.
    #[cold]
    fn clear(&self) -> bool {
        match self.waits.replace(Waits::Parked) {
            Waits::Await(asked) => {
                self.has_asked.set(false);
                self.move_apart(asked, self.block_waker());
                true
            }
            other => {
                self.waits.set(other);
                false
            }
        }
    }

    /// Handles another poll of an awaited fiber. With a waker other than the block's, the fiber cannot stay in place:
    /// the waker may belong to an executor that blocks until it is woken.
    pub(super) fn wait_beside(&self, waker: &Waker) {
        if self.has_asked.get() && !self.is_behind(waker) {
            self.clear();
        }
    }

    fn ask(&self, waits: Waits) {
        self.has_asked.set(true);
        self.waits.set(waits);
    }

    /// Makes the block wait for an awaited fiber, unless it waits for another one too.
    pub(super) fn ask_for(&self, asked: Arc<dyn Asked>) {
        self.ask(Waits::Await(asked));
    }

    #[cold]
    pub(super) fn stop(&self, outcome: Outcome<Infallible>) {
        if self.has_asked.get() {
            self.clear();
        }
        self.ask(Waits::Stopped(outcome));
    }

    /// Moves a fiber that was started in place to a context of its own, in which it continues.
    pub(super) fn move_apart(&self, asked: Arc<dyn Asked>, waker: Waker) {
        let apart = self
            .apart
            .get_or_init(|| NodeGuard::new(self.cx.context().place_of_awaited(self.cx.is_masked())));
        asked.move_apart(&self.cx, apart, waker);
    }

    /// The parent of an awaited fiber's forks.
    pub(super) fn forks(&self) -> Forks {
        let place = self.apart.get().map(|apart| Context::clone(apart));
        Forks::Apart { place, shielded: self.cx.is_masked() }
    }

    /// Stores the place in which an awaited fiber has forked.
    pub(super) fn keep(&self, forks: &Forks) {
        keep(self.apart, forks);
    }

    fn block_waker(&self) -> Waker {
        Waker::from(self.waker.get_or_init(Arc::default).clone())
    }

    /// Whether only the awaited fiber can make the block continue: no other code holds the block's waker, or has used
    /// it.
    fn is_alone(&self) -> bool {
        self.waker.get().is_none_or(|waker| Arc::strong_count(waker) == 1 && !waker.is_woken())
    }

    /// The event that the block waits for, at the end of the poll.
    fn settle(&self, is_over: bool) -> Waits {
        match self.waits.replace(Waits::Parked) {
            Waits::Await(asked) if is_over || asked.is_given_up() || !self.is_alone() => {
                self.move_apart(asked, self.block_waker());
                Waits::Parked
            }
            waits => waits,
        }
    }
}

/// Makes this place of forks the place of the block, if the block has none yet.
fn keep(apart: &OnceCell<NodeGuard>, forks: &Forks) {
    if let Forks::Apart { place: Some(place), .. } = forks {
        apart.get_or_init(|| NodeGuard::new(place.clone()));
    }
}

// The waker that polls a block. It needs no allocation; a clone of it is a counted waker, which can be kept.
static VTABLE: RawWakerVTable = RawWakerVTable::new(clone_waker, wake, wake, |_| {});

unsafe fn clone_waker(port: *const ()) -> RawWaker {
    // SAFETY: this is called with a live port. It reads one field, which no thread writes, without making a reference to
    // the other fields, which belong to the driver's thread. An `OnceLock` may be shared.
    let waker = unsafe { (*port.cast::<Port<'_>>()).waker };
    let waker = ManuallyDrop::new(Waker::from(waker.get_or_init(Arc::default).clone()));
    RawWaker::new(waker.data(), waker.vtable())
}

unsafe fn wake(port: *const ()) {
    // SAFETY: as in `clone_waker`.
    let waker = unsafe { (*port.cast::<Port<'_>>()).waker };
    task::Wake::wake(waker.get_or_init(Arc::default).clone());
}

// ---- the block ----

/// A block, in one allocation for its whole life: not started, running, waiting.
struct Block<T, F, E> {
    future: F,
    waits: Waits,
    /// Made when code in the block clones the waker.
    waker: OnceLock<Arc<BlockWaker>>,
    /// The node of the awaited fibers that have moved apart. It ends before the block does.
    apart: OnceCell<NodeGuard>,
    /// The rest of the program, after the block had to wait.
    callback: Option<BoxedCallback<T>>,
    site: Site,
    ends: PhantomData<fn() -> E>,
}

impl<T: Send + 'static, F, E> Block<T, F, E>
where
    F: Future<Output = E::Output> + Send + 'static,
    E: Ends<T>,
{
    /// Returns `None` if the block has to [wait](Block::wait).
    fn poll(&mut self, cx: &Cx<'_>) -> Option<Over<T>> {
        if let Some(waker) = self.waker.get() {
            waker.begin_poll();
        }
        let port = Port {
            cx: *cx,
            waits: Cell::new(Waits::Parked),
            has_asked: Cell::new(false),
            owes_point: Cell::new(false),
            waker: &self.waker,
            apart: &self.apart,
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
        let waits = port.settle(!matches!(polled, Ok(Poll::Pending)));
        match polled {
            Ok(Poll::Ready(output)) => Some(over(E::end(output, self.site), &port)),
            Ok(Poll::Pending) => match waits {
                Waits::Stopped(outcome) => Some(Over::Done(outcome.map(|never| match never {}))),
                waits => {
                    self.waits = waits;
                    None
                }
            },
            Err(panic) => Some(Over::Done(Outcome::Panicked(panic).passed(Frame::new(E::NAME, self.site)))),
        }
    }

    fn wait(mut self: Box<Self>, cx: &Cx<'_>) {
        match mem::replace(&mut self.waits, Waits::Parked) {
            // SAFETY: the pointer came from the last poll of this block, which this call owns.
            Waits::Attach(wait, table) => unsafe { (table.attach)(wait, cx, self) },
            Waits::Await(asked) => asked.attach_here(cx, self),
            Waits::Paused => cx.go_on_later(|cx| self.go_on(cx)),
            Waits::Parked => {
                let park = Park(self.waker.get_or_init(Arc::default).clone());
                Leaf::new(park, self.site).attach(cx, Woken(Some(self)));
            }
            Waits::Stopped(_) => unreachable!("the block would have ended"),
        }
    }

    /// Drops the variables of the block, which is user code. That cancels awaited fibers that have moved apart, which
    /// have to end before the block does.
    fn leave(mut self: Box<Self>, cx: &Cx<'_>, over: Over<T>) -> Result<Over<T>, Ending<T>> {
        let apart = self.apart.take();
        let over = match over {
            Over::Done(outcome) => Over::Done(outcome.without(self, cx)),
            Over::Tail(next, may_start) => match guard(|| drop(self)) {
                Ok(()) => Over::Tail(next, may_start),
                Err(panic) => Over::Done(Outcome::Panicked(panic).without(next, cx)),
            },
        };
        Ending::of(over, apart)
    }

    /// Continues with the rest of the program.
    fn end(mut self: Box<Self>, cx: &Cx<'_>, over: Over<T>) {
        let callback = self.callback.take().expect("a block that waited has a callback");
        match self.leave(cx, over) {
            Ok(over) => over.go_on(cx, callback),
            Err(ending) => ending.wait(cx, callback),
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
    pub(super) fn go_on<C: Callback<T>>(self, cx: &Cx<'_>, callback: C) {
        match self {
            Over::Done(outcome) => callback.resume(cx, outcome),
            Over::Tail(next, false) => next.later().attach(cx, callback),
            Over::Tail(next, true) => next.run(cx).resume(cx, callback),
        }
    }
}

fn over<T: Send + 'static>(end: End<T>, port: &Port<'_>) -> Over<T> {
    match end {
        End::Value(value) => Over::Done(Outcome::Success(value)),
        // An ancestor was cancelled, and with it the block and a fiber that the block awaited.
        End::Failed(error) if error.is::<Cancelled>() && port.cx.is_interrupted() => {
            Over::Done(Outcome::Cancelled)
        }
        End::Failed(error) => Over::Done(Outcome::Failure(error)),
        End::Tail(next, site) => {
            let point = || SwitchPoint::Bind(Frame::new("return!", site));
            Over::Tail(next, !port.owes_point.get() || port.cx.spend(point))
        }
    }
}

impl<T: Send + 'static, F, E> Erased<T> for Block<T, F, E>
where
    F: Future<Output = E::Output> + Send + 'static,
    E: Ends<T>,
{
    fn step(mut self: Box<Self>, cx: &Cx<'_>) -> Step<T, Boxed<T>> {
        let polled = if cx.is_interrupted() { Some(Over::Done(Outcome::Cancelled)) } else { self.poll(cx) };
        let Some(over) = polled else { return Step::Suspend(Boxed::waiting(self)) };
        match self.leave(cx, over) {
            Ok(Over::Done(outcome)) => Step::Done(outcome),
            Ok(Over::Tail(next, true)) => Step::Suspend(next),
            Ok(Over::Tail(next, false)) => Step::Suspend(next.later()),
            Err(ending) => Step::Suspend(Boxed::waiting(Box::new(ending))),
        }
    }

    fn attach(mut self: Box<Self>, cx: &Cx<'_>, callback: BoxedCallback<T>) {
        self.callback = Some(callback);
        self.wait(cx);
    }

    fn name(&self) -> Option<Arc<str>> {
        None
    }

    fn parts(&self, found: &mut Vec<Context>) {
        found.extend(self.apart.get().map(|apart| Context::clone(apart)));
        match &self.waits {
            // SAFETY: the pointer came from the last poll of this block, which is only read meanwhile.
            Waits::Attach(wait, table) => unsafe { (table.parts)(*wait, found) },
            Waits::Await(asked) => asked.parts(found),
            Waits::Parked | Waits::Paused | Waits::Stopped(_) => {}
        }
    }
}

/// A block that waits, with its type erased.
pub(super) trait Rest: Nested + Send {
    /// Polls the block again.
    fn go_on(self: Box<Self>, cx: &Cx<'_>);
    /// Drops the block, and continues with the outcome.
    fn stop(self: Box<Self>, cx: &Cx<'_>, outcome: Outcome<Infallible>);
    /// Stores the place in which a fiber that was awaited in place has forked.
    fn keep(&self, forks: &Forks);
}

impl<T: Send + 'static, F, E> Rest for Block<T, F, E>
where
    F: Future<Output = E::Output> + Send + 'static,
    E: Ends<T>,
{
    fn go_on(mut self: Box<Self>, cx: &Cx<'_>) {
        match self.poll(cx) {
            None => self.wait(cx),
            Some(over) => self.end(cx, over),
        }
    }

    fn stop(self: Box<Self>, cx: &Cx<'_>, outcome: Outcome<Infallible>) {
        self.end(cx, Over::Done(outcome.map(|never| match never {})));
    }

    fn keep(&self, forks: &Forks) {
        keep(&self.apart, forks);
    }
}

/// Continues a block whose [`Wait`] has an outcome: stores the value in its slot, and polls.
pub(crate) struct Resume<T> {
    block: Option<Box<dyn Rest>>,
    /// The slot, which is inside the block.
    slot: NonNull<Slot<T>>,
}

// SAFETY: the slot is a part of the block, which this owns. The block is `Send`, and so is the value.
unsafe impl<T: Send> Send for Resume<T> {}

impl<T: Send + 'static> Callback<T> for Resume<T> {
    fn resume(mut self, cx: &Cx<'_>, outcome: Outcome<T>) {
        let block = self.block.take().expect("a callback is resumed once");
        // SAFETY: the slot is inside the block, which this owns, so no other reference to it exists.
        let slot = unsafe { self.slot.as_mut() };
        match outcome {
            Outcome::Success(value) => {
                slot.value = Some(value);
                block.go_on(cx);
            }
            other => {
                let outcome = failed(other, slot.frame());
                block.stop(cx, outcome);
            }
        }
    }

    #[inline]
    fn boxed(self) -> BoxedCallback<T> {
        BoxedCallback::of_block(self)
    }
}

impl<T> Drop for Resume<T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(block) = self.block.take() {
            drop_nested(block);
        }
    }
}

/// Continues a block that its waker has woken, or that has to be polled again for another reason.
pub(super) struct Woken(pub(super) Option<Box<dyn Rest>>);

impl Callback<()> for Woken {
    fn resume(mut self, cx: &Cx<'_>, outcome: Outcome<()>) {
        let block = self.0.take().expect("a callback is resumed once");
        match outcome.split::<Infallible>() {
            Ok(()) => block.go_on(cx),
            Err(other) => block.stop(cx, other),
        }
    }
}

impl Drop for Woken {
    fn drop(&mut self) {
        if let Some(block) = self.0.take() {
            drop_nested(block);
        }
    }
}
