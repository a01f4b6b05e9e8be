//! Holds the outcome of a forked fiber, and the wake-ups of the fibers and futures that wait for its end.

use std::mem::needs_drop;
use std::task::Waker;

use parking_lot::Mutex;

use super::sink::Sink;
use crate::cell::{Before, Delivery, EventKey, Joining, LazyBox};
use crate::drop_queue::drop_nested;
use crate::engine::context::{Context, Wakeup};
use crate::engine::scheduler::Unobserved;
use crate::engine::wait_list::{WaitKey, WaitList};
use crate::footprint::{Access, Side};
use crate::outcome::Outcome;
use crate::panic::guard;

pub(crate) struct ResultCell<T> {
    /// The first fiber that waits leaves its wake-up there.
    outcome: Delivery<Outcome<T>, (Context, EventKey)>,
    /// Made by a further waiter, or by a future. Used by the waiters, and by the end of the fiber if there are waiters.
    waiting: LazyBox<Mutex<WaitList>>,
}

/// A wake-up that was left for the end of a fiber.
#[derive(Debug)]
pub(crate) enum EndKey {
    Joiner,
    Listed(WaitKey),
}

impl<T> ResultCell<T> {
    fn waiting(&self) -> &Mutex<WaitList> {
        self.waiting.get_or_make(Mutex::default)
    }

    /// Delivers the outcome of the fiber, once. `true` if its handle was dropped.
    #[inline]
    pub(crate) fn complete(&self, outcome: Outcome<T>) -> bool {
        self.outcome.complete(outcome).is_some_and(|before| self.tell(before))
    }

    /// Wakes those that have waited.
    #[inline(never)]
    fn tell(&self, before: Before<(Context, EventKey)>) -> bool {
        if let Some((fiber, event)) = before.joiner {
            Wakeup::of_fiber(fiber, event).fire();
        }
        if before.is_awaited {
            let waiting = self.waiting().lock().take_all();
            waiting.fire();
        }
        before.is_forgotten
    }

    pub(crate) fn is_done(&self) -> bool {
        self.outcome.is_done()
    }

    /// The outcome, for the first caller after the end.
    pub(crate) fn take(&self) -> Option<Outcome<T>> {
        self.outcome.take()
    }

    /// Leaves a wake-up for the end of the fiber.
    ///
    /// # Errors
    /// Returns the wake-up if the fiber has already ended.
    pub(crate) fn wait(&self, wakeup: Wakeup) -> Result<EndKey, Wakeup> {
        let wakeup = match wakeup.into_parts().map(|fiber| self.outcome.join(fiber)) {
            Ok(Joining::Waits) => return Ok(EndKey::Joiner),
            Ok(Joining::Over((fiber, event))) => return Err(Wakeup::of_fiber(fiber, event)),
            Ok(Joining::Occupied((fiber, event))) => Wakeup::of_fiber(fiber, event),
            Err(waker) => Wakeup::from(waker),
        };
        let key = self.waiting().lock().insert(wakeup);
        if self.outcome.expect() {
            return Ok(EndKey::Listed(key));
        }
        // If it is gone, the fiber that ends has fired it.
        self.unlist(key).map_or(Ok(EndKey::Listed(key)), Err)
    }

    /// Whether a wake-up that was left is one of this waker, and the end of the fiber has not taken it.
    pub(crate) fn will_wake(&self, key: &EndKey, waker: &Waker) -> bool {
        match key {
            EndKey::Joiner => false,
            EndKey::Listed(key) => self.waiting().lock().get(*key).is_some_and(|left| left.will_wake(waker)),
        }
    }

    /// The fibers that wait for the end of this one, each with the generation of its wait.
    pub(crate) fn joiners(&self) -> Vec<(Context, u64)> {
        let mut joiners =
            Vec::from_iter(self.outcome.joiner().map(|(fiber, event)| (fiber, event.generation())));
        if let Some(waiting) = self.waiting.get() {
            let list = waiting.lock();
            let waits = list.wakeups().filter_map(Wakeup::wait);
            joiners.extend(waits.map(|(context, generation)| (context.clone(), generation)));
        }
        joiners
    }

    /// Removes a wake-up.
    pub(crate) fn unwait(&self, key: EndKey) {
        match key {
            EndKey::Joiner => drop(self.outcome.withdraw()),
            EndKey::Listed(key) => drop(self.unlist(key)),
        }
    }

    fn unlist(&self, key: WaitKey) -> Option<Wakeup> {
        self.waiting().lock().remove(key)
    }
}

impl<T: 'static> ResultCell<T> {
    /// The cell of a fork.
    #[inline]
    pub(crate) fn of(context: &Context) -> &Self {
        context.touch(Side::End, Access::Write);
        ResultCell::at(context)
    }

    #[inline]
    fn at(context: &Context) -> &Self {
        context.front().expect("a fork has a place for an outcome of its type")
    }

    /// The outcome, for the holder of the handle after the end.
    pub(crate) fn take_by_holder(context: &mut Context) -> Option<Outcome<T>> {
        context.touch(Side::End, Access::Write);
        if let Some(alone) = context.front_mut::<Self>() {
            // Usually, the handle is the last reference.
            return alone.outcome.take_alone();
        }
        ResultCell::at(context).take()
    }

    /// Called when the handle of the fiber of `context` is dropped.
    pub(crate) fn forget(context: &Context) {
        if let Some(outcome) = ResultCell::<T>::of(context).outcome.forget() {
            lose(outcome, context);
        }
    }
}

impl<T> Default for ResultCell<T> {
    #[inline]
    fn default() -> Self {
        ResultCell { outcome: Delivery::new(), waiting: LazyBox::new() }
    }
}

/// The sink of a fork, which delivers into the fork's own cell.
pub(crate) struct Home;

impl<T: Send + 'static> Sink<T> for Home {
    type Place = ResultCell<T>;
    const IS_OUTSIDE: bool = true;

    fn deliver(self, context: &Context, outcome: Outcome<T>) {
        let cell = ResultCell::of(context);
        if cell.complete(outcome)
            && let Some(outcome) = cell.take()
        {
            lose(outcome, context);
        }
    }
}

/// Handles an outcome of `fiber` that will never be taken.
#[cold]
fn lose<T: 'static>(outcome: Outcome<T>, fiber: &Context) {
    Unobserved::report(fiber, &outcome);
    // Another fiber may be running around this call, and a panic must not unwind through it. The value may also hold a
    // handle, whose value holds a handle, and so on.
    if const { needs_drop::<T>() } {
        let dropped = guard(|| drop_nested(outcome));
        Unobserved::report(fiber, &dropped.map_or_else(Outcome::Panicked, Outcome::Success));
    }
}
