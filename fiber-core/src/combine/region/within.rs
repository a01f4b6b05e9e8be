//! A time limit around a single wait, as one wait of the fiber: for its event, and for the timer.
//!
//! Such a wait forks nothing and runs no other code, so it needs no part of the fiber that could be cancelled: the timer is the second
//! event of the wait, and the compare-and-swap on the parking slot decides. A wait that is ready sets no timer, and reads no clock.

use std::fmt;

use super::end::RegionEnd;
use crate::engine::context::{Cx, WaitsFor, Wakeup};
use crate::engine::scheduler::TimerKey;
use crate::engine::step::{Follow, Run, Step};
use crate::engine::subject::Subject;
use crate::engine::task::Task;
use crate::error::Site;
use crate::instant::Instant;
use crate::leaf::{Leaf, Wait};
use crate::outcome::Outcome;

/// Runs a single wait until it is over, or `until`, which is asked if the fiber has to wait.
pub(super) fn run_within<'s, R: Run, E: RegionEnd<R::Out>>(
    cx: &'s Cx<'_>,
    wait: R,
    until: impl FnOnce(&Cx<'_>) -> Instant + Send + 'static,
    end: E,
    site: Site,
) -> Step<'s, E::Out> {
    let within = Within { wait: Some(wait), until: Until::Unknown(until), timer: None, waits: false };
    Leaf::new(within, site).run_then(cx, Conclude(end))
}

/// The event, or the timer. A success without a value: the time is over.
struct Within<R, F> {
    /// `None` at the end.
    wait: Option<R>,
    until: Until<F>,
    timer: Option<TimerKey>,
    waits: bool,
}

enum Until<F> {
    Unknown(F),
    At(Instant),
    /// Never borrowed: stands for the time while that is asked.
    Asked,
}

impl<F: FnOnce(&Cx<'_>) -> Instant> Until<F> {
    /// If the fiber waits again, the time does not start anew.
    fn get(&mut self, cx: &Cx<'_>) -> Instant {
        let until = match std::mem::replace(self, Until::Asked) {
            Until::Unknown(ask) => ask(cx),
            Until::At(instant) => instant,
            Until::Asked => Instant::FAR_FUTURE,
        };
        *self = Until::At(until);
        until
    }
}

impl<R: Run, F> Within<R, F> {
    fn step(
        &mut self,
        wait: impl FnOnce(R) -> Result<Outcome<R::Out>, R>,
    ) -> Option<Outcome<Option<R::Out>>> {
        match wait(self.wait.take()?) {
            Ok(outcome) => Some(outcome.map(Some)),
            Err(back) => {
                self.wait = Some(back);
                None
            }
        }
    }

    fn stop_timer(&mut self, cx: &Cx<'_>) {
        if let Some(timer) = self.timer.take() {
            cx.scheduler().cancel_timer(timer);
        }
    }
}

impl<R: Run, F: FnOnce(&Cx<'_>) -> Instant + Send + 'static> Wait for Within<R, F> {
    type Out = Option<R::Out>;
    const CAN_LOSE: bool = true;

    fn poll(&mut self, cx: &Cx<'_>) -> Option<Outcome<Option<R::Out>>> {
        if std::mem::take(&mut self.waits) {
            if cx.context().was_second() {
                self.timer = None;
                if let Some(wait) = &mut self.wait {
                    wait.deregister_wait(cx);
                }
                let wait = self.wait.take()?;
                return Some(Outcome::Success(None).without_run(wait, cx));
            }
            self.stop_timer(cx);
        }
        self.step(|wait| wait.poll_wait(cx))
    }

    fn register(&mut self, cx: &Cx<'_>, wakeup: Wakeup) -> Option<Outcome<Option<R::Out>>> {
        self.waits = true;
        let until = cx.timer(self.until.get(cx));
        let second = wakeup.second();
        let outcome = self.step(|wait| wait.register_wait(cx, wakeup));
        if outcome.is_none() {
            self.timer = until.map(|until| cx.scheduler().schedule_at(until, Task::fire(second)));
        }
        outcome
    }

    fn deregister(&mut self, cx: &Cx<'_>) {
        if let Some(wait) = &mut self.wait {
            wait.deregister_wait(cx);
        }
        self.stop_timer(cx);
    }

    fn waits_for(&self) -> WaitsFor {
        self.awaited().map_or(WaitsFor::Nothing, |(what, _)| what)
    }

    fn waits_at(&self) -> Option<&Subject> {
        self.awaited().and_then(|(_, at)| at)
    }
}

impl<R: Run, F> Within<R, F> {
    fn awaited(&self) -> Option<(WaitsFor, Option<&Subject>)> {
        self.wait.as_ref()?.awaited()
    }
}

impl<R, F> fmt::Debug for Within<R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a wait with a time limit")
    }
}

/// Ends the limit.
struct Conclude<E>(E);

impl<T: Send + 'static, E: RegionEnd<T>> Follow<Option<T>> for Conclude<E> {
    type Out = E::Out;
    const NEVER_WAITS: bool = true;

    fn follow<'s>(self, cx: &'s Cx<'_>, outcome: Outcome<Option<T>>) -> Step<'s, E::Out> {
        let ended = match outcome.split() {
            Ok(None) => None,
            Ok(Some(value)) => Some(Outcome::Success(value)),
            Err(other) => Some(other),
        };
        Step::Done(self.0.conclude(cx, ended))
    }
}
