//! The engine: the traits of descriptions, the context and the turn of a fiber, and the interface of schedulers.
//!
//! These files refer to each other, because their types do: a context holds its scheduler, which runs tasks, which resume
//! fibers in their contexts.

pub(crate) mod borrow;
pub(crate) mod boxed;
pub(crate) mod context;
pub(crate) mod dump;
pub(crate) mod event;
pub(crate) mod fate;
pub(crate) mod files;
pub(crate) mod frames;
pub(crate) mod hidden;
pub(crate) mod holder;
pub(crate) mod host;
pub(crate) mod lend;
pub(crate) mod network;
pub(crate) mod next;
pub(crate) mod scheduler;
pub(crate) mod side;
#[cfg(feature = "direct")]
pub(crate) mod stacks;
pub(crate) mod step;
pub(crate) mod subject;
pub(crate) mod suppress;
pub(crate) mod task;
pub(crate) mod wait_list;
