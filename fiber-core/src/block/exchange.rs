//! Where a block and the future of a fiber that it has awaited in place meet, if they do not meet in a poll of the block.
//!
//! Such a fiber and its future know each other by a ticket. Usually the fiber ends, and the poll of the block that follows takes the outcome from
//! the driver's stack. But the future may be elsewhere then, because code of the block has stored it, sent it to
//! another thread, or dropped it; or the fiber has moved apart. Then the first of the two leaves an entry for the second:
//!
//! | entry | left by | taken by |
//! |---|---|---|
//! | `Wanted` | a poll of the future that finds nothing | the driver, when the fiber moves apart, or when no poll has taken its outcome |
//! | `GivenUp` | the drop of the future | the same |
//! | `Shared` | the driver | the next poll or the drop of the future |

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;

use crate::footprint::Noted;
use crate::panic::guard;

/// One for each block that has awaited a fiber.
#[derive(Default)]
pub(super) struct Exchange {
    tickets: AtomicU64,
    entries: Noted<Vec<(Ticket, Entry)>>,
}

/// Belongs to one awaited fiber of a block.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Ticket(u64);

enum Entry {
    Wanted(Waker),
    GivenUp,
    Shared(Arc<dyn Shared>),
}

/// A fiber that continues without its block, or the outcome of one.
pub(super) trait Shared: Any + Send + Sync {
    /// Leaves a waker for its end, when it is handed over. Returned if it has ended.
    fn expect(&self, waker: Waker) -> Option<Waker>;
    /// Called when the future is dropped.
    fn give_up(&self);
}

impl Exchange {
    /// Called by the driver of the block.
    pub(super) fn ticket(&self) -> Ticket {
        // Relaxed, a load and a store: a block is polled by one thread at a time.
        let ticket = self.tickets.load(Ordering::Relaxed);
        self.tickets.store(ticket + 1, Ordering::Relaxed);
        Ticket(ticket)
    }

    /// Gives the fiber to its future. Its end wakes the last task that has polled the future; if there is none, `waker`.
    pub(super) fn hand_over(&self, ticket: Ticket, shared: Arc<dyn Shared>, waker: Option<Waker>) {
        let mut entries = self.entries.lock();
        let (waker, unused) = match take(&mut entries, ticket) {
            Some(Entry::GivenUp) => {
                drop(entries);
                return shared.give_up();
            }
            Some(Entry::Wanted(wanted)) => (Some(wanted), waker),
            _ => (waker, None),
        };
        // Under the lock: as soon as the future finds the fiber, it leaves wakers there itself.
        let over = waker.and_then(|waker| shared.expect(waker));
        entries.push((ticket, Entry::Shared(shared)));
        // What wakers do is foreign code.
        drop(entries);
        drop(unused);
        over.into_iter().for_each(|waker| drop(guard(|| waker.wake())));
    }

    /// The fiber, if it was handed over. Otherwise `waker` is left for the one that hands it over.
    pub(super) fn find(&self, ticket: Ticket, waker: &Waker) -> Option<Arc<dyn Shared>> {
        // To clone a waker is foreign code, so it is done between the two.
        self.ask(ticket, None).or_else(|| self.ask(ticket, Some(waker.clone())))
    }

    fn ask(&self, ticket: Ticket, wanted: Option<Waker>) -> Option<Arc<dyn Shared>> {
        let mut entries = self.entries.lock();
        let found = take(&mut entries, ticket);
        if let Some(Entry::Shared(shared)) = found {
            return Some(shared);
        }
        entries.extend(wanted.map(|waker| (ticket, Entry::Wanted(waker))));
        drop(entries);
        // The previous waker: its drop is foreign code.
        drop(found);
        None
    }

    /// The future has got its outcome in a poll of the block, after it had left a waker.
    #[cold]
    pub(super) fn withdraw(&self, ticket: Ticket) {
        let wanted = take(&mut self.entries.lock(), ticket);
        drop(wanted);
    }

    /// The future is dropped.
    #[cold]
    pub(super) fn give_up(&self, ticket: Ticket) {
        let mut entries = self.entries.lock();
        let found = take(&mut entries, ticket);
        if !matches!(found, Some(Entry::Shared(_))) {
            entries.push((ticket, Entry::GivenUp));
        }
        drop(entries);
        if let Some(Entry::Shared(shared)) = found {
            shared.give_up();
        }
    }
}

fn take(entries: &mut Vec<(Ticket, Entry)>, ticket: Ticket) -> Option<Entry> {
    let at = entries.iter().position(|(of, _)| *of == ticket)?;
    Some(entries.swap_remove(at).1)
}
