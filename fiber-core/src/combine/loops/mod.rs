//! Loops.

pub(crate) mod again;
pub(crate) mod iterate;
pub(crate) mod repeat;
pub(crate) mod retry;

pub use iterate::{ForEach, Iterate, RepeatWhile};
pub use repeat::{Repeat, RepeatWith};
pub use retry::{Retry, RetryWith};
