//! The queue of those who wait at a primitive: first come, first served.
//!
//! The queue lies behind the lock of its primitive. A waiter leaves its wake-up and a request, and keeps a [`Ticket`].
//! To serve the oldest waiter is to [commit](crate::Wakeup) its wait, and then to fill in the answer:
//!
//! | the oldest waiter | `commit` | then |
//! |---|---|---|
//! | waits | ends its wait: no cancellation can do that any more | it gets the answer |
//! | was cancelled, or its fiber abandoned | fails | it gets nothing; the next one is asked |
//!
//! The commit is one compare-and-swap in the waiter's cell, and it comes before the answer moves. So an answer is never
//! given to a waiter that will not take it.
//!
//! An entry stays in its place until its owner [leaves](WaitQueue::leave), who finds the answer there, or still the
//! request. A ticket therefore never goes stale. Places are used again, so waiting allocates only while a queue grows
//! beyond its former length. A waiter leaves in constant time.

use crate::engine::context::{Committed, Wakeup};
use crate::ring::Ring;

/// Those who wait, each with a `T`: first its request, then the answer.
pub(super) struct WaitQueue<T>(Ring<Waiter<T>>);

struct Waiter<T> {
    /// `None`: the waiter was served.
    wakeup: Option<Wakeup>,
    request: T,
}

/// A place in a queue. Give it back with [`WaitQueue::leave`].
#[must_use = "the entry would stay for ever"]
#[derive(Debug)]
pub(super) struct Ticket(usize);

impl<T> WaitQueue<T> {
    pub(super) const fn new() -> Self {
        WaitQueue(Ring::new())
    }

    /// Whether nobody waits. Those who were served count no longer.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the youngest waiter.
    pub(super) fn join(&mut self, wakeup: Wakeup, request: T) -> Ticket {
        Ticket(self.0.push(Waiter { wakeup: Some(wakeup), request }))
    }

    /// Takes the entry out: the request, or what it was answered with. `true`: it was served.
    ///
    /// The wake-up of a waiter that was not served is dropped here; it holds no user code.
    pub(super) fn leave(&mut self, ticket: Ticket) -> (T, bool) {
        let Waiter { wakeup, request } =
            self.0.remove(ticket.0).expect("the owner of the ticket is still here");
        (request, wakeup.is_none())
    }

    /// Serves the oldest waiter whose wait goes on, if its request `fits`. `answer` fills in the answer.
    pub(super) fn serve_if(
        &mut self,
        fits: impl Fn(&T) -> bool,
        answer: impl FnOnce(&mut T),
    ) -> Option<Committed> {
        loop {
            let place = self.0.oldest()?;
            let waiter = self.0.get_mut(place).filter(|waiter| fits(&waiter.request))?;
            let committed = waiter.wakeup.take()?.commit();
            match committed {
                Ok(committed) => {
                    answer(&mut waiter.request);
                    self.0.unlink(place);
                    return Some(committed);
                }
                Err(late) => {
                    waiter.wakeup = Some(late);
                    self.0.unlink(place);
                }
            }
        }
    }

    /// Serves the oldest waiter whose wait goes on.
    pub(super) fn serve(&mut self, answer: impl FnOnce(&mut T)) -> Option<Committed> {
        self.serve_if(|_| true, answer)
    }

    /// Serves all, and adds their wake-ups.
    pub(super) fn serve_all(&mut self, mut answer: impl FnMut(&mut T), wakes: &mut Wakes) {
        while let Some(committed) = self.serve(&mut answer) {
            wakes.push(committed);
        }
    }
}

/// Waiters that were served under a lock, and are woken without it. One needs no allocation.
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

    /// Releases the lock under which they were served, then schedules the fibers in the order of their service.
    pub(super) fn wake_after<L>(self, lock: L) {
        drop(lock);
        self.first.into_iter().chain(self.others).for_each(Committed::wake);
    }
}

impl From<Option<Committed>> for Wakes {
    fn from(first: Option<Committed>) -> Self {
        Wakes { first, others: Vec::new() }
    }
}
