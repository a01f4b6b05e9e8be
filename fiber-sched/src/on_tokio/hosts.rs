//! The places in which tasks of the runtime run the fibers that they [host](fiber_core::Call).
//!
//! There are a few more than the runtime has workers, for threads that poll beside those. A task that finds none lets its fiber
//! go to the drivers.

use std::cell::Cell;

use fiber_core::scheduler::{BranchDeque, BranchStealer, Worker};
use parking_lot::{Mutex, MutexGuard};

/// For the threads that poll a future with `block_on`.
const BESIDE_WORKERS: usize = 2;

thread_local! {
    /// The place that this thread has used last.
    static LAST: Cell<usize> = const { Cell::new(0) };
}

/// Each has a deque for the branches of its fibers, which is locked while a thread uses the place.
pub(super) struct Hosts(Box<[Mutex<BranchDeque>]>);

impl Hosts {
    pub(super) fn new(workers: usize) -> Self {
        Hosts((0..workers + BESIDE_WORKERS).map(|_| Mutex::new(BranchDeque::new())).collect())
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// The thieves' sides of the deques, when none is in use yet.
    pub(super) fn stealers(&self) -> impl Iterator<Item = BranchStealer> {
        self.0.iter().map(|branches| branches.lock().stealer())
    }

    /// A place that is free, and its number.
    pub(super) fn enter(&self) -> Option<(usize, Host<'_>)> {
        let (last, count) = (LAST.get(), self.count());
        let mut places = (0..count).map(|distance| (last + distance) % count);
        let (index, branches) = places.find_map(|index| Some((index, self.0[index].try_lock()?)))?;
        LAST.set(index);
        Some((index, Host(branches)))
    }

    pub(super) fn is_in_use(&self, index: usize) -> bool {
        self.0[index].is_locked()
    }

    pub(super) fn is_any_in_use(&self) -> bool {
        self.0.iter().any(Mutex::is_locked)
    }
}

/// A place in use, as its fibers see it.
pub(super) struct Host<'a>(MutexGuard<'a, BranchDeque>);

impl Worker for Host<'_> {
    fn branches(&self) -> Option<&BranchDeque> {
        Some(&self.0)
    }
}
