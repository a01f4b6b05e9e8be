//! Schedules as inputs of property tests: they shrink together with the others.

use fiber_core::Fiber;
use fiber_test::{Explore, Schedule, any_schedule};
use proptest::collection::vec;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

use crate::support::Shared;

/// One fiber adds the numbers to a sum, which it reads and writes in two steps; another one resets the sum in between, unless
/// the schedule is first in, first out.
fn add_all(numbers: &[u32]) -> Fiber<()> {
    let expected: u32 = numbers.iter().sum();
    let sum = Shared::new(0);
    let (adding, resetting, end) = (sum.clone(), sum.clone(), sum);
    let add = Fiber::for_each(numbers.to_vec(), move |number| adding.step(move |sum| *sum += number));
    let reset = resetting.step(|sum| *sum = 0);
    // First in, first out, the reset is over before the first number is added.
    let both = Fiber::parallel([reset.boxed(), add.boxed()]);
    both.map(move |_| assert_eq!(end.with(|sum| *sum), expected)).boxed()
}

/// The same numbers in every run.
fn runner() -> TestRunner {
    let config = Config { failure_persistence: None, cases: 1_000, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

#[test]
fn input_and_schedule_shrink_together() {
    let inputs = (vec(0..100u32, 0..10), any_schedule());
    let result = runner().run(&inputs, |(numbers, schedule)| {
        Explore::with(schedule).try_check(|| add_all(&numbers))?;
        Ok(())
    });
    let Err(TestError::Fail(reason, (numbers, schedule))) = result else { panic!("{result:?}") };
    assert_eq!(numbers, [1], "with {schedule}");
    assert_eq!(schedule.deviations().len(), 1, "{schedule}");
    assert!(reason.message().contains("Explore::replay("), "{reason}");
}

#[test]
fn a_given_schedule_is_the_one_that_is_run() {
    let schedule: Schedule = "1:1 2:1".parse().unwrap();
    let failure = Explore::with(schedule.clone()).try_check(|| add_all(&[1, 2])).unwrap_err();
    let expected: Schedule = "1:1 2:1".parse().unwrap();
    assert_eq!((failure.schedule(), failure.number()), (&expected, 1));
}
