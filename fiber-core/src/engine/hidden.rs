//! [`Hidden`]: a value whose type is hidden behind a table of functions.
//!
//! A `dyn` trait would hide it as well. But a method of one takes a value only out of a `Box`, whose memory comes from the system's
//! allocator.
#![allow(unsafe_code)]

use std::any::Any;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use crate::cell::Recycled;
use crate::drop_queue::drop_nested;

/// The functions `F` of a type. They get hidden values, which they [reveal](Hidden::reveal).
pub(crate) struct Table<F> {
    drop: unsafe fn(NonNull<()>),
    functions: F,
}

impl<F> Table<F> {
    /// For values of type `V`.
    pub(crate) const fn of<V: Send + 'static>(functions: F) -> Self {
        Table { drop: drop_value::<V>, functions }
    }
}

/// # Safety
/// The pointer came from a [`Recycled`] of this type, and is not used afterwards.
unsafe fn drop_value<V>(value: NonNull<()>) {
    // SAFETY: by the contract.
    drop(unsafe { Recycled::from_raw(value.cast::<V>()) });
}

/// A value of a type that only its table knows. Nested ones are dropped through the [drop queue](crate::drop_queue).
pub(crate) struct Hidden<F> {
    value: NonNull<()>,
    /// It lives for ever.
    table: NonNull<Table<F>>,
    /// All that is known of the value.
    _value: PhantomData<dyn Any + Send>,
}

// SAFETY: the value is `Send`, and the table is shared.
unsafe impl<F: Sync> Send for Hidden<F> {}

impl<F> Hidden<F> {
    /// # Safety
    /// The table is [of](Table::of) the type of the value.
    #[inline]
    pub(crate) unsafe fn new<V: Send + 'static>(value: Recycled<V>, table: &'static Table<F>) -> Self {
        Hidden { value: value.into_raw().cast(), table: NonNull::from(table), _value: PhantomData }
    }

    #[inline]
    fn table(&self) -> &Table<F> {
        // SAFETY: it lives for ever.
        unsafe { self.table.as_ref() }
    }

    #[inline]
    pub(crate) fn functions(&self) -> &F {
        &self.table().functions
    }

    /// # Safety
    /// The value is of this type.
    #[inline]
    pub(crate) unsafe fn reveal<V>(self) -> Recycled<V> {
        // SAFETY: by the contract; it came from a `Recycled`.
        unsafe { Recycled::from_raw(ManuallyDrop::new(self).value.cast()) }
    }

    /// # Safety
    /// The value is of this type.
    #[inline]
    pub(crate) unsafe fn as_ref<V>(&self) -> &V {
        // SAFETY: by the contract; this owns the value.
        unsafe { self.value.cast().as_ref() }
    }

    /// # Safety
    /// The value is of this type.
    #[inline]
    pub(crate) unsafe fn as_mut<V>(&mut self) -> &mut V {
        // SAFETY: by the contract; this owns the value.
        unsafe { self.value.cast().as_mut() }
    }
}

impl<F> Drop for Hidden<F> {
    #[inline]
    fn drop(&mut self) {
        drop_nested(Dead { value: self.value, drop: self.table().drop });
    }
}

/// A value that is dropped with this.
struct Dead {
    value: NonNull<()>,
    drop: unsafe fn(NonNull<()>),
}

impl Drop for Dead {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the function is that of the value's type, and nothing else owns the value.
        unsafe { (self.drop)(self.value) };
    }
}
