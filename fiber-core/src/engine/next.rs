//! The fiber that runs next on a thread, because a fiber there has woken it.
//!
//! A scheduler whose tasks only one thread runs has nothing to decide about such a fiber: it could only queue it. If its
//! [`Worker`](super::scheduler::Worker::wakes_next) says so, a [`TaskRunner`] runs the fiber in the same call instead. A thread-local holds it,
//! because the turn is out of reach of most code that wakes a fiber: the drop of a guard, the answer to a request, the end of a fiber.
//!
//! [`TaskRunner`]: super::task::TaskRunner

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::Arc;

use super::task::{Task, Waiter};
use crate::cell::Signal;

/// How many fibers may run in a row before those in the queue.
const IN_A_ROW: u32 = 7;

thread_local! {
    /// The scheduler whose fibers may run next; null if none is.
    static SCHEDULER: Cell<*const ()> = const { Cell::new(ptr::null()) };
    // Without a drop, so that an access need not look whether there still is one. A `TaskRunner` leaves no fiber in it.
    static FIBER: Cell<Option<ManuallyDrop<Waiter>>> = const { Cell::new(None) };
}

/// From now on, fibers of this scheduler may run next on this thread. Gives the scheduler before.
#[inline]
pub(crate) fn set_scheduler(scheduler: *const ()) -> *const () {
    SCHEDULER.replace(scheduler)
}

/// The fiber of this scheduler that runs next, unless the queue has waited long enough: for those that run in a row. Null: none does.
#[inline]
pub(crate) fn take(scheduler: *const (), in_a_row: &mut u32) -> Option<(Waiter, Signal)> {
    if scheduler.is_null() {
        return None;
    }
    let fiber = ManuallyDrop::into_inner(FIBER.take()?);
    if !is_of(&fiber, scheduler) {
        // It runs after the turn around this one, in which a fiber runs another scheduler.
        FIBER.set(Some(ManuallyDrop::new(fiber)));
        return None;
    }
    if *in_a_row == IN_A_ROW {
        schedule(fiber);
        return None;
    }
    *in_a_row += 1;
    Some((fiber, Signal::Fired))
}

/// Wakes a fiber whose event has happened: as the next one of this thread, or by its scheduler.
pub(crate) fn wake(fiber: Waiter) {
    if let Err(fiber) = try_wake(fiber) {
        schedule(fiber);
    }
}

/// Wakes a fiber as the next one of this thread, if it may run next and no other one does.
///
/// # Errors
/// Gives it back: its scheduler has to wake it.
#[inline]
pub(crate) fn try_wake(fiber: Waiter) -> Result<(), Waiter> {
    let scheduler = SCHEDULER.get();
    if scheduler.is_null() || !is_of(&fiber, scheduler) || fiber.fiber().host().is_some() {
        return Err(fiber);
    }
    match FIBER.replace(Some(ManuallyDrop::new(fiber))) {
        None => Ok(()),
        first => FIBER.replace(first).map_or(Ok(()), |fiber| Err(ManuallyDrop::into_inner(fiber))),
    }
}

#[inline]
fn is_of(fiber: &Waiter, scheduler: *const ()) -> bool {
    ptr::addr_eq(Arc::as_ptr(fiber.fiber().scheduler()), scheduler)
}

fn schedule(fiber: Waiter) {
    // The scheduler is borrowed from the tree, which the task might end before `schedule` returns.
    let context = fiber.fiber().clone();
    context.schedule(Task::wake(fiber, Signal::Fired));
}
