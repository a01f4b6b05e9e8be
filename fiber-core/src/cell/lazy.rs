//! Values that are made on demand: in a box, which takes one word until then, or in place.
//!
//! | pointer of a `LazyBox` | meaning | left by | to |
//! |---|---|---|---|
//! | null | not made | `get_or_make` | the box |
//! | the box | made; shared until the drop | | |
//!
//! | state of a `LazyPlace` | the place | left by | to |
//! |---|---|---|---|
//! | `EMPTY` | is empty | `get_or_make`, of one thread | `MAKING` |
//! | `MAKING` | belongs to that thread | the same | `MADE` |
//! | `MADE` | holds the value; shared until `take` or the drop | `take` | `EMPTY` |
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use super::recycle::{boxed, unboxed};
use crate::primitive::{AtomicPtr, AtomicU32, Ordering, UnsafeCell, wait_a_moment};

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

impl<T: Send + Sync> Default for LazyBox<T> {
    fn default() -> Self {
        LazyBox::new()
    }
}

impl<T: Send + Sync> Drop for LazyBox<T> {
    #[inline]
    fn drop(&mut self) {
        // Relaxed: the dropping thread has exclusive access.
        if let Some(made) = NonNull::new(self.0.load(Ordering::Relaxed)) {
            // SAFETY: as in `get`, and only this drop takes the box out.
            unsafe { drop_box(made) };
        }
    }
}

/// # Safety
/// As of `unboxed`.
// Not inlined: most boxes are never made.
#[cold]
#[inline(never)]
unsafe fn drop_box<T>(made: NonNull<T>) {
    // SAFETY: by the contract.
    drop(unsafe { unboxed(made) });
}

const EMPTY: u32 = 0;
const MAKING: u32 = 1;
const MADE: u32 = 2;

/// A value that is made in place, by a call that takes no longer than some microseconds: other threads wait for it by polling.
pub(crate) struct LazyPlace<T> {
    state: AtomicU32,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: threads share the value (`T: Sync`), and the one that takes or drops it may be another than the one that has made it
// (`T: Send`). The state decides which thread writes.
unsafe impl<T: Send + Sync> Sync for LazyPlace<T> {}

impl<T> LazyPlace<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new() -> Self {
        LazyPlace { state: AtomicU32::new(EMPTY), value: UnsafeCell::new(MaybeUninit::uninit()) }
    }

    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        // Acquire: pairs with the Release of `get_or_make`.
        (self.state.load(Ordering::Acquire) == MADE).then(|| self.made())
    }

    /// The value. One caller makes it, by a call that never unwinds; the result says whether this one has.
    pub(crate) fn get_or_make(&self, make: impl FnOnce() -> T) -> (&T, bool) {
        // Relaxed to take the place: nothing was published there. Acquire on failure: as in `get`.
        match self.state.compare_exchange(EMPTY, MAKING, Ordering::Relaxed, Ordering::Acquire) {
            Ok(_) => {
                let value = make();
                self.value.with_mut(|place| {
                    // SAFETY: in `MAKING`, the place belongs to this thread.
                    unsafe { (*place).write(value) };
                });
                // Release: publishes the value to the Acquire of `get`.
                self.state.store(MADE, Ordering::Release);
            }
            Err(MADE) => return (self.made(), false),
            Err(_) => {
                while self.get().is_none() {
                    wait_a_moment();
                }
                return (self.made(), false);
            }
        }
        (self.made(), true)
    }

    /// The callers have seen `MADE`.
    #[inline]
    fn made(&self) -> &T {
        // SAFETY: in `MADE` the value is only shared, until `take` or the drop, which have exclusive access.
        self.value.with(|place| unsafe { &*place.cast::<T>() })
    }

    #[inline]
    pub(crate) fn take(&mut self) -> Option<T> {
        // Relaxed: `&mut` orders all accesses.
        if self.state.load(Ordering::Relaxed) != MADE {
            return None;
        }
        self.state.store(EMPTY, Ordering::Relaxed);
        // SAFETY: the value was made, and is taken once, because the place is empty now.
        Some(self.value.with_mut(|place| unsafe { place.cast::<T>().read() }))
    }
}

impl<T> Drop for LazyPlace<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        drop(self.take());
    }
}
