//! Whom an event wakes: a fiber, with the number of the event, or a waker. In two words, like the values of [`one_of`](super::one_of).
//!
//! ```text
//!   word:  | number: 63 bits | 1 |               place: the fiber
//!   word:  the address of the waker's vtable     place: the data of the waker
//! ```
#![allow(unsafe_code)]

use std::mem::ManuallyDrop;
use std::num::NonZeroU64;
use std::ptr;
use std::task::{RawWakerVTable, Waker};

/// Owns a fiber of type `F`, or a waker.
pub(crate) struct Target<F> {
    /// Never 0, so an `Option` needs no third word.
    word: NonZeroU64,
    place: Place<F>,
}

union Place<F> {
    fiber: ManuallyDrop<F>,
    data: *const (),
}

// SAFETY: a waker is `Send`.
unsafe impl<F: Send> Send for Target<F> {}
// SAFETY: a waker is `Sync`.
unsafe impl<F: Sync> Sync for Target<F> {}

/// The lowest bit of the word, which no address of a vtable has.
const IS_FIBER: u64 = 1;
const _: () = assert!(align_of::<RawWakerVTable>() > 1);

impl<F> Target<F> {
    /// `number` has 63 bits.
    #[inline]
    pub(crate) fn of_fiber(fiber: F, number: u64) -> Self {
        debug_assert!(number < 1 << 63);
        let word = NonZeroU64::new(number << 1 | IS_FIBER).expect("a bit is set");
        Target { word, place: Place { fiber: ManuallyDrop::new(fiber) } }
    }

    pub(crate) fn of_waker(waker: Waker) -> Self {
        let waker = ManuallyDrop::new(waker);
        let vtable = ptr::from_ref(waker.vtable()).expose_provenance() as u64;
        Target { word: NonZeroU64::new(vtable).expect("an address"), place: Place { data: waker.data() } }
    }

    /// The fiber, with the number of its event.
    #[inline]
    pub(crate) fn fiber(&self) -> Option<(&F, u64)> {
        let word = self.word.get();
        // SAFETY: by the word, there is a fiber, which is not moved out while `self` is borrowed.
        (word & IS_FIBER != 0).then(|| (unsafe { &*self.place.fiber }, word >> 1))
    }

    /// The waker, of which this is an alias.
    pub(crate) fn waker(&self) -> Option<ManuallyDrop<Waker>> {
        if self.word.get() & IS_FIBER != 0 {
            return None;
        }
        let vtable: *const RawWakerVTable = ptr::with_exposed_provenance(self.word.get() as usize);
        // SAFETY: the address is that of a vtable, which lives for ever.
        let vtable = unsafe { &*vtable };
        // SAFETY: by the word, there is a waker.
        let data = unsafe { self.place.data };
        // SAFETY: data and vtable are those of a waker, which is not used as long as the alias is.
        Some(ManuallyDrop::new(unsafe { Waker::new(data, vtable) }))
    }

    /// The fiber with the number of its event, or the waker.
    #[inline]
    pub(crate) fn into_inner(self) -> Result<(F, u64), Waker> {
        ManuallyDrop::new(self).take()
    }

    /// Moves it out. Called once, at the end.
    #[inline]
    fn take(&mut self) -> Result<(F, u64), Waker> {
        if let Some(waker) = self.waker() {
            return Err(ManuallyDrop::into_inner(waker));
        }
        // SAFETY: by the word, there is a fiber.
        let fiber = unsafe { &mut self.place.fiber };
        // SAFETY: the caller does not use it again.
        Ok((unsafe { ManuallyDrop::take(fiber) }, self.word.get() >> 1))
    }
}

impl<F> Drop for Target<F> {
    #[inline]
    fn drop(&mut self) {
        drop(self.take());
    }
}
