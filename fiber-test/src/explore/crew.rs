//! Runs batches of schedules, on one thread or several. The results come in the order of the plans, so that nothing
//! depends on how many threads there are.

use std::thread;

use crossbeam_channel::unbounded;
use fiber_core::{Fiber, Run};

use super::run::{Keep, Plan, Ran, Runner, Settings};
use crate::trace::Site;

/// Runs plans, and gives their results in the same order.
pub(crate) type RunAll<'a> = dyn FnMut(Vec<Plan>) -> Vec<Ran> + 'a;

/// How many plans a thread is given at a time: enough to make handing them over cheap.
const PORTION: usize = 16;

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
        return explore(&mut |plans| plans.into_iter().map(|plan| runner.run(program, plan)).collect());
    }
    let (portions, work) = unbounded::<(usize, Vec<Plan>)>();
    let (results, done) = unbounded::<(usize, Vec<Ran>)>();
    thread::scope(|scope| {
        for _ in 0..threads {
            let (work, results) = (work.clone(), results.clone());
            scope.spawn(move || {
                let mut runner = Runner::new(settings.clone(), Keep::Failures, site);
                for (number, plans) in work {
                    let ran = plans.into_iter().map(|plan| runner.run(program, plan)).collect();
                    if results.send((number, ran)).is_err() {
                        return;
                    }
                }
            });
        }
        drop((work, results));
        // Taken in, so that it is gone and the threads end when there is nothing more to explore.
        let portions = portions;
        explore(&mut |plans| {
            let count = send_portions(plans, |portion| portions.send(portion).expect("the crew is there"));
            let mut ran: Vec<(usize, Vec<Ran>)> = done.iter().take(count).collect();
            assert_eq!(ran.len(), count, "a thread of the explorer is gone");
            ran.sort_by_key(|(number, _)| *number);
            ran.into_iter().flat_map(|(_, ran)| ran).collect()
        })
    })
}

/// Returns how many there are.
fn send_portions(plans: Vec<Plan>, mut send: impl FnMut((usize, Vec<Plan>))) -> usize {
    let mut plans = plans.into_iter();
    let mut count = 0;
    loop {
        let portion: Vec<Plan> = plans.by_ref().take(PORTION).collect();
        if portion.is_empty() {
            return count;
        }
        send((count, portion));
        count += 1;
    }
}
