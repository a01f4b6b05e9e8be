//! Runs batches of schedules, on one thread or several. The results come in the order of the plans, so that nothing
//! depends on how many threads there are.

use std::ops::ControlFlow;
use std::thread;
use std::time::Instant;

use crossbeam_channel::unbounded;
use fiber_core::{Fiber, Run};

use super::run::{Keep, Plan, Ran, Runner, Settings};
use crate::trace::Site;

/// Runs plans until some time, and hands their results on in the same order.
pub(crate) type RunAll<'a> = dyn FnMut(Vec<Plan>, Option<Instant>, &mut Judge<'_>) + 'a;

/// Looks at a result, and the place of its plan. It may have seen enough.
pub(crate) type Judge<'a> = dyn FnMut(usize, Ran) -> ControlFlow<()> + 'a;

/// How many plans a thread is given at a time: enough to make handing them over, and looking at the clock, cheap.
const PORTION: usize = 32;

/// Calls `explore` with a way to run batches on `threads` threads.
pub(crate) fn with_crew<T, R, F, U>(
    threads: usize,
    settings: &Settings,
    site: Site,
    program: &F,
    explore: impl FnOnce(&mut RunAll<'_>) -> U,
) -> U
where
    T: Send + 'static,
    R: Run<Out = T>,
    F: Fn() -> Fiber<T, R> + Sync,
{
    if threads <= 1 {
        let mut runner = Runner::new(settings.clone(), Keep::Failures, site);
        return explore(&mut |plans, until, judge| {
            for (at, plan) in plans.into_iter().enumerate() {
                let is_over = at % PORTION == 0 && is_past(until);
                if is_over || judge(at, runner.run(program, plan)).is_break() {
                    return;
                }
            }
        });
    }
    let (portions_out, work) = unbounded::<(usize, Vec<Plan>, Option<Instant>)>();
    let (results, done) = unbounded::<(usize, Vec<Ran>)>();
    thread::scope(|scope| {
        for _ in 0..threads {
            let (work, results) = (work.clone(), results.clone());
            scope.spawn(move || {
                let mut runner = Runner::new(settings.clone(), Keep::Failures, site);
                for (first, plans, until) in work {
                    let has_time = !is_past(until);
                    let plans = plans.into_iter().filter(|_| has_time);
                    let ran = plans.map(|plan| runner.run(program, plan)).collect();
                    if results.send((first, ran)).is_err() {
                        return;
                    }
                }
            });
        }
        drop((work, results));
        // Taken in, so that it is gone and the threads end when there is nothing more to explore.
        let portions_out = portions_out;
        explore(&mut |plans, until, judge| {
            let mut count = 0;
            for portion in portions(plans) {
                portions_out.send((count * PORTION, portion, until)).expect("the crew is there");
                count += 1;
            }
            let mut portions: Vec<(usize, Vec<Ran>)> = done.iter().take(count).collect();
            assert_eq!(portions.len(), count, "a thread of the explorer is gone");
            portions.sort_by_key(|(first, _)| *first);
            for (at, ran) in portions.into_iter().flat_map(|(first, portion)| (first..).zip(portion)) {
                if judge(at, ran).is_break() {
                    return;
                }
            }
        })
    })
}

fn portions(plans: Vec<Plan>) -> impl Iterator<Item = Vec<Plan>> {
    let mut plans = plans.into_iter();
    std::iter::from_fn(move || {
        let portion: Vec<Plan> = plans.by_ref().take(PORTION).collect();
        (!portion.is_empty()).then_some(portion)
    })
}

pub(super) fn is_past(until: Option<Instant>) -> bool {
    until.is_some_and(|until| Instant::now() >= until)
}
