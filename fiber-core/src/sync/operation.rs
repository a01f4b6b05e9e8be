//! Operations that may have to wait, for fibers and for plain threads.

#![allow(unsafe_code)]

use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};

use parking_lot::{Condvar, Mutex};

use crate::cell::EventKey;
use crate::engine::borrow::is_of_test;
use crate::engine::context::{Cx, Seat, WaitsFor};
use crate::engine::event::Event;
use crate::engine::side::{Awaited, Single};
use crate::engine::subject::{Contents, Subject};
use crate::fiber::Fiber;
use crate::leaf::{Awaits, Leaf};
use crate::outcome::Outcome;

/// An operation of a primitive for one caller.
pub trait Attempt: Send + Sized + 'static {
    /// The value of a success.
    type Out: Send + 'static;

    /// The place among the waiters of the primitive.
    #[doc(hidden)]
    type Place: Default + Send + 'static;

    /// Attempts the operation, before it has waited. `cx` is the calling fiber, here and below; `None` for a plain thread.
    #[doc(hidden)]
    fn attempt(&mut self, cx: Option<&Cx<'_>>) -> Option<Outcome<Self::Out>>;

    /// Attempts it once more. If it is still not possible, joins the waiters of the primitive.
    ///
    /// It calls [`claim_if`] before it takes or gives anything.
    #[doc(hidden)]
    fn join(
        &mut self,
        place: &mut Self::Place,
        cx: Option<&Cx<'_>>,
        seat: Seat,
    ) -> Option<Outcome<Self::Out>>;

    /// The outcome after the wake-up, unless there is more to wait for; then it joins again.
    #[doc(hidden)]
    fn woken(&mut self, place: &mut Self::Place, cx: Option<&Cx<'_>>) -> Option<Outcome<Self::Out>> {
        self.leave(place);
        self.attempt(cx)
    }

    /// Leaves the waiters, if the operation is one of them. A value or permits already passed to the caller go to the next waiter.
    #[doc(hidden)]
    fn leave(&mut self, place: &mut Self::Place);

    /// What kind of side of a race it is.
    #[doc(hidden)]
    const SINGLE: Single = Single::ONCE;

    /// The kind of wait.
    #[doc(hidden)]
    const WAITS_FOR: WaitsFor;

    /// The primitive.
    #[doc(hidden)]
    fn subject(&self) -> &Subject;

    /// See [`Awaits::missed`].
    #[doc(hidden)]
    fn missed(&mut self, place: &mut Self::Place) -> Option<Outcome<Self::Out>> {
        self.leave(place);
        None
    }

    /// The number of permits it asks for, as [`Subject::total`] counts them.
    #[doc(hidden)]
    fn asks(&self) -> usize {
        1
    }

    /// Whether the primitive has [contents](Attempt::contents).
    #[doc(hidden)]
    const HAS_CONTENTS: bool = false;

    /// The items in the primitive, for reports of those that are left. Called only if the scheduler observes events.
    #[doc(hidden)]
    fn contents(&self) -> Option<Weak<dyn Contents>> {
        None
    }
}

/// The wait of an operation of a primitive.
#[derive(Clone)]
pub struct Operation<A: Attempt>(A);

impl<A: Attempt> Operation<A> {
    /// A fiber that runs the operation.
    pub(super) fn fiber(attempt: A, site: &'static Location<'static>) -> Fiber<A::Out, Leaf<Operation<A>>> {
        Fiber::new(Operation::leaf(attempt, site))
    }

    /// The description of that fiber.
    #[inline]
    pub(super) fn leaf(attempt: A, site: &'static Location<'static>) -> Leaf<Operation<A>> {
        Leaf::new(Operation(attempt), site)
    }

    /// Runs the operation, and blocks the thread until it is done.
    ///
    /// # Panics
    /// If it would block the thread of a test.
    #[track_caller]
    pub(super) fn block(mut attempt: A) -> Outcome<A::Out> {
        if let Some(outcome) = attempt.attempt(None) {
            return outcome;
        }
        assert!(
            !is_of_test(),
            "this would block the only thread of the test, on which closures of `Fiber::blocking` run, too: wait with a fiber, such as `recv()` in place of `blocking_recv()`"
        );
        let sleeper = Arc::new(Sleeper::default());
        let mut blocked = Blocked { attempt, place: A::Place::default() };
        loop {
            let Blocked { attempt, place } = &mut blocked;
            // SAFETY: the place stays in its variable, and leaves when that is dropped.
            let seat = unsafe { Seat::of_waker(Waker::from(sleeper.clone())) };
            if let Some(outcome) = attempt.join(place, None, seat) {
                return outcome;
            }
            sleeper.sleep();
            if let Some(outcome) = attempt.woken(place, None) {
                return outcome;
            }
        }
    }
}

/// An operation of a thread.
struct Blocked<A: Attempt> {
    attempt: A,
    place: A::Place,
}

impl<A: Attempt> Drop for Blocked<A> {
    fn drop(&mut self) {
        self.attempt.leave(&mut self.place);
    }
}

impl<A: Attempt> Awaits for Operation<A> {
    type Out = A::Out;
    type Place = A::Place;
    const CAN_LOSE: bool = true;
    const SINGLE: Single = A::SINGLE;

    #[inline]
    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<A::Out>> {
        if A::HAS_CONTENTS && cx.is_observed() {
            self.report_contents(cx);
        }
        self.0.attempt(Some(cx))
    }

    #[inline]
    unsafe fn register(
        &mut self,
        place: &mut A::Place,
        cx: &Cx<'_>,
        event: EventKey,
    ) -> Option<Outcome<A::Out>> {
        // SAFETY: the operation is a leaf of this fiber; and by the contract of this function.
        self.0.join(place, Some(cx), unsafe { Seat::of_fiber(cx.context(), event) })
    }

    #[inline]
    fn woken(&mut self, place: &mut A::Place, cx: &Cx<'_>) -> Option<Outcome<A::Out>> {
        self.0.woken(place, Some(cx))
    }

    fn deregister(&mut self, place: &mut A::Place, _: &Cx<'_>) {
        self.0.leave(place);
    }

    fn leave(&mut self, place: &mut A::Place) {
        self.0.leave(place);
    }

    fn missed(&mut self, place: &mut A::Place, _: &Cx<'_>) -> Option<Outcome<A::Out>> {
        self.0.missed(place)
    }

    #[inline]
    fn awaited(&self) -> Awaited<'_> {
        Awaited { what: A::WAITS_FOR, on: None, at: Some((self.0.subject(), self.0.asks())) }
    }
}

impl<A: Attempt> Operation<A> {
    #[cold]
    fn report_contents(&self, cx: &Cx<'_>) {
        if let Some(contents) = &self.0.contents() {
            cx.context().observe(Event::Uses { of: self.0.subject(), contents });
        }
    }
}

impl<A: Attempt> fmt::Debug for Operation<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wait for {} at {}", A::WAITS_FOR, self.0.subject())
    }
}

/// Whether an operation may go on while it registers. Outside of races it may.
///
/// As the second side of a race, it claims its wait first, if it `is_possible`, which uses the seat up. Otherwise it may not
/// go on: it takes and gives nothing, and joins the waiters if the seat is left. An operation that may go on and turns out to be
/// impossible after all, because its partner has ended another wait, is polled again.
#[inline]
pub(super) fn claim_if(seat: &mut Option<Seat>, is_possible: impl FnOnce(&Seat) -> bool) -> bool {
    let Some(raced) = seat.as_ref().filter(|seat| seat.is_raced()) else { return true };
    if !is_possible(raced) {
        return false;
    }
    let is_claimed = raced.claim();
    *seat = None;
    is_claimed
}

/// Parks a plain thread.
#[derive(Default)]
struct Sleeper {
    is_woken: Mutex<bool>,
    wakes: Condvar,
}

impl Sleeper {
    fn sleep(&self) {
        let mut is_woken = self.is_woken.lock();
        while !std::mem::take(&mut *is_woken) {
            self.wakes.wait(&mut is_woken);
        }
    }
}

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        *self.is_woken.lock() = true;
        self.wakes.notify_one();
    }
}
