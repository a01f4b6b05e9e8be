//! Leaves: the basic fibers that combinators combine. Leaves that wait are built on [`wait`].

mod blocking;
mod callback;
mod cancelled;
mod context;
mod dedicated;
mod gone;
mod lazy;
mod never;
mod one_shot;
mod reading;
mod sleep;
mod success;
mod wait;
mod yield_now;

pub(crate) use blocking::{Job, Work};
pub use callback::Resume;
pub(crate) use dedicated::{DedicatedWait, SharedResult};
pub(crate) use gone::{cancelled_or, is_abandoned, unless_cancelled};
pub(crate) use one_shot::{Receiver, one_shot};
pub(crate) use sleep::Sleep;
pub(crate) use wait::Awaits;
pub use wait::{Leaf, Wait};
