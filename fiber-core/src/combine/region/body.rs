//! A part of a program with its own node in the cancel tree, in sequence with the fiber around it. Its forks end with
//! it, and it can be cancelled by itself. `timeout`, `with_deadline` and `scope` are built on it.

use super::group::{run_guarded, when_childless};
use crate::engine::context::{Context, Cx, NodeGuard, Part, Watch};
use crate::engine::scheduler::TimerKey;
use crate::engine::step::{Callback, Run, Step, Suspension};
use crate::engine::task::Task;
use crate::error::{Abandoned, Error, Frame};
use crate::instant::Instant;
use crate::outcome::{Outcome, catch_panic, guard};

/// What the end of a region means for the fiber around it.
pub trait RegionEnd<T>: Send + 'static {
    type Out: Send + 'static;
    /// `None`: the time of the region was over.
    fn conclude(self, ended: Option<Outcome<T>>) -> Outcome<Self::Out>;
}

/// For regions without a timer: passes on the outcome, and adds this place to the trace of a failure.
#[derive(Debug)]
pub struct Passed(pub(crate) Frame);

impl<T: Send + 'static> RegionEnd<T> for Passed {
    type Out = T;

    fn conclude(self, ended: Option<Outcome<T>>) -> Outcome<T> {
        // Without a timer, the region never runs out of time.
        ended.unwrap_or(Outcome::Cancelled).passed(self.0)
    }
}

/// A failure with `error` when the time is over.
#[derive(Clone, Debug)]
pub struct OrFail<E>(pub(crate) E, pub(crate) Frame);

impl<T: Send + 'static, E: std::error::Error + Send + Sync + 'static> RegionEnd<T> for OrFail<E> {
    type Out = T;

    fn conclude(self, ended: Option<Outcome<T>>) -> Outcome<T> {
        ended.unwrap_or_else(|| Outcome::Failure(Error::new(self.0))).passed(self.1)
    }
}

/// Runs `run` in `part`, with the limit `until`. A region that ends at once needs no node and no timer.
#[inline]
pub(crate) fn run_region<R: Run, V: RegionEnd<R::Out>>(
    cx: &Cx<'_>,
    run: R,
    mut part: Part<'_>,
    until: Option<Instant>,
    verdict: V,
) -> Step<V::Out, Region<R, V>> {
    let step = {
        let limit = Watch::limit(cx, &part, until);
        run_guarded(run, &cx.within(&part).above(&limit))
    };
    match step {
        Step::Done(outcome) => match part.leave() {
            None => Step::Done(verdict.conclude(Some(outcome))),
            Some(child) => Region::end(child, outcome, verdict),
        },
        Step::Suspend(rest) => {
            Step::Suspend(Region { child: part.into_inside(), verdict, at: At::Work(until, rest) })
        }
    }
}

/// The outcome of the child, unless its timer cancelled it.
fn in_time<T>(child: &Context, outcome: Outcome<T>) -> Option<Outcome<T>> {
    (!outcome.is_cancelled() || !child.is_timed_out()).then_some(outcome)
}

/// A region that has to wait.
pub struct Region<R: Run, V> {
    child: NodeGuard,
    verdict: V,
    at: At<R>,
}

enum At<R: Run> {
    /// The work waits. The timer, if there is one, still has to be set.
    Work(Option<Instant>, R::Suspension),
    /// The work has ended in time; children may be left.
    Children(Outcome<R::Out>),
}

impl<R: Run, V: RegionEnd<R::Out>> Region<R, V> {
    /// Runs `run` in `child`, without a time limit.
    pub(crate) fn run(cx: &Cx<'_>, run: R, child: NodeGuard, verdict: V) -> Step<V::Out, Self> {
        match run_guarded(run, &cx.enter(&child)) {
            Step::Done(outcome) => Region::end(child, outcome, verdict),
            Step::Suspend(rest) => Step::Suspend(Region { child, verdict, at: At::Work(None, rest) }),
        }
    }

    /// Ends the region once its children have ended.
    pub(crate) fn end(child: NodeGuard, outcome: Outcome<R::Out>, verdict: V) -> Step<V::Out, Self> {
        if !child.finish_alone() {
            return Step::Suspend(Region { child, verdict, at: At::Children(outcome) });
        }
        let ended = in_time(&child, outcome);
        child.end();
        Step::Done(verdict.conclude(ended))
    }
}

impl<R: Run, V: RegionEnd<R::Out>> Suspension for Region<R, V> {
    type Out = V::Out;

    fn attach<C: Callback<Self::Out>>(self, cx: &Cx<'_>, callback: C) {
        let Region { child: inside, verdict, at } = self;
        let child = inside.clone();
        let leave = Leave { inside, parent: cx.context().clone(), verdict, callback };
        match at {
            At::Work(until, rest) => {
                let timer = Timer::start(&child, until);
                rest.attach(&cx.enter(&child), StopTimer { timer, leave });
            }
            At::Children(outcome) => when_childless(&cx.enter(&child), outcome, leave),
        }
    }

    fn parts(&self, found: &mut Vec<Context>) {
        found.push(self.child.clone());
    }
}

impl<R: Run, V> std::fmt::Debug for Region<R, V> {
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
            // A scheduler that panics has thrown the timer away.
            let key = guard(|| child.scheduler().schedule_at(at, Task::time_out(child.clone())));
            (child.clone(), key.ok())
        }))
    }

    /// `true`: the scheduler has thrown the timer away, which cancelled the child.
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
struct StopTimer<V, C> {
    timer: Timer,
    leave: Leave<V, C>,
}

impl<T: Send + 'static, V: RegionEnd<T>, C: Callback<V::Out>> Callback<T> for StopTimer<V, C> {
    fn resume(mut self, cx: &Cx<'_>, outcome: Outcome<T>) {
        let outcome = match outcome {
            Outcome::Cancelled if self.timer.stop() => Outcome::Failure(Error::new(Abandoned)),
            outcome => outcome,
        };
        drop(self.timer);
        when_childless(cx, outcome, self.leave);
    }
}

/// Leads from the child back to the fiber.
struct Leave<V, C> {
    inside: NodeGuard,
    parent: Context,
    verdict: V,
    callback: C,
}

impl<T: Send + 'static, V: RegionEnd<T>, C: Callback<V::Out>> Callback<T> for Leave<V, C> {
    fn resume(self, cx: &Cx<'_>, outcome: Outcome<T>) {
        let ended = in_time(cx.context(), outcome);
        self.inside.end();
        self.callback.resume(&cx.enter(&self.parent), self.verdict.conclude(ended));
    }
}
