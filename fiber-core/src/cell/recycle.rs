//! Blocks of memory for cells, and for the boxes that belong to a cell; blocks freed on this thread are reused first.
//!
//! Most fibers are short, and most of their blocks have one of a few sizes. A list of free blocks for each size costs some instructions for
//! a block; the system's allocator costs hundreds when many cells are given back at a time, and lets threads wait for each other when
//! they give back what another one has allocated. So a thread that has many free blocks leaves them to all threads, a
//! [batch](super::depot) at a time:
//!
//! ```text
//!   take <- first, up to a batch <-> spare, a batch or nothing <-> depot, batches of all threads <-> allocator
//!   give ->                      one thread                    |              all threads
//! ```
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::{self, NonNull};

use super::depot::{Batch, Depot};

/// The step between two block sizes, in bytes.
const STEP: usize = 64;
/// The number of sizes that are kept. Larger blocks go to the allocator.
const CLASSES: usize = 8;
/// Two batches of each size are kept for a thread: less than 2.5 MiB together.
pub(super) const BATCH: u32 = 512;
const ALIGN: usize = 16;

/// A free block.
pub(super) struct Free {
    next: *mut Free,
}

/// The free blocks of one size.
struct List {
    first: Cell<*mut Free>,
    /// Of those, a batch at most.
    len: Cell<u32>,
    spare: Cell<Option<Batch>>,
}

struct Lists([List; CLASSES]);

thread_local! {
    static LISTS: Lists = const { Lists([const { List::new() }; CLASSES]) };
}

/// What the threads have left to each other.
static DEPOTS: [Depot; CLASSES] = [const { Depot::new() }; CLASSES];

const fn block_size(index: usize) -> usize {
    (index + 1) * STEP
}

/// The index of the free list for blocks of this layout, and the layout of these blocks.
const fn class(layout: Layout) -> Option<(usize, Layout)> {
    let index = layout.size().wrapping_sub(1) / STEP;
    if index >= CLASSES || layout.align() > ALIGN {
        return None;
    }
    match Layout::from_size_align(block_size(index), ALIGN) {
        Ok(rounded) => Some((index, rounded)),
        Err(_) => None,
    }
}

/// The layout of the block for this one.
pub(super) const fn rounded(layout: Layout) -> Layout {
    match class(layout) {
        Some((_, rounded)) => rounded,
        None => layout,
    }
}

/// An uninitialised block for a `T`.
#[inline]
pub(super) fn take<T>() -> NonNull<T> {
    const { assert!(size_of::<T>() > 0) };
    take_block(const { Layout::new::<T>() }).cast()
}

/// An uninitialised block of this layout, whose size is not zero.
// Inlined, because most layouts are constants: only the list is left then.
#[inline(always)]
pub(crate) fn take_block(layout: Layout) -> NonNull<u8> {
    match class(layout) {
        Some((index, rounded)) => take_listed(index, rounded),
        None => allocate(layout),
    }
}

fn take_listed(index: usize, rounded: Layout) -> NonNull<u8> {
    match LISTS.try_with(|lists| lists.0[index].pop(index)).ok().flatten() {
        Some(block) => block.cast(),
        None => allocate(rounded),
    }
}

#[cold]
fn allocate(layout: Layout) -> NonNull<u8> {
    // SAFETY: the size is not zero.
    let block = unsafe { alloc(layout) };
    NonNull::new(block).unwrap_or_else(|| handle_alloc_error(layout))
}

/// Frees a block.
///
/// # Safety
/// It came from [`take`] of the same type, and its contents were dropped or moved out.
#[inline]
pub(super) unsafe fn give<T>(block: NonNull<T>) {
    // SAFETY: by the contract.
    unsafe { give_block(block.cast(), const { Layout::new::<T>() }) };
}

/// Frees a block.
///
/// # Safety
/// It came from [`take_block`] with the same layout, and its contents were dropped or moved out.
#[inline(always)]
pub(crate) unsafe fn give_block(block: NonNull<u8>, layout: Layout) {
    match class(layout) {
        // SAFETY: by the contract.
        Some((index, rounded)) => unsafe { give_listed(block, index, rounded) },
        // SAFETY: `allocate` has allocated it so.
        None => unsafe { dealloc(block.as_ptr(), layout) },
    }
}

/// # Safety
/// The block is of size `index`, which is `rounded`, and has no user.
unsafe fn give_listed(block: NonNull<u8>, index: usize, rounded: Layout) {
    // SAFETY: by the contract.
    let kept = LISTS.try_with(|lists| unsafe { lists.0[index].push(index, block.cast()) });
    if !kept.unwrap_or(false) {
        // SAFETY: `allocate` has allocated the block with this layout.
        unsafe { dealloc(block.as_ptr(), rounded) };
    }
}

/// Puts a value into a block of memory of its own.
#[inline]
pub(super) fn boxed<T>(value: T) -> NonNull<T> {
    let block = take::<T>();
    // SAFETY: the block is large enough and aligned, and no other thread has it.
    unsafe { block.write(value) };
    block
}

/// Takes the value out of its block, and gives back the block.
///
/// # Safety
/// The block came from [`boxed`] of the same type, and is not used afterwards.
#[inline]
pub(super) unsafe fn unboxed<T>(block: NonNull<T>) -> T {
    // SAFETY: by the contract.
    let value = unsafe { block.read() };
    // SAFETY: by the contract, and the value was moved out.
    unsafe { give(block) };
    value
}

impl List {
    const fn new() -> Self {
        List { first: Cell::new(ptr::null_mut()), len: Cell::new(0), spare: Cell::new(None) }
    }

    #[inline]
    fn pop(&self, index: usize) -> Option<NonNull<Free>> {
        let first = NonNull::new(self.first.get()).or_else(|| self.refill(index))?;
        // SAFETY: the list owns its blocks, and `push` has written the link.
        self.first.set(unsafe { first.as_ref() }.next);
        self.len.set(self.len.get() - 1);
        Some(first)
    }

    /// Gets another batch.
    #[cold]
    fn refill(&self, index: usize) -> Option<NonNull<Free>> {
        let Batch(first) = self.spare.take().or_else(|| DEPOTS[index].take(block_size(index)))?;
        self.first.set(first.as_ptr());
        self.len.set(BATCH);
        Some(first)
    }

    /// `false`: there are enough.
    ///
    /// # Safety
    /// The block is of size `index`, which is the list's, and becomes its property then.
    #[inline]
    unsafe fn push(&self, index: usize, block: NonNull<Free>) -> bool {
        if self.len.get() == BATCH && !self.set_aside(index) {
            return false;
        }
        // SAFETY: by the contract; a block is larger than a link.
        unsafe { block.write(Free { next: self.first.get() }) };
        self.first.set(block.as_ptr());
        self.len.set(self.len.get() + 1);
        true
    }

    /// Makes a batch of the blocks in the list, which are as many. `false`: there is no place for it.
    #[cold]
    fn set_aside(&self, index: usize) -> bool {
        let former = self.spare.take();
        if let Some(Err(former)) = former.map(|former| DEPOTS[index].put(former, block_size(index))) {
            self.spare.set(Some(former));
            return false;
        }
        self.spare.set(NonNull::new(self.first.replace(ptr::null_mut())).map(Batch));
        self.len.set(0);
        true
    }
}

impl Drop for Lists {
    fn drop(&mut self) {
        for (index, list) in self.0.iter().enumerate() {
            let layout = Layout::from_size_align(block_size(index), ALIGN).expect("as in `class`");
            let spare = list.spare.take().map_or(ptr::null_mut(), |Batch(first)| first.as_ptr());
            for mut next in [list.first.get(), spare] {
                while let Some(block) = NonNull::new(next) {
                    // SAFETY: the list owned its blocks, and `push` has written the link.
                    next = unsafe { block.as_ref() }.next;
                    // SAFETY: `take` allocated it so.
                    unsafe { dealloc(block.as_ptr().cast(), layout) };
                }
            }
        }
    }
}

#[cfg(all(test, not(fiber_loom)))]
mod tests {
    use std::collections::HashSet;
    use std::thread;

    use super::*;

    /// Of the largest size, which other tests of this crate do not use.
    type Large = [u8; CLASSES * STEP];

    struct Blocks(Vec<NonNull<Large>>);

    // SAFETY: nothing is in the blocks, and they belong to no thread.
    unsafe impl Send for Blocks {}

    impl Blocks {
        fn take(count: u32) -> Self {
            Blocks((0..count).map(|_| take()).collect())
        }

        fn addresses(&self) -> HashSet<usize> {
            self.0.iter().map(|block| block.addr().get()).collect()
        }

        fn give(self) {
            for block in self.0 {
                // SAFETY: `take` took it, and nothing is in it.
                unsafe { give(block) };
            }
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test is about two threads")]
    fn a_thread_gets_what_another_one_has_given_back() {
        let taken = Blocks::take(4 * BATCH);
        let addresses = taken.addresses();
        assert_eq!(addresses.len(), 4 * BATCH as usize);
        thread::spawn(|| taken.give()).join().expect("no panic");
        // The last two batches went to the allocator at the end of the thread.
        let again = Blocks::take(2 * BATCH);
        assert!(again.addresses().is_subset(&addresses));
        again.give();
    }
}
