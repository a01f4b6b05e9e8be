//! The stacks of direct fibers. They belong to the thread that drives the machine, and serve all machines that it drives.

use fiber_core::StackSupply;
use fiber_core::scheduler::{Stacks, Task};

thread_local! {
    // A machine can be sent to other threads, and stacks cannot.
    static STACKS: Stacks = Stacks::new(StackSupply::default(), submit);
}

/// A fiber whose machine another thread drives goes on when its own thread does so again.
fn submit(task: Task) {
    let scheduler = task.context().map(|fiber| fiber.scheduler().clone());
    if let Some(scheduler) = scheduler {
        scheduler.schedule(task);
    }
}

/// The stacks of the current thread, if it has not ended.
pub(super) struct Here<'a>(Option<&'a Stacks>);

impl<'a> Here<'a> {
    pub(super) fn stacks(&self) -> Option<&'a Stacks> {
        self.0
    }

    /// Whether a fiber that starts outside of the machine's turns on this thread gets a stack when it moves into one.
    pub(super) fn has_stacks() -> bool {
        STACKS.try_with(|_| ()).is_ok()
    }

    pub(super) fn with<T>(f: impl FnOnce(Here<'_>) -> T) -> T {
        let mut f = Some(f);
        let mut call = |here: Here<'_>| f.take().map(|f| f(here));
        let called = STACKS.try_with(|stacks| call(Here(Some(stacks)))).ok().flatten();
        called.or_else(|| call(Here(None))).expect("it is called once")
    }
}
