//! Runs batches of schedules, on one thread or several. The results come in the order of the plans, so that nothing
//! depends on how many threads there are.

use std::thread;
use std::time::Instant;

use crossbeam_channel::unbounded;
use fiber_core::{Fiber, Run};

use super::run::{Keep, Plan, Ran, Runner, Settings};
use crate::trace::Site;

/// Runs plans until some time, and gives their results in the same order. `None`: it has not come to that one.
pub(crate) type RunAll<'a> = dyn FnMut(Vec<Plan>, Option<Instant>) -> Vec<Option<Ran>> + 'a;

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
        return explore(&mut |plans, until| {
            portions(plans).flat_map(|portion| run_portion(&mut runner, program, portion, until)).collect()
        });
    }
    let (portions_out, work) = unbounded::<(usize, Vec<Plan>, Option<Instant>)>();
    let (results, done) = unbounded::<(usize, Vec<Option<Ran>>)>();
    thread::scope(|scope| {
        for _ in 0..threads {
            let (work, results) = (work.clone(), results.clone());
            scope.spawn(move || {
                let mut runner = Runner::new(settings.clone(), Keep::Failures, site);
                for (number, plans, until) in work {
                    let ran = run_portion(&mut runner, program, plans, until);
                    if results.send((number, ran)).is_err() {
                        return;
                    }
                }
            });
        }
        drop((work, results));
        // Taken in, so that it is gone and the threads end when there is nothing more to explore.
        let portions_out = portions_out;
        explore(&mut |plans, until| {
            let mut count = 0;
            for portion in portions(plans) {
                portions_out.send((count, portion, until)).expect("the crew is there");
                count += 1;
            }
            let mut ran: Vec<(usize, Vec<Option<Ran>>)> = done.iter().take(count).collect();
            assert_eq!(ran.len(), count, "a thread of the explorer is gone");
            ran.sort_by_key(|(number, _)| *number);
            ran.into_iter().flat_map(|(_, ran)| ran).collect()
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

fn run_portion<T, R, F>(
    runner: &mut Runner,
    program: &F,
    plans: Vec<Plan>,
    until: Option<Instant>,
) -> Vec<Option<Ran>>
where
    T: Send + 'static,
    R: Run<Out = T>,
    F: Fn() -> Fiber<T, R>,
{
    let has_time = !is_past(until);
    plans.into_iter().map(|plan| has_time.then(|| runner.run(program, plan))).collect()
}

fn is_past(until: Option<Instant>) -> bool {
    until.is_some_and(|until| Instant::now() >= until)
}
