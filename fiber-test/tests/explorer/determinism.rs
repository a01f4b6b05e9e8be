//! The same seed gives the same result: on any number of threads, in debug and release, on any machine.

use fiber_core::Fiber;
use fiber_test::{Explore, Failure, Search, Trace};

use crate::known;

fn what_is_told(failure: &Failure) -> (u64, Search, String, String) {
    (failure.number(), failure.search(), failure.to_string(), failure.trace().to_string())
}

fn assert_same_on_any_number_of_threads(program: fn() -> Fiber<()>) {
    let [one, again, two, four] = [1, 1, 2, 4].map(|threads| what_is_told(&known::failure(program, threads)));
    assert_eq!(one, again);
    assert_eq!(one, two);
    assert_eq!(one, four);
}

#[test]
fn failures_are_the_same_on_any_number_of_threads() {
    assert_same_on_any_number_of_threads(known::lost_update);
    assert_same_on_any_number_of_threads(known::close_send);
    assert_same_on_any_number_of_threads(known::lock_order);
    assert_same_on_any_number_of_threads(known::lost_update_of_six);
}

fn assert_same(explore: &Explore, program: fn() -> Fiber<()>) {
    let [one, two, four] = [1, 2, 4].map(|threads| {
        let explore = explore.clone().threads(threads);
        what_is_told(&explore.try_check(program).unwrap_err())
    });
    assert_eq!(one, two);
    assert_eq!(one, four);
}

#[test]
fn other_explorations_are_the_same_on_any_number_of_threads_too() {
    assert_same(&Explore::exhaustive().preemptions(4), known::lost_update_of_six);
    assert_same(&Explore::default().virtual_cpus(2).schedules(10_000), known::lost_update_of_six);
    assert_same(&Explore::cancel_everywhere(), known::lost_lock);
}

#[test]
fn as_many_schedules_are_explored_on_any_number_of_threads() {
    let explored = [1, 2, 4].map(|threads| {
        let steps = || Fiber::success(()).bind(|()| Fiber::success(())).bind(|()| Fiber::success(()));
        Explore::exhaustive().threads(threads).check(move || Fiber::parallel([steps(), steps()])).schedules()
    });
    assert_eq!(explored, [20; 3]);
}

#[test]
fn seeds_differ() {
    let number = |seed| {
        let explore = Explore::default().seed(seed).schedules(10_000);
        explore.try_check(known::lost_update_of_six).unwrap_err().number()
    };
    let numbers: Vec<u64> = (0..4).map(number).collect();
    assert!(numbers.iter().any(|number| *number != numbers[0]), "{numbers:?}");
}

/// The lines are those of `known.rs`.
#[test]
fn a_trace_is_the_same_everywhere() {
    let failure = known::failure(known::close_send, 1);
    assert_eq!(failure.replay(), r#"Explore::replay("3:1")"#);
    let expected = "   \
   0 0ns fiber 0: start at KNOWN:12
       makes fiber 0.0.0 \"sender\"
       makes fiber 0.0.1 \"closer\"
       waits for the end of its children at KNOWN:23
   1 0ns fiber 0.0.0 \"sender\": start at KNOWN:23 (choice 0 of 2)
   2 0ns fiber 0.0.1 \"closer\": start at KNOWN:23 (choice 0 of 2)
   3 0ns fiber 0.0.1 \"closer\": bind at KNOWN:22 (choice 1 of 2)
       fiber 0.0.1 \"closer\" ends: success
   4 0ns fiber 0.0.0 \"sender\": bind at KNOWN:20
       fiber 0.0.0 \"sender\" ends: success
       wakes fiber 0
   5 0ns fiber 0: children at KNOWN:23
       fiber 0 ends: panic: a message is lost
";
    assert_eq!(failure.trace().to_string(), expected.replace("KNOWN", "fiber-test/tests/explorer/known.rs"));
}

#[test]
fn a_replay_has_the_same_trace() {
    for program in [known::lost_update, known::close_send, known::lock_order, known::lost_update_of_six] {
        let failure = known::failure(program, 1);
        let schedule = failure.schedule().to_string();
        let again = Explore::replay(&schedule).try_check(program).expect_err("it breaks again");
        assert_eq!(without_sites(again.trace()), without_sites(failure.trace()));
        assert_eq!(again.schedule(), failure.schedule());
        assert_eq!(again.problem().kind(), failure.problem().kind());
    }
}

/// The root fiber's site is the line that explores, which differs here.
fn without_sites(trace: &Trace) -> Vec<String> {
    let turns = trace.turns().iter().skip(1);
    turns.map(|turn| format!("{:?} {} {} {:?}", turn.lane, turn.choice, turn.operator, turn.site)).collect()
}

#[test]
fn the_passing_schedule_of_a_failure_passes() {
    let failure = known::failure(known::close_send, 1);
    let (passing, _) = failure.passing().expect("there is one");
    Explore::with(passing.clone()).check(known::close_send);
}

/// It counts its runs, so its second one differs.
#[test]
fn a_program_that_decides_something_by_itself_gets_a_warning() {
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let steps = || Fiber::success(()).bind(|()| Fiber::success(()));
    let program = || steps().zip(steps()).map(|_| assert_ne!(RUNS.fetch_add(1, SeqCst), 7));
    let failure = Explore::default().try_check(program).unwrap_err();
    assert_eq!(failure.number(), 8);
    assert!(failure.to_string().contains("warning   the same schedule does not break the program again"));
}
