//! Direct code is equivalent to the same binds.

use super::SECOND;
use fiber_core::{Either, Error, Fiber, Outcome};
use fiber_test::{TestScheduler, any_schedule};
use proptest::prelude::*;
use std::time::Duration;

/// A step of a program.
#[derive(Clone, Copy, Debug)]
enum Step {
    Success,
    Delay(u8),
    Yield,
    Fail,
    Panic,
    Race(u8, u8),
    Zip(u8, u8),
    Timeout(u8, u8),
    Fork(u8),
    Blocking,
}

fn step() -> impl Strategy<Value = Step> {
    let time = 0u8..4;
    prop_oneof![
        4 => Just(Step::Success),
        4 => time.clone().prop_map(Step::Delay),
        4 => Just(Step::Yield),
        1 => Just(Step::Fail),
        1 => Just(Step::Panic),
        2 => (time.clone(), time.clone()).prop_map(|(a, b)| Step::Race(a, b)),
        2 => (time.clone(), time.clone()).prop_map(|(a, b)| Step::Zip(a, b)),
        2 => (time.clone(), time.clone()).prop_map(|(a, b)| Step::Timeout(a, b)),
        2 => time.prop_map(Step::Fork),
        1 => Just(Step::Blocking),
    ]
}

fn secs(n: u8) -> Duration {
    u32::from(n) * SECOND
}

fn fiber_of(step: Step, n: u32) -> Fiber<u32> {
    match step {
        Step::Success => Fiber::success(n + 1).boxed(),
        Step::Delay(t) => Fiber::delay(secs(t)).map(move |()| n + 2).boxed(),
        Step::Yield => Fiber::yield_now().map(move |()| n + 3).boxed(),
        Step::Fail => Fiber::fail(Error::msg("failed")).boxed(),
        Step::Panic => Fiber::lazy(|| panic!("panicked")).boxed(),
        Step::Race(a, b) => Fiber::delay(secs(a))
            .race(Fiber::delay(secs(b)))
            .map(move |won| n + u32::from(matches!(won, Either::Left(()))))
            .boxed(),
        Step::Zip(a, b) => Fiber::delay(secs(a)).zip(Fiber::delay(secs(b))).map(move |_| n + 4).boxed(),
        Step::Timeout(a, b) => Fiber::delay(secs(a)).timeout(secs(b)).map(move |()| n + 5).boxed(),
        Step::Fork(t) => {
            Fiber::delay(secs(t)).fork().bind(|handle| handle.join()).map(move |()| n + 6).boxed()
        }
        Step::Blocking => Fiber::blocking(move || n + 7).boxed(),
    }
}

/// With as many switch points: one between two steps.
fn by_binds(steps: Vec<Step>) -> Fiber<u32> {
    let mut steps = steps.into_iter();
    let first = steps.next().map_or_else(|| Fiber::success(0).boxed(), |step| fiber_of(step, 0));
    steps.fold(first, |fiber, step| fiber.bind(move |n| fiber_of(step, n)).boxed())
}

fn direct(steps: Vec<Step>) -> Fiber<u32> {
    Fiber::direct(move |d| {
        let mut n = 0;
        for step in steps {
            n = d.wait(fiber_of(step, n))?;
        }
        Ok(n)
    })
    .boxed()
}

/// The outcome in words, without the traces.
fn text(outcome: &Outcome<u32>) -> String {
    match outcome {
        Outcome::Success(n) => format!("success {n}"),
        Outcome::Failure(error) => format!("failure {error}"),
        Outcome::Panicked(panic) => format!("panic {}", panic.message()),
        Outcome::Cancelled => "cancelled".to_owned(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn direct_code_equals_the_same_binds(steps in prop::collection::vec(step(), 0..8), cancel in 0u8..8) {
        let run = |fiber: Fiber<u32>| {
            let test = TestScheduler::new();
            let spawned = test.spawn(fiber);
            test.run_for(secs(cancel));
            spawned.cancel_now();
            test.run_until_idle();
            let at = test.now();
            test.assert_no_leaks();
            (text(&spawned.outcome()), at)
        };
        prop_assert_eq!(run(direct(steps.clone())), run(by_binds(steps)));
    }

    #[test]
    fn two_of_them_beside_each_other_under_any_schedule(
        steps in prop::collection::vec(step(), 0..5),
        schedule in any_schedule(),
    ) {
        // Which comes first, a delay or a limit of the same length, is up to the schedule, and the two forms have other turns.
        prop_assume!(!steps.iter().any(|step| matches!(step, Step::Timeout(delay, limit) if delay == limit)));
        let run = |both: Fiber<(u32, u32)>| {
            let test = TestScheduler::with_schedule(schedule.clone());
            let outcome = test.run(both).map(|(a, b)| a + b);
            // A cancelled fiber may have left a task that starts nothing.
            test.run_until_idle();
            test.assert_no_leaks();
            text(&outcome).split(' ').next().map(str::to_owned)
        };
        let directly = run(direct(steps.clone()).zip(direct(steps.clone())).boxed());
        prop_assert_eq!(directly, run(by_binds(steps.clone()).zip(by_binds(steps)).boxed()));
    }
}

#[test]
fn a_run_is_the_same_every_time() {
    let trace = || {
        let test = TestScheduler::with_seed(7).record();
        let worker = |n: u64| {
            Fiber::direct(move |d| {
                for step in 0..3 {
                    d.wait(Fiber::delay(Duration::from_secs((n + step) % 3)))?;
                    d.wait(Fiber::yield_now())?;
                }
                Ok(())
            })
        };
        test.run(Fiber::parallel((0..5).map(worker))).unwrap();
        test.trace().to_string()
    };
    assert_eq!(trace(), trace());
}
