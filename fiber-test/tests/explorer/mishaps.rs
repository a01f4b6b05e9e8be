//! Besides orders, the explorer tries lateness and cancellations, if the test allows both in one word.

use std::time::Duration;

use fiber_core::Fiber;
use fiber_test::{Explore, ProblemKind, Search};

use crate::known;
use crate::support::Shared;

fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// Broken if the timer is late.
fn answer_in_99() -> Fiber<()> {
    Fiber::delay(millis(99)).timeout(millis(100)).boxed()
}

/// Broken if the child is cancelled alone: nobody opens the gate.
fn waits_for_a_child() -> Fiber<()> {
    let gate = fiber_core::sync::Latch::new(1);
    let open = gate.clone();
    let child = Fiber::delay(millis(10)).map(move |()| open.count_down());
    child.detach().bind(move |_child| gate.wait()).boxed()
}

/// Broken if the other branch has the first turn.
fn order_violation() -> Fiber<()> {
    let is_ready = Shared::new(false);
    let prepare = is_ready.step(|is_ready| *is_ready = true).boxed();
    let look = is_ready.step(|is_ready| assert!(*is_ready)).boxed();
    Fiber::parallel([prepare, look]).map(drop).boxed()
}

/// Broken if the timer is late, and the program is cancelled while it clears up after that.
fn clears_up_after_the_limit() -> Fiber<()> {
    let is_cleared = Shared::new(true);
    let (begins, ends, check) = (is_cleared.clone(), is_cleared.clone(), is_cleared);
    let clears = begins.step(|is_cleared| *is_cleared = false).bind(|()| Fiber::delay(millis(1)));
    let clears = clears.bind(move |()| ends.step(|is_cleared| *is_cleared = true));
    let answer = answer_in_99().catch(move |_| clears);
    answer.ensure(check.step(|is_cleared| assert!(*is_cleared, "half done"))).boxed()
}

#[test]
fn what_needs_lateness_and_a_cancellation_in_one_schedule_is_found() {
    Explore::default().lateness(millis(2)).check(clears_up_after_the_limit);
    Explore::cancel_everywhere().check(clears_up_after_the_limit);
    for seed in 0..4 {
        let failure =
            Explore::default().mishaps().seed(seed).try_check(clears_up_after_the_limit).unwrap_err();
        assert_eq!(failure.schedule().cancellations().len(), 1, "seed {seed}: {failure}");
        assert!(failure.to_string().contains(", time passes before turn "), "seed {seed}: {failure}");
    }
}

#[test]
fn what_needs_lateness_or_a_cancellation_is_found_if_mishaps_are_allowed() {
    for program in [answer_in_99, known::lost_lock, waits_for_a_child] {
        Explore::default().check(program);
        for seed in 0..10 {
            assert!(Explore::default().mishaps().seed(seed).try_check(program).is_err(), "seed {seed}");
        }
    }
}

#[test]
fn the_report_says_which_mishap_it_was() {
    let late = Explore::default().mishaps().try_check(answer_in_99).unwrap_err();
    assert_eq!(late.schedule().to_string(), "1:~ 1:1");
    assert!(late.to_string().contains("first out, time passes before turn 1\n"), "{late}");
    let cancelled = Explore::default().mishaps().try_check(known::lost_lock).unwrap_err();
    assert_eq!(cancelled.problem().kind(), ProblemKind::Unobserved);
    assert!(cancelled.to_string().contains("cancelled before turn 1\n"), "{cancelled}");
}

/// The line names the bound: without it, nothing is late.
#[test]
fn the_line_of_a_report_repeats_a_mishap() {
    let late = Explore::default().mishaps().try_check(answer_in_99).unwrap_err();
    assert_eq!(
        late.replay(),
        "Explore::replay(\"1:~ 1:1\").lateness(Duration::from_millis(2))",
        "the whole line"
    );
    let again = Explore::replay("1:~ 1:1").lateness(Duration::from_millis(2)).try_check(answer_in_99);
    assert_eq!(again.unwrap_err().problem().message(), late.problem().message());
}

#[test]
fn mishaps_are_shrunk_away_if_the_order_alone_is_enough() {
    for search in [None, Some(Search::RandomWalk), Some(Search::Pct)] {
        let explore = search.into_iter().fold(Explore::default().mishaps(), Explore::only);
        let failure = explore.try_check(order_violation).unwrap_err();
        assert_eq!(failure.schedule().to_string(), "1:1", "{failure}");
    }
}

#[test]
fn a_program_that_bears_every_mishap_passes_all_schedules() {
    let work = || Fiber::delay(millis(10)).timeout(millis(100)).ensure(Fiber::yield_now());
    let explored = Explore::default().mishaps().check(move || work().zip(work()).map(drop));
    assert_eq!(explored.schedules(), 1_000);
    assert!(!explored.is_complete(), "what is drawn is never complete");
}

#[test]
fn mishaps_are_the_same_on_any_number_of_threads() {
    let number = |threads| {
        let explore = Explore::default().mishaps().threads(threads);
        explore.try_check(known::lost_lock).unwrap_err().number()
    };
    assert_eq!(number(1), number(3));
}
