//! The same programs on schedulers of every kind: on threads, in turns that are never interrupted, and on schedulers that panic or drop
//! tasks.

#![allow(
    clippy::disallowed_methods,
    reason = "a thread waits for programs on real schedulers, and tells when one hangs"
)]

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, mpsc};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use fiber_core::scheduler::{Task, Unobserved};
use fiber_core::{Fiber, Outcome, Run};
use fiber_sched::{CurrentThread, Pool, Settings, block_on};
use proptest::prelude::*;

use crate::builder::{Builder, TICK};
use crate::program::{Program, program};
use crate::support::{Answer, Call, Steps, Tireless};
use crate::world::World;
use crate::{CASES, SHORT, cancelled_after, check, config, quiet};

/// Some seconds on threads: every sleep is a real one.
const ON_THREADS: u32 = 150;

/// Far more than a program takes; one that has not ended then never ends.
const WATCHDOG: Duration = Duration::from_secs(60);

/// The time limit in ticks of a program some of whose fibers bind for ever.
pub(crate) const BUSY: u32 = 100;

/// A moody scheduler misbehaves in one of this many calls.
const MOOD: u64 = 16;

proptest! {
    #![proptest_config(config(CASES))]

    /// A turn ends where a fiber waits, and time advances by binds. So timeouts expire while their bodies only bind, and fibers run
    /// inline in the turns of others.
    #[test]
    fn every_rule_holds_in_turns_that_nothing_interrupts(program in program(SHORT), budget in 1..5u32, at in 1..40usize) {
        quiet();
        let scheduler = Tireless::with(TICK, budget);
        let world = Arc::new(World::default());
        let handle = scheduler.spawn(Builder::whole(&world, program));
        let target = handle.context().clone();
        scheduler.at_checkpoint(at, move || target.cancel());
        scheduler.drain_some(5 * at);
        handle.cancel_now();
        scheduler.close();
        prop_assert!(handle.is_finished(), "the program has not ended");
        check(&world, &handle.try_outcome().unwrap(), true, &scheduler.unobserved())?;
    }

    /// Fibers run their branches in place and lend the others, which other threads steal at any checkpoint.
    #[test]
    fn every_rule_holds_where_branches_are_lent(program in program(SHORT), seed in any::<u64>(), turns in 0..40usize) {
        quiet();
        cancelled_after(turns, program, &Steps::lending(seed))?;
    }

    /// Likewise, and some fibers bind until they time out. If nothing else ends them, the limit of the whole program does.
    #[test]
    fn programs_that_bind_for_ever_time_out(program in program(SHORT), budget in 1..5u32) {
        quiet();
        let scheduler = Tireless::with(TICK, budget);
        let world = Arc::new(World::of_ticks(BUSY));
        let outcome = scheduler.run(Builder::whole(&world, program));
        scheduler.close();
        check(&world, &outcome, false, &scheduler.unobserved())?;
    }

    #[test]
    fn every_rule_holds_on_a_scheduler_that_panics(program in program(SHORT), seed in any::<u64>(), turns in 0..40usize) {
        quiet();
        let calls = [Call::Checkpoint, Call::Budget, Call::Observe, Call::CancelTimer];
        cancelled_after(turns, program, &moody(seed, &calls, Answer::Panic))?;
    }

    #[test]
    fn a_program_ends_on_a_scheduler_that_throws_tasks_away(program in program(SHORT), seed in any::<u64>(), turns in 0..40usize, panics: bool) {
        quiet();
        let answer = if panics { Answer::Panic } else { Answer::Drop };
        let steps = moody(seed, &[Call::Schedule, Call::ScheduleAt], answer);
        let world = Arc::new(World::default());
        let handle = steps.spawn(Builder::whole(&world, program));
        steps.run(turns);
        handle.cancel_now();
        steps.run(usize::MAX);
        prop_assert!(handle.is_finished(), "the program has not ended");
        // Fibers that it detached, if it was abandoned before it could cancel them.
        steps.close();
        prop_assert_eq!(steps.live_fibers(), 0);
        let overdone = world.overdone();
        prop_assert!(overdone.is_empty(), "{overdone:#?}");
    }
}

proptest! {
    #![proptest_config(config(CASES))]

    /// It is not cancelled, so it can only end by itself, without its lost timers.
    #[test]
    fn a_program_ends_by_itself_on_a_scheduler_that_throws_timers_away(program in program(SHORT), seed in any::<u64>()) {
        quiet();
        let steps = moody(seed, &[Call::ScheduleAt], Answer::Drop);
        let world = Arc::new(World::default());
        let handle = steps.spawn(Builder::whole(&world, program));
        steps.run(usize::MAX);
        prop_assert!(handle.is_finished(), "the program has not ended");
        prop_assert!(!handle.try_outcome().unwrap().is_cancelled(), "cancelled without a cancellation");
        steps.close();
        prop_assert_eq!(steps.live_fibers(), 0);
        let broken = world.overdone();
        prop_assert!(broken.is_empty(), "{broken:#?}");
    }

    /// A task that was cancelled before its start ends without its scheduler.
    #[test]
    fn a_program_ends_on_a_scheduler_that_never_starts_what_was_cancelled(
        program in program(SHORT), seed in any::<u64>(), budget in 1..5u32, turns in 0..40usize,
    ) {
        quiet();
        let steps = Steps::new(seed, budget);
        let world = Arc::new(World::default());
        let handle = steps.spawn(Builder::whole(&world, program));
        steps.run(turns);
        let was_pending = !handle.is_finished();
        handle.cancel_now();
        let left = steps.run_without_cancelled_starts();
        prop_assert!(handle.is_finished(), "the program has not ended");
        prop_assert!(left.iter().all(Task::is_void));
        drop(left);
        prop_assert_eq!(steps.live_fibers(), 0);
        check(&world, &handle.try_outcome().unwrap(), was_pending, &steps.unobserved())?;
    }
}

/// A scheduler that answers some of these calls, chosen by a seed, by `answer`.
pub(crate) fn moody(seed: u64, calls: &[Call], answer: Answer) -> Steps {
    let calls = calls.to_vec();
    let mut random = seed;
    let whim = move |call| {
        // The numbers of Knuth's MMIX; their upper half is random enough.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if calls.contains(&call) && (random >> 32).is_multiple_of(MOOD) { answer } else { Answer::Properly }
    };
    Steps::with_whim(seed, 1 + (seed % 100) as u32, Box::new(whim))
}

proptest! {
    #![proptest_config(config(ON_THREADS))]

    #[test]
    fn every_rule_holds_on_a_pool_of_one_worker(program in program(SHORT), turns in 0..40usize) {
        on_a_pool(1, program, turns)?;
    }

    #[test]
    fn every_rule_holds_on_a_pool_of_two_workers(program in program(SHORT), turns in 0..40usize) {
        on_a_pool(2, program, turns)?;
    }

    #[test]
    fn every_rule_holds_on_a_pool_of_four_workers(program in program(SHORT), turns in 0..40usize) {
        on_a_pool(4, program, turns)?;
    }

    #[test]
    fn every_rule_holds_in_the_task_that_awaits_a_program(program in program(SHORT), turns in 0..40usize) {
        hosted(program, turns, usize::MAX)?;
    }

    #[test]
    fn every_rule_holds_in_a_task_that_ends_before_the_program(program in program(SHORT), turns in 0..40usize, polls in 0..6usize) {
        hosted(program, turns, polls)?;
    }

    /// Does not check failures: the hook of this scheduler prints them.
    #[test]
    fn every_rule_holds_on_the_current_thread(program in program(SHORT), turns in 0..40usize) {
        quiet();
        let world = Arc::new(World::with_stacks());
        let whole = Builder::whole(&world, program);
        watched(move || {
            let scheduler = CurrentThread::new();
            let handle = scheduler.spawn(whole);
            scheduler.run(cancel_after(turns, handle.cancel())).unwrap();
            assert!(handle.is_finished());
        })?;
        let broken = world.broken_rules();
        prop_assert!(broken.is_empty(), "{broken:#?}");
    }
}

/// Runs a program, cancels it after this many yields of another fiber, and ends the pool.
fn on_a_pool(workers: usize, program: Program, turns: usize) -> Result<(), TestCaseError> {
    with_pool(workers, program, move |pool, whole| {
        let handle = pool.spawn(whole);
        pool.run(cancel_after(turns, handle.cancel())).unwrap();
        assert!(handle.is_finished());
        block_on(handle)
    })
}

/// The same, in the task that awaits the program, which is dropped after this many polls.
fn hosted(program: Program, turns: usize, polls: usize) -> Result<(), TestCaseError> {
    with_pool(2, program, move |pool, whole| {
        let requests = pool.group();
        let mut call = requests.call(whole);
        let canceller = pool.spawn(cancel_after(turns, call.cancel()));
        let mut left = polls;
        let outcome = block_on(poll_fn(|cx| {
            left = left.saturating_sub(1);
            match Pin::new(&mut call).poll(cx) {
                Poll::Pending if left == 0 => Poll::Ready(Outcome::Cancelled),
                poll => poll,
            }
        }));
        drop(call);
        block_on(requests.drain());
        canceller.cancel_now();
        outcome
    })
}

/// Runs a program with a pool, which it ends.
fn with_pool(
    workers: usize,
    program: Program,
    run: impl FnOnce(&Pool, Fiber<u32>) -> Outcome<u32> + Send + 'static,
) -> Result<(), TestCaseError> {
    quiet();
    let world = Arc::new(World::with_stacks());
    let whole = Builder::whole(&world, program);
    let unobserved = Arc::new(Mutex::new(Vec::new()));
    let reports = unobserved.clone();
    let outcome = watched(move || {
        let report = move |failure: &Unobserved| reports.lock().unwrap().push(failure.to_string());
        run(&Pool::builder().workers(workers).settings(Settings::new().on_unobserved(report)).build(), whole)
    })?;
    check(&world, &outcome, true, &unobserved.lock().unwrap())
}

fn cancel_after<R: Run<Out = ()>>(turns: usize, cancel: Fiber<(), R>) -> Fiber<()> {
    Fiber::for_each(0..turns, |_| Fiber::yield_now()).bind(move |()| cancel).boxed()
}

/// Runs it on its own thread, so that a hang fails.
fn watched<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> Result<T, TestCaseError> {
    let (sender, ended) = mpsc::channel();
    let thread = thread::spawn(move || sender.send(f()));
    let value = ended.recv_timeout(WATCHDOG).map_err(|error| TestCaseError::fail(error.to_string()))?;
    drop(thread.join());
    Ok(value)
}
