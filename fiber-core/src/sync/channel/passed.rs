//! How many items of those that were passed to receivers have been taken for good.
//!
//! A receiver that was served takes its item without the lock of the channel, and counts it here. The channel counts, under its lock, the
//! items that it has passed, without those that came back. If a closed channel is empty and both counts are equal, no item can come back, so the
//! receivers that still wait are told that it is closed. The thread that closes the channel does that, or else the receiver that takes the last of
//! those items:
//!
//! | | first (SeqCst) | then (SeqCst) |
//! |---|---|---|
//! | the receiver | counts its item | reads `is_closed` |
//! | the thread that closes | sets `is_closed` | reads the count |

use crate::primitive::{AtomicBool, AtomicUsize, Ordering, between_seq_cst};

/// The count, and whether the channel is closed.
#[derive(Debug, Default)]
pub(in crate::sync) struct Passed {
    taken: AtomicUsize,
    is_closed: AtomicBool,
}

impl Passed {
    /// Counts an item. `true`: the channel is closed, and this may have been the last item that could come back.
    #[inline]
    pub(in crate::sync) fn take(&self) -> bool {
        // SeqCst, here and below: see the table. It pairs with nothing else, since the item itself is in the receiver.
        self.taken.fetch_add(1, Ordering::SeqCst);
        between_seq_cst();
        self.is_closed.load(Ordering::SeqCst)
    }

    /// Called under the lock of the channel, before `taken`.
    pub(in crate::sync) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        between_seq_cst();
    }

    pub(in crate::sync) fn taken(&self) -> usize {
        self.taken.load(Ordering::SeqCst)
    }
}
