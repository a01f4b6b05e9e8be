//! Panics that must not end a thread.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fiber_core::Panic;

/// Calls `f` and ignores a panic, which the panic hook has already reported.
pub(crate) fn contain(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        // The payload's drop is user code, and might panic again; that of a `Panic` does not.
        drop(Panic::new(payload));
    }
}
