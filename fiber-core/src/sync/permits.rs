//! Counted permits, the base of semaphores and locks.
//!
//! ```text
//!  word:  [ free permits | QUEUED ]
//! ```
//!
//! | `QUEUED` | who changes the word |
//! |---|---|
//! | clear | anybody, by a compare-and-swap: nobody waits |
//! | set | only the thread that holds the lock of the queue |
//!
//! `QUEUED` is set and cleared under the lock. It is set before a waiter joins the queue, and cleared when the queue is
//! empty. A compare-and-swap covers the whole word, so it fails if `QUEUED` has been set meanwhile.
//!
//! Permits that are given back go to the oldest waiter, as soon as they suffice for its request. Nobody takes permits
//! past the queue, so a large request is served in its turn.

use super::wait_queue::{Ticket, WaitQueue, Wakes};
use crate::engine::context::Wakeup;
use crate::footprint::{Access, Object};
use crate::primitive::{AtomicUsize, Mutex, Ordering};

/// Permits that are counted, and those who wait for some.
pub(super) struct Permits {
    word: AtomicUsize,
    /// Each with the number of permits that it asks for.
    queue: Mutex<WaitQueue<usize>>,
    object: Object,
}

/// A request for permits, which may lie in their queue.
#[derive(Debug)]
pub(super) struct Request {
    count: usize,
    ticket: Option<Ticket>,
}

const QUEUED: usize = 1;
const ONE: usize = 2;

impl Permits {
    /// The largest number of permits.
    pub(super) const MAX: usize = usize::MAX / ONE;

    pub(super) fn new(free: usize) -> Self {
        Permits {
            word: AtomicUsize::new(free * ONE),
            queue: Mutex::new(WaitQueue::new()),
            object: Object::new(),
        }
    }

    /// How many are free.
    pub(super) fn free(&self) -> usize {
        self.object.touch(Access::Read);
        // Relaxed: for information.
        self.word.load(Ordering::Relaxed) / ONE
    }

    /// Takes permits, unless there are not enough, or the queue is not empty. `true`: they were taken.
    #[inline]
    pub(super) fn try_take(&self, count: usize) -> bool {
        self.object.touch(Access::Write);
        // Relaxed: the exchange decides.
        let mut word = self.word.load(Ordering::Relaxed);
        while word & QUEUED == 0 && word / ONE >= count {
            // Acquire: pairs with the Release in `give_back`, so that what the former holder did is visible.
            match self.exchange(word, word - count * ONE, Ordering::Acquire) {
                Ok(()) => return true,
                Err(seen) => word = seen,
            }
        }
        false
    }

    /// Takes permits, or joins the queue.
    fn take_or_join(&self, count: usize, wakeup: Wakeup) -> Option<Ticket> {
        self.object.touch(Access::Write);
        let mut queue = self.queue.lock();
        // Relaxed: the thread that has set `QUEUED` has released the lock since, and keeps others from changing the word.
        if self.word.load(Ordering::Relaxed) & QUEUED != 0 {
            return Some(queue.join(wakeup, count));
        }
        // Acquire: as in `try_take`. From here on, only this thread changes the word.
        let word = self.word.fetch_or(QUEUED, Ordering::Acquire);
        if word / ONE >= count {
            // Release: passes on what the fetch has seen to those who take the rest. A store ends the chain of those who
            // gave back before.
            self.word.store(word - count * ONE, Ordering::Release);
            return None;
        }
        Some(queue.join(wakeup, count))
    }

    /// Leaves the queue, with a request for `count`. If the permits were already on their way, they go to the next one.
    fn leave(&self, ticket: Ticket, count: usize) {
        self.object.touch(Access::Write);
        let mut queue = self.queue.lock();
        // The word is this thread's only if `QUEUED` is set, which it is not if the last waiter was served.
        let back = if queue.leave_unless_dismissed(ticket).is_none() { count } else { 0 };
        self.serve(&mut queue, back).wake_after(queue);
    }

    /// Gives permits back.
    #[inline]
    pub(super) fn give_back(&self, count: usize) {
        self.object.touch(Access::Write);
        // Relaxed: the exchange decides.
        let mut word = self.word.load(Ordering::Relaxed);
        while word & QUEUED == 0 {
            // Release: publishes what the holder did to the Acquire of the next one.
            match self.exchange(word, word + count * ONE, Ordering::Release) {
                Ok(()) => return,
                Err(seen) => word = seen,
            }
        }
        let mut queue = self.queue.lock();
        self.serve(&mut queue, count).wake_after(queue);
    }

    /// Adds permits, and serves those at the head of the queue for whom there are enough.
    fn serve(&self, queue: &mut WaitQueue<usize>, back: usize) -> Wakes {
        let mut wakes = Wakes::default();
        // Acquire: this thread passes on what others gave back.
        let word = self.word.load(Ordering::Acquire);
        if word & QUEUED == 0 {
            // Nobody waits any more, and nobody can begin to while this thread has the lock.
            // Release: as in `give_back`.
            self.word.fetch_add(back * ONE, Ordering::Release);
            return wakes;
        }
        let mut free = word / ONE + back;
        while let Some((committed, count)) = queue.dismiss_if(|&count| count <= free) {
            free -= count;
            wakes.push(committed);
        }
        let queued = if queue.is_empty() { 0 } else { QUEUED };
        // Release: as in `give_back`, for those who take the rest. Those who were served see it by their wake-up.
        self.word.store((free * ONE) | queued, Ordering::Release);
        wakes
    }

    #[inline]
    fn exchange(&self, current: usize, next: usize, success: Ordering) -> Result<(), usize> {
        // Relaxed on failure: the value is only used to try again.
        self.word.compare_exchange_weak(current, next, success, Ordering::Relaxed).map(drop)
    }
}

impl Request {
    pub(super) fn new(count: usize) -> Self {
        Request { count, ticket: None }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Takes the permits, if they are free or were on their way. `true`: they were taken. Otherwise joins the queue with
    /// `wakeup`.
    #[inline]
    pub(super) fn take(&mut self, permits: &Permits, wakeup: Option<Wakeup>) -> bool {
        if self.ticket.is_none() && wakeup.is_none() {
            return permits.try_take(self.count);
        }
        self.wait(permits, wakeup)
    }

    #[cold]
    fn wait(&mut self, permits: &Permits, wakeup: Option<Wakeup>) -> bool {
        if let (None, Some(wakeup)) = (self.ticket.take(), wakeup) {
            self.ticket = permits.take_or_join(self.count, wakeup);
        }
        // Nobody is woken without the permits, and a wake-up publishes what was done before it.
        self.ticket.is_none()
    }

    /// Leaves the queue, if the request is in it. Permits that were on their way go to the next one.
    #[inline]
    pub(super) fn leave(&mut self, permits: &Permits) {
        if let Some(ticket) = self.ticket.take() {
            permits.leave(ticket, self.count);
        }
    }
}
