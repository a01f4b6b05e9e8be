//! Virtual time: it stands still while anything can run, and otherwise jumps to the next timer.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use fiber_core::{Fiber, Instant};
use fiber_test::{Effect, TestScheduler};

const SECOND: Duration = Duration::from_secs(1);

type Log = Arc<Mutex<Vec<u64>>>;

/// A fiber that records the virtual second in which it continues.
fn note(log: &Log) -> Fiber<()> {
    let log = log.clone();
    Fiber::now().map(move |now| log.lock().unwrap().push(now.as_nanos() / 1_000_000_000)).boxed()
}

#[test]
fn an_hour_costs_no_real_time() {
    let test = TestScheduler::new();
    let started = std::time::Instant::now();
    test.run(Fiber::delay(3600 * SECOND)).unwrap();
    assert_eq!(test.now(), Instant::EPOCH + 3600 * SECOND);
    assert!(started.elapsed() < SECOND);
}

#[test]
fn work_takes_no_virtual_time() {
    let test = TestScheduler::new();
    test.run(Fiber::for_each(0..1000, |_| Fiber::yield_now())).unwrap();
    assert_eq!(test.now(), Instant::EPOCH);
}

#[test]
fn timers_are_due_in_the_order_of_their_instants_and_then_of_their_making() {
    let test = TestScheduler::new();
    let order = Arc::new(Mutex::new(Vec::new()));
    for (name, seconds) in [("c", 2), ("a", 1), ("d", 2), ("b", 1)] {
        let order = order.clone();
        test.context().spawn(Fiber::delay(seconds * SECOND).map(move |()| order.lock().unwrap().push(name)));
    }
    test.run_until_idle();
    assert_eq!(*order.lock().unwrap(), ["a", "b", "c", "d"]);
}

#[test]
fn run_for_runs_what_is_due_within_and_ends_at_its_end() {
    let (test, log) = (TestScheduler::new(), Log::default());
    for seconds in [1, 2, 3] {
        let note = note(&log);
        test.context().spawn(Fiber::delay(seconds * SECOND).bind(move |()| note));
    }
    test.run_for(2 * SECOND + SECOND / 2);
    assert_eq!(*log.lock().unwrap(), [1, 2]);
    assert_eq!(test.now(), Instant::EPOCH + 2 * SECOND + SECOND / 2);
    assert_eq!(test.pending_timers(), 1);
    test.run_for(SECOND / 2);
    assert_eq!(*log.lock().unwrap(), [1, 2, 3]);
}

#[test]
fn advance_jumps_and_what_was_due_sees_the_new_time() {
    let (test, log) = (TestScheduler::new().auto_advance(false), Log::default());
    let noted = note(&log);
    test.context().spawn(Fiber::delay(SECOND).bind(move |()| noted));
    test.run_until_idle();
    assert!(log.lock().unwrap().is_empty(), "time does not advance by itself");
    test.advance(10 * SECOND);
    assert!(log.lock().unwrap().is_empty(), "advance runs nothing");
    test.run_until_idle();
    assert_eq!(*log.lock().unwrap(), [10]);
}

#[test]
fn the_time_of_day_is_virtual_too() {
    let test = TestScheduler::new();
    let fiber = Fiber::delay(SECOND).bind(|()| Fiber::utc_now());
    assert_eq!(test.run(fiber).unwrap(), SystemTime::UNIX_EPOCH + SECOND);
}

#[test]
fn a_timer_in_the_past_is_due_now() {
    let test = TestScheduler::new();
    test.run_for(5 * SECOND);
    test.run(Fiber::until(Instant::EPOCH + SECOND)).unwrap();
    assert_eq!(test.now(), Instant::EPOCH + 5 * SECOND);
}

#[test]
fn a_cancelled_timer_is_gone_and_its_slot_is_used_again() {
    let test = TestScheduler::new();
    for _ in 0..3 {
        let sleeper = test.spawn(Fiber::delay(SECOND));
        let other = test.spawn(Fiber::delay(2 * SECOND));
        test.run_for(Duration::ZERO);
        assert_eq!(test.pending_timers(), 2);
        sleeper.cancel_now();
        test.run_for(Duration::ZERO);
        assert_eq!(test.pending_timers(), 1);
        test.run_until_idle();
        assert!(sleeper.outcome().is_cancelled());
        assert!(other.outcome().is_success());
    }
    test.assert_no_leaks();
}

#[test]
fn every_bind_is_a_turn() {
    let test = TestScheduler::new();
    let order = Arc::new(Mutex::new(Vec::new()));
    let step = |what: &'static str| {
        let order = order.clone();
        Fiber::lazy(move || order.lock().unwrap().push(what))
    };
    let (a2, b2) = (step("a2"), step("b2"));
    let a = step("a1").bind(move |()| a2);
    let b = step("b1").bind(move |()| b2);
    test.run(a.zip(b)).unwrap();
    assert_eq!(*order.lock().unwrap(), ["a1", "b1", "a2", "b2"]);
}

#[test]
fn a_lost_update_shows_up_without_a_seed() {
    let value = Arc::new(Mutex::new(0));
    let increment = || {
        let (read, write) = (value.clone(), value.clone());
        Fiber::lazy(move || *read.lock().unwrap())
            .bind(move |seen| Fiber::lazy(move || *write.lock().unwrap() = seen + 1))
    };
    TestScheduler::new().run(increment().zip(increment())).unwrap();
    assert_eq!(*value.lock().unwrap(), 1);
}

/// The order in which five fibers of three steps each run.
fn trace(seed: u64) -> Vec<(u32, u32)> {
    let trace = Arc::new(Mutex::new(Vec::new()));
    let fibers = (0..5).map(|fiber| {
        let trace = trace.clone();
        Fiber::for_each(0..3, move |step| {
            let trace = trace.clone();
            Fiber::lazy(move || trace.lock().unwrap().push((fiber, step)))
        })
    });
    TestScheduler::with_seed(seed).run(Fiber::parallel(fibers.collect::<Vec<_>>())).unwrap();
    let trace = trace.lock().unwrap();
    trace.clone()
}

#[test]
fn the_same_seed_gives_the_same_run_and_others_give_others() {
    let traces: Vec<_> = (0..20).map(trace).collect();
    assert_eq!(traces, (0..20).map(trace).collect::<Vec<_>>());
    assert!(traces.iter().any(|other| *other != traces[0]));
}

#[test]
fn blocking_closures_run_on_the_timeline() {
    let test = TestScheduler::new();
    assert_eq!(test.run(Fiber::blocking(|| 7)).unwrap(), 7);
    assert_eq!(test.now(), Instant::EPOCH);
}

#[test]
fn dropping_the_timeline_cancels_what_is_left_and_runs_its_finalizers() {
    let done = Arc::new(Mutex::new(false));
    let seen = done.clone();
    let finalizer = Fiber::delay(SECOND).map(move |()| *seen.lock().unwrap() = true);
    let test = TestScheduler::new();
    let fiber = test.spawn(Fiber::<()>::never().ensure(finalizer));
    test.run_until_idle();
    drop(test);
    assert!(*done.lock().unwrap());
    assert!(fiber.outcome().is_cancelled());
}

#[test]
fn random_numbers_are_the_same_in_every_run_and_differ_by_seed() {
    let numbers = |test: TestScheduler| {
        let pair = Fiber::random_u64().zip(Fiber::random_u64());
        test.run(pair).unwrap()
    };
    let (first, second) = numbers(TestScheduler::new());
    assert_ne!(first, second);
    assert_eq!(numbers(TestScheduler::new()), (first, second));
    assert_eq!(numbers(TestScheduler::with_seed(5)), numbers(TestScheduler::with_seed(5)));
    assert_ne!(numbers(TestScheduler::with_seed(5)), numbers(TestScheduler::with_seed(6)));
}

#[test]
fn the_beginning_of_a_finalizer_is_a_turn() {
    let operators = |fiber: Fiber<()>| {
        let test = TestScheduler::new().record();
        test.run(fiber).unwrap();
        test.trace().turns().iter().map(|turn| turn.operator).collect::<Vec<_>>()
    };
    let nothing = || Fiber::success(());
    assert_eq!(operators(nothing().ensure(nothing()).boxed()), ["start", "ensure"]);
    assert_eq!(operators(nothing().on_outcome(move |_| nothing()).boxed()), ["start", "on_outcome"]);
    let bracket = Fiber::bracket(nothing(), move |()| nothing(), move |()| nothing());
    assert_eq!(operators(bracket.boxed()), ["start", "bracket", "bracket"]);
}

#[test]
fn time_stands_still_in_a_run_without_auto_advance() {
    let test = TestScheduler::new().auto_advance(false);
    let report = test.try_run(Fiber::delay(Duration::from_secs(1))).unwrap_err();
    assert!(!report.is_deadlock() && !report.is_livelock());
    assert!(
        report.to_string().starts_with("stopped at 0ns: nothing can run now, and time does not advance"),
        "{report}"
    );
    assert!(report.to_string().contains("due at 1s"), "{report}");
    assert_eq!(test.now(), Instant::EPOCH);
    test.advance(Duration::from_secs(1));
    test.run_until_idle();
    test.assert_no_leaks();
}

#[test]
fn what_the_test_does_is_not_done_by_the_last_turn() {
    let test = TestScheduler::new().record();
    test.run(Fiber::success(1)).unwrap();
    let spawned = test.spawn(Fiber::delay(Duration::from_secs(1)));
    test.run_for(Duration::from_millis(1));
    spawned.cancel_now();
    test.run_until_idle();
    let trace = test.trace();
    assert!(!trace.turns()[0].effects.contains(&Effect::Fork(1)), "{trace}");
    let since: Vec<Option<usize>> = trace.turns().iter().map(|turn| turn.since).collect();
    assert_eq!(since, [None; 3], "{trace}");
    assert_eq!(trace.outside(1).collect::<Vec<_>>(), [&Effect::Fork(1)]);
    assert!(trace.to_string().contains("---- from outside: cancels fiber 1"), "{trace}");
}

/// A test that runs for ever does not exhaust the memory.
#[test]
fn a_trace_is_bounded() {
    let test = TestScheduler::new().record().turns_per_instant(usize::MAX);
    test.run(Fiber::for_each(0..600_000, |_| Fiber::success(()))).unwrap();
    let trace = test.trace();
    assert_eq!(trace.turns().len(), 500_000);
    // The start is one more turn.
    assert!((100_000..=100_001).contains(&trace.left_out()), "{}", trace.left_out());
    assert!(trace.to_string().ends_with(" turns after these are left out)\n"));
}
