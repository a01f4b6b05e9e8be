//! Random programs of all combinators, cancelled at a random moment: rules that hold for every one of them.
//!
//! A [`Program`](program::Program) is a printable tree, which proptest shrinks. [`Builder`] makes a fiber of it, which records
//! broken rules in the [`World`]:
//!
//! * A program ends, also when it is cancelled, and leaves no fiber, timer or task.
//! * Nothing of it runs after its end, except for detached fibers; the same holds for a branch, a timeout's body, a scope and a cancelled
//!   fiber.
//! * A fiber that has noticed its cancellation runs nothing more, except for finalizers and uncancelable regions.
//! * A finalizer begins and ends once for every start of its body, after the body's end, and is not cancelled half-way.
//! * An acquired value is released once, after its use; one that was not acquired is neither used nor released.
//! * A failure or panic is observed: by a handler, in the outcome or suppressed into it, or by the hook for unobserved ones.
//! * A panic that is suppressed into a failure which a handler ignores is observed by the hook.
//! * A value is dropped before the end of its part. If its drop panics, the panic is observed like any other.
//! * While a fiber holds a lock, no other one does. It holds none after its end.
//! * Every read of a local sees the innermost value.
//! * Only cancelled parts end as cancelled.
//!
//! They hold on the virtual timeline, on schedulers with turns of any length, on threads, on a scheduler that panics, and on one that
//! never starts cancelled tasks. On schedulers that drop tasks or timers, a program still ends, but may keep values for longer.
//!
//! An [`interpreter`] predicts the end of a program that is not cancelled, and its time.

mod blind;
mod bombs;
mod builder;
mod explored;
mod finalizers;
mod forks;
mod interpreter;
mod operators;
mod oracle;
mod part;
mod program;
mod races;
mod schedulers;
mod strand;
mod structures;
mod together;
mod world;

#[path = "../support/mod.rs"]
mod support;

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use builder::{Builder, LONGEST, TICK};
use fiber_core::error::{DeadlineExceeded, TimedOut};
use fiber_core::{Fiber, Outcome};
use fiber_test::TestScheduler;
use interpreter::{End, Interpreter};
use program::{Program, program};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use strand::Time;
use support::{Steps, WHIM};
use world::{MARK, Raised, World};

/// Cases of each test: some seconds in all, in a debug build.
const CASES: u32 = 4000;

/// Programs that are cancelled at each of their turns, and how many turns of one that is at the most.
const SWEPT: u32 = 200;
const MOST_TURNS: usize = 500;

/// A program that has not ended this many ticks after its cancellation never ends.
const PATIENCE: u32 = 10_000;

/// The sleeps of programs in which many events coincide.
const SHORT: u32 = 8;

/// The sleeps of programs in which few do.
const LONG: u32 = 1000;

/// The number of runs of a predicted program, each in another order.
const SEEDS: u64 = 3;

/// The same programs in every run. `PROPTEST_RNG_SEED` selects others, and `PROPTEST_CASES` their number.
fn config(cases: u32) -> ProptestConfig {
    let given = ProptestConfig::default();
    ProptestConfig {
        cases: if std::env::var_os("PROPTEST_CASES").is_some() { given.cases } else { cases },
        rng_seed: if given.rng_seed == RngSeed::Random { RngSeed::Fixed(0) } else { given.rng_seed },
        failure_persistence: None,
        ..given
    }
}

/// When a program is cancelled from outside.
#[derive(Clone, Copy, Debug)]
enum Moment {
    AfterTicks(u32),
    AfterTurns(usize),
}

fn moment() -> impl Strategy<Value = Moment> {
    prop_oneof![(0..20u32).prop_map(Moment::AfterTicks), (0..60usize).prop_map(Moment::AfterTurns)]
}

/// The programs' own panics are not printed.
fn quiet() {
    std::panic::set_hook(Box::new(|info| {
        let is_planned = |text: &String| text.starts_with(MARK) || text == WHIM;
        let is_planned = info.payload().downcast_ref::<String>().is_some_and(is_planned);
        if !is_planned {
            eprintln!("{info}");
        }
    }));
}

/// Runs until no fiber is left, but not until the last timer: one that is left then is a leak.
fn run_to_the_end(test: &TestScheduler) {
    test.run_for(Duration::ZERO);
    (0..PATIENCE).take_while(|_| test.live_fibers() > 0).for_each(|_| test.run_for(TICK));
}

fn check(
    world: &World,
    outcome: &Outcome<u32>,
    was_cancelled: bool,
    unobserved: &[String],
) -> Result<(), TestCaseError> {
    world.see_outcome(outcome);
    let complaints = world.complaints(unobserved);
    prop_assert!(complaints.is_empty(), "{complaints:#?}");
    prop_assert!(was_cancelled || !outcome.is_cancelled(), "cancelled without a cancellation");
    Ok(())
}

proptest! {
    #![proptest_config(config(CASES))]

    /// A switch at every bind, in an order that a seed decides.
    #[test]
    fn every_rule_holds_on_the_virtual_timeline(program in program(SHORT), seed in any::<u64>(), at in moment()) {
        quiet();
        let test = TestScheduler::with_seed(seed);
        let world = Arc::new(World::with_stacks());
        let spawned = test.spawn(Builder::whole(&world, program));
        let (outcome, was_pending) = match at {
            Moment::AfterTicks(ticks) => {
                test.run_for(ticks * TICK);
                let was_pending = spawned.is_pending();
                spawned.cancel_now();
                run_to_the_end(&test);
                (spawned.try_outcome().ok(), was_pending)
            }
            Moment::AfterTurns(turns) => {
                let target = spawned.into_handle();
                let cancel = target.cancel();
                let canceller = Fiber::for_each(0..turns, |_| Fiber::yield_now()).bind(move |()| cancel);
                let target = test.run(canceller.map(move |()| target)).unwrap();
                prop_assert!(target.is_finished(), "the fiber has not ended when its cancellation has");
                run_to_the_end(&test);
                (target.try_outcome().ok(), true)
            }
        };
        prop_assert!(outcome.is_some(), "the program has not ended");
        test.assert_no_leaks();
        check(&world, &outcome.unwrap(), was_pending, &test.unobserved())?;
    }

    /// Many binds in one turn, so that branches run inline and are claimed back.
    #[test]
    fn every_rule_holds_with_long_turns(program in program(SHORT), seed in any::<u64>(), budget in 1..200u32, turns in 0..40usize) {
        quiet();
        cancelled_after(turns, program, &Steps::new(seed, budget))?;
    }
}

proptest! {
    #![proptest_config(config(SWEPT))]

    /// The same program, cancelled before each of its turns, inside finalizers too.
    #[test]
    fn every_rule_holds_wherever_a_program_is_cancelled(program in program(SHORT), seed in any::<u64>()) {
        quiet();
        for turns in 0..MOST_TURNS {
            if !cancelled_after(turns, program.clone(), &Steps::new(seed, 1))? {
                break;
            }
        }
    }
}

/// Runs a program for this many turns, cancels it, and checks its end. `false`: it had ended before.
fn cancelled_after(turns: usize, program: Program, steps: &Steps) -> Result<bool, TestCaseError> {
    let world = Arc::new(World::default());
    let handle = steps.spawn(Builder::whole(&world, program));
    steps.run(turns);
    let was_pending = !handle.is_finished();
    handle.cancel_now();
    steps.run(usize::MAX);
    prop_assert!(handle.is_finished(), "the program has not ended");
    prop_assert_eq!(steps.live_fibers(), 0);
    check(&world, &handle.try_outcome().unwrap(), was_pending, &steps.unobserved())?;
    Ok(was_pending)
}

/// Exactly, if nothing is left to chance, which is the case for most programs.
#[test]
fn a_program_that_is_not_cancelled_ends_as_predicted() {
    quiet();
    let (all, exact) = (Cell::new(0), Cell::new(0));
    let ends_as_predicted = |program: Program| {
        all.set(all.get() + 1);
        let Some(predicted) = predict(&program) else { return Ok(()) };
        exact.set(exact.get() + u32::from(predicted.len() == 1));
        (0..SEEDS).try_for_each(|seed| {
            let end = run_alone(program.clone(), seed)?;
            prop_assert!(predicted.contains(&end), "{end:?} with seed {seed}, predicted: {predicted:?}");
            Ok(())
        })
    };
    let tested = TestRunner::new(config(CASES)).run(&program(LONG), ends_as_predicted);
    tested.unwrap_or_else(|failed| panic!("{failed}"));
    let (all, exact) = (all.get(), exact.get());
    assert!(exact * 2 > all, "only {exact} of {all} were predicted exactly: the test says too little");
}

/// Every possible end of the program, with its time. `None`: it cannot be predicted.
fn predict(program: &Program) -> Option<Vec<(End, Time)>> {
    oracle::all_ways(|oracle| {
        let mut interpreter = Interpreter { oracle };
        (interpreter.whole(program, LONGEST), interpreter.oracle)
    })
}

/// The end of a program that is not cancelled, and its time.
fn run_alone(program: Program, seed: u64) -> Result<(End, Time), TestCaseError> {
    let test = TestScheduler::with_seed(seed);
    let world = Arc::new(World::with_stacks());
    let outcome = test.try_run(Builder::whole(&world, program));
    prop_assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
    let (outcome, at) = (outcome.unwrap(), test.now().as_nanos() / TICK.as_nanos() as u64);
    let end = match &outcome {
        Outcome::Success(value) => End::Value(*value),
        Outcome::Panicked(_) => End::Panicked,
        Outcome::Cancelled => End::Cancelled,
        Outcome::Failure(error) if error.is::<Raised>() => End::Raised,
        Outcome::Failure(error) if error.is::<TimedOut>() => End::TimedOut,
        Outcome::Failure(error) if error.is::<DeadlineExceeded>() => End::TooLate,
        Outcome::Failure(_) => End::Refused,
    };
    run_to_the_end(&test);
    test.assert_no_leaks();
    check(&world, &outcome, false, &test.unobserved())?;
    Ok((end, at))
}
