//! A part of a program with its own node in the cancel tree, in sequence with the fiber around it. Its forks end with
//! it, and it can be cancelled without the fiber around it. `timeout`, `with_deadline` and `scope` are built on it.

use super::end::{Leave, RegionEnd, in_time};
use super::group::{run_guarded, when_childless};
use crate::engine::context::{Context, Cx, NodeGuard, Part, Watch};
use crate::engine::scheduler::TimerKey;
use crate::engine::step::{Callback, Run, Step, Suspension};
use crate::engine::task::Task;
use crate::error::{Abandoned, Error, Frame};
use crate::instant::Instant;
use crate::outcome::{Outcome, catch_panic, guard};

/// For regions without a timer: passes on the outcome, and adds this place to the trace of a failure.
#[derive(Debug)]
pub struct Passed(pub(crate) Frame);

impl<T: Send + 'static> RegionEnd<T> for Passed {
    type Out = T;

    fn conclude(self, _: &Cx<'_>, ended: Option<Outcome<T>>) -> Outcome<T> {
        // Without a timer, the region never runs out of time.
        ended.unwrap_or(Outcome::Cancelled).passed(self.0)
    }
}

/// A failure with `error` when the time limit has passed.
#[derive(Clone, Debug)]
pub struct OrFail<E>(pub(crate) E, pub(crate) Frame);

impl<T: Send + 'static, E: std::error::Error + Send + Sync + 'static> RegionEnd<T> for OrFail<E> {
    type Out = T;

    fn conclude(self, _: &Cx<'_>, ended: Option<Outcome<T>>) -> Outcome<T> {
        ended.unwrap_or_else(|| Outcome::Failure(Error::new(self.0))).passed(self.1)
    }
}

/// Runs `run` in `part`, with the limit `until`. A region that ends at once needs no node and no timer.
#[inline]
pub(crate) fn run_region<R: Run, E: RegionEnd<R::Out>>(
    cx: &Cx<'_>,
    run: R,
    mut part: Part<'_>,
    until: Option<Instant>,
    end: E,
) -> Step<E::Out, Region<R, E>> {
    let step = {
        let limit = Watch::limit(cx, &part, until);
        run_guarded(run, &cx.within(&part).above(&limit))
    };
    match step {
        Step::Done(outcome) => match part.leave() {
            None => Step::Done(end.conclude(cx, Some(outcome))),
            Some(inside) => Region::end(cx, inside, outcome, end),
        },
        Step::Suspend(rest) => {
            Step::Suspend(Region { inside: part.into_inside(), end, at: At::Work(until, rest) })
        }
    }
}

/// A region that has to wait.
pub struct Region<R: Run, E> {
    inside: NodeGuard,
    end: E,
    at: At<R>,
}

enum At<R: Run> {
    /// The work waits. The timer, if there is one, has not been set yet.
    Work(Option<Instant>, R::Suspension),
    /// The work has ended in time; children may be left.
    Children(Outcome<R::Out>),
}

impl<R: Run, E: RegionEnd<R::Out>> Region<R, E> {
    /// Runs `run` in `inside`, without a time limit.
    pub(crate) fn run(cx: &Cx<'_>, run: R, inside: NodeGuard, end: E) -> Step<E::Out, Self> {
        match inside.run_as(|| run_guarded(run, &cx.enter(&inside))) {
            Step::Done(outcome) => Region::end(cx, inside, outcome, end),
            Step::Suspend(rest) => Step::Suspend(Region { inside, end, at: At::Work(None, rest) }),
        }
    }

    /// Ends the region once its children have ended.
    pub(crate) fn end(
        cx: &Cx<'_>,
        inside: NodeGuard,
        outcome: Outcome<R::Out>,
        end: E,
    ) -> Step<E::Out, Self> {
        if !inside.finish_alone() {
            return Step::Suspend(Region { inside, end, at: At::Children(outcome) });
        }
        let ended = in_time(&inside, outcome);
        inside.end();
        Step::Done(end.conclude(cx, ended))
    }
}

impl<R: Run, E: RegionEnd<R::Out>> Suspension for Region<R, E> {
    type Out = E::Out;

    fn attach<C: Callback<Self::Out>>(self, cx: &Cx<'_>, callback: C) {
        let Region { inside, end, at } = self;
        let context = inside.clone();
        let leave = Leave::to(cx, inside, end, callback);
        let cx = &cx.enter(&context);
        match at {
            At::Work(until, rest) => rest.attach(cx, stop_then(Timer::start(&context, until), leave)),
            At::Children(outcome) => when_childless(cx, outcome, leave),
        }
    }

    fn parts(&self, found: &mut Vec<Context>) {
        found.push(self.inside.clone());
    }
}

impl<R: Run, E> std::fmt::Debug for Region<R, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.at {
            At::Work(..) => "Work",
            At::Children(_) => "Children",
        })
    }
}

/// The timer of a child. Dropping it stops the timer.
struct Timer(Option<(Context, Option<TimerKey>)>);

impl Timer {
    fn start(child: &Context, until: Option<Instant>) -> Self {
        Timer(until.map(|at| {
            child.set_timer();
            // A scheduler that panics has dropped the timer.
            let key = guard(|| child.scheduler().schedule_at(at, Task::time_out(child.clone())));
            (child.clone(), key.ok())
        }))
    }

    /// `true`: the scheduler has dropped the timer, which cancelled the child.
    fn stop(&mut self) -> bool {
        let Some((child, key)) = self.0.take() else { return false };
        let is_lost = child.stop_timer();
        if let Some(key) = key
            && !is_lost
        {
            catch_panic(|| _ = child.scheduler().cancel_timer(key));
        }
        is_lost
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The callback of the child's own work; stops the timer.
fn stop_then<T: Send + 'static>(mut timer: Timer, leave: impl Callback<T>) -> impl Callback<T> {
    move |cx: &Cx<'_>, outcome| {
        let outcome = match outcome {
            Outcome::Cancelled if timer.stop() => Outcome::Failure(Error::new(Abandoned)),
            outcome => outcome,
        };
        drop(timer);
        when_childless(cx, outcome, leave);
    }
}
