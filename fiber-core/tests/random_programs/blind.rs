//! The same programs on schedulers that observe no fibers, as in production: their time limits have no nodes until something in
//! them forks.

use std::sync::Arc;

use proptest::prelude::*;

use crate::builder::{Builder, TICK};
use crate::program::program;
use crate::schedulers::{BUSY, moody};
use crate::support::{Answer, Call, Steps, Tireless};
use crate::world::World;
use crate::{CASES, SHORT, cancelled_after, check, config, quiet};

proptest! {
    #![proptest_config(config(CASES))]

    #[test]
    fn every_rule_holds_in_long_turns(program in program(SHORT), seed in any::<u64>(), budget in 1..100u32, turns in 0..40usize) {
        quiet();
        cancelled_after(turns, program, &Steps::new(seed, budget).blind())?;
    }

    #[test]
    fn every_rule_holds_where_branches_are_lent(program in program(SHORT), seed in any::<u64>(), turns in 0..40usize) {
        quiet();
        cancelled_after(turns, program, &Steps::lending(seed).blind())?;
    }

    #[test]
    fn every_rule_holds_in_turns_that_nothing_interrupts(program in program(SHORT), budget in 1..5u32, at in 1..40usize) {
        quiet();
        let scheduler = Tireless::with(TICK, budget).blind();
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

    #[test]
    fn programs_that_bind_for_ever_time_out(program in program(SHORT), budget in 1..5u32) {
        quiet();
        let scheduler = Tireless::with(TICK, budget).blind();
        let world = Arc::new(World::of_ticks(BUSY));
        let outcome = scheduler.run(Builder::whole(&world, program));
        scheduler.close();
        check(&world, &outcome, false, &scheduler.unobserved())?;
    }

    #[test]
    fn every_rule_holds_on_a_scheduler_that_panics(program in program(SHORT), seed in any::<u64>(), turns in 0..40usize) {
        quiet();
        let calls = [Call::Checkpoint, Call::Budget, Call::CancelTimer];
        cancelled_after(turns, program, &moody(seed, &calls, Answer::Panic).blind())?;
    }

    #[test]
    fn a_program_ends_on_a_scheduler_that_throws_tasks_away(program in program(SHORT), seed in any::<u64>(), turns in 0..40usize, panics: bool) {
        quiet();
        let answer = if panics { Answer::Panic } else { Answer::Drop };
        let steps = moody(seed, &[Call::Schedule, Call::ScheduleAt], answer).blind();
        let world = Arc::new(World::default());
        let handle = steps.spawn(Builder::whole(&world, program));
        steps.run(turns);
        handle.cancel_now();
        steps.run(usize::MAX);
        prop_assert!(handle.is_finished(), "the program has not ended");
        steps.close();
        let overdone = world.overdone();
        prop_assert!(overdone.is_empty(), "{overdone:#?}");
    }

    #[test]
    fn a_program_ends_by_itself_on_a_scheduler_that_throws_timers_away(program in program(SHORT), seed in any::<u64>()) {
        quiet();
        let steps = moody(seed, &[Call::ScheduleAt], Answer::Drop).blind();
        let world = Arc::new(World::default());
        let handle = steps.spawn(Builder::whole(&world, program));
        steps.run(usize::MAX);
        prop_assert!(handle.is_finished(), "the program has not ended");
        prop_assert!(!handle.try_outcome().unwrap().is_cancelled(), "cancelled without a cancellation");
        steps.close();
        let broken = world.overdone();
        prop_assert!(broken.is_empty(), "{broken:#?}");
    }
}
