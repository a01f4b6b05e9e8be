//! Blocks of memory for cells, for the boxes that belong to a cell, and for boxed fibers; blocks freed on this thread are reused first.
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
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

use super::depot::{Batch, Depot, Free, batch_len};

/// The step between two block sizes, in bytes.
const STEP: usize = 32;
/// What a block lacks to a multiple of that: the allocators of the usual C libraries keep a word beside each block.
const WORD: usize = 8;
/// The number of sizes that are kept. Larger blocks go to the allocator.
const CLASSES: usize = 128;
const ALIGN: usize = 16;

/// The free blocks of one size.
struct List {
    /// `null` and no vacancies: no block has come yet, or the thread ends.
    first: Cell<*mut Free>,
    /// How many more make a batch.
    vacancies: Cell<u32>,
    spare: Cell<Option<Batch>>,
}

thread_local! {
    /// It needs no drop, so a thread reaches it without a check. The drop of `OWNER` empties it.
    static LISTS: [List; CLASSES] = const { [const { List::new() }; CLASSES] };
    static OWNER: OwnsLists = const { OwnsLists };
}

/// What the threads have left to each other.
static DEPOTS: [Depot; CLASSES] = [const { Depot::new() }; CLASSES];

const fn block_size(index: usize) -> usize {
    (index + 1) * STEP - WORD
}

const fn batch_of(index: usize) -> u32 {
    batch_len(block_size(index))
}

fn block_layout(index: usize) -> Layout {
    Layout::from_size_align(block_size(index), ALIGN).expect("as in `class`")
}

/// The index of the free list for blocks of this layout, and the layout of these blocks.
const fn class(layout: Layout) -> Option<(usize, Layout)> {
    let index = (layout.size() + WORD - 1) / STEP;
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

/// The memory of a `T`. It is never empty, as a value would be that cannot exist: a program may describe one.
union Place<T> {
    _value: ManuallyDrop<T>,
    _byte: u8,
}

/// An uninitialised block for a `T`.
#[inline]
pub(super) fn take<T>() -> NonNull<T> {
    take_block(const { Layout::new::<Place<T>>() }).cast()
}

/// An uninitialised block of this layout, whose size is not zero.
// Inlined, because most layouts are constants: only the list is left then.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn take_block(layout: Layout) -> NonNull<u8> {
    match class(layout) {
        Some((index, _)) => take_listed(index),
        None => allocate(layout),
    }
}

fn take_listed(index: usize) -> NonNull<u8> {
    match LISTS.with(|lists| lists[index].pop()) {
        Some(block) => block.cast(),
        None => take_elsewhere(index),
    }
}

/// Takes a block if the list is empty.
#[cold]
#[inline(never)]
fn take_elsewhere(index: usize) -> NonNull<u8> {
    let listed = LISTS.with(|lists| if lists[index].refill(index) { lists[index].pop() } else { None });
    listed.map_or_else(|| allocate(block_layout(index)), NonNull::cast)
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
    unsafe { give_block(block.cast(), const { Layout::new::<Place<T>>() }) };
}

/// Frees a block.
///
/// # Safety
/// It came from [`take_block`] with the same layout, and its contents were dropped or moved out.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn give_block(block: NonNull<u8>, layout: Layout) {
    match class(layout) {
        // SAFETY: by the contract.
        Some((index, _)) => unsafe { give_listed(block, index) },
        // SAFETY: `allocate` has allocated it so.
        None => unsafe { dealloc(block.as_ptr(), layout) },
    }
}

/// # Safety
/// The block is of size `index`, and has no user.
unsafe fn give_listed(block: NonNull<u8>, index: usize) {
    // SAFETY: by the contract.
    if !LISTS.with(|lists| unsafe { lists[index].push(block.cast()) }) {
        // SAFETY: by the contract.
        unsafe { give_elsewhere(block, index) };
    }
}

/// Gives a block back if the list is full, or the first of its size on this thread.
///
/// # Safety
/// As of `give_listed`.
#[cold]
#[inline(never)]
unsafe fn give_elsewhere(block: NonNull<u8>, index: usize) {
    // SAFETY: by the contract.
    let is_kept =
        LISTS.with(|lists| lists[index].set_aside(index) && unsafe { lists[index].push(block.cast()) });
    if !is_kept {
        // SAFETY: `allocate` has allocated the block with this layout.
        unsafe { dealloc(block.as_ptr(), block_layout(index)) };
    }
}

/// Makes a value in a block of memory of its own, where it stays: most are large, and would be moved there right after they were made.
#[inline]
pub(super) fn boxed<T>(make: impl FnOnce() -> T) -> NonNull<T> {
    let block = take::<T>();
    // SAFETY: the block is large enough and aligned, and no other thread has it.
    unsafe { block.write(make()) };
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
        List { first: Cell::new(ptr::null_mut()), vacancies: Cell::new(0), spare: Cell::new(None) }
    }

    #[inline]
    fn pop(&self) -> Option<NonNull<Free>> {
        let first = NonNull::new(self.first.get())?;
        // SAFETY: the list owns its blocks, and `push` has written the link.
        self.first.set(unsafe { first.as_ref() }.next);
        self.vacancies.set(self.vacancies.get() + 1);
        Some(first)
    }

    /// `false`: there are enough, or the list is not used.
    ///
    /// # Safety
    /// The block is of the list's size, and becomes its property if the result is `true`.
    #[inline]
    unsafe fn push(&self, block: NonNull<Free>) -> bool {
        let Some(vacancies) = self.vacancies.get().checked_sub(1) else { return false };
        self.vacancies.set(vacancies);
        // SAFETY: by the contract; a block is larger than a link.
        unsafe { block.write(Free { next: self.first.get() }) };
        self.first.set(block.as_ptr());
        true
    }

    /// Begins to use the list. `false`: the thread ends.
    fn is_usable(&self, index: usize) -> bool {
        if self.first.get().is_null() && self.vacancies.get() == 0 && OWNER.try_with(|_| ()).is_ok() {
            self.vacancies.set(batch_of(index));
        }
        !self.first.get().is_null() || self.vacancies.get() > 0
    }

    /// Gets another batch, for an empty list. `false`: there is none.
    fn refill(&self, index: usize) -> bool {
        if !self.is_usable(index) {
            return false;
        }
        let batch = self.spare.take().or_else(|| DEPOTS[index].take(block_size(index)));
        if let Some(Batch(first)) = batch {
            self.first.set(first.as_ptr());
            self.vacancies.set(0);
        }
        !self.first.get().is_null()
    }

    /// Makes a batch of the blocks in a full list, so that it takes others. `false`: there is no place for it.
    fn set_aside(&self, index: usize) -> bool {
        if !self.is_usable(index) {
            return false;
        }
        if self.vacancies.get() > 0 {
            return true;
        }
        let former = self.spare.take();
        if let Some(Err(former)) = former.map(|former| DEPOTS[index].put(former, block_size(index))) {
            self.spare.set(Some(former));
            return false;
        }
        self.spare.set(NonNull::new(self.first.replace(ptr::null_mut())).map(Batch));
        self.vacancies.set(batch_of(index));
        true
    }

    /// Gives all blocks to the allocator.
    fn empty(&self, index: usize) {
        self.vacancies.set(0);
        let spare = self.spare.take().map_or(ptr::null_mut(), |Batch(first)| first.as_ptr());
        for mut next in [self.first.replace(ptr::null_mut()), spare] {
            while let Some(block) = NonNull::new(next) {
                // SAFETY: the list owned its blocks, and `push` has written the link.
                next = unsafe { block.as_ref() }.next;
                // SAFETY: `allocate` allocated it so.
                unsafe { dealloc(block.as_ptr().cast(), block_layout(index)) };
            }
        }
    }
}

/// Owns the blocks in the lists of its thread.
struct OwnsLists;

impl Drop for OwnsLists {
    fn drop(&mut self) {
        LISTS.with(|lists| lists.iter().enumerate().for_each(|(index, list)| list.empty(index)));
    }
}

#[cfg(all(test, not(fiber_loom)))]
mod tests {
    use std::collections::HashSet;
    use std::thread;

    use super::*;

    /// Of the largest size, which other tests of this crate do not use.
    type Large = [u8; CLASSES * STEP - WORD];

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
        const BATCH: u32 = batch_of(CLASSES - 1);
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
