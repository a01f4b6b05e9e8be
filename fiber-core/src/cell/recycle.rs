//! Blocks of memory for cells, and for the boxes that belong to a cell: those that were given back on this thread come first.
//!
//! Most fibers are short, and most of their blocks have one of a few sizes. A list of free blocks for each size costs some instructions for
//! a block; the system's allocator costs hundreds when many cells are given back at a time.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::{self, NonNull};

/// Blocks are so much apart in size.
const STEP: usize = 64;
/// So many sizes are kept. Larger blocks are the allocator's.
const CLASSES: usize = 8;
/// So many blocks of each size are kept for a thread: less than 2.5 MiB together.
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

/// The list for blocks of this layout, and their layout.
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

/// A block for a `T`, not initialised.
#[inline]
pub(super) fn take<T>() -> NonNull<T> {
    const { assert!(size_of::<T>() > 0) };
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
        // SAFETY: the size is not zero.
        None => unsafe { alloc(layout) },
    };
    NonNull::new(block).unwrap_or_else(|| handle_alloc_error(layout)).cast()
}

/// Gives back a block.
///
/// # Safety
/// It came from [`take`] of the same type, and nothing is in it any more.
#[inline]
pub(super) unsafe fn give<T>(block: NonNull<T>) {
    match const { class(Layout::new::<T>()) } {
        Some((index, rounded)) => {
            // SAFETY: the block is of this size, and nobody uses it.
            let kept = LISTS.try_with(|lists| unsafe { lists.0[index].push(block.cast()) });
            if !kept.unwrap_or(false) {
                // SAFETY: `take` allocated it so.
                unsafe { dealloc(block.as_ptr().cast(), rounded) };
            }
        }
        // SAFETY: as above.
        None => unsafe { dealloc(block.as_ptr().cast(), Layout::new::<T>()) },
    }
}

/// Puts a value into a block of memory of its own.
#[inline]
pub(super) fn boxed<T>(value: T) -> NonNull<T> {
    let block = take::<T>();
    // SAFETY: the block is large enough and aligned, and nobody else has it.
    unsafe { block.write(value) };
    block
}

/// Takes the value out of its block, and gives back the block.
///
/// # Safety
/// The block came from [`boxed`] of the same type, and nobody uses it any more.
#[inline]
pub(super) unsafe fn unboxed<T>(block: NonNull<T>) -> T {
    // SAFETY: by the contract.
    let value = unsafe { block.read() };
    // SAFETY: by the contract, and the value was moved out.
    unsafe { give(block) };
    value
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

    /// `false`: the list is long enough.
    ///
    /// # Safety
    /// The block is of the list's size, and becomes its property then.
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
                // SAFETY: `take` allocated it so.
                unsafe { dealloc(block.as_ptr().cast(), layout) };
            }
        }
    }
}
