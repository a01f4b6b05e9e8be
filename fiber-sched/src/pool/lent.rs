//! The branches that the pool's fibers lend, and the workers that look for them.
//!
//! A worker that has found no task looks for branches. It takes one only if the owner of the deque has taken none back
//! since the worker's previous look, so an owner with short branches keeps them.
//!
//! User threads that call [`Pool::run`](super::Pool::run) lend branches as well. The pool keeps as many deques for them
//! as it has workers. The branches of further user threads become tasks at once.

use std::mem;

use fiber_core::scheduler::{BranchDeque, BranchStealer, Progress, Task};
use parking_lot::{Mutex, MutexGuard};

pub(super) struct Lent {
    /// The stealers of the workers, then those for guests.
    stealers: Box<[BranchStealer]>,
    /// Locked while a guest uses it.
    for_guests: Box<[Mutex<BranchDeque>]>,
}

/// The progress that a worker has seen at its previous look.
pub(super) struct Seen(Box<[Option<Progress>]>);

impl Lent {
    pub(super) fn new(workers: &[BranchDeque]) -> Self {
        let for_guests: Box<[_]> = workers.iter().map(|_| Mutex::new(BranchDeque::new())).collect();
        let guests = for_guests.iter().map(|deque| deque.lock().stealer());
        let stealers = workers.iter().map(BranchDeque::stealer).chain(guests).collect();
        Lent { stealers, for_guests }
    }

    pub(super) fn nothing_seen(&self) -> Seen {
        Seen(self.stealers.iter().map(|_| None).collect())
    }

    /// Steals a branch from a deque whose owner has made no progress since the previous look of worker `thief`.
    pub(super) fn steal(&self, thief: usize, seen: &mut Seen) -> Option<Task> {
        // Beginning with the next, as with the tasks.
        let count = self.stealers.len();
        (1..count).map(|distance| (thief + distance) % count).find_map(|victim| {
            let (stealer, seen) = (&self.stealers[victim], &mut seen.0[victim]);
            let before = mem::replace(seen, stealer.progress());
            // The branches below the stolen one need two looks again.
            (seen.is_some() && *seen == before).then(|| stealer.steal().inspect(|_| *seen = None)).flatten()
        })
    }

    /// Steals a branch, however short the owner has lent it.
    pub(super) fn steal_from(&self, index: usize) -> Option<Task> {
        self.stealers[index].steal()
    }

    /// Makes the deque announce the next branch that is lent.
    pub(super) fn tell_next(&self, index: usize) {
        self.stealers[index].set_watched(false);
    }

    /// Makes all deques announce the next branch that is lent.
    pub(super) fn tell_all(&self) {
        self.stealers.iter().for_each(|stealer| stealer.set_watched(false));
    }

    /// Calls the owner of the deque, if it computes.
    pub(super) fn call(&self, index: usize) {
        self.stealers[index].call();
    }

    /// Calls all who compute.
    pub(super) fn call_all(&self) {
        self.stealers.iter().for_each(BranchStealer::call);
    }

    /// Marks the deque as watched from now on.
    pub(super) fn watch(&self, index: usize) {
        self.stealers[index].set_watched(true);
    }

    /// A deque for a guest, and its number. `None`: all are in use.
    pub(super) fn for_guest(&self) -> Option<(usize, MutexGuard<'_, BranchDeque>)> {
        let first = self.for_guests.len();
        let mut deques = (first..).zip(&self.for_guests);
        let (index, branches) = deques.find_map(|(index, deque)| Some((index, deque.try_lock()?)))?;
        self.tell_next(index);
        Some((index, branches))
    }

    /// Whether a guest may lend branches now.
    pub(super) fn has_guest(&self) -> bool {
        self.for_guests.iter().any(Mutex::is_locked)
    }
}
