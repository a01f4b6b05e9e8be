//! The two waits of `Fiber::dedicated`: for the work, and after a cancellation for the return of the work.

use std::sync::Arc;

use super::blocking::Job;
use super::wait::Wait;
use crate::engine::context::{Cx, WaitsFor, Wakeup};
use crate::error::Frame;
use crate::outcome::Outcome;

/// Waits for work on a thread of its own. A cancellation ends this wait, and asks the work to stop.
pub(crate) struct DedicatedWait<F, T> {
    job: Arc<Job<F, T>>,
    is_scheduled: bool,
    frame: Frame,
}

impl<F: Send + 'static, T: Send + 'static> DedicatedWait<F, T> {
    pub(crate) fn new(job: Arc<Job<F, T>>, frame: Frame) -> Self {
        DedicatedWait { job, is_scheduled: false, frame }
    }
}

impl<F: Send + 'static, T: Send + 'static> Wait for DedicatedWait<F, T> {
    type Out = T;

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<T>> {
        self.job.result().take().map(|outcome| outcome.passed(self.frame))
    }

    fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<T>> {
        let ready = self.job.result().take_or_wait(wakeup);
        if !self.is_scheduled {
            self.is_scheduled = true;
            cx.scheduler().schedule_dedicated(self.job.task(cx.context()));
        }
        ready.map(|outcome| outcome.passed(self.frame))
    }

    fn deregister(&mut self, _: &Cx<'_>) {
        self.job.ask_to_stop();
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Blocking
    }
}

impl<F, T> Drop for DedicatedWait<F, T> {
    fn drop(&mut self) {
        self.job.give_up();
    }
}

/// Waits until work that was asked to stop returns.
pub(crate) struct ReturnWait<F, T> {
    job: Arc<Job<F, T>>,
    frame: Frame,
}

impl<F: Send + 'static, T: Send + 'static> ReturnWait<F, T> {
    pub(crate) fn new(job: Arc<Job<F, T>>, frame: Frame) -> Self {
        ReturnWait { job, frame }
    }

    /// A value is kept. A failure may result from the request to stop.
    fn conclude(&self, outcome: Outcome<T>) -> Outcome<T> {
        match outcome {
            Outcome::Failure(_) => Outcome::Cancelled,
            outcome => outcome.passed(self.frame),
        }
    }
}

impl<F: Send + 'static, T: Send + 'static> Wait for ReturnWait<F, T> {
    type Out = T;
    const IS_SHIELDED: bool = true;

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<T>> {
        self.job.result().take().map(|outcome| self.conclude(outcome))
    }

    fn register(&mut self, _: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<T>> {
        self.job.result().take_or_wait(wakeup).map(|outcome| self.conclude(outcome))
    }

    fn deregister(&mut self, _: &Cx<'_>) {}

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Blocking
    }
}
