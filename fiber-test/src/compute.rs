use std::time::Duration;

use fiber_core::scheduler::{Cx, Wait, WaitsFor, Wakeup};
use fiber_core::{Error, Fiber, Outcome, Run};

use crate::machine::Machine;

/// Simulates a computation that takes `cost` of a worker's time. In a test, it replaces real work.
///
/// On a [`TestScheduler`](crate::TestScheduler) with [virtual CPUs](crate::TestScheduler::virtual_cpus) the fiber keeps its
/// worker meanwhile, so others have to wait. Without virtual CPUs, every fiber behaves as if it had its own worker.
///
/// ```
/// use fiber_core::Fiber;
/// use fiber_test::{TestScheduler, compute};
/// use std::time::Duration;
///
/// // One worker is busy for a second, so the heartbeat that is due after 100 ms comes late.
/// let late = Fiber::delay(Duration::from_millis(100)).bind(|()| Fiber::now());
/// let test = TestScheduler::new().virtual_cpus(1);
/// let (beat, ()) = test.run(late.zip(compute(Duration::from_secs(1)))).unwrap();
/// assert_eq!(beat.as_nanos(), 1_000_000_000);
/// ```
///
/// # Errors
/// On a scheduler of another crate, where it could only waste time.
///
/// # Cancellation
/// Noticed before the computation begins, and then only after its end, like real work between two binds.
#[track_caller]
pub fn compute(cost: Duration) -> Fiber<(), impl Run<Out = ()> + Clone> {
    Fiber::wait(Compute { cost, has_begun: cost.is_zero() })
}

/// The wait of [`compute`].
#[derive(Clone, Debug)]
struct Compute {
    cost: Duration,
    has_begun: bool,
}

impl Wait for Compute {
    type Out = ();
    const IS_SHIELDED: bool = true;

    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<()>> {
        if !self.has_begun && cx.is_interrupted() {
            return Some(Outcome::Cancelled);
        }
        // Only its own timer wakes it.
        self.has_begun.then_some(Outcome::Success(()))
    }

    fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<()>> {
        self.has_begun = true;
        match Machine::of(cx.scheduler()) {
            Some(machine) => {
                machine.compute(self.cost, wakeup);
                None
            }
            None => Some(Outcome::Failure(Error::msg(
                "compute(cost) stands for work in tests and runs on a TestScheduler only; \
                 in production put the work itself in its place",
            ))),
        }
    }

    fn deregister(&mut self, _: &Cx<'_>) {}

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Computation
    }
}
