//! The branches that the pool's fibers lend, and the workers that look for them.
//!
//! A worker that has found no task looks for branches. It takes one only if the owner of the deque has taken none back
//! since the worker's previous look, so an owner with short branches keeps them.
//!
//! User threads that call [`Pool::run`](super::Pool::run) lend branches as well, and so do tasks of executors that
//! [host](super::host) fibers. The pool keeps as many deques for these guests as it has workers. The branches of further
//! ones become tasks at once.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_utils::CachePadded;
use fiber_core::scheduler::{BranchDeque, BranchStealer, Progress, Task};
use parking_lot::{Mutex, MutexGuard};

use crate::metrics::{Counters, WorkerMetrics};

pub(super) struct Lent {
    /// The stealers of the workers, then those for guests.
    stealers: Box<[BranchStealer]>,
    /// Locked while a guest uses it.
    for_guests: Box<[Mutex<BranchDeque>]>,
    /// What hosts have done with each of them.
    of_hosts: Box<[CachePadded<OfHost>]>,
}

#[derive(Default)]
struct OfHost {
    counters: Counters,
    /// The guest that uses it, or has used it last, is a host.
    is_host: AtomicBool,
}

/// The progress that a worker has seen at its previous look.
pub(super) struct Seen(Box<[Option<Progress>]>);

impl Lent {
    pub(super) fn new(workers: &[BranchDeque]) -> Self {
        let for_guests: Box<[_]> = workers.iter().map(|_| Mutex::new(BranchDeque::new())).collect();
        let guests = for_guests.iter().map(|deque| deque.lock().stealer());
        let stealers = workers.iter().map(BranchDeque::stealer).chain(guests).collect();
        let of_hosts = workers.iter().map(|_| CachePadded::default()).collect();
        Lent { stealers, for_guests, of_hosts }
    }

    /// The turns that the user of a guest's deque runs as a host.
    pub(super) fn of_host(&self, index: usize) -> &Counters {
        &self.of_hosts[index - self.for_guests.len()].counters
    }

    /// What all hosts have done.
    pub(super) fn metrics(&self) -> Vec<WorkerMetrics> {
        self.of_hosts.iter().map(|host| WorkerMetrics::new(&host.counters, 0)).collect()
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
    pub(super) fn for_guest(&self, is_host: bool) -> Option<(usize, MutexGuard<'_, BranchDeque>)> {
        let first = self.for_guests.len();
        let mut deques = (0..).zip(&self.for_guests);
        let (index, branches) = deques.find_map(|(index, deque)| Some((index, deque.try_lock()?)))?;
        // Relaxed: a worker that sees it late searches for too long once.
        self.of_hosts[index].is_host.store(is_host, Ordering::Relaxed);
        self.tell_next(first + index);
        Some((first + index, branches))
    }

    /// Whether a guest may lend branches now.
    pub(super) fn has_guest(&self) -> bool {
        self.for_guests.iter().any(Mutex::is_locked)
    }

    /// Whether there is one that is no host: it may soon lend more. A host runs for microseconds.
    pub(super) fn has_lasting_guest(&self) -> bool {
        let mut guests = self.for_guests.iter().zip(&self.of_hosts);
        // Relaxed: as in `for_guest`.
        guests.any(|(deque, of_host)| deque.is_locked() && !of_host.is_host.load(Ordering::Relaxed))
    }
}
