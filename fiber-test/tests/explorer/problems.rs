//! Every kind of problem is reported as such.

use std::ops::ControlFlow;
use std::time::Duration;

use fiber_core::sync::{Barrier, Channel, Latch, Mutex, Notify};
use fiber_core::{Error, Fiber, Run};
use fiber_test::{Explore, Failure, ProblemKind, Search};

const SECOND: Duration = Duration::from_secs(1);

fn failure<T: Send + 'static, R: Run<Out = T>>(program: impl Fn() -> Fiber<T, R> + Sync) -> Failure {
    Explore::default().try_check(program).unwrap_err()
}

fn assert_reported(failure: &Failure, kind: ProblemKind, first_line: &str) {
    let text = failure.to_string();
    assert_eq!(failure.problem().kind(), kind, "{text}");
    assert_eq!(text.lines().next().map(without_place), Some(first_line), "{text}");
}

/// What follows `file:line:column: `.
#[track_caller]
fn without_place(text: &str) -> &str {
    let (place, rest) = text.split_once(": ").expect("it begins with a place");
    let mut parts = place.rsplit(':');
    assert!(parts.by_ref().take(2).all(|number| number.parse::<u32>().is_ok()), "{text}");
    assert!(parts.next().is_some_and(|file| file.ends_with(".rs")), "{text}");
    rest
}

#[test]
fn a_panic() {
    let failure = failure(|| Fiber::delay(SECOND).map(|()| panic!("on purpose")));
    assert_reported(&failure, ProblemKind::Panic, "panic at 1s: on purpose");
    assert_eq!(failure.problem().at().as_nanos(), 1_000_000_000);
}

#[test]
fn a_panic_of_the_closure_that_makes_the_program() {
    let failure = failure(|| -> Fiber<()> { panic!("too early") });
    assert_reported(&failure, ProblemKind::Panic, "panic at 0ns: too early");
    assert!(failure.trace().turns().is_empty());
}

/// A panic in a function that the program calls, which no operator names.
fn deep(values: &[u32]) -> u32 {
    *values.get(7).unwrap()
}

const LINE_OF_DEEP: u32 = line!() - 3;

#[track_caller]
fn assert_panicked_in_deep(failure: &Failure) {
    let text = failure.to_string();
    let place = format!("fiber-test/tests/explorer/problems.rs:{LINE_OF_DEEP}:20");
    assert_eq!(failure.problem().place(), Some(place.clone()));
    assert!(text.starts_with(&format!("{place}: ")), "{text}");
}

#[test]
fn the_place_of_a_panic_is_told() {
    assert_panicked_in_deep(&failure(|| Fiber::lazy(|| vec![1, 2]).map(|values| deep(&values))));
    // Panics before it, which are caught, are not mistaken for it; nor are later ones.
    assert_panicked_in_deep(&failure(|| {
        let caught = Fiber::lazy(|| panic!("caught")).catch_panic(|_| Fiber::success(()));
        caught.map(|()| deep(&[])).ensure(Fiber::lazy(|| panic!("later")))
    }));
}

#[test]
fn the_place_of_a_panic_that_nobody_sees_is_told() {
    let failure = failure(|| Fiber::lazy(|| deep(&[])).detach().map(drop));
    assert_eq!(failure.problem().kind(), ProblemKind::Unobserved);
    assert_panicked_in_deep(&failure);
}

#[test]
fn all_lines_of_a_message_are_told() {
    let failure = failure(|| Fiber::lazy(|| assert_eq!(1 + 1, 3)));
    let text = failure.to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[1..4], ["  left: 2", " right: 3", ""], "{text}");
}

#[test]
fn the_place_is_that_of_the_whole_message_and_not_of_one_that_begins_alike() {
    let line = line!();
    let program = || {
        let seen = Fiber::lazy(|| -> () { panic!("order 1") });
        let unseen = Fiber::lazy(|| -> () { panic!("order 10") });
        let seen = seen.fork().bind(|seen| seen.outcome()).map(drop);
        seen.bind(|()| unseen.fork()).map(drop).bind(|()| Fiber::delay(SECOND))
    };
    let failure = failure(program);
    assert!(failure.problem().message().contains("panic: order 10"), "{failure}");
    assert_place(&failure, line + 3);
}

#[test]
fn a_failure_is_told_with_the_innermost_place_that_it_has_passed() {
    let line = line!() + 3;
    let failure = failure(|| {
        let caught = Fiber::lazy(|| panic!("caught")).catch_panic(|_| Fiber::success(()));
        caught.bind(|()| Fiber::<()>::fail(Error::msg("caught")))
    });
    assert_place(&failure, line);
}

#[track_caller]
fn assert_place(failure: &Failure, line: u32) {
    let place = failure.problem().place().expect("it has a place");
    assert!(
        place.starts_with(&format!("fiber-test/tests/explorer/problems.rs:{line}:")),
        "{place} and not {line}"
    );
}

#[test]
fn a_deadlock_a_leak_and_a_livelock_are_told_with_places_of_their_fibers() {
    let livelock = Explore::default().turns_per_instant(1_000);
    let line = line!();
    assert_place(&failure(|| Fiber::<()>::never().bind(|()| Fiber::success(()))), line + 1);
    assert_place(&failure(|| Fiber::<()>::never().detach().map(drop)), line + 2);
    let spins = || Fiber::iterate((), |()| Fiber::yield_now().map(ControlFlow::<()>::Continue));
    let failed = livelock.try_check(move || spins().fork().bind(|fork| fork.join()).map(drop));
    assert_place(&failed.unwrap_err(), line + 4);
}

#[test]
fn with_many_fibers_the_busy_ones_of_the_rows_have_the_columns() {
    let early = Fiber::parallel((0..20).map(|_| Fiber::yield_now())).map(drop);
    let busy = |name| Fiber::for_each(0..40, |_| Fiber::yield_now()).named(name);
    let late = early.bind(move |()| busy("left").zip(busy("right"))).map(|_| panic!("at the end"));
    let failure = Explore::default().only(Search::Fifo).try_check(move || late.clone()).unwrap_err();
    let text = failure.to_string();
    let heads: Vec<&str> = text.lines().filter(|line| line.contains(" = fiber ")).collect();
    assert_eq!(heads.len(), 3, "{text}");
    assert!(heads[0].starts_with("A = fiber 0 "), "{text}");
    assert!(heads[1].starts_with("B = ") && heads[1].contains("\"left\""), "{text}");
    assert!(heads[2].starts_with("C = ") && heads[2].contains("\"right\""), "{text}");
    assert!(text.contains("\nand 20 more fibers\n"), "{text}");
    assert!(text.contains(" . B .  ") && text.contains(" . . C  "), "{text}");
}

/// The explorer drops the value of a program.
#[test]
fn a_panic_of_the_drop_of_its_value() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    let failure = failure(|| Fiber::lazy(|| Bomb));
    assert_reported(&failure, ProblemKind::Panic, "panic at 0ns: dropped");
}

#[test]
fn a_failure() {
    let failure = failure(|| Fiber::<()>::fail(Error::msg("no such file")));
    assert_reported(&failure, ProblemKind::Failure, "failure at 0ns: no such file");
}

#[test]
fn a_program_that_ends_as_cancelled() {
    let failure = failure(|| {
        Fiber::current().bind(|context| {
            context.cancel();
            Fiber::delay(SECOND)
        })
    });
    let line = "cancelled at 0ns: the program ended as cancelled without a cancellation from outside";
    assert_reported(&failure, ProblemKind::Cancelled, line);
}

#[test]
fn a_deadlock() {
    let failure = failure(|| Fiber::<()>::never().named("stuck"));
    let line = "deadlock at 0ns: nothing can run and no timer is pending, but these fibers have not ended";
    assert_reported(&failure, ProblemKind::Deadlock, line);
    assert!(failure.to_string().contains("\"stuck\""));
}

#[test]
fn a_livelock() {
    let endless = || Fiber::<()>::iterate((), |()| Fiber::success(ControlFlow::Continue(())));
    let failure = Explore::default().turns_per_instant(1_000).try_check(endless).unwrap_err();
    assert_eq!(failure.problem().kind(), ProblemKind::Livelock);
    let text = failure.to_string();
    assert!(
        without_place(&text).starts_with("livelock at 0ns: 1000 turns and the time does not advance"),
        "{text}"
    );
}

#[test]
fn a_program_that_goes_on_without_end_is_a_livelock_and_told_of_no_setting_that_there_is_not() {
    let failure = failure(ticks);
    assert_eq!(failure.problem().kind(), ProblemKind::Livelock);
    let text = failure.problem().message();
    assert!(text.contains("100000 instants") && text.contains("the bound under Explore"), "{text}");
    assert!(!text.contains("most_instants"), "{text}");
}

#[test]
fn a_leak() {
    let program = || Fiber::<()>::never().detach().map(drop);
    assert_reported(&failure(program), ProblemKind::Leak, "leak at 0ns: these have not ended");
    Explore::default().schedules(10).may_leak().check(program);
}

/// Every second, for ever.
fn ticks() -> Fiber<()> {
    Fiber::iterate((), |()| Fiber::delay(SECOND).map(ControlFlow::Continue)).boxed()
}

#[test]
fn a_fiber_that_goes_on_without_end_after_the_program_is_a_leak() {
    let program = || ticks().named("ticker").detach().bind(|_| Fiber::delay(SECOND));
    let failure = failure(program);
    let line = "leak at 100001s: the program had ended at 1s, but what it left behind goes on without end; these fibers ran last";
    assert_reported(&failure, ProblemKind::Leak, line);
    assert!(failure.problem().message().contains("\"ticker\""), "{failure}");
    assert!(!failure.to_string().contains("livelock"), "{failure}");
    Explore::default().schedules(2).may_leak().check(program);
}

#[test]
fn what_ends_by_itself_after_the_program_is_no_leak() {
    Explore::default().schedules(10).check(|| Fiber::delay(10 * SECOND).detach().map(drop));
}

#[test]
fn a_failure_that_nobody_sees() {
    let program = || {
        let background = Fiber::<()>::fail(Error::msg("nobody looks")).detach();
        background.bind(|handle| {
            drop(handle);
            Fiber::delay(SECOND)
        })
    };
    let failure = failure(program);
    assert_eq!(failure.problem().kind(), ProblemKind::Unobserved);
    assert!(failure.problem().message().contains("nobody looks"), "{failure}");
}

/// It is certain when the fiber ends, long before the program does.
#[test]
fn a_failure_that_nobody_sees_has_the_time_at_which_it_happened() {
    let program = || {
        let late = Fiber::delay(SECOND).bind(|()| Fiber::<()>::fail(Error::msg("nobody looks")));
        late.detach().bind(|handle| {
            drop(handle);
            Fiber::delay(5 * SECOND)
        })
    };
    assert_eq!(failure(program).problem().at().as_nanos(), 1_000_000_000);
}

#[test]
fn a_claim_about_the_trace() {
    let inspected = Explore::default().inspect(|trace| trace.assert_order(&["started", "stopped"]));
    let failure = inspected.try_check(|| fiber_test::event("started")).unwrap_err();
    assert_eq!(failure.problem().kind(), ProblemKind::Claim);
    assert!(failure.problem().message().contains("\"stopped\" does not come in its place"), "{failure}");
}

#[test]
fn check_panics_with_the_report() {
    let panic = std::panic::catch_unwind(|| {
        Explore::default().no_regressions().check(|| Fiber::<()>::fail(Error::msg("broken")))
    });
    let panic = panic.expect_err("it panics");
    let text = panic.downcast_ref::<String>().expect("the message is a text");
    assert!(without_place(text).starts_with("failure at 0ns: broken\n"), "{text}");
}

#[test]
fn the_message_of_a_claim_about_a_long_trace_is_short() {
    let inspected = Explore::default().inspect(|trace| trace.assert_eventually("a timer", |_| false));
    let failure = inspected.try_check(|| Fiber::for_each(0..1_000, |_| Fiber::success(()))).unwrap_err();
    let message = failure.problem().message();
    assert!(message.starts_with("in no turn: a timer\n(9"), "{message}");
    assert!(message.lines().count() < 100, "{message}");
}

/// The order of a long run is not made calmer, because no reader follows it; to try that took minutes, and the memory of one order for each turn.
#[test]
fn a_long_livelock_of_two_fibers_is_reported_soon() {
    let spin = || Fiber::for_each(0.., |_| Fiber::yield_now());
    let explore = Explore::default().turns_per_instant(12_000);
    let failure = explore.try_check(|| spin().zip(spin())).unwrap_err();
    assert_eq!(failure.problem().kind(), ProblemKind::Livelock);
    assert_eq!(failure.schedule().to_string(), "");
    assert!(failure.calmer().is_none(), "{:?}", failure.calmer());
}

/// The fiber that waits for an answer is where the program stops, not what is wrong with it.
#[test]
fn a_report_tells_of_the_panic_before_the_problem() {
    let failure = failure(|| {
        let (answers, answer) = Channel::<u32>::bounded(1);
        let printer = Fiber::lazy(|| -> () { panic!("no paper\nin tray 2") }).named("printer");
        printer.fork().bind(move |printer| answer.recv().map(move |_| drop((printer, answers))))
    });
    assert_eq!(failure.problem().kind(), ProblemKind::Deadlock, "{failure}");
    let text = failure.to_string();
    let earlier: Vec<_> = text.lines().filter(|line| line.starts_with("earlier   ")).collect();
    assert!(earlier.len() == 1 && earlier[0].starts_with("earlier   fiber 0.0 \"printer\" "), "{text}");
    assert!(earlier[0].ends_with(" panicked in turn 1: no paper"), "{text}");
}

#[test]
fn a_panic_that_is_the_problem_is_told_once() {
    let text = failure(|| Fiber::lazy(|| -> () { panic!("no paper") }).fork().bind(|printer| printer.join()))
        .to_string();
    assert!(!text.contains("\nearlier "), "{text}");
}

/// A test has one thread, so the wait would never end.
#[test]
fn a_wait_that_would_block_the_thread_of_the_test_is_a_panic_at_its_place() {
    let line = line!() + 2;
    let programs: [fn() -> Fiber<()>; 4] = [
        || Fiber::blocking(|| drop(Channel::<u32>::bounded(1).1.blocking_recv())).boxed(),
        || Fiber::lazy(|| _ = Barrier::new(2).blocking_wait()).boxed(),
        || Fiber::lazy(|| Latch::new(1).blocking_wait()).boxed(),
        || Fiber::lazy(|| Notify::new().blocking_wait()).boxed(),
    ];
    for (line, program) in (line..).zip(programs) {
        let failure = failure(program);
        let message = failure.problem().message();
        assert!(message.starts_with("this would block the only thread of the test"), "{message}");
        assert_place(&failure, line);
    }
    // What is ready does not block it.
    Explore::default().check(|| Fiber::lazy(|| *Mutex::new(1).blocking_lock()));
}
