use std::panic::Location;

use super::branch::Branch;
use super::handle::{Handle, OutcomeWait};
use super::result_cell::Home;
use crate::engine::context::{Context, Cx, WaitsFor, Wakeup, Watch};
use crate::engine::step::{Ready, Run, Step};
use crate::error::{Frame, Site};
use crate::fiber::Fiber;
use crate::leaf::{Leaf, Wait};
use crate::outcome::{Outcome, Panic};

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Forks this fiber below the scheduler's root: it outlives the fiber that forks it.
    ///
    /// If nobody joins it, its failure goes to [`Scheduler::unobserved`](crate::Scheduler::unobserved). A scheduler
    /// that shuts down cancels and awaits it, as it does every other fiber.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let test = TestScheduler::new();
    /// assert!(test.run(Fiber::delay(Duration::from_secs(60)).detach()).is_success());
    /// assert_eq!(test.live_fibers(), 1);
    /// ```
    #[track_caller]
    pub fn detach(self) -> Fiber<Handle<T>, Detach<R>> {
        Fiber::new(Detach { run: self.into_run(), site: Location::caller() })
    }

    /// Lets a cancellation complete without waiting for this fiber. The fiber is cancelled, but its finalizers run
    /// detached.
    ///
    /// Use it for a branch of `race` or a fiber under a `timeout` whose end may take long and does not matter. A
    /// failure after the cancellation goes to [`Scheduler::unobserved`](crate::Scheduler::unobserved).
    ///
    /// ```
    /// use fiber_core::{Either, Fiber};
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let second = Duration::from_secs(1);
    /// let slow_to_end = Fiber::<()>::never().ensure(Fiber::delay(60 * second));
    /// let test = TestScheduler::new();
    /// assert_eq!(test.run(slow_to_end.disconnect().race(Fiber::delay(second))).unwrap(), Either::Right(()));
    /// assert_eq!(test.now().as_nanos(), 1_000_000_000);
    /// ```
    ///
    /// # Cancellation
    /// The fiber ends at once, and does not wait for its finalizers.
    #[track_caller]
    pub fn disconnect(self) -> Fiber<T, Disconnect<R>> {
        Fiber::new(Disconnect { run: self.into_run(), site: Location::caller() })
    }
}

/// The description of [`Fiber::detach`].
#[derive(Clone, Debug)]
pub struct Detach<R> {
    run: R,
    site: Site,
}

impl<R: Run> Run for Detach<R> {
    type Out = Handle<R::Out>;
    type Suspension = Ready<Handle<R::Out>>;

    fn run(self, cx: &Cx<'_>) -> Step<Self::Out, Self::Suspension> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let branch = Branch::detached(cx, self.run, Home, self.site);
        branch.offer(cx);
        Step::Done(Outcome::Success(Handle::new(branch)))
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.run.discard(torn);
    }
}

/// The description of [`Fiber::disconnect`].
#[derive(Clone, Debug)]
pub struct Disconnect<R> {
    run: R,
    site: Site,
}

impl<R: Run> Run for Disconnect<R> {
    type Out = R::Out;
    type Suspension = Leaf<Connected<R::Out>>;

    fn run(self, cx: &Cx<'_>) -> Step<R::Out, Self::Suspension> {
        if cx.is_interrupted() {
            return cx.refuse(self);
        }
        let branch = Branch::detached(cx, self.run, Home, self.site);
        branch.run_last(&cx.above(&Watch::host(cx)));
        let connected = Connected(Handle::new(branch).into_outcome_wait());
        // If the fiber was cancelled meanwhile, it notices that in its wait, which cancels the branch.
        match connected.0.take() {
            Some(outcome) => Step::Done(connected.connect(outcome)),
            None => Step::Suspend(Leaf::new(connected, self.site)),
        }
    }

    fn discard(self, torn: &mut Vec<Panic>) {
        self.run.discard(torn);
    }
}

/// Waits for a fiber that is cancelled together with the waiting one, but not awaited.
#[derive(Debug)]
pub struct Connected<T: 'static>(OutcomeWait<T>);

impl<T: Send + 'static> Connected<T> {
    fn connect(&self, outcome: Outcome<Outcome<T>>) -> Outcome<T> {
        let outcome = outcome.split().unwrap_or_else(|other| other);
        outcome.passed(Frame::new("disconnect", self.0.handle().site()))
    }
}

impl<T: 'static> Drop for Connected<T> {
    /// The waiting fiber was cancelled or abandoned.
    fn drop(&mut self) {
        if !self.0.has_ended() {
            self.0.cancel_now();
        }
    }
}

impl<T: Send + 'static> Wait for Connected<T> {
    type Out = T;

    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<T>> {
        self.0.poll(cx).map(|outcome| self.connect(outcome))
    }

    fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<T>> {
        self.0.register(cx, wakeup).map(|outcome| self.connect(outcome))
    }

    fn deregister(&mut self, cx: &Cx<'_>) {
        self.0.deregister(cx);
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Fiber
    }

    fn waits_on(&self) -> Option<&Context> {
        Some(self.0.handle().context())
    }
}
