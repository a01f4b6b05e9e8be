use crate::context::Cx;
use crate::fiber::Fiber;
use crate::outcome::Outcome;
use crate::step::{Callback, Run, Step, Suspension};

impl<T: Send + 'static, R: Run<Out = T>> Fiber<T, R> {
    /// Makes a region that no cancellation of the fiber interrupts. What follows the region notices it.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let test = TestScheduler::new();
    /// let saved = Fiber::delay(Duration::from_secs(2)).map(|()| "saved").uncancelable();
    /// let handle = test.spawn(saved);
    /// test.run_for(Duration::from_secs(1));
    /// handle.cancel_now();
    /// test.run_until_idle();
    /// assert_eq!(handle.try_outcome().unwrap().unwrap(), "saved");
    /// ```
    ///
    /// # Cancellation
    /// Waits inside are not woken by it. Branches of `race`, `zip`, `parallel` and `timeout` inside are not reached by it
    /// either, though a race still cancels its loser. Forked fibers are: the region is not inherited.
    #[inline]
    pub fn uncancelable(self) -> Fiber<T, Uncancelable<R>> {
        Fiber::new(Uncancelable(self.into_run()))
    }
}

/// The description of [`Fiber::uncancelable`].
#[derive(Clone, Debug)]
pub struct Uncancelable<R>(pub(super) R);

impl<R: Run> Run for Uncancelable<R> {
    type Out = R::Out;
    type Suspension = UncancelableSuspension<R::Suspension>;

    #[inline]
    fn run(self, cx: &Cx<'_>) -> Step<R::Out, Self::Suspension> {
        cx.context().mask(true);
        match self.0.run(cx) {
            Step::Done(outcome) => {
                cx.context().mask(false);
                Step::Done(outcome)
            }
            Step::Suspend(suspension) => Step::Suspend(UncancelableSuspension(suspension)),
        }
    }
}

/// A wait in an uncancelable region.
#[derive(Debug)]
pub struct UncancelableSuspension<S>(S);

impl<S: Suspension> Suspension for UncancelableSuspension<S> {
    type Out = S::Out;

    fn attach<C: Callback<S::Out>>(self, cx: &Cx<'_>, callback: C) {
        self.0.attach(cx, UnmaskCallback(callback));
    }
}

struct UnmaskCallback<C>(C);

impl<T, C: Callback<T>> Callback<T> for UnmaskCallback<C> {
    fn resume(self, cx: &Cx<'_>, outcome: Outcome<T>) {
        cx.context().mask(false);
        self.0.resume(cx, outcome);
    }
}
