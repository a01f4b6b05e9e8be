//! Timers: the [`Queue`] keeps them in order, and the thread of the [`Driver`] waits for the first.

mod driver;
mod queue;

pub(crate) use driver::Driver;
pub(crate) use queue::Queue;
