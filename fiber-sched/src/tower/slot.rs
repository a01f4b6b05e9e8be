//! A place for one value, from a fiber to a task, and for what the fiber begins with.

use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

/// The end that a fiber has.
pub(super) struct Giver<H, T>(Arc<Shared<H, T>>);

/// The end that a task has. Nothing stays in the slot without it: a value holds what its fiber waits for.
pub(super) struct Taker<H, T>(Arc<Shared<H, T>>);

struct Shared<H, T> {
    head: Mutex<Option<H>>,
    slot: Mutex<Slot<T>>,
}

enum Slot<T> {
    Empty(Option<Waker>),
    Full(T),
    /// The taker is gone, or has taken the value.
    Closed,
}

pub(super) fn slot<H, T>() -> (Giver<H, T>, Taker<H, T>) {
    let shared = Arc::new(Shared { head: Mutex::new(None), slot: Mutex::new(Slot::Empty(None)) });
    (Giver(shared.clone()), Taker(shared))
}

impl<H, T> Giver<H, T> {
    /// What the fiber begins with.
    ///
    /// # Panics
    /// If it was not there, or was taken before.
    pub(super) fn head(&self) -> H {
        self.0.head.lock().take().expect("it was given before the fiber was spawned")
    }

    /// Gives the value, or drops it if the taker is gone.
    pub(super) fn give(self, value: T) {
        let mut slot = self.0.slot.lock();
        if let Slot::Empty(waker) = &mut *slot {
            let waker = waker.take();
            *slot = Slot::Full(value);
            drop(slot);
            if let Some(waker) = waker {
                waker.wake();
            }
        } else {
            // The value is dropped outside of the lock.
            drop(slot);
        }
    }
}

impl<H, T> Taker<H, T> {
    pub(super) fn give_head(&self, head: H) {
        *self.0.head.lock() = Some(head);
    }

    pub(super) fn poll(&self, cx: &Context<'_>) -> Poll<T> {
        let mut slot = self.0.slot.lock();
        match &mut *slot {
            Slot::Empty(waker) => {
                if waker.as_ref().is_none_or(|waker| !waker.will_wake(cx.waker())) {
                    let before = waker.replace(cx.waker().clone());
                    // Its drop may run code that gives the value.
                    drop(slot);
                    drop(before);
                }
                Poll::Pending
            }
            _ => match mem::replace(&mut *slot, Slot::Closed) {
                Slot::Full(value) => Poll::Ready(value),
                _ => Poll::Pending,
            },
        }
    }
}

impl<H, T> Drop for Taker<H, T> {
    fn drop(&mut self) {
        let left = mem::replace(&mut *self.0.slot.lock(), Slot::Closed);
        drop(left);
    }
}
