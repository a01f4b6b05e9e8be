//! Settings from the environment. Each test runs a test of this file again, in a separate process.

use std::process::Command;

use fiber_core::Fiber;
use fiber_test::Explore;

use crate::known;

/// The output of a test with these variables, and whether it passes.
fn run(test: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args([&format!("steering::{test}"), "--exact", "--ignored", "--nocapture"]);
    command.envs(variables.iter().copied());
    let output = command.output().expect("it runs");
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.success(), text.concat())
}

#[test]
#[ignore = "run by the others"]
fn right() {
    Explore::default().check(|| Fiber::random_u64().map(drop));
}

#[test]
#[ignore = "run by the others"]
fn wrong() {
    Explore::default().no_regressions().check(known::close_send);
}

#[test]
fn what_was_run_is_told() {
    let (passes, text) = run("right", &[]);
    assert!(passes && text.contains("steering::right: 1000 schedules were run, in 1000 turns"), "{text}");
}

#[test]
fn the_number_of_schedules_is_set_or_multiplied() {
    let (_, text) = run("right", &[("FIBER_TEST_SCHEDULES", "17")]);
    assert!(text.contains(": 17 schedules were run"), "{text}");
    let (_, text) = run("right", &[("FIBER_TEST_SCHEDULES", "x3"), ("FIBER_TEST_THREADS", "2")]);
    assert!(text.contains(": 3000 schedules were run"), "{text}");
}

#[test]
fn a_time_ends_it() {
    let (passes, text) = run("right", &[("FIBER_TEST_SECONDS", "0")]);
    let one = ": 1 schedule was run before the time was over, in 1 turn and 1 different order";
    assert!(passes && text.contains(one), "{text}");
}

#[test]
#[ignore = "run by the others"]
fn few() {
    Explore::default().schedules(5).check(|| Fiber::random_u64().map(drop));
}

#[test]
fn within_a_time_there_are_more_schedules_than_the_test_sets() {
    let (passes, text) = run("few", &[("FIBER_TEST_SECONDS", "1")]);
    assert!(passes && text.contains("schedules were run before the time was over"), "{text}");
    let (passes, text) = run("few", &[("FIBER_TEST_SECONDS", "60"), ("FIBER_TEST_SCHEDULES", "7")]);
    assert!(passes && text.contains(": 7 schedules were run, in"), "{text}");
}

#[test]
fn the_command_of_a_report_runs_its_schedule() {
    let (passes, text) = run("wrong", &[("CARGO_PKG_NAME", "some-package")]);
    assert!(!passes, "{text}");
    let command = "FIBER_TEST_REPLAY='3:1' cargo test -p some-package steering::wrong -- --exact --nocapture";
    assert!(text.contains(command), "{text}");
    let (passes, text) = run("wrong", &[("FIBER_TEST_REPLAY", "3:1")]);
    assert!(!passes && text.contains("schedule  the given one, \"3:1\""), "{text}");
    let (passes, text) = run("wrong", &[("FIBER_TEST_REPLAY", "")]);
    assert!(passes && text.contains(": 1 schedule was run"), "{text}");
}

#[test]
fn what_cannot_be_set_is_refused() {
    let (passes, text) = run("right", &[("FIBER_TEST_SCHEDULES", "many")]);
    assert!(!passes && text.contains("FIBER_TEST_SCHEDULES=many: expected a number of schedules"), "{text}");
}
