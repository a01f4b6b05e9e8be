//! The two waits of `Fiber::dedicated`: for the work, and after a cancellation for the return of the work.

use std::fmt;
use std::sync::Arc;

use super::blocking::{Job, Work};
use super::wait::Wait;
use crate::engine::context::{Cx, WaitsFor, Wakeup};
use crate::error::Frame;
use crate::outcome::Outcome;

/// Waits for work on a thread of its own. A cancellation ends this wait, and asks the work to stop.
pub(crate) struct DedicatedWait<W: Work> {
    job: Arc<Job<W>>,
    is_scheduled: bool,
    frame: Frame,
}

impl<W: Work> DedicatedWait<W> {
    pub(crate) fn new(job: Arc<Job<W>>, frame: Frame) -> Self {
        DedicatedWait { job, is_scheduled: false, frame }
    }
}

impl<W: Work> Wait for DedicatedWait<W> {
    type Out = W::Out;

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<W::Out>> {
        self.job.result().take().map(|outcome| outcome.passed(self.frame))
    }

    fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<W::Out>> {
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

impl<W: Work> fmt::Debug for DedicatedWait<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.frame)
    }
}

/// Waits until work that was asked to stop returns.
pub(crate) struct ReturnWait<W: Work> {
    job: Arc<Job<W>>,
    frame: Frame,
}

impl<W: Work> ReturnWait<W> {
    pub(crate) fn new(job: Arc<Job<W>>, frame: Frame) -> Self {
        ReturnWait { job, frame }
    }

    /// A value is kept. A failure may result from the request to stop.
    fn conclude(&self, outcome: Outcome<W::Out>) -> Outcome<W::Out> {
        match outcome {
            Outcome::Failure(_) => Outcome::Cancelled,
            outcome => outcome.passed(self.frame),
        }
    }
}

impl<W: Work> Wait for ReturnWait<W> {
    type Out = W::Out;
    const IS_SHIELDED: bool = true;

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<W::Out>> {
        self.job.result().take().map(|outcome| self.conclude(outcome))
    }

    fn register(&mut self, _: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<W::Out>> {
        self.job.result().take_or_wait(wakeup).map(|outcome| self.conclude(outcome))
    }

    fn deregister(&mut self, _: &Cx<'_>) {}

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Blocking
    }
}

impl<W: Work> fmt::Debug for ReturnWait<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.frame)
    }
}
