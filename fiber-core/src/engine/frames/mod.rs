//! Frames: the rest of a fiber that waits.
//!
//! On the way out of a run that has to wait, every operator pushes the step that it has left as a *frame* into a buffer of
//! the fiber: first the leaf that waits, then the steps after it, from the inside out. A wake-up runs them in this order, each with
//! the outcome of the one before. So a suspended program is data, and its continuation is found in O(1), however deep it lies.
//!
//! ```text
//!   run:   task -> bind -> map -> delay     delay pushes itself; map and bind push their closures; the task pushes the end
//!          [ delay | map's f | bind's f | end ]
//!   wake:  delay is over; map's f, bind's f, the end
//! ```
//!
//! * [`buffer`]: the memory of frames. All positions are offsets, and all types are hidden.
//! * [`drive`]: the loop that runs the frames of a fiber, and what begins a wait.
//! * [`table`]: the functions behind a frame, which know its type.
//! * [`pair`]: what one frame gives to the next.
//!
//! A [`Waiting`] says what the newest frames will give. It borrows the [`Cx`] of its fiber, so it cannot leave the run in which it was
//! made, and each push compares it with the end of the newest group. So the type of each frame is that of the outcome before it:
//! all unsafe code of this folder relies on that.
#![allow(unsafe_code)]

mod buffer;
mod drive;
mod leaf_table;
mod pair;
mod table;
#[cfg(all(test, not(fiber_loom)))]
mod tests;

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr;

pub(crate) use buffer::{Frames, OVERHEAD, Slot, frame_size};

use crate::cell::Signal;
use crate::engine::context::{Context, Cx, Forks};
use crate::engine::step::{Follow, Step};
use crate::outcome::Outcome;
use crate::panic::{Panic, discard_part};
pub(crate) use leaf_table::{Begin, Submit};
use pair::{Pair, is_over_aligned};
pub(crate) use table::Stepped;
use table::{LeafOf, Of};

/// Evidence that a fiber has to wait, and that its newest frames will give a `T`.
///
/// A [`Run`](crate::Run) gets one from the description that it runs, and returns it. It borrows the [`Cx`], so it cannot become the
/// result of another fiber, or of a later run:
///
/// ```compile_fail,E0310
/// use fiber_core::scheduler::{Cx, Step, Waiting};
/// use fiber_core::Run;
///
/// static LATER: std::sync::Mutex<Option<Waiting<'static, ()>>> = std::sync::Mutex::new(None);
///
/// struct Keeps<R>(R);
///
/// impl<R: Run<Out = ()>> Run for Keeps<R> {
///     type Out = ();
///
///     fn run<'s>(self, cx: &'s Cx<'_>) -> Step<'s, ()> {
///         let Step::Wait(waiting) = self.0.run(cx) else { panic!() };
///         *LATER.lock().unwrap() = Some(waiting);
///         panic!()
///     }
/// }
/// ```
#[must_use = "the fiber waits for it"]
pub struct Waiting<'s, T>(u32, PhantomData<(&'s (), fn() -> T)>);

impl<T> fmt::Debug for Waiting<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waiting")
    }
}

/// What a fiber does after an outcome. Most frames are a [`Follow`]; others leave their outcome themselves, or have to be known while
/// they wait.
pub(crate) trait Frame<T>: Send + 'static + Sized {
    /// What the frame [leaves](Cx::leave).
    type Out: Send + 'static;
    /// Whether `visit` does anything.
    const VISITS: bool = false;

    fn resume(self, cx: &Cx<'_>, outcome: Outcome<T>) -> Left;

    fn visit(&mut self, visit: &mut Visit<'_>) {
        let _ = visit;
    }

    /// Drops a frame that is not run; see [`Run::discard`](crate::Run::discard). `place` is where the fiber has waited, if it has.
    fn discard(self, torn: &mut Vec<Panic>, place: Option<&Context>) {
        let _ = place;
        discard_part(self, torn);
    }
}

/// The result of a frame: an outcome for the next one, unless it waits.
#[must_use = "the next frame takes it"]
pub(crate) struct Left(Pair);

/// What the frames of a fiber are shown to, from the inside out.
pub(crate) enum Visit<'a> {
    /// Collects the outermost contexts in which the fiber waits.
    Parts(&'a mut Vec<Context>),
    /// The places of forks around each fiber that is awaited in place; the outermost is the last.
    Forks(&'a mut Vec<Option<Context>>),
    /// The frames move from the first context to the second. The outermost of the fibers that are awaited in place, of which
    /// there are `awaited`, has `forks` around it.
    Move { from: &'a Context, to: &'a Context, awaited: &'a mut usize, forks: &'a mut Option<Forks> },
    /// Finds where the frames have to be dropped, if that is another thread.
    #[cfg_attr(not(feature = "direct"), expect(dead_code, reason = "only direct fibers belong to a thread"))]
    Home(&'a mut Option<Leave>),
    /// The frame will be dropped instead of run, while the fiber continues: it undoes what it would have ended.
    Undo(&'a Cx<'a>),
}

/// A frame that waits.
pub(crate) trait Waits: Send + 'static + Sized {
    /// What the wait gives.
    type Event: Send + 'static;
    /// What the frame gives, after a step that goes along with the wait.
    type Out: Send + 'static;
    /// Whether it only waits for the next turn: it is never begun, and always ends.
    const YIELDS: bool = false;
    /// Whether races count it as a wait. Not if the fiber only moves to another thread, or has ended.
    const COUNTS: bool = true;
    /// Begins the wait. The function of a leaf is also that of the same leaf with a step along.
    const BEGIN: Begin = LeafOf::<Self>::begin;

    /// Registers with the event. Without one, the fiber continues from the bottom of the stack.
    fn begin(&mut self, cx: &Cx<'_>) -> Begun<Self::Event> {
        let _ = cx;
        Begun::FromBottom
    }

    /// The wait is over. `None`: it begins again.
    fn wake(&mut self, cx: &Cx<'_>, signal: Signal) -> Option<Outcome<Self::Event>>;

    /// Drops the leaf, so that its contents do not live until the fiber ends.
    fn end(self, cx: &Cx<'_>, outcome: Outcome<Self::Event>) -> Outcome<Self::Out>;

    /// The same for a leaf whose frame was skipped. [Unlocks](Cx::unlock) the buffer as soon as nothing there is used any more: then
    /// a frame may be pushed there.
    ///
    /// # Safety
    /// A leaf is at this place, nothing else takes it, and the buffer is locked, unless the leaf [yields](Waits::YIELDS).
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn end_at(at: *mut Self, cx: &Cx<'_>, outcome: Outcome<Self::Event>) -> Outcome<Self::Out> {
        // SAFETY: by the contract.
        let leaf = unsafe { at.read() };
        if const { !Self::YIELDS } {
            cx.unlock();
        }
        leaf.end(cx, outcome)
    }

    /// Leaves the event, because the fiber is abandoned: the leaf will be moved, and dropped.
    fn leave(&mut self) {}

    /// Drops a leaf whose fiber is abandoned.
    fn discard(self, torn: &mut Vec<Panic>) {
        discard_part(self, torn);
    }
}

/// A leaf, and a step after it that never waits, in one frame. It begins as the leaf does, which lies where the pair lies.
#[repr(C)]
struct Along<L, P>(L, P);

impl<L, P> Along<L, P> {
    /// The places of the parts.
    ///
    /// # Safety
    /// The place is for both.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn parts(at: *mut Self) -> (*mut L, *mut P) {
        // SAFETY: by the contract.
        let leaf = unsafe { &raw mut (*at).0 };
        // SAFETY: by the contract.
        (leaf, unsafe { &raw mut (*at).1 })
    }
}

impl<L: Waits, P: Follow<L::Out>> Waits for Along<L, P> {
    type Event = L::Event;
    type Out = P::Out;
    const YIELDS: bool = L::YIELDS;
    const COUNTS: bool = L::COUNTS;
    const BEGIN: Begin = L::BEGIN;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn wake(&mut self, cx: &Cx<'_>, signal: Signal) -> Option<Outcome<L::Event>> {
        self.0.wake(cx, signal)
    }

    fn end(self, cx: &Cx<'_>, outcome: Outcome<L::Event>) -> Outcome<P::Out> {
        let outcome = self.0.end(cx, outcome);
        go_along(self.1, cx, outcome)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn end_at(at: *mut Self, cx: &Cx<'_>, outcome: Outcome<L::Event>) -> Outcome<P::Out> {
        // SAFETY: by the contract.
        let (leaf, plain) = unsafe { Along::parts(at) };
        // Before the buffer is unlocked.
        // SAFETY: by the contract.
        let plain = unsafe { plain.read() };
        // SAFETY: by the contract.
        let outcome = unsafe { L::end_at(leaf, cx, outcome) };
        go_along(plain, cx, outcome)
    }

    fn leave(&mut self) {
        self.0.leave();
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.0.discard(torn);
        self.1.discard(torn);
    }
}

/// Takes a step that goes along with a wait.
#[cfg_attr(not(debug_assertions), inline(always))]
fn go_along<T: Send + 'static, P: Follow<T>>(plain: P, cx: &Cx<'_>, outcome: Outcome<T>) -> Outcome<P::Out> {
    match plain.follow(cx, outcome) {
        Step::Done(outcome) => {
            if cx.has_left_over() {
                cx.drop_left_over();
            }
            outcome
        }
        Step::Wait(waiting) => waiting.refuse(cx),
    }
}

/// Whether the value of a leaf, with a plain step along, lies in its frame, and not in a box.
pub(crate) const fn lies_in_frame<L, P>() -> bool {
    !is_over_aligned::<Along<L, P>>()
}

/// How a wait has begun.
pub(crate) enum Begun<T> {
    /// Its event has been registered.
    Registered { is_shielded: bool },
    /// The fiber continues from the bottom of the stack.
    FromBottom,
    /// The fiber continues in a turn of its own, wherever this leaves its task.
    #[cfg_attr(not(feature = "direct"), expect(dead_code, reason = "only direct fibers belong to a thread"))]
    Elsewhere(Submit),
    /// Its event has happened meanwhile.
    Ready(Outcome<T>),
}

/// Passes frames on, to be dropped.
pub(crate) type Leave = Box<dyn FnOnce(Frames)>;

impl<'s, T: Send + 'static> Waiting<'s, T> {
    /// Continues with `next`.
    #[inline]
    pub(crate) fn then<N: Follow<T>>(self, cx: &'s Cx<'_>, next: N) -> Waiting<'s, N::Out> {
        self.push(cx, Stepped(next))
    }

    /// Continues with a frame.
    #[inline]
    pub(crate) fn push<F: Frame<T>>(self, cx: &'s Cx<'_>, frame: F) -> Waiting<'s, F::Out> {
        // SAFETY: the table is that of the frame. The frame before it leaves an outcome of `T`, by the type of the token.
        Waiting(unsafe { cx.push(Some(self.0), Of::<T, F>::TABLE, frame) }, PhantomData)
    }

    /// The same for a frame that leaves a region: the fiber waits in `inside`.
    pub(crate) fn push_inside<F: Frame<T>>(
        self,
        cx: &'s Cx<'_>,
        inside: Context,
        frame: F,
    ) -> Waiting<'s, F::Out> {
        cx.frames().front().node.get_or_insert(inside);
        self.push(cx, frame)
    }

    /// Drops the frames of a step that has said that it never waits.
    #[cold]
    pub(crate) fn refuse(self, cx: &'s Cx<'_>) -> Outcome<T> {
        cx.drop_left_over();
        Outcome::Panicked(Panic::new(Box::new("a step that never waits has begun to wait")))
    }

    /// Gives up the borrow of `cx`.
    pub(crate) fn detach(self, cx: &Cx<'_>) -> Pushed<T> {
        Pushed { token: self.0, slot: address(cx.slot()), gives: PhantomData }
    }

    /// # Safety
    /// The newest frame leaves an outcome of `T`.
    pub(crate) unsafe fn of_newest(cx: &'s Cx<'_>) -> Self {
        Waiting(cx.frames().end(), PhantomData)
    }
}

/// A [`Waiting`] that borrows nothing. Used for the same slot, before anything else is pushed there: its owner sees to that, because only the end
/// of the newest group is compared, and not its type.
#[must_use = "the fiber waits for it"]
pub(crate) struct Pushed<T> {
    token: u32,
    /// The address of the slot.
    slot: usize,
    gives: PhantomData<fn() -> T>,
}

/// A [`Pushed`] whose type is compared where it is used.
#[must_use = "the fiber waits for it"]
pub(crate) struct AnyPushed(Pushed<()>, TypeId);

impl AnyPushed {
    pub(crate) fn of<T: 'static>(self) -> Pushed<T> {
        assert!(self.1 == TypeId::of::<T>(), "a wait is continued with its type");
        let Pushed { token, slot, .. } = self.0;
        Pushed { token, slot, gives: PhantomData }
    }
}

fn address(slot: &Slot<'_>) -> usize {
    ptr::from_ref(slot).addr()
}

impl<T: Send + 'static> Pushed<T> {
    /// The evidence for another [`Cx`] with the same slot.
    pub(crate) fn attach<'s>(self, cx: &'s Cx<'_>) -> Waiting<'s, T> {
        self.is_of(cx.slot());
        Waiting(self.token, PhantomData)
    }

    pub(crate) fn erase(self) -> AnyPushed {
        let Pushed { token, slot, .. } = self;
        AnyPushed(Pushed { token, slot, gives: PhantomData }, TypeId::of::<T>())
    }

    /// Takes all frames out of their slot, to continue elsewhere.
    pub(crate) fn take(self, slot: &Slot<'_>) -> Suspended<T> {
        self.is_of(slot);
        Suspended(self.token, slot.take().expect("a wait has frames"), PhantomData)
    }

    /// Takes the frames of this wait out of the slot of `cx`, to continue elsewhere. The others stay.
    pub(crate) fn split(self, cx: &Cx<'_>) -> Suspended<T> {
        self.is_of(cx.slot());
        let frames = cx.split(self.token);
        Suspended(frames.end(), frames, PhantomData)
    }

    fn is_of(&self, slot: &Slot<'_>) {
        assert!(self.slot == address(slot), "a wait is continued where it was begun");
    }
}

/// The frames of a fiber that has not begun to wait, and that will give a `T`.
pub(crate) struct Suspended<T>(u32, Frames, PhantomData<fn() -> T>);

impl<T: Send + 'static> Suspended<T> {
    pub(crate) fn frames(&mut self) -> &mut Frames {
        &mut self.1
    }

    /// Waits as the fiber of `context`, with this last frame.
    pub(crate) fn wait_as<F: Frame<T>>(self, cx: &Cx<'_>, context: Context, last: F) {
        let slot = Slot::holding(self.1);
        let _ = Waiting::<T>(self.0, PhantomData).push(&Cx::new(&context, cx.view(), &slot), last);
        drive::settle_alone(&slot, context, cx.view());
    }
}

impl Cx<'_> {
    /// Waits for this leaf.
    #[inline]
    pub(crate) fn wait<L: Waits>(&self, leaf: L) -> Waiting<'_, L::Out> {
        // SAFETY: the table is that of the leaf.
        Waiting(unsafe { self.push(None, LeafOf::<L>::TABLE, leaf) }, PhantomData)
    }

    /// Waits for this leaf, and then takes a step that never waits.
    #[inline]
    pub(crate) fn wait_then<L: Waits, P: Follow<L::Out>>(&self, leaf: L, plain: P) -> Waiting<'_, P::Out> {
        if const { lies_in_frame::<L, P>() } {
            self.wait(Along(leaf, plain))
        } else {
            self.wait(leaf).then(self, plain)
        }
    }

    /// Waits for a leaf that the caller writes to its frame, because it is large and mostly empty.
    ///
    /// # Safety
    /// The caller writes it before anything else happens to the fiber. It [lies there](lies_in_frame).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn wait_in_place<L: Waits>(&self) -> (*mut L, Waiting<'_, L::Out>) {
        let (at, token) = self.push_unwritten(None, LeafOf::<L>::TABLE);
        (at.cast(), Waiting(token, PhantomData))
    }

    /// The same, and then takes a step that never waits.
    ///
    /// # Safety
    /// As [`wait_in_place`](Cx::wait_in_place).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn wait_then_in_place<L: Waits, P: Follow<L::Out>>(
        &self,
        plain: P,
    ) -> (*mut L, Waiting<'_, P::Out>) {
        // SAFETY: by the contract.
        let (at, waiting) = unsafe { self.wait_in_place::<Along<L, P>>() };
        // SAFETY: the place is for it.
        let (leaf, step) = unsafe { Along::parts(at) };
        // SAFETY: as above.
        unsafe { step.write(plain) };
        (leaf, waiting)
    }

    /// Yields to the scheduler; then gives the outcome.
    #[cold]
    pub(crate) fn pause<T: Send + 'static>(&self, outcome: Outcome<T>) -> Waiting<'_, T> {
        self.wait(Given::<T, true, true>(Some(outcome)))
    }

    /// Yields to the scheduler.
    #[cold]
    pub(crate) fn yields(&self) -> Waiting<'_, ()> {
        self.wait(Given::<(), true>(Some(Outcome::Success(()))))
    }

    /// The context in which the newest group will wait.
    #[cfg(feature = "direct")]
    pub(crate) fn waits_in(&self) -> Context {
        self.frames().front().node.as_ref().unwrap_or(self.context()).clone()
    }

    /// The result of a frame that has an outcome for the next one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn leave<T: Send + 'static>(&self, outcome: Outcome<T>) -> Left {
        Left(self.pack(outcome))
    }

    /// The same for a frame after which the fiber continues in another context.
    pub(crate) fn leave_to<T: Send + 'static>(&self, outside: Context, outcome: Outcome<T>) -> Left {
        self.frames().switch_to(outside);
        self.leave(outcome)
    }

    /// The same for a frame that ends a limit without a node.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn leave_limit<T: Send + 'static>(&self, outcome: Outcome<T>) -> Left {
        self.frames().leave_limit();
        self.leave(outcome)
    }

    /// Gives the outcome from the bottom of the stack.
    #[cold]
    pub(crate) fn give_later<T: Send + 'static>(&self, outcome: Outcome<T>) -> Waiting<'_, T> {
        self.wait(Given::<T>(Some(outcome)))
    }

    /// The result of a frame that has taken this step.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn leave_step<T: Send + 'static>(&self, step: Step<'_, T>) -> Left {
        match step {
            Step::Done(outcome) => {
                // Not dropped if that unwinds: otherwise it would have an address, and be moved through memory.
                let outcome = ManuallyDrop::new(outcome);
                if self.has_left_over() {
                    self.drop_left_over();
                }
                self.leave(ManuallyDrop::into_inner(outcome))
            }
            Step::Wait(_) => Left(Pair::EMPTY),
        }
    }

    /// From now on, frames may be pushed again.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn unlock(&self) {
        self.frames().lock(false);
    }

    /// Drops the frames of a run that has given an outcome although it has begun to wait.
    #[cold]
    pub(crate) fn drop_left_over(&self) {
        let torn = self.frames().drop_newest(self);
        crate::engine::suppress::discard(torn, self.context());
    }
}

/// Has an outcome, and gives it from the bottom of the stack: if it `YIELDS`, in the next turn of the fiber. If it `GRANTS`,
/// the step that has paused asks for its unit of the budget again.
struct Given<T, const YIELDS: bool = false, const GRANTS: bool = false>(Option<Outcome<T>>);

impl<T: Send + 'static, const YIELDS: bool, const GRANTS: bool> Waits for Given<T, YIELDS, GRANTS> {
    type Event = T;
    type Out = T;
    const YIELDS: bool = YIELDS;

    fn wake(&mut self, cx: &Cx<'_>, _: Signal) -> Option<Outcome<T>> {
        if GRANTS {
            cx.grant();
        }
        self.0.take()
    }

    fn end(self, _: &Cx<'_>, outcome: Outcome<T>) -> Outcome<T> {
        outcome
    }
}
