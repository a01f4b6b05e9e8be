//! The thread-local state of a worker. A task that is scheduled on the worker's thread goes into the worker's own queue.

use std::cell::{Cell, OnceCell};
use std::thread::LocalKey;

use crate::inside::SchedulerId;

/// The state of a worker on its own thread.
pub(crate) struct OfThread<L> {
    pool: SchedulerId,
    local: L,
    /// The worker takes no more tasks.
    has_left: Cell<bool>,
}

impl<L> OfThread<L> {
    /// Does the work of a worker of `pool` on the current thread. No task may be left in the queues of the worker at the
    /// end of `work`.
    pub(crate) fn serve(
        key: &'static LocalKey<OnceCell<Self>>,
        pool: SchedulerId,
        local: L,
        work: impl FnOnce(&L),
    ) {
        key.with(|cell| {
            let _ = cell.get_or_init(|| OfThread { pool, local, has_left: Cell::new(false) });
            // Not what `get_or_init` gives: that comes from a unique reference, which is no longer valid once `with` has changed a cell.
            let this = cell.get().expect("made above");
            work(&this.local);
            // Drops of other thread-local values may still schedule tasks. No worker would take them from this queue.
            this.has_left.set(true);
        });
    }

    /// Calls `f` with the state of the current thread as a worker of `pool`, or with `None`.
    #[inline]
    pub(crate) fn with<T>(
        key: &'static LocalKey<OnceCell<Self>>,
        pool: SchedulerId,
        f: impl FnOnce(Option<&L>) -> T,
    ) -> T {
        let mut f = Some(f);
        let mut call = |local: Option<&L>| f.take().map(|f| f(local));
        // An ending thread no longer has this state.
        let called = key.try_with(|cell| call(cell.get().and_then(|this| this.of(pool)))).ok();
        called.flatten().or_else(|| call(None)).expect("it is called once")
    }

    fn of(&self, pool: SchedulerId) -> Option<&L> {
        (self.pool == pool && !self.has_left.get()).then_some(&self.local)
    }
}
