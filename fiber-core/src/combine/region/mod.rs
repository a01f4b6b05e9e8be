//! Parts of a fiber that have their own node in the cancel tree.

pub(crate) mod body;
pub(crate) mod deadline;
pub(crate) mod end;
pub(crate) mod group;
pub(crate) mod timeout;

pub(crate) use body::wait_last;
pub(crate) use end::RegionEnd;
pub(crate) use group::{AtEnd, run_guarded, when_childless};
