//! Builds structured parts: finalizers, limits, branches.

use fiber_core::{Fiber, Outcome};

use crate::builder::{Builder, TICK};
use crate::part::{Reach, Strand};
use crate::program::Program;

impl Builder {
    pub(crate) fn make_structured(&self, program: Program) -> Fiber<u32> {
        use Program::*;
        match program {
            Ensure(body, finalizer) => self.ensure(*body, *finalizer, false),
            OnOutcome(body, finalizer) => self.ensure(*body, *finalizer, true),
            OnCancel(body, finalizer) => self.on_cancel(*body, *finalizer),
            OnFailure(body, finalizer) => self.on_failure(*body, *finalizer),
            Bracket(acquire, using, release) => self.bracket(*acquire, *using, *release),
            Resources(acquire, using, release) => self.resources(*acquire, *using, *release),
            Brittle(is_resource, acquire, release) => self.brittle(is_resource, *acquire, *release),
            Timeout(ticks, body) => self.limited(*body, |body| body.timeout(ticks * TICK).boxed()),
            TimeoutOption(ticks, body) => self.limited(*body, |body| {
                body.timeout_option(ticks * TICK).map(|value| value.unwrap_or(1)).boxed()
            }),
            Deadline(ticks, body) => self.limited(*body, |body| {
                Fiber::now().bind(move |now| body.with_deadline(now + ticks * TICK)).boxed()
            }),
            TimeoutTo(ticks, body, fallback) => {
                let inside = self.inside().with_reach(Reach::Everything);
                let (part, body, fallback) =
                    (inside.part.clone(), inside.fiber(*body), self.fiber(*fallback));
                let ended = part.clone();
                let fallback = Fiber::defer(move || {
                    ended.end();
                    fallback
                });
                self.ends(part, body.timeout_to(ticks * TICK, fallback).boxed())
            }
            Grace(ticks, grace, body) => {
                let body = self.outside().with_reach(Reach::Everything).fiber(*body);
                body.timeout_with_grace(ticks * TICK, grace * TICK)
            }
            Disconnect(body) => self.outside().fiber(*body).disconnect().boxed(),
            other => self.make_branches(other),
        }
    }

    /// A body that may be cancelled separately, and then ends.
    fn limited(&self, body: Program, limit: impl FnOnce(Fiber<u32>) -> Fiber<u32>) -> Fiber<u32> {
        let inside = self.inside().with_reach(Reach::Everything);
        self.ends(inside.part.clone(), limit(inside.fiber(body)))
    }

    fn make_branches(&self, program: Program) -> Fiber<u32> {
        use Program::*;
        let inside = self.inside();
        let part = inside.part.clone();
        let made = match program {
            Zip(left, right) => {
                let both = inside.branch(*left).zip(inside.branch(*right));
                both.map(|(n, m)| n.wrapping_add(m)).boxed()
            }
            Race(left, right) => {
                let first = inside.branch(*left).race(inside.branch(*right));
                first.map(|either| either.into_inner()).boxed()
            }
            RaceWith(left, right) => {
                let world = self.world.clone();
                let both = inside.branch(*left).race_with(inside.branch(*right));
                both.map(move |raced| {
                    let both = [raced.first, raced.second];
                    both.iter().for_each(|outcome| world.see_outcome(outcome));
                    both.into_iter()
                        .filter_map(Outcome::success)
                        .map(|either| either.into_inner())
                        .fold(0, u32::wrapping_add)
                })
                .boxed()
            }
            Loot(gather, left, right) => inside.loot(gather, *left, *right),
            RaceAll(all) => {
                let all: Vec<_> = all.into_iter().map(|program| inside.branch(program)).collect();
                Fiber::race_all(all).boxed()
            }
            FirstSuccess(all) => {
                let all: Vec<_> = all.into_iter().map(|program| inside.skippable(program)).collect();
                Fiber::first_success(all).boxed()
            }
            Hedge(pause, attempts, body) => {
                Fiber::hedge(pause * TICK, attempts, move || inside.skippable((*body).clone())).boxed()
            }
            Parallel(limit, all) => {
                let all = all.into_iter().map(move |program| {
                    inside.runs();
                    inside.branch(program)
                });
                Fiber::parallel(all).limit(limit).map(|all| all.len() as u32).boxed()
            }
            Stream(limit, all) => inside.stream(limit, all),
            other => return self.make_forks(other),
        };
        self.ends(part, made)
    }

    /// One of several fibers that end with the same part.
    pub(crate) fn branch(&self, program: Program) -> Fiber<u32> {
        Builder { strand: Strand::default(), ..self.clone() }.fiber(program)
    }

    /// A branch whose failure is skipped when another one succeeds. Its panic is not, because that is a bug.
    pub(crate) fn skippable(&self, program: Program) -> Fiber<u32> {
        let world = self.world.clone();
        let skipped = move |outcome| {
            if let Outcome::Failure(error) = &outcome {
                world.see_error(error);
            }
            outcome
        };
        self.branch(program).map_outcome(skipped).boxed()
    }
}
