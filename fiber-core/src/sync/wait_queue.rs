//! The queue of a primitive's waiters: first come, first served.
//!
//! The queue is behind the lock of its primitive. A waiter leaves its wake-up and a request, and keeps a [`Ticket`].
//! To serve the oldest waiter, a thread [commits](crate::Wakeup) its wait, and then stores the answer:
//!
//! | the oldest waiter | `commit` | then |
//! |---|---|---|
//! | is waiting | ends its wait: no cancellation can end it any more | it gets the answer |
//! | was cancelled, or its fiber abandoned | fails | it gets nothing; the next one is tried |
//!
//! The commit is one compare-and-swap in the waiter's cell, and it comes before the answer moves. So an answer is never
//! given to a waiter that will not take it.
//!
//! An entry that was [served](WaitQueue::serve) stays in its place until its owner [leaves](WaitQueue::leave) and takes
//! the answer. If the wake-up alone is the answer, the entry can be [dismissed](WaitQueue::dismiss_if) instead: it
//! is removed at once, and the owner has nothing to fetch. A number on each ticket and entry lets an owner whose entry is
//! gone distinguish it from a later one in the same place.
//!
//! Places are reused, so waiting allocates only while a queue grows beyond its former length. A waiter leaves in
//! constant time.

use crate::engine::context::{Committed, Wakeup};
use crate::ring::Ring;

/// The waiters, each with a `T`: first its request, then the answer.
pub(super) struct WaitQueue<T> {
    ring: Ring<Waiter<T>>,
    /// How many waiters have ever joined.
    joined: u64,
}

struct Waiter<T> {
    /// How many waiters had joined before.
    number: u64,
    /// `None` after the waiter was served.
    wakeup: Option<Wakeup>,
    request: T,
}

/// A place in a queue. Give it back with [`WaitQueue::leave`].
#[must_use = "the entry would stay for ever"]
#[derive(Debug)]
pub(super) struct Ticket {
    place: usize,
    number: u64,
}

impl<T> WaitQueue<T> {
    pub(super) const fn new() -> Self {
        WaitQueue { ring: Ring::new(), joined: 0 }
    }

    /// Whether the queue is empty. Served waiters do not count.
    pub(super) fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// The waiters, without those of the fiber of `wakeup`: two sides of one race cannot serve each other.
    pub(super) fn others(&self, wakeup: &Wakeup) -> impl Iterator<Item = &Wakeup> {
        let wakeups = self.ring.queue().filter_map(|waiter| waiter.wakeup.as_ref());
        wakeups.filter(move |other| !other.is_beside(wakeup))
    }

    /// Adds the youngest waiter.
    pub(super) fn join(&mut self, wakeup: Wakeup, request: T) -> Ticket {
        let number = self.joined;
        self.joined += 1;
        Ticket { place: self.ring.push(Waiter { number, wakeup: Some(wakeup), request }), number }
    }

    /// Takes the entry out: the request, or the answer. `true` if it was served.
    ///
    /// The wake-up of a waiter that was not served is dropped here; it holds no user code.
    pub(super) fn leave(&mut self, ticket: Ticket) -> (T, bool) {
        let Waiter { wakeup, request, .. } =
            self.remove(ticket).expect("the owner of the ticket is still here");
        (request, wakeup.is_none())
    }

    /// Takes the entry out, unless it was dismissed.
    pub(super) fn leave_unless_dismissed(&mut self, ticket: Ticket) -> Option<T> {
        self.remove(ticket).map(|waiter| waiter.request)
    }

    fn remove(&mut self, Ticket { place, number }: Ticket) -> Option<Waiter<T>> {
        self.ring.get(place).filter(|waiter| waiter.number == number)?;
        self.ring.remove(place)
    }

    /// Serves the oldest waiter whose wait is not over. `answer` stores the answer.
    pub(super) fn serve(&mut self, answer: impl FnOnce(&mut T)) -> Option<Committed> {
        let (place, committed) = self.commit_if(|_| true)?;
        self.ring.unlink(place);
        if let Some(waiter) = self.ring.get_mut(place) {
            answer(&mut waiter.request);
        }
        Some(committed)
    }

    /// Wakes the oldest waiter whose wait is not over, if its request `fits`, and takes its entry out. Gives the request.
    pub(super) fn dismiss_if(&mut self, fits: impl Fn(&T) -> bool) -> Option<(Committed, T)> {
        let (place, committed) = self.commit_if(fits)?;
        self.ring.remove(place).map(|waiter| (committed, waiter.request))
    }

    /// Ends the wait of the oldest waiter whose wait is not over, if its request `fits`. Unlinks the waiters whose wait is
    /// over.
    fn commit_if(&mut self, fits: impl Fn(&T) -> bool) -> Option<(usize, Committed)> {
        loop {
            let place = self.ring.oldest()?;
            let waiter = self.ring.get_mut(place).filter(|waiter| fits(&waiter.request))?;
            match waiter.wakeup.take()?.commit() {
                Ok(committed) => return Some((place, committed)),
                Err(late) => {
                    waiter.wakeup = Some(late);
                    self.ring.unlink(place);
                }
            }
        }
    }

    /// The requests, and the answers that their owners have not taken yet, in no order.
    pub(super) fn requests_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.ring.iter_mut().map(|waiter| &mut waiter.request)
    }

    /// Serves all waiters, and adds their wake-ups.
    pub(super) fn serve_all(&mut self, mut answer: impl FnMut(&mut T), wakes: &mut Wakes) {
        while let Some(committed) = self.serve(&mut answer) {
            wakes.push(committed);
        }
    }

    /// The same for an event that takes nothing and is not seen again: a waiter whose race is held by another side finds the answer in
    /// its entry when it looks again.
    pub(super) fn tell_all(&mut self, mut answer: impl FnMut(&mut T), wakes: &mut Wakes) {
        while let Some(place) = self.ring.oldest() {
            self.ring.unlink(place);
            let Some(waiter) = self.ring.get_mut(place) else { return };
            let Some(wakeup) = waiter.wakeup.take() else { return };
            match wakeup.commit() {
                Ok(committed) => {
                    answer(&mut waiter.request);
                    wakes.push(committed);
                }
                Err(late) => {
                    if late.is_missed() {
                        answer(&mut waiter.request);
                    }
                    waiter.wakeup = Some(late);
                }
            }
        }
    }
}

/// Waiters that were served under a lock, and are woken without it. A single one needs no allocation.
#[must_use = "the fibers would wait for ever"]
#[derive(Debug, Default)]
pub(super) struct Wakes {
    first: Option<Committed>,
    others: Vec<Committed>,
}

impl Wakes {
    pub(super) fn push(&mut self, committed: Committed) {
        if self.first.is_none() {
            self.first = Some(committed);
        } else {
            self.others.push(committed);
        }
    }

    /// Releases the lock under which they were served, then schedules their fibers in the same order.
    pub(super) fn wake_after<L>(self, lock: L) {
        let Wakes { first, others } = self;
        wake_after(first, lock);
        if !others.is_empty() {
            others.into_iter().for_each(Committed::wake);
        }
    }
}

/// Releases the lock under which a waiter was served, then schedules its fiber.
#[inline]
pub(super) fn wake_after<L>(served: Option<Committed>, lock: L) {
    drop(lock);
    if let Some(committed) = served {
        committed.wake();
    }
}

impl From<Option<Committed>> for Wakes {
    fn from(first: Option<Committed>) -> Self {
        Wakes { first, others: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    fn wakeup() -> Wakeup {
        Wakeup::from(Waker::noop().clone())
    }

    #[test]
    fn an_owner_whose_entry_was_dismissed_takes_nobody_else_s() {
        let mut queue = WaitQueue::new();
        let first = queue.join(wakeup(), 1);
        let (committed, request) = queue.dismiss_if(|_| true).expect("one waits");
        committed.wake();
        assert_eq!(request, 1);
        let second = queue.join(wakeup(), 2);
        assert_eq!(first.place, second.place, "places are reused");
        assert_eq!(queue.leave_unless_dismissed(first), None);
        assert_eq!(queue.leave(second), (2, false));
    }

    #[test]
    fn an_owner_who_was_served_finds_the_answer() {
        let mut queue = WaitQueue::new();
        let (first, second) = (queue.join(wakeup(), "?"), queue.join(wakeup(), "?"));
        queue.serve(|answer| *answer = "!").expect("two wait").wake();
        assert_eq!(queue.leave(first), ("!", true));
        assert_eq!(queue.leave_unless_dismissed(second), Some("?"));
        assert!(queue.is_empty());
    }
}
