//! A place for one value, from a fiber to a task.

use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

/// The end that a fiber has.
pub(super) struct Giver<T>(Arc<Mutex<Slot<T>>>);

/// The end that a task has. Nothing stays in the slot without it: a value holds what its fiber waits for.
pub(super) struct Taker<T>(Arc<Mutex<Slot<T>>>);

enum Slot<T> {
    Empty(Option<Waker>),
    Full(T),
    /// The taker is gone, or has taken the value.
    Closed,
}

pub(super) fn slot<T>() -> (Giver<T>, Taker<T>) {
    let slot = Arc::new(Mutex::new(Slot::Empty(None)));
    (Giver(slot.clone()), Taker(slot))
}

impl<T> Giver<T> {
    /// Gives the value, or drops it if the taker is gone.
    pub(super) fn give(self, value: T) {
        let mut slot = self.0.lock();
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

impl<T> Taker<T> {
    pub(super) fn poll(&self, cx: &Context<'_>) -> Poll<T> {
        let mut slot = self.0.lock();
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

impl<T> Drop for Taker<T> {
    fn drop(&mut self) {
        let left = mem::replace(&mut *self.0.lock(), Slot::Closed);
        drop(left);
    }
}
