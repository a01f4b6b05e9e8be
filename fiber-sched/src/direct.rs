//! The stacks of direct fibers on a worker.

use fiber_core::StackSupply;
use fiber_core::scheduler::{Stacks, Task};

/// Supplies the stacks of a scheduler's workers.
pub(crate) type Supply = StackSupply;

/// The stacks of a worker, on its own thread.
pub(crate) struct OfWorker(Stacks);

impl OfWorker {
    /// `submit` hands a task to this very worker.
    pub(crate) fn new(supply: Supply, submit: impl Fn(Task) + Send + Sync + 'static) -> Self {
        OfWorker(Stacks::new(supply, submit))
    }

    /// Drops the direct fibers that are suspended on the thread.
    pub(crate) fn close(self) {}

    pub(crate) fn stacks(&self) -> &Stacks {
        &self.0
    }
}
