//! Waits for events outside of the fiber: callbacks, futures, blocking threads, and other fibers' turns.

use std::sync::{Arc, Mutex};

use fiber_core::error::Abandoned;
use fiber_core::{Error, Fiber, Outcome, Resume};

use crate::exploration::explore;
use crate::ledger::{DEPTH, TICK};

type Slot = Arc<Mutex<Option<Resume<u32>>>>;

/// A fiber that waits in a slot, and one that takes the waiter out of it, if there is one.
fn slot() -> (Fiber<u32>, Fiber<Option<Resume<u32>>>) {
    let slot = Slot::default();
    let left = slot.clone();
    let waits = Fiber::callback(move |resume| *left.lock().unwrap() = Some(resume));
    (waits.boxed(), Fiber::lazy(move || slot.lock().unwrap().take()).boxed())
}

#[test]
fn a_callback_is_resumed_by_another_fiber() {
    explore(|ledger| {
        let part = ledger.part("waiter");
        let (waits, take) = slot();
        let resumes = Fiber::delay(TICK)
            .bind(move |()| take)
            .map(|resume| resume.into_iter().for_each(|r: Resume<u32>| r.success(7)));
        let both = part.guarded(waits).zip(resumes).map(|(value, ())| value);
        part.ends_before(both)
    })
    .ends_with(|outcome| matches!(outcome, Outcome::Success(7)))
    .preemptions(2)
    .check();
}

#[test]
fn a_callback_whose_resume_is_dropped_is_abandoned() {
    explore(|ledger| {
        let part = ledger.part("waiter");
        let (waits, take) = slot();
        let forgets = Fiber::delay(TICK).bind(move |()| take).map(drop);
        part.ends_before(part.guarded(waits).zip(forgets))
    })
    .ends_with(|outcome| matches!(outcome, Outcome::Failure(error) if error.is::<Abandoned>()))
    .preemptions(2)
    .check();
}

#[test]
fn a_callback_that_is_cancelled_as_it_is_resumed_ends_once() {
    explore(|ledger| {
        let part = ledger.part("waiter");
        let (waits, take) = slot();
        let resumes = Fiber::delay(TICK).bind(move |()| take).map(|resume| match resume {
            Some(resume) if resume.is_closed() => drop(resume),
            Some(resume) => resume.success(7),
            None => (),
        });
        let limited = part.guarded(waits).timeout_option(TICK);
        part.ends_before(limited.zip(resumes))
    })
    .preemptions(2)
    .check();
}

#[test]
fn a_resume_may_come_before_the_wait() {
    explore(|_| {
        let (waits, take) = slot();
        let impatient = Fiber::yield_now().bind(move |()| take);
        let resumes = impatient.bind(|resume: Option<Resume<u32>>| {
            let was_there = resume.is_some();
            resume.into_iter().for_each(|resume| resume.success(7));
            Fiber::success(was_there)
        });
        // If the other one came too early, no fiber is left that could resume this one.
        let waits =
            waits.map(Some).or_else(|error| if error.is::<Abandoned>() { Ok(None) } else { Err(error) });
        waits.zip(resumes).map(|(value, was_there)| assert_eq!(value.is_some(), was_there)).boxed()
    })
    .preemptions(2)
    .check();
}

#[test]
fn what_a_future_awaits_has_ended_when_it_has() {
    explore(|ledger| {
        let (first, second, forked) = (ledger.part("first"), ledger.part("second"), ledger.part("forked"));
        let (first_runs, second_runs) = (first.guarded(first.runs(1, 1)), second.guarded(second.works(2)));
        let forked_runs = forked.guarded(forked.runs(1, 1));
        let future = forked_runs.fork().bind(move |handle| {
            Fiber::from_future(async move {
                let sum = first_runs.await? + second_runs.await?;
                Ok::<_, Error>(sum + handle.await.into_result()?)
            })
        });
        forked.ends_before_value(second.ends_before_value(first.ends_before_value(future)))
    })
    .ends_with(|outcome| matches!(outcome, Outcome::Success(4)))
    .preemptions(0)
    .check();
}

#[test]
fn a_future_that_is_dropped_cancels_what_it_awaits() {
    explore(|ledger| {
        let awaited = ledger.part("awaited");
        let stays = awaited.guarded(awaited.stays(2));
        let future = Fiber::from_future(async move { stays.await });
        awaited.ends_before(future.timeout_option(2 * TICK))
    })
    .check();
}

#[test]
fn a_failure_of_what_a_future_awaits_is_its_own() {
    explore(|ledger| {
        let awaited = ledger.part("awaited");
        let fails = awaited.guarded(awaited.fails(1));
        let future = Fiber::from_future(async move { fails.await });
        awaited.ends_before_value(future)
    })
    .ends_with(Outcome::is_failure)
    .may_be_unobserved()
    .check();
}

#[test]
fn a_closure_on_a_blocking_thread_runs_at_most_once() {
    explore(|ledger| {
        let (counted, blocks) = (ledger.clone(), ledger.clone());
        let blocking = Fiber::blocking(move || blocks.book().happened("blocks"));
        let twice = blocking.clone().zip(blocking.timeout_option(TICK)).map(drop);
        twice
            .map_outcome(move |outcome| {
                counted.check(
                    !outcome.is_success() || counted.count("blocks") == 2,
                    "a closure did not run, or twice",
                );
                outcome
            })
            .boxed()
    })
    .preemptions(0)
    .check();
}

#[test]
fn a_blocking_closure_that_is_cancelled_before_it_starts_never_runs() {
    explore(|ledger| {
        let (blocks, counted) = (ledger.clone(), ledger.clone());
        let part = ledger.part("beside");
        let blocking = Fiber::blocking(move || blocks.book().happened("blocks"));
        let race = blocking.race(part.guarded(part.works(1)));
        let raced = race.bind(move |_| Fiber::lazy(move || counted.count("blocks")));
        let counted = ledger.clone();
        raced
            .bind(move |at_the_end| Fiber::delay(TICK).map(move |()| counted.count("blocks") - at_the_end))
            .boxed()
    })
    .ends_with(|outcome| matches!(outcome, Outcome::Success(0)))
    .check();
}

#[test]
fn fibers_that_yield_both_end() {
    explore(|ledger| {
        let yields = |name| {
            let part = ledger.part(name);
            let steps = part.clone();
            part.guarded(Fiber::for_each(0..2, move |_| {
                let step = steps.step();
                Fiber::yield_now().bind(move |()| step)
            }))
        };
        yields("left").zip(yields("right")).map(drop).boxed()
    })
    .preemptions(0)
    .check();
}

#[test]
fn locals_are_those_of_the_place() {
    explore(|ledger| {
        let (outside, inside) = (ledger.clone(), ledger.at_depth(1));
        let branches = ["left", "right"].map(|name| {
            let part = inside.part(name);
            part.guarded(part.runs(1, 1))
        });
        let forked = inside.part("forked");
        let forks = forked.guarded(forked.works(2)).fork().bind(|child| child.join());
        let detached = inside.detached().part("detached");
        let detaches = detached.guarded(detached.works(1)).detach();
        let all =
            Fiber::parallel(branches).bind(move |_| forks).bind(move |_| detaches).with_local(&DEPTH, 1);
        let (finalizer, after) = (outside.shielded().part("finalizer"), outside.part("after"));
        let (finalizer, after) = (finalizer.body(finalizer.step()), after.guarded(after.works(1)));
        all.map(drop).ensure(finalizer).bind(move |()| after).boxed()
    })
    .preemptions(0)
    .check();
}
