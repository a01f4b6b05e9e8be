//! Where a forked fiber leaves its outcome, and where those who wait for its end leave their wake-ups.

use std::mem::needs_drop;

use parking_lot::Mutex;

use super::branch::{Place, Sink};
use super::wait_list::{WaitKey, WaitList};
use crate::cell::{Delivery, LazyBox};
use crate::drop_queue::drop_nested;
use crate::engine::context::{Context, Wakeup};
use crate::engine::scheduler::Unobserved;
use crate::outcome::{Outcome, guard};

pub(crate) struct ResultCell<T> {
    outcome: Delivery<Outcome<T>>,
    /// Made by the first who has to wait; touched by those who do, and by the end of a fiber that is awaited.
    waiting: LazyBox<Mutex<WaitList>>,
}

impl<T> ResultCell<T> {
    pub(crate) fn new() -> Self {
        ResultCell { outcome: Delivery::new(), waiting: LazyBox::new() }
    }

    fn waiting(&self) -> &Mutex<WaitList> {
        self.waiting.get_or_make(Mutex::default)
    }

    /// The fiber has ended. Called once. `true`: its handle is gone.
    pub(crate) fn complete(&self, outcome: Outcome<T>) -> bool {
        let before = self.outcome.complete(outcome);
        if before.is_awaited {
            let waiting = self.waiting().lock().take_all();
            waiting.fire();
        }
        before.is_forgotten
    }

    pub(crate) fn is_done(&self) -> bool {
        self.outcome.is_done()
    }

    /// The outcome, for the first who asks after the end.
    pub(crate) fn take(&self) -> Option<Outcome<T>> {
        self.outcome.take()
    }

    /// Leaves a wake-up for the end. `None`: the fiber has ended already, and the wake-up is not left.
    pub(crate) fn wait(&self, wakeup: Wakeup) -> Option<WaitKey> {
        let key = self.waiting().lock().insert(wakeup);
        if self.outcome.expect() {
            return Some(key);
        }
        self.unwait(key);
        None
    }

    /// Takes a wake-up away again.
    pub(crate) fn unwait(&self, key: WaitKey) {
        let removed = self.waiting().lock().remove(key);
        drop(removed);
    }
}

impl<T: 'static> ResultCell<T> {
    /// That of a fork.
    #[inline]
    pub(crate) fn of(context: &Context) -> &Self {
        context.front().expect("a fork has a place for an outcome of its type")
    }

    /// The handle of the fiber of `context` is gone.
    pub(crate) fn forget(&self, context: &Context) {
        if let Some(outcome) = self.outcome.forget() {
            lose(outcome, context);
        }
    }
}

impl<T: Send + 'static> Place<T> for ResultCell<T> {
    fn result(&self) -> Option<&ResultCell<T>> {
        Some(self)
    }
}

/// The sink of a fork: the cell of the fork itself.
pub(crate) struct Home;

impl<T: Send + 'static> Sink<T> for Home {
    fn deliver(&self, context: &Context, outcome: Outcome<T>) {
        let cell = ResultCell::of(context);
        if cell.complete(outcome)
            && let Some(outcome) = cell.take()
        {
            lose(outcome, context);
        }
    }
}

/// Nobody asks for the outcome of `fiber`.
fn lose<T: 'static>(outcome: Outcome<T>, fiber: &Context) {
    Unobserved::report(fiber, &outcome);
    // This may be in the middle of another fiber, which must not be torn apart; and the value may hold a handle, whose value
    // holds a handle, and so on.
    if const { needs_drop::<T>() } {
        let dropped = guard(|| drop_nested(Box::new(outcome)));
        Unobserved::report(fiber, &dropped.map_or_else(Outcome::Panicked, Outcome::Success));
    }
}
