//! The schedule that is reported is a small one, of which nothing can be left out.

use fiber_core::Fiber;
use fiber_test::{Explore, Failure, Schedule};

use crate::known;
use crate::support::Shared;

/// The failures of several seeds, which are found by different strategies.
fn failures(program: fn() -> Fiber<()>) -> Vec<Failure> {
    let explore = |seed| Explore::default().seed(seed).schedules(10_000).try_check(program).unwrap_err();
    (0..10).map(explore).collect()
}

fn order_violation() -> Fiber<()> {
    let is_ready = Shared::new(false);
    let prepare = is_ready.step(|is_ready| *is_ready = true).boxed();
    let look = is_ready.step(|is_ready| assert!(*is_ready)).boxed();
    Fiber::parallel([prepare, look]).map(drop).boxed()
}

fn assert_shrunk_to(program: fn() -> Fiber<()>, expected: &str) {
    for failure in failures(program) {
        assert_eq!(failure.schedule().to_string(), expected);
    }
}

#[test]
fn what_first_in_first_out_shows_needs_no_deviation() {
    assert_shrunk_to(known::lost_update, "");
    assert_shrunk_to(known::lock_order, "");
}

#[test]
fn a_wrong_order_is_one_deviation() {
    assert_shrunk_to(order_violation, "1:1");
}

#[test]
fn a_pause_between_two_steps_is_one_deviation() {
    assert_shrunk_to(known::close_send, "3:1");
}

fn breaks(program: fn() -> Fiber<()>, schedule: Schedule) -> bool {
    Explore::with(schedule).try_check(program).is_err()
}

#[test]
fn no_deviation_can_be_left_out() {
    for failure in failures(known::lost_update_of_six) {
        let all = failure.schedule().deviations();
        for out in all {
            let fewer: Schedule = all.iter().copied().filter(|one| one != out).collect();
            assert!(!breaks(known::lost_update_of_six, fewer), "{} without {out:?}", failure.schedule());
        }
    }
}

#[test]
fn no_deviation_can_come_earlier() {
    for failure in failures(known::lost_update_of_six) {
        let all = failure.schedule().deviations();
        for at in 0..all.len() {
            let from = at.checked_sub(1).map_or(0, |before| all[before].turn + 1);
            for turn in from..all[at].turn {
                let mut earlier = all.to_vec();
                earlier[at].turn = turn;
                assert!(!breaks(known::lost_update_of_six, Schedule::from_iter(earlier)), "{at} at {turn}");
            }
        }
    }
}
