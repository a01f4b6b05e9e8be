//! Texts that come from the program.

use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Prints a value. The `Display` of an error is code of the program, and may panic.
pub(crate) fn text_of(value: &impl Display) -> String {
    let text = catch_unwind(AssertUnwindSafe(|| value.to_string()));
    text.unwrap_or_else(|panic| {
        format!("(it cannot be printed, because its Display panics: {})", panic_message(&*panic))
    })
}

/// The message of a panic.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}
