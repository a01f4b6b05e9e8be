//! Tracks which schedulers' code the current thread runs. Waiting for such a scheduler would deadlock.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    /// The scheduler that the thread belongs to. It needs no drop, so it exists until the very end of the thread.
    static HOME: Cell<Option<SchedulerId>> = const { Cell::new(None) };

    /// The schedulers whose code the thread runs as a guest, the innermost last; nearly always none or one.
    static INSIDE: RefCell<Vec<SchedulerId>> = const { RefCell::new(Vec::new()) };
}

/// Identifies a scheduler. Ids are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SchedulerId(u64);

impl SchedulerId {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // Relaxed: only uniqueness is needed.
        SchedulerId(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// The number of the scheduler for [`fiber_core::scheduler::serve`], never 0.
    #[inline]
    pub(crate) fn key(self) -> u64 {
        self.0 + 1
    }

    /// Whether this thread runs code of the scheduler, or belongs to it.
    pub(crate) fn is_inside(self) -> bool {
        // An ending thread runs only the drops of its own values.
        let is_running = || INSIDE.try_with(|inside| inside.borrow().contains(&self)).unwrap_or(false);
        HOME.get() == Some(self) || is_running()
    }

    /// Makes the current thread belong to the scheduler.
    pub(crate) fn settle(self) {
        HOME.set(Some(self));
    }

    /// Marks the current thread as running the scheduler's code until the guard is dropped.
    pub(crate) fn enter(self) -> Inside {
        _ = INSIDE.try_with(|inside| inside.borrow_mut().push(self));
        Inside
    }

    /// Like `enter`, for a call that will block the thread.
    ///
    /// # Panics
    /// If the thread runs the scheduler's code already.
    #[track_caller]
    pub(crate) fn enter_blocking(self, call: &str) -> Inside {
        assert!(
            !self.is_inside(),
            "`{call}` would block a thread of its own scheduler: it was called by a fiber, a blocking closure or a \
             borrowed task that runs there. Bind the fiber instead of running it, or spawn it and join its handle."
        );
        self.enter()
    }
}

/// The guard of [`SchedulerId::enter`].
#[must_use]
pub(crate) struct Inside;

impl Drop for Inside {
    fn drop(&mut self) {
        _ = INSIDE.try_with(|inside| inside.borrow_mut().pop());
    }
}
