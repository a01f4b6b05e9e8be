//! A part of a program that runs as a fiber of its own, in sequence with the fiber around it: what it forks ends with
//! it, and it can be cancelled by itself. The shape of `timeout`, `with_deadline` and `scope`.

use super::group::{Inside, run_guarded, when_childless};
use crate::context::{Context, Cx};
use crate::instant::Instant;
use crate::outcome::Outcome;
use crate::scheduler::TimerKey;
use crate::step::{Callback, Run, Step, Suspension};
use crate::task::Task;

/// Runs `run` in `child`, until `until`. `None`: the time was over.
#[inline]
pub(super) fn run_confined<R: Run>(
    cx: &Cx<'_>,
    run: R,
    child: Context,
    until: Option<Instant>,
) -> Step<Option<R::Out>, Confined<R>> {
    match run_guarded(run, &cx.enter(&child)) {
        Step::Done(outcome) if child.finish_alone() => {
            child.end();
            Step::Done(in_time(&child, outcome))
        }
        Step::Done(outcome) => Step::Suspend(Confined::Childful(child, outcome)),
        Step::Suspend(rest) => Step::Suspend(Confined::Waiting(child, until, rest)),
    }
}

/// The outcome of the child, in view of its timer.
fn in_time<T>(child: &Context, outcome: Outcome<T>) -> Outcome<Option<T>> {
    match outcome {
        Outcome::Cancelled if child.is_timed_out() => Outcome::Success(None),
        outcome => outcome.map(Some),
    }
}

/// Where a confined part had to wait.
pub enum Confined<R: Run> {
    /// In itself; the timer, if there is to be one, has to be set.
    Waiting(Context, Option<Instant>, R::Suspension),
    /// It has ended in time, but not so its children.
    Childful(Context, Outcome<R::Out>),
}

impl<R: Run> Suspension for Confined<R> {
    type Out = Option<R::Out>;

    fn attach<C: Callback<Self::Out>>(self, cx: &Cx<'_>, callback: C) {
        let parent = cx.context().clone();
        match self {
            Confined::Waiting(child, until, rest) => {
                let timer = Timer::start(&child, until);
                let leave = Leave { inside: Inside::new(child.clone()), parent, callback };
                rest.attach(&cx.enter(&child), StopTimer { timer, leave });
            }
            Confined::Childful(child, outcome) => {
                let leave = Leave { inside: Inside::new(child.clone()), parent, callback };
                when_childless(&cx.enter(&child), outcome, leave);
            }
        }
    }
}

impl<R: Run> std::fmt::Debug for Confined<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Confined::Waiting(..) => "Waiting",
            Confined::Childful(..) => "Childful",
        })
    }
}

/// The timer of a child, stopped by being dropped.
struct Timer(Option<(Context, TimerKey)>);

impl Timer {
    fn start(child: &Context, until: Option<Instant>) -> Self {
        let start = |at| child.scheduler().schedule_at(at, Task::time_out(child.clone()));
        Timer(until.map(|at| (child.clone(), start(at))))
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if let Some((child, key)) = self.0.take() {
            child.scheduler().cancel_timer(key);
        }
    }
}

/// The child's own work is over.
struct StopTimer<C> {
    timer: Timer,
    leave: Leave<C>,
}

impl<T: Send + 'static, C: Callback<Option<T>>> Callback<T> for StopTimer<C> {
    fn resume(self, cx: &Cx<'_>, outcome: Outcome<T>) {
        drop(self.timer);
        when_childless(cx, outcome, self.leave);
    }
}

/// Leads from the child back to the fiber.
struct Leave<C> {
    inside: Inside,
    parent: Context,
    callback: C,
}

impl<T: Send + 'static, C: Callback<Option<T>>> Callback<T> for Leave<C> {
    fn resume(self, cx: &Cx<'_>, outcome: Outcome<T>) {
        let outcome = in_time(cx.context(), outcome);
        self.inside.end();
        self.callback.resume(&cx.enter(&self.parent), outcome);
    }
}
