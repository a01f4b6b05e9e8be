//! A direct fiber on a stack of its own. All unsafe code of direct fibers is in this file.
//!
//! Two pointers lead from one stack to another. The function follows [`Port::place`] to the turn in which it runs, which lies on the
//! stack of the worker while the coroutine is resumed. The frame of a wait follows [`Back::slot`] to the place for the outcome on the
//! stack of the function, which stays there while the coroutine is suspended: until that frame resumes it, or it is unwound.
//!
//! Safe code may wait anywhere on the thread, because a thread-local can lead it to the [`Direct`]. So each wait checks that it
//! is in the function itself, and that the function may leave its stack there.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::mem;
use std::ptr::NonNull;
use std::sync::Arc;

use fiber_stack::{Coroutine, Resumed, Stack, Yielder};

use super::{Direct, DirectRun, ThrownAway, Way};
use crate::cell::Signal;
use crate::combine::run_guarded;
use crate::drop_queue::with_own_queue;
use crate::engine::borrow::BorrowedTasks;
use crate::engine::context::{Context, CurrentFiber, Cx};
use crate::engine::frames::{Begun, Frame as FrameOf, Left, Visit, Waiting, Waits};
use crate::engine::scheduler::SwitchPoint;
use crate::engine::stacks::{Home, Parked, Tie};
use crate::engine::step::{Run, Step};
use crate::engine::suppress::forget;
use crate::error::{Abandoned, Error, Frame};
use crate::outcome::Outcome;
use crate::panic::{Panic, catch_panic, guard};

/// While the function has used less than this part of its stack, the boxed fibers of its waits run there, too.
const PART: usize = 2;

/// Starts the function.
pub(super) fn run<'s, T, F>(
    direct: DirectRun<F>,
    home: Arc<Home>,
    stack: Stack,
    cx: &'s Cx<'_>,
) -> Step<'s, T>
where
    T: Send + 'static,
    F: FnOnce(&Direct<'_>) -> Result<T, Error> + Send + 'static,
{
    let body = |yielder: Yielder<'_, Option<Turn>, Asks>, first: Option<Turn>| {
        let place = Cell::new(first.map_or(Place::Nowhere, Place::Function));
        let port = Port { yielder, place, thrown_away: ThrownAway::default() };
        direct.call(&Direct::new(Way::Stack(port)))
    };
    let running = Box::new(Running { coroutine: Some(Coroutine::new(stack, body)), waits_in: None });
    running.resume(home, cx)
}

/// What a fiber leaves whose function was thrown away.
fn lost<T: Send + 'static>(cx: &Cx<'_>) -> Left {
    cx.leave(Outcome::<T>::Failure(Error::new(Abandoned)))
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

/// What the fiber does if its function was thrown away.
type Lost = fn(&Cx<'_>) -> Left;

/// Why a function leaves its stack.
enum Asks {
    /// It waits for the frames that it has pushed, whose outcome goes to this slot.
    Wait(NonNull<()>, Push),
    /// It goes on in the next turn.
    Pause,
    /// It was thrown away, and catches whatever unwinds it.
    End,
}

/// Pushes the frame that resumes the function, behind those of its wait.
type Push = unsafe fn(NonNull<()>, &Cx<'_>, Tie, Lost);

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
        let is_interrupted = |Here { cx, .. }: &Here<'_>| {
            if cx.is_raced() && !cx.is_masked() {
                // The function asks because it computes for long. As in a wait, other sides of its race may win.
                cx.release_race();
            }
            cx.is_interrupted()
        };
        self.here(is_interrupted).unwrap_or(true)
    }

    /// The same, but also in an uncancelable region.
    pub(super) fn was_cancelled(&self) -> bool {
        self.here(|Here { cx, .. }| cx.is_cancelled()).unwrap_or(true)
    }

    pub(super) fn wait<R: Run>(&self, run: R, frame: Frame) -> Outcome<R::Out> {
        self.pause(frame);
        match self.place.get() {
            Place::Function(_) => {}
            Place::Above(_) | Place::Elsewhere => return refuse(|torn| run.discard(torn), NESTED),
            Place::Nowhere => {
                run.discard(&mut Vec::new());
                self.end();
            }
        }
        match self.here(|here| run_guarded(run, here.cx).detach(here.cx)) {
            Some(Ok(outcome)) => outcome,
            Some(Err(_)) => self.wait_for(),
            None => unreachable!("the place is the function"),
        }
    }

    /// The scheduling point before each wait, because nobody can know what the function has done before. It lets other fibers run, if
    /// the function may leave its stack.
    fn pause(&self, frame: Frame) {
        let is_function = matches!(self.place.get(), Place::Function(_));
        let must_leave = || {
            self.here(|Here { cx, order, .. }| {
                *order == StackOrder::now() && !(cx.spend() || cx.ask(SwitchPoint::Bind(frame)))
            })
        };
        if is_function && must_leave() == Some(true) {
            self.suspend(Asks::Pause);
        }
    }

    /// Waits for the frames that have just been pushed, which give a `T`.
    fn wait_for<T: Send + 'static>(&self) -> Outcome<T> {
        if self.here(|here| here.order == StackOrder::now()) != Some(true) {
            let drop_frames = |_: &mut _| self.here(|here| here.cx.drop_left_over()).unwrap_or_default();
            return refuse(drop_frames, UNORDERED);
        }
        let slot: Cell<Option<Outcome<T>>> = Cell::new(None);
        self.suspend(Asks::Wait(NonNull::from(&slot).cast(), push::<T>));
        slot.take().unwrap_or_else(|| self.end())
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
pub(super) fn refuse<T>(discard: impl FnOnce(&mut Vec<Panic>), why: &'static str) -> Outcome<T> {
    let mut torn = Vec::from_iter(guard(|| -> () { panic!("{why}") }).err());
    discard(&mut torn);
    Panic::join(torn).map_or(Outcome::Cancelled, Outcome::Panicked)
}

// ---- the side of the driver ----

/// A function that has started.
struct Running<T> {
    /// `None`: its function has returned, or was unwound.
    coroutine: Option<Coroutine<Option<Turn>, Asks, Outcome<T>>>,
    /// The context in which the fiber waits for it. `None`: it has not waited.
    waits_in: Option<Context>,
}

impl<T: Send + 'static> Running<T> {
    fn resume<'s>(mut self: Box<Self>, home: Arc<Home>, cx: &'s Cx<'_>) -> Step<'s, T> {
        let here = Here { cx, order: StackOrder::now() };
        let coroutine = self.coroutine.as_mut().expect("its function has not returned");
        let (base, size) = coroutine.bounds();
        let resume = || with_own_queue(|| coroutine.resume(Some(NonNull::from(&here).cast())));
        match cx.on_stack(base, size / PART, resume) {
            Resumed::Returned(outcome) => {
                self.leave(&home);
                Step::Done(outcome)
            }
            Resumed::Suspended(asks) => {
                self.waits_in = Some(cx.waits_in());
                self.wait(home, asks, cx)
            }
        }
    }

    /// Returns the stack to the supply.
    fn leave(&mut self, home: &Home) {
        self.coroutine.take().into_iter().for_each(|coroutine| home.give_back(coroutine.into_stack()));
    }

    fn wait<'s>(self: Box<Self>, home: Arc<Home>, asks: Asks, cx: &'s Cx<'_>) -> Step<'s, T> {
        let tie = home.clone().park(self);
        match asks {
            // SAFETY: the coroutine has suspended itself in this wait, whose frames it has just pushed, and is parked. The tie is
            // the only way to resume it.
            Asks::Wait(slot, push) => unsafe { push(slot, cx, tie, lost::<T>) },
            Asks::Pause => {
                let moves = Moves { home, outcome: Some(Outcome::Success(())) };
                let _ = cx.wait(moves).push(cx, Back::<()> { tie, slot: None, lost: lost::<T> });
            }
            Asks::End => unreachable!("a function that was thrown away is not resumed"),
        }
        // SAFETY: the newest frame resumes this function, which gives a `T`.
        Step::Wait(unsafe { Waiting::of_newest(cx) })
    }
}

impl<T: Send + 'static> Parked for Running<T> {
    fn go_on(self: Box<Self>, home: Arc<Home>, cx: &Cx<'_>) -> Left {
        let step = self.resume(home, cx);
        cx.leave_step(step)
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

    fn move_to(&mut self, from: &Context, to: &Context) {
        if let Some(waits_in) = self.waits_in.as_mut().filter(|waits_in| waits_in.is_same(from)) {
            *waits_in = to.clone();
        }
    }

    fn abandon(self: Box<Self>) {
        self.waits_in.into_iter().for_each(|waits_in| waits_in.abandon());
    }
}

/// # Safety
/// The newest frames of the fiber of `cx` give a `T`. `slot` is a `Cell<Option<Outcome<T>>>` on the stack of the suspended coroutine
/// of `tie`, which waits for it.
unsafe fn push<T: Send + 'static>(slot: NonNull<()>, cx: &Cx<'_>, tie: Tie, lost: Lost) {
    // SAFETY: by the contract.
    let waiting = unsafe { Waiting::<T>::of_newest(cx) };
    let _ = waiting.push(cx, Back { tie, slot: Some(Slot(slot.cast())), lost });
}

/// The place for an outcome, on the stack of the function.
struct Slot<T>(NonNull<Cell<Option<Outcome<T>>>>);

// SAFETY: it is followed on the thread of the stack only, where `Back::resume` has got the coroutine.
unsafe impl<T: Send> Send for Slot<T> {}

/// Resumes a function with the outcome of its wait, on its thread.
struct Back<T> {
    tie: Tie,
    slot: Option<Slot<T>>,
    lost: Lost,
}

impl<T: Send + 'static> FrameOf<T> for Back<T> {
    // The function leaves an outcome of its own type.
    type Out = ();
    const VISITS: bool = true;

    fn resume(self, cx: &Cx<'_>, outcome: Outcome<T>) -> Left {
        if !self.tie.is_here() {
            let moves = Moves { home: self.tie.home().clone(), outcome: Some(outcome) };
            let waiting = cx.wait(moves).push(cx, self);
            return cx.leave_step(Step::Wait(waiting));
        }
        let Back { tie, slot, lost } = self;
        let Some((parked, home)) = tie.untie() else {
            forget(outcome, cx);
            return lost(cx);
        };
        if let Some(Slot(slot)) = slot {
            // SAFETY: this is the thread of the stack, and the coroutine is still suspended in the wait: only its tie leads to it,
            // which has just been used for this.
            unsafe { slot.as_ref() }.set(Some(outcome));
        }
        parked.go_on(home, cx)
    }

    fn visit(&mut self, visit: &mut Visit<'_>) {
        match visit {
            Visit::Move { from, to, .. } => self.tie.move_to(from, to),
            Visit::Home(leave) if !self.tie.is_here() => {
                let home = self.tie.home().clone();
                **leave = Some(Box::new(move |frames| home.leave(frames)));
            }
            _ => {}
        }
    }
}

/// Continues with the outcome on the thread of a stack.
struct Moves<T> {
    home: Arc<Home>,
    outcome: Option<Outcome<T>>,
}

impl<T: Send + 'static> Waits for Moves<T> {
    type Event = T;
    type Out = T;
    const COUNTS: bool = false;

    fn begin(&mut self, _: &Cx<'_>) -> Begun<T> {
        let home = self.home.clone();
        Begun::Elsewhere(Box::new(Box::new(move |task| home.submit(task))))
    }

    fn wake(&mut self, _: &Cx<'_>, _: Signal) -> Option<Outcome<T>> {
        self.outcome.take()
    }

    fn end(self, _: &Cx<'_>, outcome: Outcome<T>) -> Outcome<T> {
        outcome
    }
}
