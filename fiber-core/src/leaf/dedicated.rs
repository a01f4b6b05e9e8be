//! The two waits of `Fiber::dedicated`: for the work, and after a cancellation for the return of the work.

use std::sync::Arc;

use parking_lot::Mutex;

use super::blocking::Job;
use super::one_shot::Receiver;
use super::wait::Wait;
use crate::engine::context::{Cx, WaitsFor, Wakeup};
use crate::error::Frame;
use crate::outcome::Outcome;

/// The result of the work, for both waits.
pub(crate) type SharedResult<T> = Arc<Mutex<Receiver<T>>>;

/// Waits for work on a thread of its own. A cancellation ends this wait, and asks the work to stop.
///
/// If it `RETURNS`, the work was asked to stop, and the wait goes on until it has.
pub(crate) struct DedicatedWait<F, T, const RETURNS: bool> {
    job: Arc<Job<F, T>>,
    result: SharedResult<T>,
    is_scheduled: bool,
    frame: Frame,
}

impl<F: Send + 'static, T: Send + 'static, const RETURNS: bool> DedicatedWait<F, T, RETURNS> {
    pub(crate) fn new(job: Arc<Job<F, T>>, result: SharedResult<T>, frame: Frame) -> Self {
        DedicatedWait { job, result, is_scheduled: RETURNS, frame }
    }

    /// A value is kept. A failure may result from the request to stop.
    fn conclude(&self, outcome: Outcome<T>) -> Outcome<T> {
        match outcome {
            Outcome::Failure(_) if RETURNS => Outcome::Cancelled,
            outcome => outcome.passed(self.frame),
        }
    }
}

impl<F: Send + 'static, T: Send + 'static, const RETURNS: bool> Wait for DedicatedWait<F, T, RETURNS> {
    type Out = T;
    const IS_SHIELDED: bool = RETURNS;

    fn poll(&mut self, _: &Cx<'_>) -> Option<Outcome<T>> {
        let outcome = self.result.lock().take();
        outcome.map(|outcome| self.conclude(outcome))
    }

    fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<T>> {
        let ready = self.result.lock().take_or_wait(wakeup);
        if !self.is_scheduled {
            self.is_scheduled = true;
            cx.scheduler().schedule_dedicated(self.job.task(cx.context()));
        }
        ready.map(|outcome| self.conclude(outcome))
    }

    fn deregister(&mut self, _: &Cx<'_>) {
        self.job.ask_to_stop();
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Blocking
    }
}

impl<F, T, const RETURNS: bool> Drop for DedicatedWait<F, T, RETURNS> {
    fn drop(&mut self) {
        self.job.give_up(&self.result.lock());
    }
}
