//! Parts of a fiber that have their own node in the cancel tree.

pub(crate) mod body;
pub(crate) mod deadline;
pub(crate) mod end;
pub(crate) mod group;
pub(crate) mod timeout;

pub(crate) use end::RegionEnd;
pub(crate) use group::{run_guarded, wait_last, when_childless};
