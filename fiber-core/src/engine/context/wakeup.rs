//! The wake-ups that end waits.

use std::fmt;
use std::iter::once;
use std::ptr;
use std::task::Waker;

use super::race::RaceKey;
use super::{Context, Cx, Turn, throw_away};
use crate::cell::{EventKey, Fired, Signal, Target};
use crate::engine::next;
use crate::engine::task::{Task, Waiter};
use crate::panic::guard;

/// Ends one wait of one fiber, or wakes a future. The waiting leaf registers it with the event.
///
/// Firing it after the wait is over, for example because the fiber was cancelled, has no effect.
pub struct Wakeup(Target<Context>);

impl Wakeup {
    #[inline]
    pub(crate) fn of_fiber(context: Context, event: EventKey) -> Self {
        Wakeup(Target::of_fiber(context, event.to_number()))
    }

    #[inline]
    fn event(&self) -> Option<EventOf<'_>> {
        self.0.fiber().map(EventOf::numbered)
    }

    /// The fiber with its event, or the waker.
    #[inline]
    pub(crate) fn into_parts(self) -> Result<(Context, EventKey), Waker> {
        self.0.into_inner().map(|(context, event)| (context, EventKey::from_number(event)))
    }

    /// Whether it is one of this waker.
    pub(crate) fn will_wake(&self, waker: &Waker) -> bool {
        self.0.waker().is_some_and(|own| own.will_wake(waker))
    }

    /// Whether the fiber looks at the event once more. For a wake-up whose [`commit`](Wakeup::commit) has failed: it will be fired again,
    /// or was since then, because the event came while another side held the race.
    pub(crate) fn is_missed(&self) -> bool {
        self.event().is_some_and(EventOf::is_missed)
    }

    /// Wakes a side whose event has missed the race: the race is free, so it looks at its event again.
    pub(super) fn fire_again(self) {
        if let Ok((context, event)) = self.into_parts()
            && let Some(waiter) = context.fire_missed(event).waiter()
        {
            context.schedule(Task::wake(waiter, Signal::Fired));
        }
    }

    /// Reports the event: the fiber is scheduled, and polls its wait. Can be called from any thread.
    ///
    /// ```
    /// use fiber_core::scheduler::Wakeup;
    /// use std::sync::{Arc, atomic::{AtomicBool, Ordering}};
    /// use std::task::Wake;
    ///
    /// /// What an executor wakes.
    /// #[derive(Default)]
    /// struct Bell(AtomicBool);
    ///
    /// impl Wake for Bell {
    ///     fn wake(self: Arc<Self>) {
    ///         self.0.store(true, Ordering::Relaxed);
    ///     }
    /// }
    ///
    /// let bell = Arc::new(Bell::default());
    /// let wakeup = Wakeup::from(std::task::Waker::from(bell.clone()));
    /// wakeup.fire();
    /// assert!(bell.0.load(Ordering::Relaxed));
    /// ```
    pub fn fire(self) {
        match self.into_parts() {
            Ok((context, event)) => _ = EventOf(&context, event).fire(),
            // A waker is code of an arbitrary executor. Its panic must not interrupt the end of the fiber.
            Err(waker) => drop(guard(|| waker.wake())),
        }
    }

    /// Claims the wait for an event that is ready while it registers. `false`: another event has ended the wait already.
    ///
    /// A fiber may wait for several events at a time, as the sides of a [race](crate::Fiber::race). When the second side
    /// registers, the event of the first one may already have ended the wait; a sender, for example, is committed to
    /// the race, and its item is received. So a [`Wait`](crate::scheduler::Wait) that is ready in `register` claims the wait before it takes or
    /// gives anything. After a successful claim, no other event can end the wait. Outside of races, every claim succeeds, and
    /// costs nothing.
    ///
    /// [`Wait::CAN_LOSE`](crate::scheduler::Wait::CAN_LOSE) has an example.
    ///
    /// If the event turns out to be gone after a successful claim, [fire](Wakeup::fire) the wake-up: the fiber polls its wait
    /// again.
    pub fn claim(&self) -> bool {
        self.event().is_none_or(EventOf::claim)
    }

    /// Whether an event that is ready has to [claim](Wakeup::claim) the wait: another one, which was registered before, may end it
    /// too, or another side may win the race.
    #[inline]
    pub(crate) fn is_raced(&self) -> bool {
        self.event().is_some_and(EventOf::is_raced)
    }

    /// Ends the wait by its event. After that, no cancellation can end it, so a value may be left for the fiber.
    ///
    /// Takes a few atomic operations and drops nothing, so it can be called under a lock.
    ///
    /// # Errors
    /// Returns the wake-up if the wait is already over, so that the value would have no taker.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn commit(self) -> Result<Committed, Wakeup> {
        match self.into_parts() {
            // The frames of the fiber hold it too, so this reference is not the last one.
            Ok((context, event)) => {
                EventOf(&context, event).commit().ok_or_else(|| Wakeup::of_fiber(context, event))
            }
            Err(waker) => Ok(Committed::of_waker(waker)),
        }
    }

    /// Like `fire`, but the fiber continues in this call: this is the body of a task.
    pub(crate) fn fire_in_turn(self, turn: &Turn<'_>) {
        if self.event().is_none_or(|EventOf(context, _)| context.is_hosted()) {
            return self.fire();
        }
        if let Ok((context, event)) = self.into_parts()
            && let Some(waiter) = end_wait(&context, event).waiter()
        {
            waiter.wake_in(turn, Signal::Fired);
        }
    }

    /// Like `fire`, but a fiber of the same scheduler continues before this turn ends.
    pub(crate) fn fire_in(self, cx: &Cx<'_>) {
        let is_near = |event: &EventOf<'_>| cx.nearest().is_served_with(event.0);
        let Some(EventOf(context, event)) = self.event().filter(is_near) else { return self.fire() };
        if let Some(waiter) = end_wait(context, event).waiter() {
            cx.view().wake_from_bottom(waiter, Signal::Fired);
        }
    }

    /// Reports that the event will never happen: the fiber ends as abandoned.
    pub(crate) fn abandon(self) {
        if let Ok((context, event)) = self.into_parts() {
            throw_away(context.abandon_wait(event));
        }
    }

    /// A wake-up for the next event of the same wait. The first one to be fired ends the wait, and the fiber can ask which one it was
    /// ([`Context::last_event`]).
    pub(crate) fn next(&self) -> Wakeup {
        match self.event() {
            Some(EventOf(context, event)) => Wakeup::of_fiber(context.clone(), event.next()),
            None => Wakeup::from(Waker::clone(&self.0.waker().expect("no fiber"))),
        }
    }

    /// The waiting fiber, and the generation of its wait.
    pub(crate) fn wait(&self) -> Option<(&Context, u64)> {
        self.event().map(|EventOf(context, event)| (context, event.generation()))
    }
}

/// An event of a fiber.
#[derive(Clone, Copy)]
pub(super) struct EventOf<'a>(pub(super) &'a Context, pub(super) EventKey);

impl<'a> EventOf<'a> {
    #[inline]
    pub(super) fn numbered((fiber, event): (&'a Context, u64)) -> Self {
        EventOf(fiber, EventKey::from_number(event))
    }

    #[inline]
    pub(super) fn is_raced(self) -> bool {
        self.1.is_contested()
    }

    pub(super) fn is_missed(self) -> bool {
        let EventOf(fiber, event) = self;
        event.is_raced() && fiber.0.waits_in(event)
    }

    pub(super) fn is_beside(self, EventOf(other, others): EventOf<'_>) -> bool {
        let EventOf(one, event) = self;
        one.is_same(other) || event.is_raced() && others.is_raced() && one.races_with(other)
    }

    pub(super) fn race_keys(self) -> impl Iterator<Item = RaceKey> + use<'a> {
        let EventOf(fiber, event) = self;
        let races = event.is_raced().then(|| fiber.races_around());
        once(RaceKey::Fiber(fiber.key())).chain(races.into_iter().flatten())
    }

    pub(super) fn claim(self) -> bool {
        !self.is_raced() || self.fire()
    }

    /// Ends the wait by its event, and schedules the fiber if it has parked. `false`: the wait was already over.
    fn fire(self) -> bool {
        match end_wait(self.0, self.1) {
            Fired::Late => return false,
            Fired::Armed => {}
            Fired::Parked(waiter) => next::wake(waiter),
        }
        true
    }

    /// See [`Wakeup::commit`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn commit(self) -> Option<Committed> {
        match end_wait(self.0, self.1) {
            Fired::Late => None,
            Fired::Armed => Some(Committed(Woken::Armed)),
            Fired::Parked(waiter) => Some(Committed(Woken::Parked(waiter))),
        }
    }
}

/// Ends the wait by its event, unless this is a side of a race that the event may not win.
#[inline]
fn end_wait(context: &Context, event: EventKey) -> Fired<Waiter> {
    if event.is_raced() { context.fire_in_race(event) } else { context.fire(event) }
}

impl From<Waker> for Wakeup {
    fn from(waker: Waker) -> Self {
        Wakeup(Target::of_waker(waker))
    }
}

impl fmt::Debug for Wakeup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Wakeup").field(&self.event().map(|EventOf(fiber, _)| fiber)).finish()
    }
}

/// A wait that its event has ended, and whose fiber is still to be scheduled. Two words, which are passed in registers.
#[must_use = "the fiber would wait for ever"]
pub(crate) struct Committed(Woken);

enum Woken {
    /// The fiber has not parked yet, and will see the event when it does.
    Armed,
    /// The waiter was taken, and its fiber has to be scheduled.
    Parked(Waiter),
    Waker(Box<Waker>),
}

impl Committed {
    #[cold]
    pub(super) fn of_waker(waker: Waker) -> Self {
        Committed(Woken::Waker(Box::new(waker)))
    }

    /// Schedules the fiber. It calls the scheduler, so the caller must hold no lock.
    pub(crate) fn wake(self) {
        match self.0 {
            Woken::Armed => {}
            Woken::Parked(waiter) => next::wake(waiter),
            // As in `fire`.
            Woken::Waker(waker) => drop(guard(|| waker.wake())),
        }
    }

    /// The same in a turn, whose worker need not look for its thread to schedule a fiber of its own.
    pub(crate) fn wake_in(self, cx: &Cx<'_>) {
        match self.0 {
            Woken::Parked(waiter) if waiter.fiber().host().is_none() => {
                if let Err(waiter) = next::try_wake(waiter) {
                    let scheduler = ptr::from_ref(&**waiter.fiber().scheduler());
                    cx.view().schedule_again(scheduler, Task::wake(waiter, Signal::Fired));
                }
            }
            woken => Committed(woken).wake(),
        }
    }
}

impl fmt::Debug for Committed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiter = if let Woken::Parked(waiter) = &self.0 { Some(waiter) } else { None };
        f.debug_tuple("Committed").field(&waiter).finish()
    }
}
