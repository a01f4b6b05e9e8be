//! What the laws need of a scheduler and its surroundings.

use std::time::Duration;

use fiber_core::{Context, Fiber};

use crate::scheduler::TestScheduler;

/// A scheduler with all that it takes to run fibers on it, as the [laws](crate::laws) see it.
///
/// Two functions are what every host has anyway: a root context, and a way to run one fiber to its end. See the
/// [module](crate::laws) for an example.
pub trait Host: Sized + 'static {
    /// Whether the host runs everything on the thread that calls [`run`](Host::run), blocking closures included, and
    /// gives up when no fiber can run and no timer is set. Its time then stands still while fibers run.
    ///
    /// The laws then make no fiber wait for another thread, and no endless loop wait for a timer.
    const IS_VIRTUAL: bool = false;

    /// How long one law may take. A law that takes longer counts as broken, because something hangs. This should be
    /// far more than any law needs on the slowest machine.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// The root of the fibers. Its scheduler is what the laws are about.
    fn context(&self) -> &Context;

    /// Runs a fiber to its end, and meanwhile all other fibers.
    ///
    /// # Panics
    /// If the fiber cannot end. The message becomes part of the law's.
    fn run(&self, fiber: Fiber<()>);

    /// How many threads run fibers.
    fn threads(&self) -> usize {
        1
    }

    /// Whether an idle thread takes fibers and branches from other threads. If so, what computes has to run on as many
    /// threads as there are.
    fn shares_work(&self) -> bool {
        true
    }

    /// Cancels all fibers, runs their finalizers, and waits for their end and that of the host's threads. `true`:
    /// everything has ended.
    fn shut_down(self) -> bool;

    /// A call that would block a thread of the host if a fiber or a blocking closure of the host made it, such as
    /// running another fiber to its end. `None`: the host does not promise that this panics.
    fn nested_call(&self) -> Option<NestedCall> {
        None
    }
}

/// See [`Host::nested_call`].
pub type NestedCall = Box<dyn FnOnce() + Send>;

impl Host for TestScheduler {
    const IS_VIRTUAL: bool = true;

    fn context(&self) -> &Context {
        TestScheduler::context(self)
    }

    fn run(&self, fiber: Fiber<()>) {
        TestScheduler::run(self, fiber).unwrap();
    }

    fn shut_down(self) -> bool {
        self.context().cancel();
        self.run_until_idle();
        self.context().live_children() == 0
    }
}
