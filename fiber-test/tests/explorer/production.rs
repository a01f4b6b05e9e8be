//! Simulated workers: only schedules that a pool can produce.

use std::time::Duration;

use fiber_core::{Fiber, Instant, Run};
use fiber_test::{Explore, ProblemKind, TestScheduler, compute};

use crate::known;
use crate::support::Shared;

const SECOND: Duration = Duration::from_secs(1);

/// Binds of a slice: more than the programs here have.
const BUDGET: u32 = 1024;

/// Two increments with a step between the read and the write.
fn increments<R: Run<Out = ()>>(between: impl Fn() -> Fiber<(), R>) -> Fiber<()> {
    let value = Shared::new(0);
    let one = || {
        let (between, write) = (between(), value.clone());
        let read = value.step(|value| *value);
        let write = move |seen: u32| write.step(move |value| *value = seen + 1);
        read.bind(move |seen| between.map(move |()| seen)).bind(write).boxed()
    };
    let both = Fiber::parallel([one(), one()]);
    both.map(move |_| assert_eq!(value.with(|value| *value), 2)).boxed()
}

fn on_one_worker() -> Explore {
    Explore::exhaustive().as_production(BUDGET).virtual_cpus(1)
}

#[test]
fn one_worker_runs_a_slice_as_a_whole() {
    // Only the order of the two fibers is open.
    assert_eq!(on_one_worker().check(known::lost_update).schedules(), 2);
    assert_eq!(on_one_worker().check(known::close_send).schedules(), 2);
}

#[test]
fn a_scheduler_has_the_slices_of_the_exploration() {
    let failure =
        Explore::default().as_production(1).virtual_cpus(1).try_check(known::lost_update).unwrap_err();
    let follow = |budget| {
        let test =
            TestScheduler::with_schedule(failure.schedule().clone()).as_production(budget).virtual_cpus(1);
        test.run(known::lost_update())
    };
    assert!(follow(1).is_panicked());
    assert!(follow(BUDGET).is_success(), "a slice runs as a whole");
}

#[test]
fn two_workers_interleave() {
    assert!(Explore::exhaustive().as_production(BUDGET).try_check(known::lost_update).is_err());
    assert!(Explore::exhaustive().as_production(BUDGET).try_check(known::close_send).is_err());
}

#[test]
fn a_wait_gives_the_worker_away() {
    assert!(on_one_worker().try_check(|| increments(|| Fiber::success(()))).is_ok());
    assert!(on_one_worker().try_check(|| increments(|| Fiber::delay(SECOND))).is_err());
}

#[test]
fn yield_now_gives_the_worker_away() {
    assert!(on_one_worker().try_check(|| increments(Fiber::yield_now)).is_err());
}

#[test]
fn the_end_of_a_slice_gives_the_worker_away() {
    let with_slices_of = |budget| Explore::exhaustive().as_production(budget).virtual_cpus(1);
    assert!(with_slices_of(1).try_check(known::lost_update).is_err());
    assert!(with_slices_of(2).try_check(known::lost_update).is_ok());
}

/// Each fiber records that it has begun, and reads in its next step how many have: three need three slices that have begun and
/// not ended.
fn three_at_once() -> Fiber<()> {
    let running = Shared::new(0);
    let one = |_| {
        let (looking, ending) = (running.clone(), running.clone());
        running
            .step(|running| *running += 1)
            .bind(move |()| looking.step(|running| assert!(*running < 3, "three at once")))
            .bind(move |()| ending.step(|running| *running -= 1))
            .boxed()
    };
    Fiber::parallel((0..3).map(one).collect::<Vec<_>>()).map(drop).boxed()
}

#[test]
fn no_more_fibers_are_in_the_middle_of_a_slice_than_there_are_workers() {
    let on_workers = |workers| Explore::exhaustive().as_production(BUDGET).virtual_cpus(workers);
    assert!(on_workers(2).try_check(three_at_once).is_ok());
    assert!(on_workers(3).try_check(three_at_once).is_err());
    assert!(Explore::default().as_production(BUDGET).try_check(three_at_once).is_ok());
    assert!(Explore::default().try_check(three_at_once).is_err());
}

#[test]
fn computations_queue_for_the_workers() {
    let five = || Fiber::parallel((0..5).map(|_| compute(SECOND)));
    for (workers, seconds) in [(1, 5), (2, 3), (3, 2), (5, 1), (8, 1)] {
        let test = TestScheduler::new().virtual_cpus(workers);
        test.run(five()).unwrap();
        assert_eq!(test.now(), Instant::EPOCH + seconds * SECOND, "{workers} workers");
    }
    let test = TestScheduler::new();
    test.run(five()).unwrap();
    assert_eq!(test.now(), Instant::EPOCH + SECOND, "a worker for each");
}

#[test]
fn a_timer_starves_while_all_workers_compute() {
    let beats = || Fiber::delay(SECOND / 10).bind(|()| Fiber::now());
    let busy = || compute(SECOND).zip(compute(2 * SECOND));
    let (beat, _) = TestScheduler::new().virtual_cpus(2).run(beats().zip(busy())).unwrap();
    assert_eq!(beat, Instant::EPOCH + SECOND);
    let (beat, _) = TestScheduler::new().virtual_cpus(3).run(beats().zip(busy())).unwrap();
    assert_eq!(beat, Instant::EPOCH + SECOND / 10);
}

/// On an idle machine the timeout is on time; under load no worker is free to fire it.
#[test]
fn a_timeout_fires_late_under_load() {
    let limited = || Fiber::<()>::never().timeout_option(SECOND).bind(|_| Fiber::now());
    let load = || compute(5 * SECOND);
    let (ended, ()) = TestScheduler::new().virtual_cpus(1).run(limited().zip(load())).unwrap();
    assert_eq!(ended, Instant::EPOCH + 5 * SECOND);
    let (ended, ()) = TestScheduler::new().virtual_cpus(2).run(limited().zip(load())).unwrap();
    assert_eq!(ended, Instant::EPOCH + SECOND);
}

/// Like real work between two binds: the cancellation is noticed at the second one.
#[test]
fn a_computation_is_not_interrupted() {
    let two = compute(5 * SECOND).bind(|()| compute(5 * SECOND));
    let test = TestScheduler::new().virtual_cpus(2);
    let (outcome, elapsed) = test.run_timed(two.timeout_option(SECOND));
    assert_eq!((outcome.unwrap(), elapsed), (None, 5 * SECOND));
}

#[test]
fn load_shows_a_timeout_that_is_too_short() {
    let request = || Fiber::delay(SECOND / 10).bind(|()| compute(SECOND)).timeout(2 * SECOND);
    let three = move || Fiber::parallel([request(), request(), request()]);
    Explore::default().schedules(200).virtual_cpus(3).check(three);
    let failure = Explore::default().schedules(200).virtual_cpus(1).try_check(three).unwrap_err();
    assert_eq!(failure.problem().kind(), ProblemKind::Failure);
}
