//! The hosts that a fiber wakes in its turn.
//!
//! tokio keeps the task that a worker wakes last in a slot of that worker, from which no other worker takes it. So a host would wait
//! there for a fiber that wakes it, and then computes. It is woken at the end of the turn instead, or by the
//! [lookout](super::lookout) if that turn lasts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;

use parking_lot::Mutex;

use crate::contain::contain;

#[derive(Default)]
pub(super) struct Wakes {
    has_any: AtomicBool,
    wakers: Mutex<Vec<Waker>>,
}

impl Wakes {
    pub(super) fn add(&self, waker: Waker) {
        let mut wakers = self.wakers.lock();
        wakers.push(waker);
        // Relaxed, here and below: the thread itself sees it at the end of the turn, and the lookout at a later look.
        self.has_any.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn wake_all(&self) {
        if self.has_any.load(Ordering::Relaxed) {
            while let Some(waker) = self.take() {
                contain(|| waker.wake());
            }
        }
    }

    fn take(&self) -> Option<Waker> {
        let mut wakers = self.wakers.lock();
        let waker = wakers.pop();
        if wakers.is_empty() {
            self.has_any.store(false, Ordering::Relaxed);
        }
        waker
    }
}
