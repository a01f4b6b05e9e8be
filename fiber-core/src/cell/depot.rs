//! Free blocks that any thread may take, in batches.
//!
//! A thread that gives back more than it takes leaves a batch here, and one that takes more than it gives back finds it.
//! One look at the lock is enough for hundreds of blocks, so that threads hardly ever meet there.
#![allow(unsafe_code)]

use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

/// The most bytes that are kept, of all sizes together: the cells of a hundred thousand fibers. The allocator gets the rest.
const MOST_BYTES: usize = 64 << 20;

/// How many bytes are in the depots.
static BYTES: AtomicUsize = AtomicUsize::new(0);

/// About the size of a batch. A thread has at most two batches of each block size: 4 MiB together.
const BATCH_BYTES: usize = 16 << 10;

/// The number of blocks of this size in a batch.
pub(super) const fn batch_len(size: usize) -> u32 {
    (BATCH_BYTES / size) as u32
}

/// A free block.
pub(super) struct Free {
    pub(super) next: *mut Free,
}

/// The first of [`batch_len`] free blocks, each of which has a link to the next.
pub(super) struct Batch(pub(super) NonNull<Free>);

// SAFETY: the holder of the batch owns its blocks, and a free block belongs to no thread.
unsafe impl Send for Batch {}

/// The batches of one size.
pub(super) struct Depot {
    batches: Mutex<Vec<Batch>>,
    /// How many there are.
    len: AtomicUsize,
}

// Relaxed, everywhere below: the counts only save the lock, which orders the batches, or limit the memory roughly.
impl Depot {
    pub(super) const fn new() -> Self {
        Depot { batches: Mutex::new(Vec::new()), len: AtomicUsize::new(0) }
    }

    /// Takes a batch of blocks of this size.
    pub(super) fn take(&self, size: usize) -> Option<Batch> {
        if self.len.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut batches = self.batches.lock();
        let batch = batches.pop()?;
        self.len.store(batches.len(), Ordering::Relaxed);
        drop(batches);
        BYTES.fetch_sub(size * batch_len(size) as usize, Ordering::Relaxed);
        Some(batch)
    }

    /// Keeps a batch of blocks of this size.
    ///
    /// # Errors
    /// Gives the batch back if enough are kept.
    pub(super) fn put(&self, batch: Batch, size: usize) -> Result<(), Batch> {
        let bytes = size * batch_len(size) as usize;
        if BYTES.load(Ordering::Relaxed) + bytes > MOST_BYTES {
            return Err(batch);
        }
        BYTES.fetch_add(bytes, Ordering::Relaxed);
        let mut batches = self.batches.lock();
        batches.push(batch);
        self.len.store(batches.len(), Ordering::Relaxed);
        Ok(())
    }
}
