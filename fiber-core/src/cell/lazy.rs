//! A box that is made on demand, in one word.
//!
//! | pointer | meaning | left by | to |
//! |---|---|---|---|
//! | null | not made | `get_or_make` | the box |
//! | the box | made; shared until the drop | | |
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use super::recycle::{boxed, unboxed};
use crate::primitive::{AtomicPtr, Ordering};

pub(crate) struct LazyBox<T: Send + Sync>(AtomicPtr<T>, PhantomData<Box<T>>);

impl<T: Send + Sync> LazyBox<T> {
    pub(crate) fn new() -> Self {
        LazyBox(AtomicPtr::new(ptr::null_mut()), PhantomData)
    }

    /// A box that is made from the start.
    pub(crate) fn of(value: T) -> Self {
        LazyBox(AtomicPtr::new(boxed(value).as_ptr()), PhantomData)
    }

    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        // SeqCst: a walker through the children of a node that comes after a child's read of the node's flag sees the
        // segment of that child, whichever thread made it. It includes Acquire, which pairs with `get_or_make`; other
        // users need no more.
        let made = self.0.load(Ordering::SeqCst);
        // SAFETY: only `of` and `get_or_make` store a pointer here, that of a box, which is shared until the drop.
        unsafe { made.as_ref() }
    }

    /// The box; calls `make` if there is none. If two threads make one, the second is dropped.
    pub(crate) fn get_or_make(&self, make: impl FnOnce() -> T) -> &T {
        self.get().unwrap_or_else(|| self.make(make()))
    }

    #[cold]
    fn make(&self, value: T) -> &T {
        let made = boxed(value);
        // SeqCst: as in `get`. It includes Release, which publishes the box; Acquire on failure: pairs with the Release of
        // the thread that has published one.
        match self.0.compare_exchange(ptr::null_mut(), made.as_ptr(), Ordering::SeqCst, Ordering::SeqCst) {
            // SAFETY: as in `get`.
            Ok(_) => unsafe { made.as_ref() },
            Err(other) => {
                // SAFETY: `made` came from `boxed`, and no other thread has seen it.
                drop(unsafe { unboxed(made) });
                // SAFETY: as in `get`.
                unsafe { &*other }
            }
        }
    }
}

impl<T: Send + Sync> Drop for LazyBox<T> {
    #[inline]
    fn drop(&mut self) {
        // Relaxed: the dropping thread has exclusive access.
        if let Some(made) = NonNull::new(self.0.load(Ordering::Relaxed)) {
            // SAFETY: as in `get`, and only this drop takes the box out.
            drop(unsafe { unboxed(made) });
        }
    }
}
