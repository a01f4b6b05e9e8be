//! Loops.

pub(crate) mod again;
mod fold;
pub(crate) mod iterate;
pub(crate) mod repeat;
pub(crate) mod retry;

pub(crate) use retry::Retry;
