//! Parts of a fiber that have their own node in the cancel tree.

pub(crate) mod body;
pub(crate) mod deadline;
pub(crate) mod end;
pub(crate) mod group;
pub(crate) mod timeout;

pub use deadline::WithDeadline;
pub(crate) use group::{run_guarded, when_childless};
pub use timeout::{Timeout, TimeoutOption, TimeoutTo};
