//! Texts that come from the program.

use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fiber_core::Panic;

/// Prints a value. The `Display` of an error is code of the program, and may panic.
pub(crate) fn text_of(value: &impl Display) -> String {
    let text = catch_unwind(AssertUnwindSafe(|| value.to_string()));
    text.unwrap_or_else(|panic| {
        format!("(it cannot be printed, because its Display panics: {})", panic_message(panic))
    })
}

/// The message of a panic. Drops the payload, which is code of the program as well.
pub(crate) fn panic_message(payload: Box<dyn Any + Send>) -> String {
    Panic::new(payload).message().to_owned()
}
