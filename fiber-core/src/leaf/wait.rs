//! The waits of leaves: a leaf knows its event and registers the wake-up; this file does everything else.

#![allow(unsafe_code)]

use std::mem::{MaybeUninit, forget};
use std::panic::Location;
use std::ptr;

use crate::cell::{EventKey, Signal};
use crate::engine::context::{Context, Cx, WaitsFor, Wakeup};
use crate::engine::frames::{Begun, Waiting, Waits, frame_size, lies_in_frame};
use crate::engine::side::{Awaited, Side, Single};
use crate::engine::step::{Follow, Run, Step};
use crate::engine::subject::Subject;
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::panic::{Panic, catch_panic, guard};

/// An event to wait for. Implement it to build a leaf of your own.
///
/// The engine calls `poll`. If that returns `None`, the engine calls `register` with a [`Wakeup`] to register with the
/// event, parks the fiber, and calls `poll` again after the wake-up was fired. If the fiber is cancelled meanwhile, the
/// engine calls `deregister` and continues with `Cancelled`. [`Fiber::callback`] is simpler for an event that calls a
/// closure.
///
/// ```
/// use fiber_core::scheduler::{Cx, Wait, Wakeup};
/// use fiber_core::{Fiber, Outcome};
/// use std::sync::{Arc, Mutex};
///
/// /// A door that opens once, for all who wait at it.
/// #[derive(Default)]
/// struct Door { is_open: bool, waiting: Vec<(u64, Wakeup)>, next: u64 }
///
/// struct Pass { door: Arc<Mutex<Door>>, place: Option<u64> }
///
/// impl Wait for Pass {
///     type Out = ();
///     fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<()>> {
///         self.door.lock().unwrap().is_open.then_some(Outcome::Success(()))
///     }
///     fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<()>> {
///         let mut door = self.door.lock().unwrap();
///         if door.is_open {
///             return wakeup.claim().then_some(Outcome::Success(()));
///         }
///         door.next += 1;
///         self.place = Some(door.next);
///         let place = (door.next, wakeup);
///         door.waiting.push(place);
///         None
///     }
///     fn deregister(&mut self, _: &Cx<'_>) {
///         let place = self.place;
///         self.door.lock().unwrap().waiting.retain(|(at, _)| Some(*at) != place);
///     }
/// }
///
/// let door = Arc::new(Mutex::new(Door::default()));
/// let pass = Fiber::wait(Pass { door: door.clone(), place: None });
/// let open = Fiber::lazy(move || {
///     let mut door = door.lock().unwrap();
///     door.is_open = true;
///     door.waiting.drain(..).for_each(|(_, wakeup)| wakeup.fire());
/// });
/// assert!(fiber_sched::run(pass.zip(open)).is_success());
/// ```
pub trait Wait: Send + 'static + Sized {
    /// The value of a success.
    type Out: Send + 'static;

    /// Whether the wait continues when the fiber is cancelled, because its event must have happened before the fiber
    /// ends.
    #[doc(hidden)]
    const IS_SHIELDED: bool = false;

    /// Whether a fiber can wait for this beside another event, which may win: the two are then the sides of a
    /// [race](Fiber::race) without a fiber of its own for each.
    ///
    /// `poll` takes something only if it succeeds. A `register` that is ready [claims](Wakeup::claim) the wait first. After
    /// `deregister`, the fiber may register again: the other side may have been woken for nothing. While another side of a race holds it,
    /// the engine calls `register` without a `poll` before. A value that was already given to
    /// the wake-up goes back in `deregister`.
    ///
    /// ```
    /// use fiber_core::scheduler::{Cx, Wait, Wakeup};
    /// use fiber_core::{Either, Fiber, Outcome};
    /// use std::sync::{Arc, Mutex};
    ///
    /// /// A coin, for the first to take it.
    /// #[derive(Clone, Default)]
    /// struct Table(Arc<Mutex<(bool, Option<Wakeup>)>>);
    ///
    /// impl Wait for Table {
    ///     type Out = &'static str;
    ///     const CAN_LOSE: bool = true;
    ///     fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<Self::Out>> {
    ///         std::mem::take(&mut self.0.lock().unwrap().0).then_some(Outcome::Success("coin"))
    ///     }
    ///     fn register(&mut self, _: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<Self::Out>> {
    ///         let (coin, waiter) = &mut *self.0.lock().unwrap();
    ///         if !*coin {
    ///             *waiter = Some(wakeup);
    ///             return None;
    ///         }
    ///         wakeup.claim().then(|| {
    ///             *coin = false;
    ///             Outcome::Success("coin")
    ///         })
    ///     }
    ///     fn deregister(&mut self, _: &Cx<'_>) {
    ///         self.0.lock().unwrap().1 = None;
    ///     }
    /// }
    ///
    /// let (table, other) = (Table::default(), Table::default());
    /// other.0.lock().unwrap().0 = true;
    /// let race = Fiber::wait(table).race(Fiber::wait(other.clone()));
    /// assert_eq!(fiber_sched::run(race).unwrap(), Either::Right("coin"));
    /// assert!(!other.0.lock().unwrap().0);
    /// ```
    const CAN_LOSE: bool = false;

    /// What kind of side it is. Unless it says otherwise, it may wait again after its event.
    #[doc(hidden)]
    const SINGLE: Single = if Self::CAN_LOSE { Single::AGAIN } else { Single::NO };

    /// The outcome, if the event has happened. Called when the fiber reaches the wait, and after each wake-up.
    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<Self::Out>>;

    /// Registers `wakeup` with the event, or gives the outcome if the event happened after `poll`.
    ///
    /// Before it takes or gives anything, it [claims](Wakeup::claim) the wait. If that fails, it gives `None`, and the fiber
    /// goes on with the other side of a race.
    fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<Self::Out>>;

    /// Removes the wake-up, because the fiber was cancelled, or the other side of a race has won.
    fn deregister(&mut self, cx: &Cx<'_>);

    /// For a fiber that was cancelled before it began to wait: the outcome, if it was sent to this very wait. From now on,
    /// none can be sent.
    #[doc(hidden)]
    fn close(&mut self) -> Option<Outcome<Self::Out>> {
        None
    }

    /// The kind of wait, for reports.
    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Other
    }

    /// The fiber whose end is awaited, for reports.
    fn waits_on(&self) -> Option<&Context> {
        None
    }

    /// The primitive that the fiber waits at, for reports.
    fn waits_at(&self) -> Option<&Subject> {
        None
    }
}

impl<T: Send + 'static> Fiber<T> {
    /// Waits for a custom event; see [`Wait`].
    #[track_caller]
    pub fn wait<W: Wait<Out = T>>(wait: W) -> Fiber<T, Leaf<W>> {
        Fiber::new(Leaf::new(wait, Location::caller()))
    }
}

/// The description of [`Fiber::wait`].
#[derive(Clone, Debug)]
pub struct Leaf<W> {
    wait: W,
    site: &'static Location<'static>,
}

/// What a [`Leaf`] waits for: a [`Wait`], or an operation of a primitive, which has a place in a queue while it waits.
#[doc(hidden)]
pub trait Awaits: Send + 'static + Sized {
    type Out: Send + 'static;
    /// The place in a queue. It is a part of the leaf, and stays where it is while the wait is registered.
    type Place: Default + Send + 'static;
    const IS_SHIELDED: bool = false;
    const CAN_LOSE: bool;
    /// What kind of side it is.
    const SINGLE: Single;

    /// Looks whether the event has happened, before the first wait.
    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<Self::Out>>;

    /// See [`Wait::register`].
    ///
    /// # Safety
    /// The place is neither moved nor dropped until `deregister`, `missed` or `leave` was called, or until `woken` has given an outcome.
    unsafe fn register(
        &mut self,
        place: &mut Self::Place,
        cx: &Cx<'_>,
        event: EventKey,
    ) -> Option<Outcome<Self::Out>>;

    /// The wake-up was fired. `None`: it is registered again.
    fn woken(&mut self, place: &mut Self::Place, cx: &Cx<'_>) -> Option<Outcome<Self::Out>>;

    fn deregister(&mut self, place: &mut Self::Place, cx: &Cx<'_>);

    /// Leaves the place, because the fiber is abandoned. What was given to it goes on.
    fn leave(&mut self, place: &mut Self::Place) {
        let _ = place;
    }

    /// The event happened while another side held the race, which is free again. Leaves the place; the engine registers the wait once
    /// more. The outcome, if the event took nothing, and will not be seen again.
    fn missed(&mut self, place: &mut Self::Place, cx: &Cx<'_>) -> Option<Outcome<Self::Out>> {
        self.deregister(place, cx);
        None
    }

    fn close(&mut self) -> Option<Outcome<Self::Out>> {
        None
    }

    /// For reports.
    fn awaited(&self) -> Awaited<'_>;
}

impl<W: Wait> Awaits for W {
    type Out = W::Out;
    type Place = ();
    const IS_SHIELDED: bool = W::IS_SHIELDED;
    const CAN_LOSE: bool = W::CAN_LOSE;
    const SINGLE: Single = W::SINGLE;

    #[inline]
    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<W::Out>> {
        Wait::poll(self, cx)
    }

    #[inline]
    unsafe fn register(&mut self, (): &mut (), cx: &Cx<'_>, event: EventKey) -> Option<Outcome<W::Out>> {
        Wait::register(self, cx, Wakeup::of_fiber(cx.context().clone(), event))
    }

    #[inline]
    fn woken(&mut self, (): &mut (), cx: &Cx<'_>) -> Option<Outcome<W::Out>> {
        Wait::poll(self, cx)
    }

    #[inline]
    fn deregister(&mut self, (): &mut (), cx: &Cx<'_>) {
        Wait::deregister(self, cx);
    }

    #[inline]
    fn close(&mut self) -> Option<Outcome<W::Out>> {
        Wait::close(self)
    }

    #[inline]
    fn awaited(&self) -> Awaited<'_> {
        Awaited { what: self.waits_for(), on: self.waits_on(), at: self.waits_at().map(|at| (at, 1)) }
    }
}

impl<W: Awaits> Leaf<W> {
    #[inline]
    pub(crate) fn new(wait: W, site: &'static Location<'static>) -> Self {
        Leaf { wait, site }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn placed(self) -> Placed<W> {
        Placed { leaf: self, place: W::Place::default() }
    }

    /// Polls once; user code may panic. An outcome is written where it stays, because it would wait for its own parts on the way
    /// (docs/decisions/stalls.md), and the leaf is dropped in its variable: both may be as large as what the fiber sends.
    ///
    /// # Safety
    /// After an outcome, the leaf is neither used nor dropped.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn poll<'p>(
        &mut self,
        cx: &Cx<'_>,
        polled: &'p mut MaybeUninit<Option<Outcome<W::Out>>>,
    ) -> Option<&'p mut Outcome<W::Out>> {
        if let Err(panic) = guard(|| _ = polled.write(self.wait.poll(cx))) {
            polled.write(Some(Outcome::Panicked(panic)));
        }
        // SAFETY: written.
        let outcome = unsafe { polled.assume_init_mut() }.as_mut()?;
        // SAFETY: by the contract.
        unsafe { outcome.drop_beside(&raw mut *self, cx) };
        Some(outcome)
    }

    /// Begins to wait. The leaf is made in its frame, without the place, which is most of it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn wait<'s>(self, cx: &'s Cx<'_>) -> Waiting<'s, W::Out> {
        if const { !lies_in_frame::<Placed<W>, ()>() } {
            return cx.wait(self.placed());
        }
        // SAFETY: it lies there, and is written at once.
        let (at, waiting) = unsafe { cx.wait_in_place::<Placed<W>>() };
        // SAFETY: the place is for it.
        unsafe { Placed::write(at, self) };
        waiting
    }

    /// The same, and then takes a step that never waits.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn wait_then<'s, P: Follow<W::Out>>(self, cx: &'s Cx<'_>, plain: P) -> Waiting<'s, P::Out> {
        if const { !lies_in_frame::<Placed<W>, P>() } {
            return cx.wait_then(self.placed(), plain);
        }
        // SAFETY: as above.
        let (at, waiting) = unsafe { cx.wait_then_in_place::<Placed<W>, P>(plain) };
        // SAFETY: as above.
        unsafe { Placed::write(at, self) };
        waiting
    }
}

impl<W: Awaits> Run for Leaf<W> {
    type Out = W::Out;
    const ROOM: usize = frame_size::<Placed<W>>();

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run<'s>(mut self, cx: &'s Cx<'_>) -> Step<'s, W::Out> {
        match start(cx, W::IS_SHIELDED, W::CAN_LOSE) {
            Start::Polls => {}
            Start::Waits => return Step::Wait(self.wait(cx)),
            Start::Refused => return Step::Done(self.end_unstarted(cx)),
        }
        let mut polled = MaybeUninit::uninit();
        // SAFETY: with an outcome, the leaf is forgotten, where it is.
        match unsafe { self.poll(cx, &mut polled) } {
            Some(outcome) => {
                forget(self);
                // SAFETY: the outcome is not used afterwards, nor dropped.
                Step::Done(unsafe { ptr::read(outcome) })
            }
            None => Step::Wait(self.wait(cx)),
        }
    }

    #[inline]
    fn run_then<'s, P: Follow<W::Out>>(mut self, cx: &'s Cx<'_>, plain: P) -> Step<'s, P::Out> {
        match start(cx, W::IS_SHIELDED, W::CAN_LOSE) {
            Start::Polls => {}
            Start::Waits => return Step::Wait(self.wait_then(cx, plain)),
            Start::Refused => return plain.follow(cx, self.end_unstarted(cx)),
        }
        let mut polled = MaybeUninit::uninit();
        // SAFETY: as above.
        match unsafe { self.poll(cx, &mut polled) } {
            Some(outcome) => {
                forget(self);
                // SAFETY: as above.
                plain.follow(cx, unsafe { ptr::read(outcome) })
            }
            None => Step::Wait(self.wait_then(cx, plain)),
        }
    }

    fn end_unstarted(mut self, cx: &Cx<'_>) -> Outcome<W::Out> {
        self.wait.close().unwrap_or(Outcome::Cancelled).without(self, cx)
    }

    const SINGLE: Option<Single> = Some(W::SINGLE);

    fn into_side(self) -> impl Side<Out = W::Out> {
        self.placed()
    }
}

/// A leaf that waits.
pub(crate) struct Placed<W: Awaits> {
    leaf: Leaf<W>,
    place: W::Place,
}

impl<W: Awaits> Placed<W> {
    /// Makes it of a leaf, with an empty place.
    ///
    /// # Safety
    /// `at` is for it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn write(at: *mut Self, leaf: Leaf<W>) {
        // SAFETY: by the contract.
        let (to, place) = unsafe { Placed::parts(at) };
        // SAFETY: as above.
        unsafe { to.write(leaf) };
        // SAFETY: as above.
        unsafe { place.write(W::Place::default()) };
    }

    /// The places of the parts.
    ///
    /// # Safety
    /// `at` is for both.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn parts(at: *mut Self) -> (*mut Leaf<W>, *mut W::Place) {
        // SAFETY: by the contract.
        let leaf = unsafe { &raw mut (*at).leaf };
        // SAFETY: by the contract.
        (leaf, unsafe { &raw mut (*at).place })
    }

    /// Calls the code of the wait, which may be user code. After a panic, the place is left.
    #[inline]
    fn ask(
        &mut self,
        f: impl FnOnce(&mut W, &mut W::Place) -> Option<Outcome<W::Out>>,
    ) -> Option<Outcome<W::Out>> {
        // Written where it stays, as in `poll`.
        let mut asked = MaybeUninit::uninit();
        match guard(|| _ = asked.write(f(&mut self.leaf.wait, &mut self.place))) {
            // SAFETY: written.
            Ok(()) => unsafe { asked.assume_init() },
            Err(panic) => self.torn_by(panic),
        }
    }

    #[cold]
    fn torn_by(&mut self, panic: Panic) -> Option<Outcome<W::Out>> {
        catch_panic(|| self.leaf.wait.leave(&mut self.place));
        Some(Outcome::Panicked(panic))
    }

    #[cold]
    fn wake_in_race(&mut self, cx: &Cx<'_>) -> Option<Outcome<W::Out>> {
        if cx.has_missed_race() {
            // It leaves its place, and looks again as it begins to wait.
            return self.ask(|wait, place| wait.missed(place, cx));
        }
        self.ask(|wait, place| wait.woken(place, cx))
    }
}

impl<W: Awaits> Waits for Placed<W> {
    type Event = W::Out;
    type Out = W::Out;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn begin(&mut self, cx: &Cx<'_>) -> Begun<W::Out> {
        let Leaf { wait, site } = &self.leaf;
        let context = cx.context();
        let event = context.begin_wait(site, wait.awaited());
        let event = if W::CAN_LOSE && context.is_raced() { event.raced() } else { event };
        // SAFETY: a leaf stays in its frame while it waits. It is taken after `wake` has given an outcome, and dropped after `leave`.
        match self.ask(|wait, place| unsafe { wait.register(place, cx, event) }) {
            Some(outcome) => {
                context.end_wait();
                Begun::Ready(outcome)
            }
            None => Begun::Registered { is_shielded: W::IS_SHIELDED },
        }
    }

    #[inline]
    fn wake(&mut self, cx: &Cx<'_>, signal: Signal) -> Option<Outcome<W::Out>> {
        match signal {
            Signal::Fired if W::CAN_LOSE && cx.is_raced() => self.wake_in_race(cx),
            Signal::Fired => self.ask(|wait, place| wait.woken(place, cx)),
            Signal::Cancelled | Signal::Abandoned => self.ask(|wait, place| {
                wait.deregister(place, cx);
                Some(Outcome::Cancelled)
            }),
        }
    }

    fn end(self, cx: &Cx<'_>, outcome: Outcome<W::Out>) -> Outcome<W::Out> {
        // The leaf is dropped first, so that its contents do not live until the fiber ends.
        outcome.without(self.leaf, cx)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn end_at(at: *mut Self, cx: &Cx<'_>, mut outcome: Outcome<W::Out>) -> Outcome<W::Out> {
        // SAFETY: by the contract.
        let (leaf, place) = unsafe { Placed::parts(at) };
        // SAFETY: by the contract. It is trivial: the wait has left it.
        unsafe { ptr::drop_in_place(place) };
        // SAFETY: by the contract. The buffer is locked meanwhile.
        unsafe { outcome.drop_beside(leaf, cx) };
        cx.unlock();
        outcome
    }

    fn leave(&mut self) {
        self.leaf.wait.leave(&mut self.place);
    }
}

impl<W: Awaits> Side for Placed<W> {
    type Event = Outcome<W::Out>;
    type Out = W::Out;

    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<W::Out>> {
        self.ask(|wait, _| wait.poll(cx))
    }

    unsafe fn register(&mut self, cx: &Cx<'_>, event: EventKey) -> Option<Outcome<W::Out>> {
        // SAFETY: by the contract.
        self.ask(|wait, place| unsafe { wait.register(place, cx, event) })
    }

    fn woken(&mut self, cx: &Cx<'_>, _: u64) -> Option<Outcome<W::Out>> {
        self.ask(|wait, place| wait.woken(place, cx))
    }

    fn missed(&mut self, cx: &Cx<'_>) -> Option<Outcome<W::Out>> {
        self.ask(|wait, place| wait.missed(place, cx))
    }

    fn deregister(&mut self, cx: &Cx<'_>) {
        self.leaf.wait.deregister(&mut self.place, cx);
    }

    fn leave(&mut self) {
        Waits::leave(self);
    }

    fn end(self, cx: &Cx<'_>, outcome: Outcome<W::Out>) -> Outcome<W::Out> {
        Waits::end(self, cx, outcome)
    }

    fn awaited(&self) -> Awaited<'_> {
        self.leaf.wait.awaited()
    }
}

/// How a leaf starts.
enum Start {
    /// It may give an outcome at once.
    Polls,
    /// It waits in any case, because another side holds the race.
    Waits,
    /// It ends, because the fiber was cancelled.
    Refused,
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn start(cx: &Cx<'_>, is_shielded: bool, can_lose: bool) -> Start {
    if cx.is_interrupted() && !is_shielded {
        Start::Refused
    } else if can_lose && cx.is_raced() && !cx.context().claim_race() {
        Start::Waits
    } else {
        Start::Polls
    }
}
