//! [`Recycled`]: a value in a block of the [free lists](super::recycle).
#![allow(unsafe_code)]

use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use super::recycle::{boxed, give};

/// A `Box` whose memory is reused.
pub(crate) struct Recycled<T>(NonNull<T>);

// SAFETY: it owns the value, as a `Box` does.
unsafe impl<T: Send> Send for Recycled<T> {}

impl<T> Recycled<T> {
    #[inline]
    pub(crate) fn new(make: impl FnOnce() -> T) -> Self {
        Recycled(boxed(make))
    }

    /// There is no shared access: the value may be a future that refers to itself, which a shared reference to the whole of it would
    /// forbid.
    #[inline]
    pub(crate) fn as_mut(&mut self) -> &mut T {
        // SAFETY: the value is there until this is dropped, and has one owner.
        unsafe { self.0.as_mut() }
    }

    /// Gives up the value without dropping it, for [`from_raw`](Recycled::from_raw).
    #[inline]
    pub(crate) fn into_raw(self) -> NonNull<T> {
        ManuallyDrop::new(self).0
    }

    /// # Safety
    /// The pointer came from [`into_raw`](Recycled::into_raw), and is not used afterwards.
    #[inline]
    pub(crate) unsafe fn from_raw(value: NonNull<T>) -> Self {
        Recycled(value)
    }
}

impl<T> Drop for Recycled<T> {
    /// The value is dropped in its place, where it may be pinned.
    #[inline]
    fn drop(&mut self) {
        let _block = Emptied(self.0);
        // SAFETY: this owns the value, which nothing uses any more.
        unsafe { self.0.drop_in_place() };
    }
}

/// The block of a value that is being dropped, which may panic.
struct Emptied<T>(NonNull<T>);

impl<T> Drop for Emptied<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: `Recycled` took the block for a `T`, and nothing else refers to it.
        unsafe { give(self.0) };
    }
}

#[cfg(all(test, not(fiber_loom)))]
mod tests {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// Counts its drops, and panics in each.
    struct Bomb<'a>(&'a Cell<u32>);

    impl Drop for Bomb<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
            panic!("dropped");
        }
    }

    #[test]
    fn a_value_is_dropped_once_and_its_block_is_reused_also_after_a_panic() {
        let drops = Cell::new(0);
        let value = Recycled::new(|| Bomb(&drops));
        let at = value.0.addr();
        assert!(catch_unwind(AssertUnwindSafe(|| drop(value))).is_err());
        assert_eq!(drops.get(), 1);
        let mut next = Recycled::new(|| 7_usize);
        assert_eq!((*next.as_mut(), next.0.addr()), (7, at));
    }
}
