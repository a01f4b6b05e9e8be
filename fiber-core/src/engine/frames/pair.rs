//! What a frame gives to the next one: two words, which are passed in registers.

use std::mem::{MaybeUninit, align_of, size_of};

/// The alignment of frames. A value that needs more lies in a box of its own.
pub(super) const ALIGN: usize = align_of::<u64>();

/// An outcome on its way to the next frame. A small one is in these two words, which are passed in registers; a wide one is in
/// the buffer, above the frames.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Pair(MaybeUninit<u64>, MaybeUninit<u64>);

impl Pair {
    /// Of a frame that waits, or of the last one.
    pub(super) const EMPTY: Pair = Pair(MaybeUninit::uninit(), MaybeUninit::uninit());

    /// Of a small value.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn of<V>(value: V) -> Pair {
        debug_assert!(is_small::<V>());
        let mut pair = Pair::EMPTY;
        // SAFETY: it fits, and is aligned.
        unsafe { (&raw mut pair).cast::<V>().write(value) };
        pair
    }

    /// # Safety
    /// The pair is [of](Pair::of) a `V`, which is taken once.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn take<V>(self) -> V {
        debug_assert!(is_small::<V>());
        // SAFETY: by the contract.
        unsafe { (&raw const self).cast::<V>().read() }
    }
}

/// Whether an outcome of type `V` lies in a pair.
pub(super) const fn is_small<V>() -> bool {
    size_of::<V>() <= size_of::<Pair>() && align_of::<V>() <= ALIGN
}

/// Whether a value lies in a box, wherever it is.
pub(super) const fn is_over_aligned<V>() -> bool {
    align_of::<V>() > ALIGN
}
