//! The fiber that currently runs on a thread.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::NonNull;

use super::node::Owner;
use super::reference::Ref;
use crate::primitive::LocalKey;

/// For a thread-local: the cell of the fiber whose code runs here.
pub(crate) struct Current<F: Owner>(Cell<Option<NonNull<Ref<F>>>>);

impl<F: Owner> Current<F> {
    pub(crate) const fn none() -> Self {
        Current(Cell::new(None))
    }

    /// Makes `fiber` the current one of this thread, until the result is dropped.
    pub(crate) fn set<'f>(key: &'static LocalKey<Self>, fiber: &'f Ref<F>) -> Entered<'f, F> {
        let before = key.with(|current| current.0.replace(Some(NonNull::from(fiber))));
        Entered { key, before, fiber: PhantomData }
    }

    pub(crate) fn get(&self) -> Option<Ref<F>> {
        // SAFETY: `set` made the pointer from a reference that lives as long as its result, which removes the pointer when it is
        // dropped, and is never forgotten. No other thread sees it: a `Cell` is not `Sync`.
        self.0.get().map(|fiber| unsafe { fiber.as_ref() }.clone())
    }
}

impl<F: Owner> Current<F> {
    /// Whether a fiber is the current one.
    pub(crate) fn is_some(&self) -> bool {
        self.0.get().is_some()
    }

    /// The address of what was passed to the last call of `set`; 0 if there is none.
    #[cfg(feature = "direct")]
    pub(crate) fn place(&self) -> usize {
        self.0.get().map_or(0, |fiber| fiber.addr().get())
    }
}

/// Restores the fiber that was current before.
#[must_use = "it ends when this is dropped"]
pub(crate) struct Entered<'f, F: Owner> {
    key: &'static LocalKey<Current<F>>,
    before: Option<NonNull<Ref<F>>>,
    fiber: PhantomData<&'f Ref<F>>,
}

impl<F: Owner> Drop for Entered<'_, F> {
    #[inline]
    fn drop(&mut self) {
        // A `Current` has no drop, so also a thread that ends has it.
        self.key.with(|current| current.0.set(self.before));
    }
}
