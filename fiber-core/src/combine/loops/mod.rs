//! Loops.

pub(crate) mod again;
mod fold;
pub(crate) mod iterate;
pub(crate) mod repeat;
pub(crate) mod retry;

pub use fold::Fold;
pub use iterate::{ForEach, Iterate, RepeatWhile};
pub use repeat::{Repeat, RepeatWith};
pub use retry::{Retry, RetryWith};
