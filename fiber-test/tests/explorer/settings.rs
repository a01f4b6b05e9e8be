//! A setting is used, or refused with advice; the line to paste contains all relevant settings.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use fiber_core::sync::Mutex;
use fiber_core::{Error, Fiber, Recording};
use fiber_test::{Explore, Faults, ProblemKind, Search, TestScheduler};

/// The panic message of the call.
fn refused<T>(call: impl FnOnce() -> T + std::panic::UnwindSafe) -> String {
    let panic = catch_unwind(call).err().expect("it panics");
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).expect("a text")
}

#[test]
fn to_run_nothing_is_refused() {
    let advice = refused(|| Explore::default().schedules(0));
    assert_eq!(advice, "0 schedules show nothing; it has to be at least 1");
    let advice = refused(|| Explore::default().threads(0));
    assert_eq!(advice, "0 threads run no schedule; it has to be at least 1");
}

#[test]
fn what_a_given_schedule_would_ignore_is_refused() {
    let advice = refused(|| Explore::replay("").seed(7));
    assert_eq!(advice, "the schedule is given: its seed is part of its text: Explore::replay(\"r7\")");
    let advice = refused(|| Explore::replay("").schedules(10));
    assert_eq!(advice, "the schedule is given: it is run once; leave schedules(10) out");
    let advice = refused(|| Explore::replay("").within(Duration::from_secs(1)));
    assert_eq!(advice, "the schedule is given: it is run to its end; leave within(1s) out");
    let advice = refused(|| Explore::replay("").only(Search::Pct));
    assert_eq!(advice, "a strategy is chosen from the portfolio: Explore::default().only(Search::Pct)");
}

#[test]
fn a_recording_has_the_random_numbers_of_a_seed() {
    let recording: Recording = "recording 1, 0 lost\n0 0 start\n".parse().unwrap();
    let number = |seed| {
        let drawn = Arc::new(AtomicU64::new(0));
        let program = || {
            let drawn = drawn.clone();
            Fiber::random_u64().map(move |number| drawn.store(number, SeqCst))
        };
        Explore::recorded(&recording).seed(seed).no_regressions().check(program);
        drawn.load(SeqCst)
    };
    assert_eq!(number(7), TestScheduler::with_seed(7).run(Fiber::random_u64()).unwrap());
    assert_ne!(number(7), number(8));
}

#[test]
fn what_is_not_drawn_by_a_strategy_without_chance_is_refused() {
    let fails = || Fiber::<()>::fail(Error::msg("broken"));
    let advice = |explore: Explore| refused(AssertUnwindSafe(|| explore.only(Search::Fifo).try_check(fails)));
    let told = |what: &str| {
        format!("{what} belong to drawn schedules, and only(Search::Fifo) draws none: leave one of them out")
    };
    assert_eq!(advice(Explore::default().mishaps()), told("mishaps"));
    assert_eq!(advice(Explore::default().faults(Faults::new().crashes(1))), told("faults"));
    let late = advice(Explore::default().lateness(Duration::from_millis(1)));
    assert_eq!(late, told("fibers that are late"));
}

#[test]
fn an_enumeration_has_no_strategy() {
    let advice = refused(|| Explore::exhaustive().only(Search::Pct));
    assert_eq!(advice, "a strategy is chosen from the portfolio: Explore::default().only(Search::Pct)");
}

#[test]
fn who_has_left_schedules_out_is_told_what_helps() {
    let turns = || {
        let mutex = Mutex::new(());
        mutex.with(|_| Fiber::success(())).zip(mutex.with(|_| Fiber::success(())))
    };
    let advice = refused(|| Explore::exhaustive().schedules(1).check(turns));
    let bound = "not all schedules were explored, only 1: bound them with preemptions(n)";
    assert_eq!(advice, format!("{bound}, or raise schedules(n) or within(time)"));
    let advice = refused(|| Explore::exhaustive().reduced().schedules(1).check(turns));
    assert_eq!(advice, format!("{bound} instead of reduced(), or raise schedules(n) or within(time)"));
}

#[test]
fn without_any_time_the_first_schedule_is_run() {
    let fails = || Fiber::<()>::fail(Error::msg("broken"));
    let at_once = |explore: Explore| explore.within(Duration::ZERO);
    for threads in [1, 2] {
        let explored = at_once(Explore::default()).threads(threads).check(|| Fiber::success(1));
        assert_eq!(explored.schedules(), 1);
        for explore in [Explore::default(), Explore::exhaustive(), Explore::cancel_everywhere()] {
            assert!(at_once(explore).threads(threads).try_check(fails).is_err());
        }
    }
}

#[test]
fn a_limit_of_time_and_one_of_schedules_may_be_given_in_any_order() {
    let program = || Fiber::success(1);
    let schedules = |explore: Explore| explore.check(program).schedules();
    assert_eq!(schedules(Explore::default().schedules(10).within(Duration::ZERO)), 1);
    assert_eq!(schedules(Explore::default().within(Duration::ZERO).schedules(10)), 1);
}

/// More binds at one instant than are allowed.
fn many_binds() -> Fiber<()> {
    let count = |n| if n < 2_000 { ControlFlow::Continue(n + 1) } else { ControlFlow::Break(()) };
    Fiber::iterate(0, move |n| Fiber::success(count(n))).boxed()
}

#[test]
fn the_bound_on_turns_is_part_of_the_line_to_paste() {
    let failure = Explore::default().turns_per_instant(500).try_check(many_binds).unwrap_err();
    assert_eq!(failure.replay(), "Explore::replay(\"\").turns_per_instant(500)");
    let again = Explore::replay("").turns_per_instant(500).try_check(many_binds).unwrap_err();
    assert_eq!(again.problem().kind(), ProblemKind::Livelock);
    assert_eq!(again.replay(), failure.replay());
}

#[test]
fn what_may_happen_is_part_of_the_line_to_paste() {
    let explore = Explore::default().may_leak().may_be_unobserved().virtual_cpus(1);
    let failure = explore.try_check(|| Fiber::<()>::fail(Error::msg("broken"))).unwrap_err();
    let line = "Explore::replay(\"\").as_production(1024).virtual_cpus(1).may_leak().may_be_unobserved()";
    assert_eq!(failure.replay(), line);
}

#[test]
fn a_report_says_that_the_claims_about_the_trace_are_needed_again() {
    let explore = Explore::default().inspect(|trace| trace.assert_order(&["never"]));
    let report = explore.try_check(|| Fiber::success(1)).unwrap_err().to_string();
    let lines =
        "replay    Explore::replay(\"\").inspect(..).check(..)\n          (with the same inspect(..) as here";
    assert!(report.contains(lines), "{report}");
}
