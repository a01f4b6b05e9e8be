//! Tasks that run later: the [`Queue`] keeps them in order, the [`Driver`] is a thread that waits for the first.

mod driver;
mod queue;

pub(crate) use driver::Driver;
pub(crate) use queue::Queue;
