//! The rest of a waiting fiber: its leaf and the rest of its program, with the type hidden behind one word.
//!
//! ```text
//!   Rest ──> [ table | fiber | value ]      in a box, or in the cell of the fiber: the table says which
//! ```
//!
//! The rest holds a reference to its fiber, so a task that wakes a fiber is this one word.
//!
//! A rest is stored in the buffer that held the description of its fiber, if it fits, which it usually does for the
//! first wait. A [`Room`] is the right to use that buffer. It is taken from the state word of the node, and returned there
//! when the value is moved out. A room that stays unused because the value is too large is lost: from then on, that fiber
//! waits in boxes. While the fiber runs, its turn keeps the room (see [`vacancy`](super::vacancy)).
#![allow(unsafe_code)]

use std::alloc::Layout;
use std::any::TypeId;
use std::borrow::Borrow;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use super::node::Owner;
use super::recycle::{self, boxed};
use super::vacancy::{Awake, Vacancy};

/// A value that a [`Rest`] can hide.
pub(crate) trait Waiting<O: Owner>: Send + Sized + 'static {
    const WAKING: &'static O::Waking;
}

/// Owns a value of a hidden type.
pub(crate) struct Rest<O: Owner>(NonNull<Head<O>>, PhantomData<Head<O>>);

/// Owns a value of a known type.
pub(crate) struct Kept<O: Owner, T>(NonNull<Block<O, T>>, PhantomData<Block<O, T>>);

/// The header before the value.
pub(crate) struct Head<O: Owner> {
    table: &'static Table<O>,
    fiber: O::Fiber,
}

#[repr(C)]
struct Block<O: Owner, T> {
    head: Head<O>,
    value: T,
}

/// The function table of the value's type.
struct Table<O: Owner> {
    value: TypeId,
    /// Whether the value is in a box of its own rather than in the cell of its fiber.
    is_boxed: bool,
    drop: unsafe fn(NonNull<Head<O>>),
    waking: &'static O::Waking,
}

// SAFETY: the value is owned and `Send` (`Waiting` requires it); a reference to a cell is `Send` too.
unsafe impl<O: Owner> Send for Rest<O> {}
// SAFETY: as above.
unsafe impl<O: Owner, T: Send> Send for Kept<O, T> {}

/// The right to put one value into the cell of a node, in the buffer that held the description.
pub(crate) struct Room<'a, O: Owner> {
    fiber: &'a O::Fiber,
    is_free: bool,
}

impl<'a, O: Owner> Room<'a, O> {
    /// # Safety
    /// If it `is_free`, the description of the node has been taken out, and the caller has cleared `ROOM` in the word.
    pub(super) unsafe fn new(fiber: &'a O::Fiber, is_free: bool) -> Self {
        Room { fiber, is_free }
    }

    fn place(fiber: &O::Fiber, is_free: bool, layout: Layout) -> Option<NonNull<()>> {
        if is_free { fiber.borrow().buffer(layout) } else { None }
    }

    #[cfg(all(test, fiber_loom))]
    pub(super) fn is_free(&self) -> bool {
        self.is_free
    }

    /// Keeps the value in the cell if it fits there, otherwise in a box.
    // Inlined, as the other functions that pass on the value are: it may be large, and each of them would move it.
    #[inline(always)]
    pub(crate) fn keep<T: Waiting<O>>(self, value: T) -> Kept<O, T> {
        let Room { fiber, is_free } = self;
        let place = Self::place(fiber, is_free, const { Layout::new::<Block<O, T>>() });
        let table = if place.is_some() { Block::<O, T>::IN_CELL } else { Block::<O, T>::IN_BOX };
        let block = Block { head: Head { table, fiber: fiber.clone() }, value };
        let Some(place) = place else { return Kept(boxed(block), PhantomData) };
        let place = place.cast();
        // SAFETY: the buffer is large enough and aligned, and has no other user: the description is out, and only one room
        // exists at a time. The reference in the head keeps the cell alive.
        unsafe { place.write(block) };
        Kept(place, PhantomData)
    }
}

impl<O: Owner, T: Waiting<O>> Block<O, T> {
    const IN_BOX: &'static Table<O> = &Self::table(true);
    const IN_CELL: &'static Table<O> = &Self::table(false);

    const fn table(is_boxed: bool) -> Table<O> {
        Table { value: TypeId::of::<T>(), is_boxed, drop: Self::drop, waking: T::WAKING }
    }

    /// # Safety
    /// `head` is the head of an owned block of this type. The caller does not use the block afterwards.
    unsafe fn drop(head: NonNull<Head<O>>) {
        drop(Kept::<O, T>(head.cast(), PhantomData));
    }
}

impl<O: Owner> Rest<O> {
    /// How the value is woken.
    pub(crate) fn waking(&self) -> &'static O::Waking {
        self.table().waking
    }

    /// The fiber that waits.
    pub(crate) fn fiber(&self) -> &O::Fiber {
        &self.head().fiber
    }

    fn table(&self) -> &'static Table<O> {
        self.head().table
    }

    fn head(&self) -> &Head<O> {
        // SAFETY: this rest owns the block that the head belongs to.
        unsafe { self.0.as_ref() }
    }

    /// The value, if it is a `T`.
    ///
    /// # Errors
    /// Gives the rest back if its value is not a `T`.
    pub(crate) fn downcast<T: Waiting<O>>(self) -> Result<Kept<O, T>, Self> {
        if self.table().value == TypeId::of::<T>() {
            Ok(Kept(ManuallyDrop::new(self).0.cast(), PhantomData))
        } else {
            Err(self)
        }
    }
}

impl<O: Owner> Drop for Rest<O> {
    fn drop(&mut self) {
        let drop = self.table().drop;
        // SAFETY: the table is that of the block, and this rest owns the block.
        unsafe { drop(self.0) };
    }
}

impl<O: Owner, T> Kept<O, T> {
    /// The value.
    pub(crate) fn into_value(self) -> T {
        ManuallyDrop::new(self).take().1
    }

    /// The fiber, which runs from now on, and the value. The vacancy keeps the room for the next rest.
    #[inline(always)]
    pub(crate) fn wake(self, vacancy: &Vacancy) -> (Awake<'_, O>, T) {
        let (fiber, value, is_vacant) = ManuallyDrop::new(self).move_out();
        (Awake::new(fiber, vacancy, is_vacant), value)
    }

    /// The fiber and the value, borrowed.
    pub(crate) fn parts(&mut self) -> (&O::Fiber, &mut T) {
        // SAFETY: the block is owned.
        let block = unsafe { self.0.as_mut() };
        (&block.head.fiber, &mut block.value)
    }

    /// Hides the type.
    pub(crate) fn erase(self) -> Rest<O> {
        Rest(ManuallyDrop::new(self).0.cast(), PhantomData)
    }

    /// Moves the value out and returns its buffer. Called once, at the end.
    fn take(&mut self) -> (O::Fiber, T) {
        let (fiber, value, is_vacant) = self.move_out();
        if is_vacant {
            fiber.borrow().give_room_back();
        }
        (fiber, value)
    }

    /// Moves the value out. The flag says whether the caller now has the room of the cell. Called once, at the end.
    #[inline(always)]
    fn move_out(&mut self) -> (O::Fiber, T, bool) {
        // SAFETY: the block is owned, and is not used afterwards.
        let Block { head: Head { table, fiber }, value } = unsafe { self.0.read() };
        if table.is_boxed {
            // SAFETY: the block is in a box, and its contents were moved out.
            unsafe { recycle::give(self.0) };
        }
        (fiber, value, !table.is_boxed)
    }
}

impl<O: Owner, T> Drop for Kept<O, T> {
    /// Moves the value out before dropping it, because the cell that holds it may end with the last reference.
    fn drop(&mut self) {
        drop(self.take());
    }
}
