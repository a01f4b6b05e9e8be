//! Timers: the [`Queue`] keeps them in order.

mod queue;

pub(crate) use queue::Queue;
