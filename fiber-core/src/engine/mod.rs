//! What runs a program: the traits of descriptions, the context of a fiber and its turn, and what a scheduler is.
//!
//! These files name each other, as the things do: a context holds its scheduler, which runs tasks, which resume fibers in their
//! contexts.

pub(crate) mod boxed;
pub(crate) mod context;
pub(crate) mod event;
pub(crate) mod lend;
pub(crate) mod scheduler;
pub(crate) mod step;
pub(crate) mod suppress;
pub(crate) mod task;
