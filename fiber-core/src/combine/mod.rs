//! Combinators, one per file.
//!
//! | folder | contents | built on |
//! |---|---|---|
//! | [`sequence`] | sequential combinators, in one context | `then` |
//! | [`loops`] | loops, with and without pauses | `iterate`, `again` |
//! | [`region`] | parts of a fiber with their own place in the cancel tree | `group`, `body` |
//! | [`fork`] | separate fibers, and their handles | `branch` |
//! | [`branches`] | several fibers at a time | `pair`, `gather` |

mod branches;
mod fork;
mod loops;
mod region;
mod sequence;

pub use branches::Raced;
pub(crate) use branches::each::each;
pub(crate) use branches::{arms, dataflow};
pub(crate) use fork::detach_here;
pub use fork::{Call, CancelOnDrop, Group, Handle, Scope};
pub(crate) use loops::Retry;
pub(crate) use region::{RegionEnd, run_guarded, wait_last, when_childless};
pub use sequence::{Either, Restore, uncancelable};
pub(crate) use sequence::{Interruptible, Then};

#[cfg(all(test, fiber_loom))]
mod loom_tests;
