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

/// The types of the three values.
pub(crate) trait Values: Sized {
    type First;
    type Second;
    type Third;

    /// Called when the value is dropped with its note.
    fn discard(value: Value<Self>, note: u64);
}

/// Owns a value, and a note about it.
pub(crate) struct OneOf<V: Values> {
    /// Never 0, so an `Option` needs no third word.
    word: NonZeroU64,
    place: Place<V>,
}

union Place<V: Values> {
    first: ManuallyDrop<V::First>,
    second: ManuallyDrop<V::Second>,
    third: ManuallyDrop<V::Third>,
}

/// The value.
pub(crate) enum Value<V: Values> {
    First(V::First),
    Second(V::Second),
    Third(V::Third),
}

/// The value, borrowed.
pub(crate) enum ValueRef<'a, V: Values> {
    First(&'a V::First),
    Second(&'a V::Second),
    Third(&'a V::Third),
}

const FIRST: u64 = 1;
const SECOND: u64 = 2;
const THIRD: u64 = 3;
/// The number of bits in front of the note.
const SHIFT: u32 = 2;

impl<V: Values> OneOf<V> {
    /// `note` has 62 bits.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new(value: Value<V>, note: u64) -> Self {
        debug_assert!(note < 1 << (u64::BITS - SHIFT));
        let (tag, place) = match value {
            Value::First(first) => (FIRST, Place { first: ManuallyDrop::new(first) }),
            Value::Second(second) => (SECOND, Place { second: ManuallyDrop::new(second) }),
            Value::Third(third) => (THIRD, Place { third: ManuallyDrop::new(third) }),
        };
        let word = NonZeroU64::new(note << SHIFT | tag).expect("the tag is not 0");
        OneOf { word, place }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn note(&self) -> u64 {
        self.word.get() >> SHIFT
    }

    fn tag(&self) -> u64 {
        self.word.get() & ((1 << SHIFT) - 1)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn get(&self) -> ValueRef<'_, V> {
        match self.tag() {
            // SAFETY: `new` has written the field that the tag names, and nothing moves it out while `self` can be borrowed.
            FIRST => ValueRef::First(unsafe { &*self.place.first }),
            // SAFETY: as above.
            SECOND => ValueRef::Second(unsafe { &*self.place.second }),
            // SAFETY: as above.
            _ => ValueRef::Third(unsafe { &*self.place.third }),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn into_inner(self) -> (Value<V>, u64) {
        ManuallyDrop::new(self).take()
    }

    /// Moves the value out. Called once, at the end.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take(&mut self) -> (Value<V>, u64) {
        let value = match self.tag() {
            FIRST => {
                // SAFETY: as in `get`.
                let first = unsafe { &mut self.place.first };
                // SAFETY: the caller does not use it again.
                Value::First(unsafe { ManuallyDrop::take(first) })
            }
            SECOND => {
                // SAFETY: as in `get`.
                let second = unsafe { &mut self.place.second };
                // SAFETY: as above.
                Value::Second(unsafe { ManuallyDrop::take(second) })
            }
            _ => {
                // SAFETY: as in `get`.
                let third = unsafe { &mut self.place.third };
                // SAFETY: as above.
                Value::Third(unsafe { ManuallyDrop::take(third) })
            }
        };
        (value, self.note())
    }
}

impl<V: Values> Drop for OneOf<V> {
    #[inline]
    fn drop(&mut self) {
        let (value, note) = self.take();
        V::discard(value, note);
    }
}
