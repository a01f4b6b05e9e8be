//! Runs batches of schedules, on one thread or several. The results come in the order of the plans, and as early as possible, so
//! nothing depends on the number of threads.

use std::any::Any;
use std::collections::BTreeMap;
use std::iter;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::program::Program;
use super::run::{Execution, Keep, Runner};
use super::settings::Settings;
use crate::machine::Course;
use crate::primitive::Site;

/// Runs courses until a deadline, and passes on their results in the same order.
pub(crate) type RunAll<'a> = dyn FnMut(Vec<Course>, Option<Instant>, &mut Judge<'_>) + 'a;

/// Receives a result, and the index of its course. It may end the batch.
pub(crate) type Judge<'a> = dyn FnMut(usize, Execution) -> ControlFlow<()> + 'a;

/// The maximum number of courses in a portion: enough to make sending them cheap.
const MAX_PORTION: usize = 16;

/// A small batch is divided into this many portions per thread.
const PORTIONS: usize = 2;

/// Some courses of a batch.
struct Portion {
    batch: u64,
    number: usize,
    courses: Vec<Course>,
    until: Option<Instant>,
}

/// The results of a portion; or the panic of a worker, which is a defect of the explorer.
type Done = (u64, usize, Result<Vec<Execution>, Box<dyn Any + Send>>);

/// Calls `explore` with a way to run batches on `threads` threads.
pub(crate) fn with_workers<U>(
    threads: usize,
    program: &dyn Program,
    settings: &Settings,
    site: Site,
    explore: impl FnOnce(&mut RunAll<'_>) -> U,
) -> U {
    if threads <= 1 {
        let mut runner = Runner::new(program, settings, Keep::Failures, site);
        return explore(&mut |courses, until, judge| {
            for (at, course) in courses.into_iter().enumerate() {
                let Some(execution) = runner.run_until(course, until) else { return };
                if judge(at, execution).is_break() {
                    return;
                }
            }
        });
    }
    let (portions, work) = unbounded::<Portion>();
    let (results, done) = unbounded::<Done>();
    // The batches up to this one are no longer needed.
    let seen = &AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..threads {
            let (work, results) = (work.clone(), results.clone());
            scope.spawn(move || {
                work_on(&work, &results, seen, Runner::new(program, settings, Keep::Failures, site));
            });
        }
        drop((work, results));
        // Moved into this scope, so that it is dropped and the threads end when there is nothing more to explore.
        let portions = portions;
        let mut batch = 0;
        explore(&mut |courses, until, judge| {
            batch += 1;
            let size = courses.len().div_ceil(threads * PORTIONS).clamp(1, MAX_PORTION);
            let count = send(&portions, size, batch, courses, until);
            if judge_in_order(&done, size, batch, count, judge).is_break() {
                // Relaxed: a worker that sees it late runs a few more schedules, whose results are discarded.
                seen.store(batch, Ordering::Relaxed);
            }
        })
    })
}

/// Returns the number of portions.
fn send(
    portions: &Sender<Portion>,
    size: usize,
    batch: u64,
    courses: Vec<Course>,
    until: Option<Instant>,
) -> usize {
    let mut courses = courses.into_iter();
    let all =
        iter::from_fn(|| Some(courses.by_ref().take(size).collect()).filter(|all: &Vec<_>| !all.is_empty()));
    let send = |(number, courses)| {
        portions.send(Portion { batch, number, courses, until }).expect("the workers are there");
    };
    all.enumerate().map(send).count()
}

/// Judges the results of `count` portions of `size` as they come, in their order.
fn judge_in_order(
    done: &Receiver<Done>,
    size: usize,
    batch: u64,
    count: usize,
    judge: &mut Judge<'_>,
) -> ControlFlow<()> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    while next < count {
        let (of, number, portion) = done.recv().expect("a worker reports also when it panics");
        if of != batch {
            continue;
        }
        early.insert(number, portion.unwrap_or_else(|panic| resume_unwind(panic)));
        while let Some(portion) = early.remove(&next) {
            for (at, execution) in (next * size..).zip(portion) {
                judge(at, execution)?;
            }
            next += 1;
        }
    }
    ControlFlow::Continue(())
}

fn work_on(work: &Receiver<Portion>, results: &Sender<Done>, seen: &AtomicU64, mut runner: Runner<'_>) {
    for Portion { batch, number, courses, until } in work {
        // Relaxed: see where it is stored.
        let is_wanted = || seen.load(Ordering::Relaxed) < batch;
        let run_all = || {
            let courses = courses.into_iter().take_while(|_| is_wanted());
            courses.map_while(|course| runner.run_until(course, until)).collect()
        };
        let ran = catch_unwind(AssertUnwindSafe(run_all));
        if results.send((batch, number, ran)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Counts;
    use crate::strategy::Strategy;

    fn execution() -> Execution {
        let (problem, schedule, trace, census) = (None, None, None, None);
        let (counts, strategy) = (Counts::default(), Strategy::Fifo);
        Execution { problem, schedule, counts, turns_to_end: 0, census, strategy, trace, steps: None }
    }

    /// Of three portions one has come. Waiting for the others would panic here, because no sender is left.
    #[test]
    fn a_portion_is_judged_before_the_next_ones_have_come() {
        let (results, done) = unbounded::<Done>();
        results.send((1, 0, Ok(vec![execution(), execution()]))).unwrap();
        drop(results);
        let mut judged = Vec::new();
        let end = judge_in_order(&done, 2, 1, 3, &mut |at, _| {
            judged.push(at);
            if at == 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(end.is_break());
        assert_eq!(judged, [0, 1]);
    }

    /// The second portion came first, and one of the previous batch is left over.
    #[test]
    fn results_are_judged_in_the_order_of_their_courses() {
        let (results, done) = unbounded::<Done>();
        for (batch, number) in [(1, 0), (2, 1), (2, 0)] {
            results.send((batch, number, Ok(vec![execution()]))).unwrap();
        }
        let mut judged = Vec::new();
        let end = judge_in_order(&done, 1, 2, 2, &mut |at, _| {
            judged.push(at);
            ControlFlow::Continue(())
        });
        assert!(end.is_continue());
        assert_eq!(judged, [0, 1]);
    }
}
