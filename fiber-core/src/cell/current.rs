//! The fiber that currently runs on a thread.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ptr::NonNull;

use super::node::Owner;
use super::reference::Ref;

/// For a thread-local: the cell of the fiber whose code runs here.
pub(crate) struct Current<F: Owner>(Cell<Option<NonNull<Ref<F>>>>);

impl<F: Owner> Current<F> {
    pub(crate) const fn none() -> Self {
        Current(Cell::new(None))
    }

    /// Calls `f`, during which `fiber` is the current one.
    #[inline]
    pub(crate) fn set_while<T>(&self, fiber: &Ref<F>, f: impl FnOnce() -> T) -> T {
        let _before = Before { current: self, fiber: self.0.replace(Some(NonNull::from(fiber))) };
        f()
    }

    pub(crate) fn get(&self) -> Option<Ref<F>> {
        // SAFETY: `set_while` made the pointer from a reference that lives until its call returns or unwinds, and
        // removes the pointer before that. No other thread sees it: a `Cell` is not `Sync`.
        self.0.get().map(|fiber| unsafe { fiber.as_ref() }.clone())
    }
}

/// Restores the fiber that was current before.
struct Before<'a, F: Owner> {
    current: &'a Current<F>,
    fiber: Option<NonNull<Ref<F>>>,
}

impl<F: Owner> Drop for Before<'_, F> {
    #[inline]
    fn drop(&mut self) {
        self.current.0.set(self.fiber);
    }
}
