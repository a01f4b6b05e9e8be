use fiber_core::{Context, Handle, Outcome};

use crate::machine::Machine;
use crate::report;

/// A fiber on the virtual timeline, as the test sees it. Its drop does not affect the fiber.
#[derive(Debug)]
#[must_use = "the outcome of the fiber is what a test looks at"]
pub struct Spawned<T: 'static> {
    handle: Handle<T>,
}

impl<T: Send + 'static> Spawned<T> {
    pub(crate) fn new(handle: Handle<T>) -> Self {
        Spawned { handle }
    }

    /// Whether the fiber has not ended yet.
    pub fn is_pending(&self) -> bool {
        !self.handle.is_finished()
    }

    /// The outcome.
    ///
    /// # Panics
    /// If the fiber has not ended. The message says what it waits for, and where.
    #[track_caller]
    pub fn outcome(self) -> Outcome<T> {
        match self.handle.try_outcome() {
            Ok(outcome) => outcome,
            Err(handle) => panic!("{}", pending(handle.context())),
        }
    }

    /// The outcome, if the fiber has ended.
    ///
    /// # Errors
    /// Returns itself if it has not.
    pub fn try_outcome(self) -> Result<Outcome<T>, Self> {
        self.handle.try_outcome().map_err(Spawned::new)
    }

    /// Cancels the fiber; its finalizers run during the next `run..` of the scheduler.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    ///
    /// let test = TestScheduler::new();
    /// let server = test.spawn(Fiber::<()>::never());
    /// server.cancel_now();
    /// test.run_until_idle();
    /// assert!(server.outcome().is_cancelled());
    /// ```
    pub fn cancel_now(&self) {
        self.handle.cancel_now();
    }

    /// The fiber's context.
    pub fn context(&self) -> &Context {
        self.handle.context()
    }

    /// The handle, which another fiber can join or cancel.
    pub fn into_handle(self) -> Handle<T> {
        self.handle
    }
}

/// The reason why there is no outcome.
fn pending(fiber: &Context) -> String {
    let machine = Machine::of(&**fiber.scheduler()).expect("spawned on a TestScheduler");
    let snapshot = machine.state().snapshot();
    report::pending(fiber, &snapshot)
}
