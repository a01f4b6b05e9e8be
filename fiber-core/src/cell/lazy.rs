//! Values that are made on demand: in a box, which takes one word until then, or in place.
//!
//! | pointer of a `LazyBox` | meaning | left by | to |
//! |---|---|---|---|
//! | null | not made | `get_or_make` | the box |
//! | the box | made; shared until the drop | | |
//!
//! | `is_made` of a `LazyPlace` | the place | left by | to |
//! |---|---|---|---|
//! | `false` | is empty; belongs to the thread that has made the count odd | that thread, in `get_or_make` | `true` |
//! | `true` | holds the value; shared until `take` or the drop | `take` | `false` |
//!
//! | `MadeCount` | meaning | left by | to |
//! |---|---|---|---|
//! | even | no value is being made | `begin`, of one thread | the next odd number |
//! | odd | one thread makes a value | the same, in `end` | the next even number; or the one before, if the value was there |
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use super::recycle::{boxed, unboxed};
use crate::primitive::{AtomicBool, AtomicPtr, AtomicU64, Ordering, UnsafeCell, wait_a_moment};

pub(crate) struct LazyBox<T: Send + Sync>(AtomicPtr<T>, PhantomData<Box<T>>);

impl<T: Send + Sync> LazyBox<T> {
    pub(crate) fn new() -> Self {
        LazyBox(AtomicPtr::new(ptr::null_mut()), PhantomData)
    }

    /// A box that is made from the start.
    pub(crate) fn of(make: impl FnOnce() -> T) -> Self {
        LazyBox(AtomicPtr::new(boxed(make).as_ptr()), PhantomData)
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
        self.get().unwrap_or_else(|| self.make(make))
    }

    #[cold]
    fn make(&self, make: impl FnOnce() -> T) -> &T {
        let made = boxed(make);
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

/// Counts the values that are made in some places, one at a time. While the count is the same, no place has got a value.
#[derive(Debug)]
pub(crate) struct MadeCount(AtomicU64);

impl MadeCount {
    /// Never the count.
    const NEVER: u64 = u64::MAX;

    pub(crate) fn new() -> Self {
        MadeCount(AtomicU64::new(0))
    }

    /// The count, if no value is being made.
    #[inline]
    pub(crate) fn settled(&self) -> u64 {
        // Acquire: pairs with the Release in `end`, so the values that were counted are found in their places.
        let count = self.0.load(Ordering::Acquire);
        if count.is_multiple_of(2) { count } else { Self::NEVER }
    }

    #[inline]
    pub(crate) fn is_still(&self, seen: u64) -> bool {
        // Relaxed: a thread that finds a value in its place reads another count here, because `begin` comes before that.
        self.0.load(Ordering::Relaxed) == seen
    }

    /// Lets this thread alone make values. Returns the count.
    fn begin(&self) -> u64 {
        loop {
            // Relaxed: the compare-and-swap decides.
            let count = self.0.load(Ordering::Relaxed);
            // Acquire: pairs with the Release in `end`.
            let begins =
                || self.0.compare_exchange(count, count + 1, Ordering::Acquire, Ordering::Relaxed).is_ok();
            if count.is_multiple_of(2) && begins() {
                return count;
            }
            wait_a_moment();
        }
    }

    fn end(&self, count: u64) {
        // Release: publishes the values to the Acquire of `begin` and `settled`.
        self.0.store(count, Ordering::Release);
    }
}

/// A value that is made in place, by a call that takes no longer than some microseconds: other threads wait for it by polling.
pub(crate) struct LazyPlace<'a, T> {
    count: &'a MadeCount,
    place: MaybeMade<T>,
}

/// Apart from the count, so that a drop does not use that.
struct MaybeMade<T> {
    is_made: AtomicBool,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: threads share the value (`T: Sync`), and the one that takes or drops it may be another than the one that has made it
// (`T: Send`). The count decides which thread writes.
unsafe impl<T: Send + Sync> Sync for MaybeMade<T> {}

impl<'a, T> LazyPlace<'a, T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new(count: &'a MadeCount) -> Self {
        let (is_made, value) = (AtomicBool::new(false), UnsafeCell::new(MaybeUninit::uninit()));
        LazyPlace { count, place: MaybeMade { is_made, value } }
    }

    #[inline]
    pub(crate) fn count(&self) -> &'a MadeCount {
        self.count
    }

    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        // Acquire: pairs with the Release of `get_or_make`.
        self.place.is_made.load(Ordering::Acquire).then(|| self.place.made())
    }

    /// The value. One caller makes it, by a call that never unwinds and makes no other one that has the same count; the result says
    /// whether this one has.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn get_or_make(&self, make: impl FnOnce() -> T) -> (&T, bool) {
        let MaybeMade { is_made, value } = &self.place;
        let count = self.count.begin();
        // Relaxed: the count orders all writes.
        if is_made.load(Ordering::Relaxed) {
            self.count.end(count);
            return (self.place.made(), false);
        }
        let made = make();
        value.with_mut(|place| {
            // SAFETY: the place is empty, and belongs to this thread until `end`.
            unsafe { (*place).write(made) };
        });
        // Release: publishes the value to the Acquire of `get`.
        is_made.store(true, Ordering::Release);
        self.count.end(count + 2);
        (self.place.made(), true)
    }

    #[inline]
    pub(crate) fn take(&mut self) -> Option<T> {
        self.place.take()
    }
}

impl<T> MaybeMade<T> {
    /// The callers have seen that it is made.
    #[inline]
    fn made(&self) -> &T {
        // SAFETY: once it is made, the value is only shared, until `take` or the drop, which have exclusive access.
        self.value.with(|place| unsafe { &*place.cast::<T>() })
    }

    #[inline]
    fn take(&mut self) -> Option<T> {
        // Relaxed: `&mut` orders all accesses.
        if !self.is_made.load(Ordering::Relaxed) {
            return None;
        }
        self.is_made.store(false, Ordering::Relaxed);
        // SAFETY: the value was made, and is taken once, because the place is empty now.
        Some(self.value.with_mut(|place| unsafe { place.cast::<T>().read() }))
    }
}

impl<T> Drop for MaybeMade<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        drop(self.take());
    }
}
