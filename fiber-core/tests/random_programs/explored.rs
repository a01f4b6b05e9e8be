//! Random programs under many schedules each: the rules hold in all of them.

use std::sync::Arc;

use fiber_core::{Fiber, Outcome};
use fiber_test::Explore;
use proptest::prelude::*;

use crate::builder::{Builder, LONGEST, TICK};
use crate::program::{Program, program};
use crate::world::World;
use crate::{SHORT, config, quiet};

/// Some seconds in a debug build.
const CASES: u32 = if cfg!(debug_assertions) { 100 } else { 1000 };

/// Schedules of each program, and as many with a cancellation.
const SCHEDULES: u64 = 60;

/// Only programs whose printed form has at most this many bytes are cancelled at every turn: others have too many turns.
const LONGEST_SWEPT: usize = 400;

proptest! {
    #![proptest_config(config(CASES))]

    #[test]
    fn every_rule_holds_in_every_schedule(program in program(SHORT)) {
        quiet();
        // Unobserved failures are part of the programs.
        let explore = |explore: Explore| explore.schedules(SCHEDULES).may_be_unobserved();
        let broken = |failure| TestCaseError::fail(format!("{failure}"));
        explore(Explore::default()).try_check(|| judged(&program)).map_err(broken)?;
        if format!("{program:?}").len() <= LONGEST_SWEPT {
            explore(Explore::cancel_everywhere().program_only()).try_check(|| judged(&program)).map_err(broken)?;
        }
    }
}

/// The program, and then a check of what it has left behind, when all its detached fibers have ended.
fn judged(program: &Program) -> Fiber<()> {
    let world = Arc::new(World::with_stacks());
    let end = |outcome| match outcome {
        Outcome::Cancelled => Outcome::Cancelled,
        _ => Outcome::Success(()),
    };
    let whole = Builder::whole(&world, program.clone()).map_outcome(end);
    let judge = Fiber::delay(2 * LONGEST * TICK).map(move |()| {
        let broken = world.broken_rules();
        assert!(broken.is_empty(), "{broken:#?}");
    });
    whole.ensure(judge).boxed()
}
