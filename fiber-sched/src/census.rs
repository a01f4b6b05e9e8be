//! How many fibers live: what a shutdown waits for.
//!
//! Fibers come and go by the million, shutdowns do not. So a worker counts in a place of its own, with plain stores, and
//! only the one who shuts down adds up:
//!
//! ```text
//!  worker 0:  created  ended  |  worker 1:  created  ended  |  everybody else:  created  ended  (read-modify-writes)
//! ```
//!
//! It adds all `ended` first, then all `created`. If the sums are equal, no fiber lives:
//! * Whoever is seen as ended is seen as created, because that came before. So equal sums mean equal sets.
//! * A fiber is created by a fiber that has not ended, or from outside. (A worker that takes a lent branch creates its fiber for the
//!   owner, which cannot end before that.) Suppose one lives that was not seen as
//!   created. Its creator was then not seen as ended (its end comes after, and the end is read first), so it was not
//!   seen as created either; and so on up to a fiber that was spawned from outside. Those were spawned before the
//!   shutdown began and are seen, or race with it, and need not be waited for: the root is cancelled already.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::time::Instant;

use crossbeam_utils::CachePadded;
use parking_lot::{Condvar, Mutex};

pub(crate) struct Census {
    workers: Box<[CachePadded<Count>]>,
    others: CachePadded<Count>,
    is_awaited: AtomicBool,
    lock: Mutex<()>,
    changed: Condvar,
}

#[derive(Default)]
struct Count {
    created: AtomicUsize,
    ended: AtomicUsize,
}

impl Census {
    pub(crate) fn new(workers: usize) -> Self {
        Census {
            workers: (0..workers).map(|_| CachePadded::default()).collect(),
            others: CachePadded::default(),
            is_awaited: AtomicBool::new(false),
            lock: Mutex::new(()),
            changed: Condvar::new(),
        }
    }

    /// A fiber was created, on this worker or elsewhere.
    pub(crate) fn created(&self, worker: Option<usize>) {
        match worker {
            Some(index) => add_own(&self.workers[index].created),
            // Relaxed: the fiber's end, which is published, comes after.
            None => _ = self.others.created.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// A fiber has ended, on this worker or elsewhere. A worker has to [`announce`](Census::announce) it before it sleeps.
    pub(crate) fn ended(&self, worker: Option<usize>) {
        match worker {
            Some(index) => add_own(&self.workers[index].ended),
            None => {
                // Release: publishes the creation of the fiber and of its children.
                self.others.ended.fetch_add(1, Ordering::Release);
                self.announce();
            }
        }
    }

    /// Lets the one who waits look again.
    pub(crate) fn announce(&self) {
        // SeqCst: either the flag is seen below, or the count is seen by the one who has set the flag: its fence
        // comes between the flag and its look at the counts.
        fence(Ordering::SeqCst);
        // Relaxed: ordered by the fence.
        if self.is_awaited.load(Ordering::Relaxed) {
            // With the lock, so that this does not fall between its look and its sleep.
            drop(self.lock.lock());
            self.changed.notify_all();
        }
    }

    /// Waits until no fiber lives. `false`: the deadline has passed before.
    pub(crate) fn wait_until_empty(&self, deadline: Option<Instant>) -> bool {
        // Relaxed: ordered by the fence.
        self.is_awaited.store(true, Ordering::Relaxed);
        // SeqCst: pairs with that of `announce`.
        fence(Ordering::SeqCst);
        let mut lock = self.lock.lock();
        while !self.is_empty() {
            match deadline {
                None => self.changed.wait(&mut lock),
                Some(at) => {
                    if self.changed.wait_until(&mut lock, at).timed_out() {
                        return self.is_empty();
                    }
                }
            }
        }
        true
    }

    /// How many fibers live, as far as this thread knows.
    pub(crate) fn live(&self) -> usize {
        let counts = || self.workers.iter().chain([&self.others]);
        // Acquire: pairs with the Release of an end: whose end is counted, its creation is seen below, and that of
        // whatever it created. It also keeps the second loop behind the first.
        let ended = counts().fold(0usize, |sum, count| sum.wrapping_add(count.ended.load(Ordering::Acquire)));
        // Relaxed: see above; a fiber that is not seen has a creator that is not counted as ended.
        let created =
            counts().fold(0usize, |sum, count| sum.wrapping_add(count.created.load(Ordering::Relaxed)));
        created.wrapping_sub(ended)
    }

    fn is_empty(&self) -> bool {
        self.live() == 0
    }
}

/// Counts in a place that only this thread writes to.
fn add_own(count: &AtomicUsize) {
    // Relaxed: this thread's own. Release: as in `ended`; for `created` it is not needed, and costs nothing.
    count.store(count.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
}
