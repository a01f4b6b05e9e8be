//! Panics that must not end a thread.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls code and ignores its panics, which the panic hook has reported.
pub(crate) fn contain(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        // The drop of the payload is user code, and might panic again.
        std::mem::forget(payload);
    }
}
