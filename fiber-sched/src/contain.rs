//! Panics that must not end a thread.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls code whose panics are nobody's business any more; the panic hook has reported them.
pub(crate) fn contain(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        // Its Drop is the user's and might panic again.
        std::mem::forget(payload);
    }
}
