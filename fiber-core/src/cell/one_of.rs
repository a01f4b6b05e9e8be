//! One of three values, each of one word, and a note, in two words.
//!
//! An `enum` of such values would have three words, and be moved through memory: written field by field and read as a whole, which
//! stalls the reader. Two words are passed in registers.
//!
//! ```text
//!   word:  | note: 62 bits | which: 1, 2 or 3 |      value: the first, second or third of the union
//! ```
#![allow(unsafe_code)]

use std::mem::ManuallyDrop;
use std::num::NonZeroU64;

/// Owns an `A`, a `B`, or a `C`.
pub(crate) struct OneOf<A, B, C> {
    /// Never 0, so an `Option` needs no third word.
    word: NonZeroU64,
    value: Value<A, B, C>,
}

union Value<A, B, C> {
    first: ManuallyDrop<A>,
    second: ManuallyDrop<B>,
    third: ManuallyDrop<C>,
}

/// The value, or a reference to it.
pub(crate) enum Which<A, B, C> {
    First(A),
    Second(B),
    Third(C),
}

const FIRST: u64 = 1;
const SECOND: u64 = 2;
const THIRD: u64 = 3;
/// The number of bits in front of the note.
const SHIFT: u32 = 2;

impl<A, B, C> OneOf<A, B, C> {
    /// `note` has 62 bits.
    #[inline(always)]
    pub(crate) fn new(which: Which<A, B, C>, note: u64) -> Self {
        debug_assert!(note < 1 << (u64::BITS - SHIFT));
        let (tag, value) = match which {
            Which::First(first) => (FIRST, Value { first: ManuallyDrop::new(first) }),
            Which::Second(second) => (SECOND, Value { second: ManuallyDrop::new(second) }),
            Which::Third(third) => (THIRD, Value { third: ManuallyDrop::new(third) }),
        };
        let word = NonZeroU64::new(note << SHIFT | tag).expect("the tag is not 0");
        OneOf { word, value }
    }

    #[inline(always)]
    pub(crate) fn note(&self) -> u64 {
        self.word.get() >> SHIFT
    }

    fn tag(&self) -> u64 {
        self.word.get() & (1 << SHIFT) - 1
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> Which<&A, &B, &C> {
        // SAFETY: `new` has written the field that the tag names, and nothing moves it out while `self` can be borrowed.
        unsafe {
            match self.tag() {
                FIRST => Which::First(&self.value.first),
                SECOND => Which::Second(&self.value.second),
                _ => Which::Third(&self.value.third),
            }
        }
    }

    #[inline(always)]
    pub(crate) fn into_inner(self) -> Which<A, B, C> {
        ManuallyDrop::new(self).take()
    }

    /// Moves the value out. Called once, at the end.
    #[inline(always)]
    fn take(&mut self) -> Which<A, B, C> {
        // SAFETY: as in `get`, and the caller does not use the value again.
        unsafe {
            match self.tag() {
                FIRST => Which::First(ManuallyDrop::take(&mut self.value.first)),
                SECOND => Which::Second(ManuallyDrop::take(&mut self.value.second)),
                _ => Which::Third(ManuallyDrop::take(&mut self.value.third)),
            }
        }
    }
}

impl<A, B, C> Drop for OneOf<A, B, C> {
    fn drop(&mut self) {
        drop(self.take());
    }
}
