//! Waits of a block for a future that is not a fiber: the block parks, and a waker wakes it.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};

use crate::engine::context::{Cx, WaitsFor, Wakeup};
use crate::engine::task::Task;
use crate::footprint::{Access, Noted, Object};
use crate::leaf::Wait;
use crate::outcome::Outcome;
use crate::panic::guard;

/// Connects the waker of a block to the wake-up of its fiber.
#[derive(Default)]
pub(crate) struct BlockWaker {
    /// The wake-up of the fiber, if it waits.
    wakeup: Noted<Option<Wakeup>>,
    /// Woken since the last poll began, when there was no wake-up to fire. Set by a thread that has the lock.
    is_woken: AtomicBool,
}

impl BlockWaker {
    /// Begins a poll, which handles the wake-ups that came before it.
    pub(super) fn begin_poll(&self) {
        self.wakeup.object().touch(Access::Write);
        // Relaxed: what is set later causes another poll. Acquire: this poll sees what the threads that have set it did before.
        if self.is_woken.load(Ordering::Relaxed) {
            self.is_woken.swap(false, Ordering::Acquire);
        }
    }

    /// What the polls and the wake-ups touch.
    pub(super) fn object(&self) -> Object {
        self.wakeup.object()
    }

    pub(super) fn is_woken(&self) -> bool {
        self.wakeup.object().touch(Access::Read);
        // Relaxed: for a waker that is called later, the block has to wait in any case.
        self.is_woken.load(Ordering::Relaxed)
    }
}

impl Wake for BlockWaker {
    fn wake(self: Arc<Self>) {
        let mut place = self.wakeup.lock();
        let wakeup = place.take();
        if wakeup.is_none() {
            // Release: pairs with the Acquire of `begin_poll`. The lock orders it for `register`.
            self.is_woken.store(true, Ordering::Release);
        }
        drop(place);
        // Fired without the lock, because it schedules a task.
        wakeup.into_iter().for_each(fire);
    }
}

thread_local! {
    // A thread-local, because a waker has no argument that leads to the turn in which it is called.
    static WOKEN_HERE: RefCell<Option<Vec<Wakeup>>> = const { RefCell::new(None) };
}

fn fire(wakeup: Wakeup) {
    let mut wakeup = Some(wakeup);
    // An ending thread no longer has the list, and runs no turn.
    _ = WOKEN_HERE.try_with(|here| here.borrow_mut().as_mut().map(|here| here.extend(wakeup.take())));
    wakeup.into_iter().for_each(Wakeup::fire);
}

/// Wakes a block, possibly through wrappers of the waker; the fiber of the block continues in this turn.
pub(super) fn wake_here(cx: &Cx<'_>, waker: Waker) {
    let before = WOKEN_HERE.replace(Some(Vec::new()));
    // The waker may be the code of a wrapper.
    drop(guard(|| waker.wake()));
    let woken = WOKEN_HERE.replace(before).unwrap_or_default();
    woken.into_iter().for_each(|wakeup| wakeup.fire_in(cx));
}

/// The leaf on which a block waits for its waker.
pub(super) struct Park(pub(super) Arc<BlockWaker>);

impl Wait for Park {
    type Out = ();

    /// Called after a wake-up only.
    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<()>> {
        Some(Outcome::Success(()))
    }

    fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<()>> {
        let mut place = self.0.wakeup.lock();
        if self.0.is_woken() {
            drop(place);
            // A future that wakes itself yields: the block continues in a separate turn.
            cx.schedule(Task::fire(wakeup));
        } else {
            *place = Some(wakeup);
        }
        None
    }

    fn deregister(&mut self, _: &Cx<'_>) {
        let wakeup = self.0.wakeup.lock().take();
        drop(wakeup);
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Future
    }
}
