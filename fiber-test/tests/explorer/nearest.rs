//! A report names the two turns whose order makes the difference.

use fiber_core::Fiber;
use fiber_test::Failure;

use crate::known;

/// The turns of the pair, each by its fiber and the operator that it went on from.
fn pair(failure: &Failure) -> [(String, &'static str); 2] {
    let (first, second) = failure.pair().expect("there is a schedule that does not break the program");
    [first, second].map(|number| {
        let turn = &failure.trace().turns()[number];
        let lane = turn.lane.expect("it is the turn of a fiber");
        (failure.trace().lanes()[lane].id.clone(), turn.operator)
    })
}

fn assert_pair(program: fn() -> Fiber<()>, expected: [(&str, &str); 2]) {
    let failure = known::failure(program, 1);
    let pair = pair(&failure);
    let expected = expected.map(|(fiber, operator)| (fiber.to_owned(), operator));
    assert!(pair == expected, "{pair:?} in\n{failure}");
}

/// A fiber reads in its first turn and writes in the second one.
#[test]
fn of_a_lost_update_it_is_the_read_of_one_and_the_write_of_the_other() {
    assert_pair(known::lost_update, [("0.0.1", "start"), ("0.0.0", "bind")]);
}

/// The second turn of both: to drain, and to send.
#[test]
fn of_a_lost_message_it_is_draining_and_sending() {
    assert_pair(known::close_send, [("0.0.1", "bind"), ("0.0.0", "bind")]);
}

/// One takes its first lock before the other one takes the same as its second.
#[test]
fn of_a_deadlock_it_is_the_first_lock_of_one_and_the_second_of_the_other() {
    assert_pair(known::lock_order, [("0.0.1", "start"), ("0.0.0", "bind")]);
}

#[test]
fn the_report_marks_the_pair() {
    let failure = known::failure(known::close_send, 1);
    let text = failure.to_string();
    let marked: Vec<&str> = text.lines().filter(|line| line.starts_with('>')).collect();
    assert_eq!(marked.len(), 2, "{text}");
    assert!(marked[0].starts_with(">   3* . . C  bind at"), "{text}");
    assert!(marked[1].starts_with(">   4  . B .  bind at"), "{text}");
    let summary = "the nearest schedule that does not break the program is \"\"; it has this pair (>) the other way round:";
    assert!(text.contains(summary), "{text}");
}
