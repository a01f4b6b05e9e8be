//! A state behind a lock, and what an operation would find there, seen without the lock.
//!
//! An operation that would find nothing does not take the lock to see that. It takes the lock as it joins the waiters, and looks again.
//! So what is seen without the lock is a hint.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::MutexGuard;

/// A state of which something is seen without its lock.
pub(super) trait Shows {
    fn shown(&self) -> u64;
}

/// What is seen of a state without its lock.
pub(super) struct Seen(AtomicU64);

impl Seen {
    pub(super) fn of(state: &impl Shows) -> Self {
        Seen(AtomicU64::new(state.shown()))
    }

    #[inline]
    pub(super) fn get(&self) -> u64 {
        // Relaxed: a hint.
        self.0.load(Ordering::Relaxed)
    }
}

/// The state, while its lock is held.
pub(super) struct Locked<'a, S: Shows> {
    state: MutexGuard<'a, S>,
    seen: &'a Seen,
}

impl<'a, S: Shows> Locked<'a, S> {
    #[inline]
    pub(super) fn new(state: MutexGuard<'a, S>, seen: &'a Seen) -> Self {
        Locked { state, seen }
    }
}

impl<S: Shows> Deref for Locked<'_, S> {
    type Target = S;

    #[inline]
    fn deref(&self) -> &S {
        &self.state
    }
}

impl<S: Shows> DerefMut for Locked<'_, S> {
    #[inline]
    fn deref_mut(&mut self) -> &mut S {
        &mut self.state
    }
}

impl<S: Shows> Drop for Locked<'_, S> {
    /// Before the lock is released.
    #[inline]
    fn drop(&mut self) {
        // Relaxed: a hint.
        self.seen.0.store(self.state.shown(), Ordering::Relaxed);
    }
}
