//! Operations that may have to wait, for fibers and for plain threads.

#![allow(unsafe_code)]

use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};

use parking_lot::{Condvar, Mutex};

use crate::engine::context::{Cx, WaitsFor, Wakeup};
use crate::engine::event::Event;
use crate::engine::subject::{Contents, Subject};
use crate::fiber::Fiber;
use crate::leaf::{Leaf, WaitInPlace};
use crate::outcome::Outcome;
use crate::sync::waiters::Seat;

/// An operation of a primitive for one caller.
pub trait Attempt: Send + Sized + 'static {
    /// The value of a success.
    type Out: Send + 'static;

    /// Attempts the operation.
    ///
    /// With a `seat`, it calls [`claim_if`] before it takes or gives anything.
    ///
    /// The first call has no `seat`. If it gives `None`, the next call has one, with which it joins the waiters of the
    /// primitive if the operation is still not possible. After the wake-up, there is a call without one again. It gives
    /// the outcome, unless the operation has further parts to wait for; then the cycle starts again.
    ///
    /// `cx` is the calling fiber; `None` for a plain thread.
    #[doc(hidden)]
    fn attempt(&mut self, cx: Option<&Cx<'_>>, seat: Option<Seat>) -> Option<Outcome<Self::Out>>;

    /// Leaves the waiters, if the operation is one of them. A value or permits already passed to the caller go to the next waiter.
    #[doc(hidden)]
    fn leave(&mut self);

    /// The kind of wait.
    #[doc(hidden)]
    const WAITS_FOR: WaitsFor;

    /// The primitive.
    #[doc(hidden)]
    fn subject(&self) -> &Subject;

    /// See [`WaitInPlace::missed`].
    #[doc(hidden)]
    fn missed(&mut self) -> Option<Outcome<Self::Out>> {
        self.leave();
        None
    }

    /// The number of permits it asks for, for reports. 1 for a lock.
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
        Fiber::new(Leaf::new(Operation(attempt), site))
    }

    /// Runs the operation, and blocks the thread until it is done.
    pub(super) fn block(attempt: A) -> Outcome<A::Out> {
        let mut operation = Operation(attempt);
        if let Some(outcome) = operation.0.attempt(None, None) {
            return outcome;
        }
        let sleeper = Arc::new(Sleeper::default());
        loop {
            let wakeup = Wakeup::from(Waker::from(sleeper.clone()));
            // SAFETY: the operation stays in its variable.
            let seat = unsafe { Seat::new(wakeup) };
            if let Some(outcome) = operation.0.attempt(None, Some(seat)) {
                return outcome;
            }
            sleeper.sleep();
            if let Some(outcome) = operation.0.attempt(None, None) {
                return outcome;
            }
        }
    }
}

impl<A: Attempt> WaitInPlace for Operation<A> {
    type Out = A::Out;
    const CAN_LOSE: bool = true;

    #[inline]
    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<A::Out>> {
        if A::HAS_CONTENTS && cx.is_observed() {
            self.report_contents(cx);
        }
        self.0.attempt(Some(cx), None)
    }

    unsafe fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<A::Out>> {
        // SAFETY: by the contract of this function. It is dropped after it has left.
        let seat = unsafe { Seat::new(wakeup) };
        self.0.attempt(Some(cx), Some(seat))
    }

    fn deregister(&mut self, _: &Cx<'_>) {
        self.0.leave();
    }

    #[inline]
    fn leave(&mut self) {
        self.0.leave();
    }

    fn missed(&mut self, _: &Cx<'_>) -> Option<Outcome<A::Out>> {
        self.0.missed()
    }

    fn waits_for(&self) -> WaitsFor {
        A::WAITS_FOR
    }

    fn waits_at(&self) -> Option<&Subject> {
        Some(self.0.subject())
    }

    fn asks(&self) -> usize {
        self.0.asks()
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

impl<A: Attempt> Drop for Operation<A> {
    /// The operation of a thread that has panicked while it waited.
    #[inline]
    fn drop(&mut self) {
        self.0.leave();
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
pub(super) fn claim_if(seat: &mut Option<Seat>, is_possible: impl FnOnce(&Wakeup) -> bool) -> bool {
    let Some(raced) = seat.as_ref().map(Seat::wakeup).filter(|wakeup| wakeup.is_raced()) else { return true };
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
