//! Replaces the stacks in a build without the feature `direct`: there are none.

use fiber_core::scheduler::Task;

#[derive(Clone, Default)]
pub(crate) struct Supply(());

pub(crate) struct OfWorker(());

impl OfWorker {
    pub(crate) fn new(_: Supply, _: impl Fn(Task) + Send + Sync + 'static) -> Self {
        OfWorker(())
    }

    pub(crate) fn close(self) {}
}
