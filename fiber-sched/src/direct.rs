//! The stacks of direct fibers on a worker.

use fiber_core::{StackSupply, Stacks, Task};

/// Where the workers of a scheduler get their stacks.
pub(crate) type Supply = StackSupply;

/// The stacks of a worker, on its own thread.
pub(crate) struct OfWorker(Stacks);

impl OfWorker {
    /// `submit` hands a task to this very worker.
    pub(crate) fn new(supply: Supply, submit: impl Fn(Task) + Send + Sync + 'static) -> Self {
        OfWorker(Stacks::new(supply, submit))
    }

    /// Throws away the direct fibers that are suspended on the thread.
    pub(crate) fn close(self) {}

    pub(crate) fn stacks(&self) -> &Stacks {
        &self.0
    }
}
