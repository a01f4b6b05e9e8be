//! Waits of a block for a future that is not a fiber: the block parks, and a waker wakes it.

use std::cell::RefCell;
use std::sync::Arc;
use std::task::{Wake, Waker};

use crate::engine::context::{Cx, WaitsFor, Wakeup};
use crate::engine::task::Task;
use crate::footprint::Noted;
use crate::leaf::Wait;
use crate::outcome::Outcome;
use crate::panic::guard;

/// Connects the waker of a block to the wake-up of its fiber.
#[derive(Default)]
pub(crate) struct BlockWaker(Noted<Woken>);

#[derive(Default)]
struct Woken {
    /// Woken since the last poll began.
    is_woken: bool,
    /// The wake-up of the fiber, if it waits.
    wakeup: Option<Wakeup>,
}

impl BlockWaker {
    /// Begins a poll, which handles the wake-ups that came before it.
    pub(super) fn begin_poll(&self) {
        self.0.lock().is_woken = false;
    }

    pub(super) fn is_woken(&self) -> bool {
        self.0.lock().is_woken
    }
}

impl Wake for BlockWaker {
    fn wake(self: Arc<Self>) {
        let wakeup = {
            let mut woken = self.0.lock();
            woken.is_woken = true;
            woken.wakeup.take()
        };
        // Fired without the lock, because it schedules a task.
        if let Some(wakeup) = wakeup {
            fire(wakeup);
        }
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

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<()>> {
        self.0.is_woken().then_some(Outcome::Success(()))
    }

    fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<()>> {
        let mut woken = self.0.0.lock();
        if woken.is_woken {
            drop(woken);
            // A future that wakes itself yields: the block continues in a separate turn.
            cx.schedule(Task::fire(wakeup));
        } else {
            woken.wakeup = Some(wakeup);
        }
        None
    }

    fn deregister(&mut self, _: &Cx<'_>) {
        self.0.0.lock().wakeup = None;
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Future
    }
}
