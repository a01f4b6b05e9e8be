//! The branches that the pool's fibers lend, and the workers that look for them.
//!
//! A worker that has found no task looks for branches. It takes one only if the owner of the deque has taken nothing back since the
//! worker's previous look, so an owner whose branches are short keeps them.
//!
//! Threads of the user's that call [`Pool::run`](super::Pool::run) lend branches as well. The pool keeps deques for as many of them as
//! it has workers. The branches of further ones become tasks at once.

use std::mem;

use fiber_core::{BranchDeque, BranchStealer, Progress, Task};
use parking_lot::{Mutex, MutexGuard};

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

    /// Somebody looks for what is lent in this deque from now on.
    pub(super) fn watch(&self, index: usize) {
        self.stealers[index].set_watched(true);
    }

    /// A deque for a thread that is no worker, and its number. `None`: all are in use.
    pub(super) fn for_guest(&self) -> Option<(usize, MutexGuard<'_, BranchDeque>)> {
        let first = self.for_guests.len();
        let mut deques = (first..).zip(&self.for_guests);
        let (index, branches) = deques.find_map(|(index, deque)| Some((index, deque.try_lock()?)))?;
        self.tell_next(index);
        Some((index, branches))
    }

    /// Whether a thread that is no worker may lend branches now.
    pub(super) fn has_guest(&self) -> bool {
        self.for_guests.iter().any(Mutex::is_locked)
    }
}
