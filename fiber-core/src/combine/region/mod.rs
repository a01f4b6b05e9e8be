//! Parts of a fiber that have a place of their own in the cancel tree.

pub(crate) mod body;
pub(crate) mod deadline;
pub(crate) mod group;
pub(crate) mod timeout;

pub use deadline::WithDeadline;
pub(crate) use group::{run_guarded, when_childless};
pub use timeout::{Timeout, TimeoutOption, TimeoutTo};
