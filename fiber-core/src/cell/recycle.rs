//! Blocks of memory for cells; blocks freed on this thread are reused first.
//!
//! Most fibers are short-lived, and most of their cells have one of a few sizes. A free list for each size costs a few
//! instructions per block; the system's allocator costs hundreds when many cells are freed at once.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::{self, NonNull};

/// The step between two block sizes, in bytes.
const STEP: usize = 64;
/// The number of sizes that are kept. Larger blocks go to the allocator.
const CLASSES: usize = 8;
/// The number of blocks of each size that are kept per thread: less than 2.5 MiB together.
const MOST: u32 = 1024;
const ALIGN: usize = 16;

/// A free block.
struct Free {
    next: *mut Free,
}

/// The free blocks of one size.
struct List {
    first: Cell<*mut Free>,
    len: Cell<u32>,
}

struct Lists([List; CLASSES]);

thread_local! {
    static LISTS: Lists = const { Lists([const { List { first: Cell::new(ptr::null_mut()), len: Cell::new(0) } }; CLASSES]) };
}

/// The index of the free list for blocks of this layout, and the layout of these blocks.
const fn class(layout: Layout) -> Option<(usize, Layout)> {
    let index = layout.size().wrapping_sub(1) / STEP;
    if index >= CLASSES || layout.align() > ALIGN {
        return None;
    }
    match Layout::from_size_align((index + 1) * STEP, ALIGN) {
        Ok(rounded) => Some((index, rounded)),
        Err(_) => None,
    }
}

/// An uninitialised block for a `T`.
#[inline]
pub(super) fn take<T>() -> NonNull<T> {
    let layout = const { Layout::new::<T>() };
    let block = match const { class(Layout::new::<T>()) } {
        Some((index, rounded)) => {
            let free = LISTS.try_with(|lists| lists.0[index].pop()).ok().flatten();
            match free {
                Some(block) => return block.cast(),
                // SAFETY: the size is not zero.
                None => unsafe { alloc(rounded) },
            }
        }
        // SAFETY: the size of a cell is not zero.
        None => unsafe { alloc(layout) },
    };
    NonNull::new(block).unwrap_or_else(|| handle_alloc_error(layout)).cast()
}

/// Frees a block.
///
/// # Safety
/// It came from [`take`] of the same type, and its contents were dropped or moved out.
#[inline]
pub(super) unsafe fn give<T>(block: NonNull<T>) {
    match const { class(Layout::new::<T>()) } {
        Some((index, rounded)) => {
            // SAFETY: the block is of this size, and has no user.
            let kept = LISTS.try_with(|lists| unsafe { lists.0[index].push(block.cast()) });
            if !kept.unwrap_or(false) {
                // SAFETY: `take` allocated the block with this layout.
                unsafe { dealloc(block.as_ptr().cast(), rounded) };
            }
        }
        // SAFETY: as above.
        None => unsafe { dealloc(block.as_ptr().cast(), Layout::new::<T>()) },
    }
}

impl List {
    #[inline]
    fn pop(&self) -> Option<NonNull<Free>> {
        let first = NonNull::new(self.first.get())?;
        // SAFETY: the list owns its blocks, and `push` has written the link.
        self.first.set(unsafe { first.as_ref() }.next);
        self.len.set(self.len.get() - 1);
        Some(first)
    }

    /// `false` if the list is full.
    ///
    /// # Safety
    /// The block has the list's size. If the result is `true`, the list owns it.
    #[inline]
    unsafe fn push(&self, block: NonNull<Free>) -> bool {
        if self.len.get() >= MOST {
            return false;
        }
        // SAFETY: by the contract; a block is larger than a link.
        unsafe { block.write(Free { next: self.first.get() }) };
        self.first.set(block.as_ptr());
        self.len.set(self.len.get() + 1);
        true
    }
}

impl Drop for Lists {
    fn drop(&mut self) {
        for (index, list) in self.0.iter().enumerate() {
            let layout = Layout::from_size_align((index + 1) * STEP, ALIGN).expect("as in `class`");
            while let Some(block) = list.pop() {
                // SAFETY: `take` allocated the block with this layout.
                unsafe { dealloc(block.as_ptr().cast(), layout) };
            }
        }
    }
}
