//! Counted permits, the base of semaphores and locks.
//!
//! ```text
//!  word:  [ free permits | QUEUED ]
//! ```
//!
//! | `QUEUED` | the word may be changed by |
//! |---|---|
//! | clear | any thread, by a compare-and-swap: there are no waiters |
//! | set | only the thread that holds the lock of the queue |
//!
//! `QUEUED` is set and cleared under the lock. It is set before a waiter joins the queue, and cleared when the queue is
//! empty. A compare-and-swap covers the whole word, so it fails if `QUEUED` has been set meanwhile.
//!
//! Released permits go to the oldest waiter, as soon as they suffice for its request. No thread takes permits past the
//! queue, so a large request does not starve.

use super::waiters::{Waiter, Waiters, Wakes};
use crate::engine::context::Seat;
use crate::footprint::{Access, Object};
use crate::primitive::{AtomicUsize, Mutex, Ordering};

/// Counted permits, and the waiters for them.
pub(super) struct Permits {
    word: AtomicUsize,
    /// The waiters, each with the number of permits that it asks for.
    queue: Mutex<Waiters<usize>>,
    object: Object,
}

const QUEUED: usize = 1;
const ONE: usize = 2;

impl Permits {
    /// The largest number of permits.
    pub(super) const MAX: usize = usize::MAX / ONE;

    pub(super) fn new(free: usize) -> Self {
        Permits {
            word: AtomicUsize::new(free * ONE),
            queue: Mutex::new(Waiters::new()),
            object: Object::new(),
        }
    }

    /// The number of free permits.
    pub(super) fn free(&self) -> usize {
        self.object.touch(Access::Read);
        // Relaxed: for reports only.
        self.word.load(Ordering::Relaxed) / ONE
    }

    /// Takes permits, unless there are too few, or the queue is not empty. `true` if they were taken.
    #[inline]
    pub(super) fn try_take(&self, count: usize) -> bool {
        self.object.touch(Access::Write);
        // Relaxed: the compare-and-swap decides.
        let mut word = self.word.load(Ordering::Relaxed);
        while word & QUEUED == 0 && word / ONE >= count {
            // Acquire: pairs with the Release in `give_back`, so that the writes of the previous holder are visible.
            match self.exchange(word, word - count * ONE, Ordering::Acquire) {
                Ok(()) => return true,
                Err(seen) => word = seen,
            }
        }
        false
    }

    /// Takes permits, or joins the queue. `true` if they were taken. A side of a race that has lost joins it too, and leaves it when its
    /// fiber goes on.
    pub(super) fn take_or_join(&self, count: usize, waiter: &mut Waiter<usize>, seat: Seat) -> bool {
        self.object.touch(Access::Write);
        let mut queue = self.queue.lock();
        // Relaxed: the thread that set `QUEUED` has released the lock since, and no thread without the lock changes the word.
        if self.word.load(Ordering::Relaxed) & QUEUED != 0 {
            waiter.join(&mut queue, seat, count);
            return false;
        }
        // Acquire: as in `try_take`. After this, only the holder of the lock changes the word.
        let word = self.word.fetch_or(QUEUED, Ordering::Acquire);
        if word / ONE >= count && seat.claim() {
            // Release: publishes what the fetch has acquired to the threads that take the remaining permits, because
            // this store ends the release sequence of earlier `give_back`s.
            self.word.store(word - count * ONE, Ordering::Release);
            return true;
        }
        waiter.join(&mut queue, seat, count);
        false
    }

    /// Whether a waiter that was woken has permits. It has, because it is woken only with them, and a wake-up publishes everything done
    /// before it; unless it had not joined.
    pub(super) fn was_served(waiter: &mut Waiter<usize>) -> bool {
        waiter.is_dismissed()
    }

    /// Leaves the queue, if the waiter is in it. If the permits were already passed to the waiter, they go to the next one.
    pub(super) fn leave(&self, waiter: &mut Waiter<usize>) {
        if !waiter.has_joined() {
            return;
        }
        self.object.touch(Access::Write);
        let mut queue = self.queue.lock();
        // Only if `QUEUED` is set may this thread change the word. It is clear if the last waiter was served.
        let back =
            waiter.leave(&mut queue).map_or(0, |(count, was_served)| if was_served { count } else { 0 });
        self.serve(&mut queue, back).wake_after(queue);
    }

    /// Releases permits.
    #[inline]
    pub(super) fn give_back(&self, count: usize) {
        self.object.touch(Access::Write);
        // Relaxed: the compare-and-swap decides.
        let mut word = self.word.load(Ordering::Relaxed);
        while word & QUEUED == 0 {
            // Release: publishes the writes of the holder to the Acquire of the next one.
            match self.exchange(word, word + count * ONE, Ordering::Release) {
                Ok(()) => return,
                Err(seen) => word = seen,
            }
        }
        let mut queue = self.queue.lock();
        self.serve(&mut queue, count).wake_after(queue);
    }

    /// Adds permits, and serves the waiters at the head of the queue for which there are enough.
    fn serve(&self, queue: &mut Waiters<usize>, back: usize) -> Wakes {
        let mut wakes = Wakes::default();
        // Acquire: this thread passes on what other threads have released.
        let word = self.word.load(Ordering::Acquire);
        if word & QUEUED == 0 {
            // The queue is empty, and no waiter can join while this thread holds the lock.
            // Release: as in `give_back`.
            self.word.fetch_add(back * ONE, Ordering::Release);
            return wakes;
        }
        let mut free = word / ONE + back;
        while let Some((committed, count)) = queue.dismiss_if(|count| count <= free) {
            free -= count;
            wakes.push(committed);
        }
        let queued = if queue.is_empty() { 0 } else { QUEUED };
        // Release: as in `give_back`, for threads that take the remaining permits. The served waiters see it through
        // their wake-up.
        self.word.store((free * ONE) | queued, Ordering::Release);
        wakes
    }

    #[inline]
    fn exchange(&self, current: usize, next: usize, success: Ordering) -> Result<(), usize> {
        // Relaxed on failure: the value is only used to retry.
        self.word.compare_exchange_weak(current, next, success, Ordering::Relaxed).map(drop)
    }
}
