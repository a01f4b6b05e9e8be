//! The error type [`Error`], and the errors that the library itself raises.
//!
//! An [`Error`] is a source with added context and an *asynchronous trace*: the `file:line` of every operator that it
//! passed while it propagated. The trace is written on the failure path only.

#[cfg(feature = "anyhow")]
mod anyhow;
#[cfg(not(feature = "anyhow"))]
#[path = "no_anyhow.rs"]
mod anyhow;
mod convert;
pub(crate) mod dynamic;
mod kinds;
pub(crate) mod shared;
mod trace;

pub use convert::IntoError;
pub(crate) use dynamic::{Error, seen};
pub(crate) use kinds::counted;
pub use kinds::{
    Abandoned, Cancelled, DeadlineExceeded, EndedEarly, NoScheduler, Panicked, ScopeEnded, TimedOut,
};
pub use trace::Frame;
pub(crate) use trace::{Site, Trace};
