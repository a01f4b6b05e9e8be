//! Sequences that can be split.

use std::ops::Range;

/// A sequence of known length that can be split in two: a slice, or a range of integers.
pub trait Items: Send + Sized {
    /// An element.
    type Item;

    /// How many elements there are.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first `middle` elements, and the others.
    fn split_at(self, middle: usize) -> (Self, Self);

    /// The elements in order.
    fn sequence(self) -> impl Iterator<Item = Self::Item>;
}

/// Anything with [`Items`]: `&vec`, `&mut slice`, `0..n`.
pub trait IntoItems {
    /// The sequence.
    type Items: Items;

    /// The sequence of the elements.
    fn into_items(self) -> Self::Items;
}

impl<I: Items> IntoItems for I {
    type Items = I;

    fn into_items(self) -> I {
        self
    }
}

impl<'a, T: Sync> IntoItems for &'a Vec<T> {
    type Items = &'a [T];

    fn into_items(self) -> &'a [T] {
        self
    }
}

impl<'a, T: Send> IntoItems for &'a mut Vec<T> {
    type Items = &'a mut [T];

    fn into_items(self) -> &'a mut [T] {
        self
    }
}

impl<'a, T: Sync, const N: usize> IntoItems for &'a [T; N] {
    type Items = &'a [T];

    fn into_items(self) -> &'a [T] {
        self
    }
}

impl<'a, T: Send, const N: usize> IntoItems for &'a mut [T; N] {
    type Items = &'a mut [T];

    fn into_items(self) -> &'a mut [T] {
        self
    }
}

impl<'a, T: Sync> Items for &'a [T] {
    type Item = &'a T;

    #[inline]
    fn len(&self) -> usize {
        <[T]>::len(self)
    }

    #[inline]
    fn split_at(self, middle: usize) -> (Self, Self) {
        <[T]>::split_at(self, middle)
    }

    #[inline]
    fn sequence(self) -> impl Iterator<Item = &'a T> {
        self.iter()
    }
}

impl<'a, T: Send> Items for &'a mut [T] {
    type Item = &'a mut T;

    #[inline]
    fn len(&self) -> usize {
        <[T]>::len(self)
    }

    #[inline]
    fn split_at(self, middle: usize) -> (Self, Self) {
        <[T]>::split_at_mut(self, middle)
    }

    #[inline]
    fn sequence(self) -> impl Iterator<Item = &'a mut T> {
        self.iter_mut()
    }
}

macro_rules! ranges {
    ($($integer:ty)*) => {$(
        impl Items for Range<$integer> {
            type Item = $integer;

            #[inline]
            fn len(&self) -> usize {
                // More elements than the memory has addresses are not counted to their end in any case.
                if self.end <= self.start { 0 } else { usize::try_from(self.end.abs_diff(self.start)).unwrap_or(usize::MAX) }
            }

            #[inline]
            fn split_at(self, middle: usize) -> (Self, Self) {
                // In the range, as `middle` is at most its length, though not always as a number of this type.
                let middle = self.start.wrapping_add(middle as $integer);
                (self.start..middle, middle..self.end)
            }

            #[inline]
            fn sequence(self) -> impl Iterator<Item = $integer> {
                self
            }
        }
    )*};
}

ranges! { u8 u16 u32 u64 usize i8 i16 i32 i64 isize }
