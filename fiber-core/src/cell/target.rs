//! Whom an event wakes: a fiber, with the number of the event, or a waker. In two words, like the values of [`one_of`](super::one_of).
//!
//! ```text
//!   word:  | number: 63 bits | 1 |               place: the fiber
//!   word:  the address of the waker's vtable     place: the data of the waker
//! ```
#![allow(unsafe_code)]

use std::mem::ManuallyDrop;
use std::num::NonZeroUsize;
use std::ptr::NonNull;
use std::task::{RawWakerVTable, Waker};

/// Owns a fiber of type `F`, or a waker.
pub(crate) struct Target<F> {
    /// Never null, so an `Option` needs no third word.
    word: NonNull<()>,
    /// The part of the number that a shorter word has no room for.
    #[cfg(not(target_pointer_width = "64"))]
    high: u32,
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
const IS_FIBER: usize = 1;
const _: () = assert!(align_of::<RawWakerVTable>() > 1);

impl<F> Target<F> {
    /// `number` has 63 bits.
    #[inline]
    pub(crate) fn of_fiber(fiber: F, number: u64) -> Self {
        debug_assert!(number < 1 << 63);
        let word = NonZeroUsize::new((number << 1) as usize | IS_FIBER).expect("a bit is set");
        Target {
            word: NonNull::without_provenance(word),
            #[cfg(not(target_pointer_width = "64"))]
            high: (number >> (usize::BITS - 1)) as u32,
            place: Place { fiber: ManuallyDrop::new(fiber) },
        }
    }

    pub(crate) fn of_waker(waker: Waker) -> Self {
        let waker = ManuallyDrop::new(waker);
        Target {
            word: NonNull::from(waker.vtable()).cast(),
            #[cfg(not(target_pointer_width = "64"))]
            high: 0,
            place: Place { data: waker.data() },
        }
    }

    #[inline]
    fn is_fiber(&self) -> bool {
        self.word.addr().get() & IS_FIBER != 0
    }

    #[inline]
    fn number(&self) -> u64 {
        let number = (self.word.addr().get() >> 1) as u64;
        #[cfg(not(target_pointer_width = "64"))]
        let number = number | u64::from(self.high) << (usize::BITS - 1);
        number
    }

    /// The fiber, with the number of its event.
    #[inline]
    pub(crate) fn fiber(&self) -> Option<(&F, u64)> {
        // SAFETY: by the word, there is a fiber, which is not moved out while `self` is borrowed.
        self.is_fiber().then(|| (unsafe { &*self.place.fiber }, self.number()))
    }

    /// The waker, of which this is an alias.
    pub(crate) fn waker(&self) -> Option<ManuallyDrop<Waker>> {
        if self.is_fiber() {
            return None;
        }
        // SAFETY: the word is a reference to a vtable, which lives for ever.
        let vtable = unsafe { self.word.cast::<RawWakerVTable>().as_ref() };
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
        let fiber = unsafe { ManuallyDrop::take(fiber) };
        Ok((fiber, self.number()))
    }
}

impl<F> Drop for Target<F> {
    #[inline]
    fn drop(&mut self) {
        drop(self.take());
    }
}
