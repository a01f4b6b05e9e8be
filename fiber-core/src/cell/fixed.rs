//! A reference to a value that lives for ever, which one thread replaces while others read it.
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::ptr;

use crate::primitive::{AtomicPtr, Ordering};

/// `None` at first.
pub(crate) struct Fixed<T: Sync + 'static>(AtomicPtr<T>, PhantomData<&'static T>);

impl<T: Sync + 'static> Fixed<T> {
    pub(crate) fn new() -> Self {
        Fixed(AtomicPtr::new(ptr::null_mut()), PhantomData)
    }

    #[inline]
    pub(crate) fn set(&self, value: &'static T) {
        // Release: publishes a value that was made at run time.
        self.0.store(ptr::from_ref(value).cast_mut(), Ordering::Release);
    }

    #[inline]
    pub(crate) fn get(&self) -> Option<&'static T> {
        // Acquire: pairs with `set`.
        let value = self.0.load(Ordering::Acquire);
        // SAFETY: only `set` stores a pointer, that of a value that is shared for ever.
        unsafe { value.as_ref() }
    }
}
