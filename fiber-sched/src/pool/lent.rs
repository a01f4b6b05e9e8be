//! The branches that the pool's fibers lend, and the workers that look for them.
//!
//! A worker that has found no task looks for branches. It takes one only if the owner of the deque has taken nothing back since the
//! worker's previous look, so an owner whose branches are short keeps them.
//!
//! Threads of the user's that call [`Pool::run`](super::Pool::run) lend branches as well. The pool keeps deques for as many of them as
//! it has workers. The branches of further ones become tasks at once.

use std::mem;
use std::ops::Deref;

use fiber_core::{BranchDeque, BranchStealer, Progress, Task, Worker};
use parking_lot::{Mutex, MutexGuard};

use super::queue::Queues;

pub(super) struct Lent {
    /// Those of the workers, then those for guests.
    stealers: Box<[BranchStealer]>,
    /// Locked while a guest has it.
    for_guests: Box<[Mutex<BranchDeque>]>,
}

/// What a worker has seen at its previous look.
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

    /// A branch of a deque whose owner has come no further since the previous look of worker `thief`.
    pub(super) fn steal(&self, thief: usize, seen: &mut Seen) -> Option<Task> {
        // Beginning with the next, as with the tasks.
        let count = self.stealers.len();
        (1..count).map(|distance| (thief + distance) % count).find_map(|victim| {
            let (stealer, seen) = (&self.stealers[victim], &mut seen.0[victim]);
            let before = mem::replace(seen, stealer.progress());
            // What is below the stolen branch deserves a second look.
            (seen.is_some() && *seen == before).then(|| stealer.steal().inspect(|_| *seen = None)).flatten()
        })
    }

    /// The next branch that is lent in this deque is told.
    pub(super) fn tell_next(&self, index: usize) {
        self.stealers[index].set_watched(false);
    }

    /// Whether a thread that is no worker may lend branches now.
    pub(super) fn has_guest(&self) -> bool {
        self.for_guests.iter().any(Mutex::is_locked)
    }
}

/// A thread whose fibers lend branches to the workers of a pool. It tells the pool when it begins to.
pub(super) struct Lender<'a, D> {
    index: usize,
    branches: D,
    queues: &'a Queues,
}

impl<'a, D: Deref<Target = BranchDeque>> Lender<'a, D> {
    /// With the deque of worker `index`.
    pub(super) fn new(index: usize, branches: D, queues: &'a Queues) -> Self {
        Lender { index, branches, queues }
    }
}

impl<'a> Lender<'a, MutexGuard<'a, BranchDeque>> {
    /// For a thread that is no worker, if a deque is left.
    pub(super) fn guest(queues: &'a Queues) -> Option<Self> {
        let lent = queues.lent();
        let mut deques = lent.for_guests.iter().zip(lent.for_guests.len()..);
        let (branches, index) = deques.find_map(|(deque, index)| Some((deque.try_lock()?, index)))?;
        lent.tell_next(index);
        Some(Lender::new(index, branches, queues))
    }
}

/// A thread that has no deque.
pub(super) struct Alone;

impl Worker for Alone {}

impl<D: Deref<Target = BranchDeque>> Worker for Lender<'_, D> {
    fn branches(&self) -> Option<&BranchDeque> {
        Some(&self.branches)
    }

    fn lent(&self) {
        self.queues.lent().stealers[self.index].set_watched(true);
        self.queues.idle().watch();
    }
}
