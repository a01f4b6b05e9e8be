//! The room of a cell, held by the turn that runs the cell's fiber.
//!
//! When a fiber is woken, its rest moves out of the cell; the next rest moves in, most often in the same turn and always on
//! the same thread. A turn therefore holds the room meanwhile, instead of returning it to the state word and taking it
//! from there: two atomic operations less.
//!
//! | the vacancy | `ROOM` in the word | left by | to |
//! |---|---|---|---|
//! | holds nothing | any | [`Kept::wake`](super::Kept::wake), of a rest that was stored in its cell | holds the room of that cell |
//! | holds the room of a cell | clear | `take`, for the next rest of that fiber | holds nothing |
//! | | | the drop of the [`Awake`] | holds nothing; `ROOM` is set |
//!
//! While the vacancy holds the room of a cell, the `Awake` keeps that cell alive, so its address identifies it.

use std::borrow::Borrow;
use std::cell::Cell;
use std::ops::Deref;

use super::node::Owner;
use super::reference::Ref;

/// Holds the room of one cell at most. Belongs to a turn, and so to one thread.
pub(crate) struct Vacancy(Cell<Option<usize>>);

/// A running fiber whose rest was moved out.
pub(crate) struct Awake<'v, O: Owner> {
    fiber: O::Fiber,
    vacancy: &'v Vacancy,
    /// Whether the vacancy held the room of the fiber when this was made.
    is_vacant: bool,
}

impl Vacancy {
    pub(crate) const fn none() -> Self {
        Vacancy(Cell::new(None))
    }

    /// Takes the room of this cell, if the vacancy holds it.
    #[inline]
    pub(super) fn take<O: Owner>(&self, cell: &Ref<O>) -> bool {
        let is_here = self.0.get() == Some(cell.address());
        if is_here {
            self.0.set(None);
        }
        is_here
    }

    /// Holds the room of this cell. `false` if it already holds the room of another fiber that this turn runs too.
    #[inline]
    fn put<O: Owner>(&self, cell: &Ref<O>) -> bool {
        let is_free = self.0.get().is_none();
        if is_free {
            self.0.set(Some(cell.address()));
        }
        is_free
    }
}

impl<'v, O: Owner> Awake<'v, O> {
    /// `is_vacant`: a rest was moved out of the cell, and the caller has the room.
    #[inline]
    pub(super) fn new(fiber: O::Fiber, vacancy: &'v Vacancy, is_vacant: bool) -> Self {
        let is_kept = is_vacant && vacancy.put(fiber.borrow());
        if is_vacant && !is_kept {
            fiber.borrow().give_room_back();
        }
        Awake { fiber, vacancy, is_vacant: is_kept }
    }
}

impl<O: Owner> Deref for Awake<'_, O> {
    type Target = O::Fiber;

    #[inline]
    fn deref(&self) -> &O::Fiber {
        &self.fiber
    }
}

impl<O: Owner> Drop for Awake<'_, O> {
    #[inline]
    fn drop(&mut self) {
        if self.is_vacant && self.vacancy.take(self.fiber.borrow()) {
            self.fiber.borrow().give_room_back();
        }
    }
}
