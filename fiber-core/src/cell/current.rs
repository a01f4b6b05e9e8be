//! The fiber that currently runs on a thread.
#![allow(unsafe_code)]

use std::cell::Cell;
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

    /// Calls `f`, during which `fiber` is the current one of this thread.
    #[inline(always)]
    pub(crate) fn set_while<T>(key: &'static LocalKey<Self>, fiber: &Ref<F>, f: impl FnOnce() -> T) -> T {
        let _before = Current::enter(key, fiber);
        f()
    }

    fn enter(key: &'static LocalKey<Self>, fiber: &Ref<F>) -> Before<F> {
        let fiber = key.with(|current| current.0.replace(Some(NonNull::from(fiber))));
        Before { key, fiber }
    }

    pub(crate) fn get(&self) -> Option<Ref<F>> {
        // SAFETY: `set_while` made the pointer from a reference that lives until its call returns or unwinds, and
        // removes the pointer before that. No other thread sees it: a `Cell` is not `Sync`.
        self.0.get().map(|fiber| unsafe { fiber.as_ref() }.clone())
    }
}

impl<F: Owner> Current<F> {
    /// Whether this is inside of a call of `set_while`.
    pub(crate) fn is_some(&self) -> bool {
        self.0.get().is_some()
    }

    /// The address of what was passed to the innermost call of `set_while`; 0 outside of any.
    #[cfg(feature = "direct")]
    pub(crate) fn place(&self) -> usize {
        self.0.get().map_or(0, |fiber| fiber.addr().get())
    }
}

/// Restores the fiber that was current before.
struct Before<F: Owner> {
    key: &'static LocalKey<Current<F>>,
    fiber: Option<NonNull<Ref<F>>>,
}

impl<F: Owner> Drop for Before<F> {
    #[inline]
    fn drop(&mut self) {
        // A `Current` has no drop, so also a thread that ends has it.
        self.key.with(|current| current.0.set(self.fiber));
    }
}
