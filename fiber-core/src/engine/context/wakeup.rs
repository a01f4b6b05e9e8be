//! The wake-ups that end waits.

use std::sync::Arc;
use std::task::Waker;

use super::{Context, Cx, throw_away};
use crate::cell::Signal;
use crate::engine::scheduler::Worker;
use crate::engine::task::Task;
use crate::outcome::guard;

/// Ends one wait of one fiber, or wakes a future. The waiting leaf leaves it with the event.
///
/// Firing it after the wait is over, for example because the fiber was cancelled, has no effect.
#[derive(Debug)]
pub struct Wakeup(Target);

#[derive(Debug)]
enum Target {
    Fiber(Context, u64),
    Waker(Waker),
}

impl Wakeup {
    pub(super) fn of_fiber(context: Context, generation: u64) -> Self {
        Wakeup(Target::Fiber(context, generation))
    }

    /// Announces the event: the fiber is scheduled to look at it. Can be called from any thread.
    pub fn fire(self) {
        match self.0 {
            Target::Fiber(context, generation) => {
                if let Some(waiter) = context.fire(generation) {
                    context.schedule(Task::wake(waiter, Signal::Fired));
                }
            }
            // A waker is the code of some executor. Its panic must not tear apart the end of the fiber.
            Target::Waker(waker) => drop(guard(|| waker.wake())),
        }
    }

    /// Like `fire`, but the fiber continues right here: this is the body of a task.
    pub(crate) fn fire_here(self, worker: &dyn Worker) {
        let Target::Fiber(context, generation) = self.0 else { return self.fire() };
        if let Some(waiter) = context.fire(generation) {
            waiter.wake_on(worker, Signal::Fired);
        }
    }

    /// Like `fire`, but a fiber of the same scheduler continues before this turn ends.
    pub(crate) fn fire_in(self, cx: &Cx<'_>) {
        match self.0 {
            Target::Fiber(context, generation)
                if Arc::ptr_eq(context.scheduler(), cx.context().scheduler())
                    && cx.is_at_place_of(&context) =>
            {
                if let Some(waiter) = context.fire(generation) {
                    cx.wake_from_bottom(waiter, Signal::Fired);
                }
            }
            target => Wakeup(target).fire(),
        }
    }

    /// Announces that the event will never happen: the fiber ends as abandoned.
    pub(crate) fn abandon(self) {
        if let Target::Fiber(context, generation) = self.0 {
            throw_away(context.abandon_wait(generation));
        }
    }

    /// The fiber that waits, and the generation of its wait.
    pub(crate) fn wait(&self) -> Option<(&Context, u64)> {
        match &self.0 {
            Target::Fiber(context, generation) => Some((context, *generation)),
            Target::Waker(_) => None,
        }
    }

    /// The fiber that waits.
    pub(crate) fn context(&self) -> Option<&Context> {
        self.wait().map(|(context, _)| context)
    }
}

impl From<Waker> for Wakeup {
    fn from(waker: Waker) -> Self {
        Wakeup(Target::Waker(waker))
    }
}
