//! A direct fiber on a stack of its own. All unsafe code of direct fibers is in this file.
//!
//! Two pointers lead from one stack to another. The function follows [`Port::place`] to the turn in which it runs, which lies on the
//! stack of the worker while the coroutine is resumed. The driver follows [`Asks::Attach`] to the [`Asked`] wait on the stack of the
//! function, which stays there while the coroutine is suspended: until the callback of that wait resumes it, or it is unwound.
//!
//! Safe code may wait anywhere on the thread, because a thread-local can lead it to the [`Direct`]. So each wait checks that it
//! is in the function itself, and that the function may leave its stack there.
#![allow(unsafe_code)]

use std::any::Any;
use std::cell::Cell;
use std::mem;
use std::ptr::NonNull;
use std::sync::Arc;

use fiber_stack::{Coroutine, Resumed, Stack, Yielder};

use super::{Direct, DirectRun, ThrownAway, Way};
use crate::combine::run_guarded;
use crate::drop_queue::with_own_queue;
use crate::engine::borrow::BorrowedTasks;
use crate::engine::boxed::{Boxed, BoxedCallback, Erased};
use crate::engine::context::{Context, CurrentFiber, Cx};
use crate::engine::scheduler::SwitchPoint;
use crate::engine::stacks::{Home, Parked, Tie};
use crate::engine::step::{Callback, Run, Step, Suspension};
use crate::error::{Error, Frame};
use crate::outcome::{Outcome, Panic, catch_panic, discard_part, guard};

/// While the function has used less than this part of its stack, the boxed fibers of its waits run there, too.
const PART: usize = 2;

/// Starts the function.
pub(super) fn run<T, F>(direct: DirectRun<F>, home: Arc<Home>, stack: Stack, cx: &Cx<'_>) -> Step<T, Boxed<T>>
where
    T: Send + 'static,
    F: FnOnce(&Direct<'_>) -> Result<T, Error> + Send + 'static,
{
    let body = |yielder: Yielder<'_, Option<Turn>, Asks>, first: Option<Turn>| {
        let place = Cell::new(first.map_or(Place::Nowhere, Place::Function));
        let (owes_point, thrown_away) = (Cell::new(false), ThrownAway::default());
        direct.call(&Direct(Way::Stack(Port { yielder, place, owes_point, thrown_away })))
    };
    let mut running =
        Box::new(Running { coroutine: Some(Coroutine::new(stack, body)), asks: None, callback: None });
    match running.resume(cx) {
        Resumed::Returned(outcome) => {
            running.leave(&home);
            Step::Done(outcome)
        }
        Resumed::Suspended(asks) => {
            let parts = asks.parts();
            running.asks = Some(asks);
            Step::Suspend(Boxed::waiting(Box::new(Suspended { tie: home.park(running), parts })))
        }
    }
}

// ---- the side of the function ----

/// The turn in which a function runs. Lies on the stack of the worker while the coroutine is resumed.
struct Here<'a> {
    cx: &'a Cx<'a>,
    order: StackOrder,
}

/// What the thread keeps in the order of its stack. A function may leave its stack only while it has added nothing to that.
#[derive(PartialEq)]
struct StackOrder(BorrowedTasks, CurrentFiber);

impl StackOrder {
    fn now() -> Self {
        StackOrder(BorrowedTasks::now(), CurrentFiber::now())
    }
}

/// Leads to a [`Here`].
type Turn = NonNull<Here<'static>>;

/// What a function sees of its driver.
pub(super) struct Port<'a> {
    /// Resumed with a turn, or with `None` if the function is thrown away.
    yielder: Yielder<'a, Option<Turn>, Asks>,
    place: Cell<Place>,
    /// Whether a wait has ended in this turn, so that a scheduling point is due before the next one begins.
    owes_point: Cell<bool>,
    thrown_away: ThrownAway,
}

/// Where the thread of a function is.
#[derive(Clone, Copy)]
enum Place {
    /// In the function.
    Function(Turn),
    /// In code that a wait of the function has called, on the same stack.
    Above(Turn),
    /// Elsewhere: the function is suspended.
    Elsewhere,
    /// In the function, which was thrown away and has no turn.
    Nowhere,
}

/// Why a function leaves its stack.
enum Asks {
    /// It waits for the suspension of this [`Asked`].
    Attach(NonNull<()>, &'static Table, Vec<Context>),
    /// It goes on in the next turn.
    Pause,
    /// It was thrown away, and catches whatever unwinds it.
    End,
}

impl Asks {
    /// The contexts below the one of the fiber in which it waits.
    fn parts(&self) -> Vec<Context> {
        match self {
            Asks::Attach(_, _, parts) => parts.clone(),
            Asks::Pause | Asks::End => Vec::new(),
        }
    }
}

/// A wait, on the stack of the function.
struct Asked<S: Suspension> {
    suspension: Cell<Option<S>>,
    outcome: Cell<Option<Outcome<S::Out>>>,
}

impl Port<'_> {
    /// Calls `f` in the turn of the function. `None`: there is none.
    fn here<A>(&self, f: impl FnOnce(&Here<'_>) -> A) -> Option<A> {
        let before = self.place.get();
        let (Place::Function(turn) | Place::Above(turn)) = before else { return None };
        let _above = Above { place: &self.place, before };
        self.place.set(Place::Above(turn));
        // SAFETY: `Running::resume` has made the pointer from a reference that lives until the coroutine is left. Only `suspend` leaves
        // it, which replaces the place, and is not called in `f`: there, no wait gets past its check of the place.
        Some(f(unsafe { turn.as_ref() }))
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.here(|here| here.cx.is_interrupted()).unwrap_or(true)
    }

    pub(super) fn wait<R: Run>(&self, run: R, frame: Frame) -> Outcome<R::Out> {
        if self.owes_point.replace(true) {
            self.pause(frame);
        }
        match self.place.get() {
            Place::Function(_) => {}
            Place::Above(_) | Place::Elsewhere => return refuse(NESTED, run, R::discard),
            Place::Nowhere => {
                run.discard(&mut Vec::new());
                self.end();
            }
        }
        match self.here(|here| run_guarded(run, here.cx)) {
            Some(Step::Done(outcome)) => outcome,
            Some(Step::Suspend(suspension)) => self.wait_for(suspension),
            None => unreachable!("the place is the function"),
        }
    }

    /// Lets other fibers run, if the function may leave its stack.
    fn pause(&self, frame: Frame) {
        let is_function = matches!(self.place.get(), Place::Function(_));
        let must_leave = || {
            self.here(|here| here.order == StackOrder::now() && !here.cx.spend(|| SwitchPoint::Bind(frame)))
        };
        if is_function && must_leave() == Some(true) {
            self.suspend(Asks::Pause);
        }
    }

    fn wait_for<S: Suspension>(&self, suspension: S) -> Outcome<S::Out> {
        if self.here(|here| here.order == StackOrder::now()) != Some(true) {
            return refuse(UNORDERED, suspension, discard_part);
        }
        let mut parts = Vec::new();
        suspension.parts(&mut parts);
        let asked = Asked { suspension: Cell::new(Some(suspension)), outcome: Cell::new(None) };
        self.suspend(Asks::Attach(NonNull::from(&asked).cast(), &Asked::<S>::TABLE, parts));
        match asked.outcome.take() {
            Some(outcome) => outcome,
            None => {
                catch_panic(|| drop(asked));
                self.end();
            }
        }
    }

    /// Leaves the stack, until the fiber goes on or is thrown away. The place is the function, before and after it.
    fn suspend(&self, asks: Asks) {
        self.place.set(Place::Elsewhere);
        // A drop that waits does not hold up the drops of other fibers.
        let turn = with_own_queue(|| self.yielder.suspend(asks));
        self.place.set(turn.map_or(Place::Nowhere, Place::Function));
    }

    /// Ends a function that was thrown away.
    fn end(&self) -> ! {
        self.thrown_away.unwind();
        self.suspend(Asks::End);
        unreachable!("it is not resumed");
    }
}

/// Puts the place of a function back.
struct Above<'a> {
    place: &'a Cell<Place>,
    before: Place,
}

impl Drop for Above<'_> {
    fn drop(&mut self) {
        self.place.set(self.before);
    }
}

const NESTED: &str =
    "a direct fiber waits inside of another wait of the same function: let that wait for both, by a bind";

const UNORDERED: &str = "a direct fiber waits inside of a call that has borrowed its thread, such as `join`, or `scope` of another pool";

/// Panics instead of waiting. What would have been waited for is dropped before, because its drops may panic as well.
#[cold]
fn refuse<D, T>(why: &'static str, unused: D, discard: impl FnOnce(D, &mut Vec<Panic>)) -> Outcome<T> {
    let mut torn = Vec::from_iter(guard(|| -> () { panic!("{why}") }).err());
    discard(unused, &mut torn);
    Panic::join(torn).map_or(Outcome::Cancelled, Outcome::Panicked)
}

// ---- the side of the driver ----

/// A direct fiber, on the thread of its stack.
struct Running<T> {
    /// `None`: its function has returned.
    coroutine: Option<Coroutine<Option<Turn>, Asks, Outcome<T>>>,
    /// What it waits for, until that is attached.
    asks: Option<Asks>,
    /// The rest of the program, once the fiber has waited.
    callback: Option<BoxedCallback<T>>,
}

impl<T: Send + 'static> Running<T> {
    fn resume(&mut self, cx: &Cx<'_>) -> Resumed<Asks, Outcome<T>> {
        let here = Here { cx, order: StackOrder::now() };
        let coroutine = self.coroutine.as_mut().expect("its function has not returned");
        let (base, size) = coroutine.bounds();
        cx.on_stack(base, size / PART, || {
            with_own_queue(|| coroutine.resume(Some(NonNull::from(&here).cast())))
        })
    }

    /// Gives the stack back.
    fn leave(&mut self, home: &Home) {
        self.coroutine.take().into_iter().for_each(|coroutine| home.give_back(coroutine.into_stack()));
    }

    /// Attaches what the function waits for.
    fn wait(mut self: Box<Self>, home: Arc<Home>, cx: &Cx<'_>) {
        let asks = self.asks.take();
        let tie = home.park(self);
        match asks {
            // SAFETY: the coroutine has suspended itself in this wait, and is parked. The tie is the only way to resume it.
            Some(Asks::Attach(asked, table, _)) => unsafe { (table.attach)(asked, cx, tie) },
            Some(Asks::Pause) => tie.untie_later(cx, |parked, home, cx| parked.go_on(home, cx)),
            Some(Asks::End) | None => unreachable!("a function that was thrown away is not resumed"),
        }
    }
}

impl<T: Send + 'static> Parked for Running<T> {
    fn go_on(mut self: Box<Self>, home: Arc<Home>, cx: &Cx<'_>) {
        match self.resume(cx) {
            Resumed::Suspended(asks) => {
                self.asks = Some(asks);
                self.wait(home, cx);
            }
            Resumed::Returned(outcome) => {
                self.leave(&home);
                let callback = self.callback.take().expect("it has waited");
                drop(self);
                callback.resume(cx, outcome);
            }
        }
    }

    fn unwind(&mut self, home: &Home) {
        let Some(mut coroutine) = self.coroutine.take() else { return };
        match coroutine.resume(None) {
            Resumed::Returned(outcome) => {
                home.give_back(coroutine.into_stack());
                catch_panic(|| drop(outcome));
            }
            // Its stack is leaked as it is, so nothing dangles that leads there.
            Resumed::Suspended(_) => mem::forget(coroutine),
        }
    }
}

/// What the driver does with an [`Asked`] whose type it does not know.
struct Table {
    attach: unsafe fn(NonNull<()>, &Cx<'_>, Tie),
}

impl<S: Suspension> Asked<S> {
    const TABLE: Table = Table { attach: attach::<S> };
}

/// Attaches the suspension of an [`Asked`].
///
/// # Safety
/// `asked` points to an `Asked` of `S`, in which the coroutine behind the tie has suspended itself.
unsafe fn attach<S: Suspension>(asked: NonNull<()>, cx: &Cx<'_>, tie: Tie) {
    let asked = asked.cast::<Asked<S>>();
    // SAFETY: by the contract, it lies on the stack of a suspended coroutine. All references to it are shared.
    let suspension = unsafe { asked.as_ref() }.suspension.take().expect("it is attached once");
    suspension.attach(cx, Resume { tie, slot: Slot(asked) });
}

/// Where the outcome of a wait goes.
struct Slot<S: Suspension>(NonNull<Asked<S>>);

// SAFETY: it is followed on the thread of the stack only, where `Tie::untie` calls the closure that owns it.
unsafe impl<S: Suspension> Send for Slot<S> {}

/// The rest of a wait: the way back to the stack.
struct Resume<S: Suspension> {
    tie: Tie,
    slot: Slot<S>,
}

impl<S: Suspension> Callback<S::Out> for Resume<S> {
    fn resume(self, cx: &Cx<'_>, outcome: Outcome<S::Out>) {
        let Resume { tie, slot } = self;
        tie.untie(cx, move |parked, home, cx| {
            let slot = slot;
            // SAFETY: this is the thread of the stack, and the coroutine is still suspended in the wait: only its tie leads to it,
            // which has just been used for this.
            unsafe { slot.0.as_ref() }.outcome.set(Some(outcome));
            parked.go_on(home, cx);
        });
    }
}

/// A direct fiber that has left its stack for the first time.
struct Suspended {
    tie: Tie,
    parts: Vec<Context>,
}

impl<T: Send + 'static> Erased<T> for Suspended {
    fn step(self: Box<Self>, _: &Cx<'_>) -> Step<T, Boxed<T>> {
        unreachable!("it has started")
    }

    fn attach(self: Box<Self>, cx: &Cx<'_>, callback: BoxedCallback<T>) {
        self.tie.untie(cx, |parked, home, cx| {
            let parked: Box<dyn Any> = parked;
            let Ok(mut running) = parked.downcast::<Running<T>>() else { unreachable!("it is its own") };
            running.callback = Some(callback);
            running.wait(home, cx);
        });
    }

    fn name(&self) -> Option<Arc<str>> {
        None
    }

    fn parts(&self, found: &mut Vec<Context>) {
        found.extend(self.parts.iter().cloned());
    }
}
