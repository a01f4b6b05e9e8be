//! A test never hangs: a program that cannot continue is reported, with names.

use std::cell::RefCell;
use std::future::{Future, IntoFuture, poll_fn};
use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;
use std::time::Duration;

use fiber_core::sync::{Cache, Mutex, Semaphore, one_shot};
use fiber_core::{Error, Fiber, Instant, Scope, fiber};
use fiber_sched::{AffinityPool, Pool, Settings};
use fiber_test::{Cause, Explore, TestScheduler, compute};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_deadlock_names_the_fibers_and_what_they_wait_for() {
    let test = TestScheduler::new();
    let (stuck, line) = (Fiber::<()>::callback(std::mem::forget).named("left"), line!());
    let report = test.try_run(stuck.zip(Fiber::<()>::never().named("right"))).unwrap_err();
    assert!(report.is_deadlock() && !report.is_livelock());
    let text = report.to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("deadlock at 0ns"), "{text}");
    assert!(
        lines[1].contains("\"zip\" (forked at") && lines[1].ends_with("the end of its children"),
        "{text}"
    );
    assert!(lines[2].contains("fiber 0.0.0 \"left\"") && lines[2].contains("a callback, at"), "{text}");
    assert!(lines[2].contains(&format!("reports.rs:{line}")), "{text}");
    assert!(lines[3].contains("fiber 0.0.1 \"right\"") && lines[3].contains("never"), "{text}");
}

#[test]
fn a_deadlock_of_who_waits_for_a_callback_or_a_future_says_that_no_thread_is_waited_for() {
    let hint = "virtual time does not wait for other threads";
    let report = |program| TestScheduler::new().try_run(program).unwrap_err().to_string();
    let callback = Fiber::<()>::callback(std::mem::forget).boxed();
    let future = Fiber::from_future(std::future::pending::<Result<(), Error>>()).boxed();
    assert!(report(callback).contains(hint));
    assert!(report(future).contains(hint));
    assert!(!report(Fiber::never().boxed()).contains(hint));
    let (reply, answer) = one_shot::<()>();
    let asks = report(answer.boxed());
    assert!(asks.contains("a signal") && !asks.contains(hint), "{asks}");
    drop(reply);
}

/// Awaits both, one beside the other, until one has ended.
async fn either(one: Fiber<()>, other: Fiber<()>) -> Result<(), Error> {
    let [mut one, mut other] = [one, other].map(|fiber| Box::pin(fiber.into_future()));
    poll_fn(|cx| {
        let (one, other) = (one.as_mut().poll(cx), other.as_mut().poll(cx));
        if one.is_ready() { one } else { other }
    })
    .await
}

#[test]
fn a_deadlock_beside_awaited_fibers_does_not_say_that_one_can_run() {
    let report =
        |program: Fiber<()>| TestScheduler::new().try_run(program.named("block")).unwrap_err().to_string();
    let never = || Fiber::never().boxed();
    let text = report(Fiber::block(move || either(never(), never())).boxed());
    assert!(!text.contains("it can run"), "{text}");
    let place = text.lines().find(|line| line.contains("\"await\"")).unwrap();
    assert!(place.ends_with("waits for the end of its children"), "{text}");

    // They have ended, and the block waits in a part of its own.
    let yields = || Fiber::yield_now().boxed();
    let after = Fiber::block(async move || {
        either(yields(), yields()).await?;
        Fiber::scope(|_| Fiber::<()>::never()).await
    });
    let text = report(after.ensure(Fiber::success(())).boxed());
    assert!(!text.contains("it can run") && !text.contains("\"await\""), "{text}");
    let block = text.lines().find(|line| line.contains("\"block\"")).unwrap();
    let scope = text.lines().find(|line| line.contains("\"scope\"")).unwrap();
    let part = scope.split_whitespace().nth(1).unwrap();
    assert!(block.contains(&format!("waits for its part {part}; finalizers not run")), "{text}");
}

/// The one for which all others wait is the last.
#[test]
fn a_report_of_many_fibers_names_one_of_each_kind() {
    let lock = Mutex::new(()).named("lock");
    let program = fiber! {
        let mut waiters = Vec::new();
        for _ in 0..100 {
            let lock = lock.clone();
            let! waiter = Fiber::delay(SECOND).bind(move |()| lock.lock()).map(drop).fork();
            waiters.push(waiter);
        }
        let! holder = lock.with(|_| Fiber::<()>::never()).named("holder").fork();
        do! holder.join();
    };
    let text = TestScheduler::new().try_run(program).unwrap_err().to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[1].contains("fiber 0 ") && lines[2].contains("fiber 0.0 "), "{text}");
    assert!(lines[20].contains("fiber 0.100 \"holder\"") && lines[20].contains("(never)"), "{text}");
    assert_eq!(lines[21..], ["  and 82 more"], "{text}");
}

#[test]
fn a_long_circle_is_drawn_in_part() {
    let program = fiber! {
        let locks: Vec<_> = (0..30).map(|n| Mutex::new(()).named(&format!("lock {n}"))).collect();
        let mut all = Vec::new();
        for (n, lock) in locks.iter().enumerate() {
            let next = locks[(n + 1) % locks.len()].clone();
            let waits = Fiber::delay(SECOND).bind(move |()| next.with(|_| Fiber::success(())));
            let! one = lock.with(move |_| waits).fork();
            all.push(one);
        }
        for one in all { do! one.join(); }
    };
    let text = TestScheduler::new().try_run(program).unwrap_err().to_string();
    let (_, circle) = text.split_once("they wait in a circle\n").unwrap();
    let lines: Vec<&str> = circle.lines().collect();
    assert_eq!(lines.len(), 22, "{text}");
    assert_eq!(lines[0], "  ╭> fiber 0.0 waits for Mutex `lock 1`, held by");
    assert_eq!(lines[19], "  │  fiber 0.19, which waits for Mutex `lock 20`, held by");
    assert_eq!(lines[20], "  │  10 more, the last of which waits for Mutex `lock 0`, held by");
    assert_eq!(lines[21], "  ╰─ fiber 0.0");
}

/// A search whose time grows with the cube of their number takes a minute.
#[test]
fn thousands_who_wait_for_thousands_of_holders_are_reported() {
    const MANY: usize = 3_000;
    let permits = Semaphore::new(MANY).named("permits");
    let of_waiters = permits.clone();
    let holders = (0..MANY).map(move |_| permits.with_permits(1, Fiber::<()>::never()));
    let waits = move |_| {
        let permits = of_waiters.clone();
        Fiber::delay(SECOND).bind(move |()| permits.acquire(1))
    };
    let program = Fiber::parallel(holders).zip(Fiber::parallel((0..MANY).map(waits)));
    let text = TestScheduler::new().try_run(program).unwrap_err().to_string();
    assert!(text.contains("1 permit of Semaphore `permits`, which has 3000: "), "{text}");
    assert!(text.contains(" and 2997 more, at "), "{text}");
}

#[test]
#[should_panic(expected = "deadlock at 1s")]
fn run_panics_with_the_report_of_a_deadlock() {
    let _ = TestScheduler::new().run(Fiber::delay(SECOND).bind(|()| Fiber::<()>::never()));
}

fn endless(name: &'static str) -> Fiber<()> {
    let round = |()| Fiber::success(ControlFlow::<(), ()>::Continue(()));
    Fiber::iterate((), round).named(name).boxed()
}

#[test]
fn a_loop_at_one_instant_is_a_livelock_and_names_the_busy_fiber() {
    let test = TestScheduler::new();
    let idle = Fiber::delay(SECOND).named("idle");
    let report = test.try_run(idle.zip(endless("busy"))).unwrap_err();
    assert!(report.is_livelock() && !report.is_deadlock());
    let text = report.to_string();
    assert!(text.starts_with("livelock at 0ns: 100000 turns"), "{text}");
    assert!(text.contains("\"busy\"") && !text.contains("\"idle\""), "{text}");
}

#[test]
fn a_loop_from_timer_to_timer_is_a_livelock() {
    let test = TestScheduler::new().most_instants(1000);
    let ticking = Fiber::<()>::iterate((), |()| Fiber::delay(SECOND).map(ControlFlow::Continue));
    let report = test.try_run(ticking).unwrap_err();
    assert!(report.is_livelock());
    assert_eq!(report.at().as_nanos(), 1_001_000_000_000);
    assert!(report.to_string().contains("raise the bound with most_instants"), "{report}");
}

#[test]
#[should_panic(expected = "livelock")]
fn run_until_idle_panics_on_a_livelock() {
    let test = TestScheduler::new().turns_per_instant(1000);
    let _spawned = test.spawn(endless("busy"));
    test.run_until_idle();
}

#[test]
fn many_fibers_at_one_instant_are_no_livelock() {
    let test = TestScheduler::new();
    let sleepers = Fiber::parallel((0..50_000).map(|_| Fiber::delay(SECOND).bind(|()| Fiber::yield_now())));
    assert!(test.run(sleepers).is_success());
}

#[test]
#[should_panic(expected = "leak at 0ns: these have not ended\n  fiber 0 \"left over\"")]
fn a_fiber_that_is_left_is_a_leak() {
    let test = TestScheduler::new();
    let _spawned = test.spawn(Fiber::<()>::never().named("left over"));
    test.run_until_idle();
    test.assert_no_leaks();
}

#[test]
#[should_panic(expected = "\ntasks that can run are left: run_until_idle first")]
fn a_fiber_that_was_cancelled_and_has_turns_left_is_told_of() {
    let test = TestScheduler::new();
    let values = Cache::<u32, ()>::new(1);
    let computes = || Fiber::delay(60 * SECOND);
    assert!(test.run(values.get(7, computes).timeout_option(SECOND)).is_success());
    test.assert_no_leaks();
}

#[test]
#[should_panic(expected = "timer at 5s: timer of fiber 0")]
fn a_timer_that_is_left_is_a_leak() {
    let test = TestScheduler::new();
    let _spawned = test.spawn(Fiber::delay(5 * SECOND));
    test.run_for(SECOND);
    test.assert_no_leaks();
}

#[test]
#[should_panic(expected = "has not ended: it waits for a timer")]
fn the_outcome_of_a_pending_fiber_says_what_it_waits_for() {
    let test = TestScheduler::new();
    let spawned = test.spawn(Fiber::delay(SECOND));
    test.run_for(Duration::ZERO);
    let _ = spawned.outcome();
}

/// The message of `Spawned::outcome`, as lines.
fn pending(program: Fiber<()>) -> Vec<String> {
    let test = TestScheduler::new();
    let spawned = test.spawn(program);
    test.run_for(Duration::ZERO);
    let panic = panic::catch_unwind(AssertUnwindSafe(|| spawned.outcome())).unwrap_err();
    panic.downcast_ref::<String>().unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn the_outcome_of_a_pending_fiber_says_where_its_parts_wait() {
    let delay = || Fiber::delay(SECOND);
    let (timeout, line) = (delay().timeout(5 * SECOND).boxed(), line!() - 1);
    let lines = pending(timeout);
    assert!(lines[0].ends_with("has not ended: it waits for its part 0.0"), "{lines:?}");
    assert!(lines[1].starts_with("  fiber 0.0 \"timeout\" (forked at "), "{lines:?}");
    let place = format!(" waits for a timer, at fiber-test/tests/it/reports.rs:{line}");
    assert!(lines[1].ends_with(&place) && lines.len() == 2, "{lines:?}");

    let lines = pending(delay().zip(delay().named("second")).map(drop).boxed());
    assert!(lines[1].ends_with("waits for the end of its children"), "{lines:?}");
    assert!(lines[2].starts_with("  fiber 0.0.0 ") && lines[2].ends_with(&place), "{lines:?}");
    assert!(lines[3].contains("\"second\"") && lines[3].ends_with(&place), "{lines:?}");

    let lines = pending(Fiber::from_future(std::future::pending::<Result<(), Error>>()).boxed());
    assert!(lines[0].contains(" waits for a future, at ") && lines.len() == 1, "it has no part: {lines:?}");

    // The joined fiber is also reported.
    let lines = pending(delay().fork().bind(|fiber| fiber.join()).boxed());
    assert!(lines[0].contains("it waits for the end of fiber 0.0, at "), "{lines:?}");
    assert!(lines[1].ends_with(&place), "{lines:?}");
}

#[test]
fn who_computes_is_said_to_compute() {
    let (work, line) = (compute(Duration::from_millis(70)), line!());
    let place = format!("fiber-test/tests/it/reports.rs:{line}");
    let lines = pending(work.boxed());
    assert!(lines[0].ends_with(&format!("it waits for the end of its computation, at {place}")), "{lines:?}");

    let test = TestScheduler::new().record();
    test.run(compute(SECOND)).unwrap();
    let trace = test.trace();
    assert_eq!(trace.turns()[1].cause, Cause::Computed);
    assert!(trace.to_string().contains("compute is over at fiber-test/tests/it/reports.rs"), "{trace}");
}

#[test]
fn a_timer_that_came_while_all_workers_computed_tells_when_it_was_due() {
    let test = TestScheduler::new().virtual_cpus(1).record();
    let late = Fiber::delay(Duration::from_millis(10));
    test.run(late.zip(compute(Duration::from_millis(70)))).unwrap();
    let trace = test.trace();
    let turn = trace.turns().iter().find(|turn| turn.operator == "delay").unwrap();
    assert_eq!((turn.at.as_nanos(), turn.ready.map(Instant::as_nanos)), (70_000_000, Some(10_000_000)));
    assert!(turn.to_string().ends_with(", ready since 10ms"), "{turn}");
    let others = trace.turns().iter().filter(|turn| turn.ready.is_some());
    assert_eq!(others.count(), 1, "the others waited for no worker: {trace}");
}

#[test]
fn a_deadlock_names_the_finalizers_that_have_not_run() {
    let never = || Fiber::<()>::never();
    let (guarded, line) = (never().ensure(Fiber::success(())).ensure(Fiber::success(())), line!());
    // This fiber has run when the deadlock comes.
    let after = Fiber::yield_now().ensure(Fiber::success(())).bind(move |()| never());
    let report = TestScheduler::new().try_run(guarded.zip(after)).unwrap_err().to_string();
    let lines: Vec<&str> = report.lines().collect();
    let ensure = format!("ensure at fiber-test/tests/it/reports.rs:{line}");
    let expected = format!("finalizers not run: {ensure}, {ensure}");
    assert!(lines[2].contains("fiber 0.0.0") && lines[2].ends_with(&expected), "{report}");
    assert!(lines[3].contains("fiber 0.0.1") && !lines[3].contains("finalizers"), "{report}");
}

/// The only line of the deadlock of `program` that mentions finalizers.
#[track_caller]
fn line_with_finalizers(program: Fiber<()>) -> String {
    let report = TestScheduler::new().try_run(program).unwrap_err().to_string();
    let mut lines = report.lines().filter(|line| line.contains("finalizers not run"));
    let line = lines.next().unwrap_or_else(|| panic!("no line with finalizers in {report}"));
    assert!(lines.next().is_none(), "{report}");
    line.to_owned()
}

#[test]
fn a_deadlock_names_the_finalizers_of_a_fiber_whose_parts_wait() {
    let never = || Fiber::<()>::never();
    let both = never().zip(never()).map(drop).ensure(Fiber::success(())).boxed();
    let each = Fiber::parallel([never(), never()]).map(drop).ensure(Fiber::success(())).boxed();
    let scope = Fiber::scope(move |_| never()).ensure(Fiber::success(())).boxed();
    for program in [both, each, scope] {
        let line = line_with_finalizers(program);
        assert!(line.starts_with("  fiber 0 (forked at "), "{line}");
        assert!(line.contains(" waits for its part 0.0; finalizers not run: ensure at "), "{line}");
    }
    let future = std::future::pending::<Result<(), Error>>();
    let line = line_with_finalizers(Fiber::from_future(future).ensure(Fiber::success(())).boxed());
    assert!(
        line.contains(" waits for a future, at ") && line.contains("; finalizers not run: ensure at "),
        "{line}"
    );
}

/// A fork of a scope that waits for all forks of the scope, itself among them.
fn waits_for_itself(scope: &Scope) -> Fiber<()> {
    let all = scope.await_all();
    Fiber::yield_now().bind(move |()| all).named("fork").boxed()
}

#[test]
fn a_fork_that_awaits_all_forks_of_its_scope_waits_for_itself() {
    let program = Fiber::scope(|scope: Scope| {
        let fork = waits_for_itself(&scope);
        scope.fork(fork).bind(|_| Fiber::<()>::never())
    });
    let report = TestScheduler::new().try_run(program).unwrap_err().to_string();
    let fork = "fiber 0.0.0 \"fork\" (forked at";
    let line = report.lines().find(|line| line.contains(fork)).unwrap_or_default();
    assert!(line.contains("waits for the end of the forks of a scope, at "), "{report}");
    let circle = report.lines().last().unwrap_or_default();
    assert!(circle.starts_with(&format!("it waits for itself: {fork}")), "{report}");
}

#[test]
fn the_circle_of_a_scope_leads_through_those_who_join_its_forks() {
    // The fork waits for all forks; another fork waits for the first.
    let program = Fiber::scope(|scope: Scope| {
        let (first, join_first) = (waits_for_itself(&scope), scope.clone());
        let both = scope.fork(first).bind(move |first| join_first.fork(first.join().named("joins")));
        both.bind(|joins| joins.join())
    });
    let report = TestScheduler::new().try_run(program).unwrap_err().to_string();
    let circle = report.split_once("\nthey wait in a circle\n").unwrap_or_default().1;
    assert!(circle.contains("\"fork\"") && circle.contains("\"joins\""), "{report}");
}

#[test]
fn fibers_that_join_each_other_are_a_circle_in_the_report() {
    let (send, receive) = std::sync::mpsc::channel::<fiber_core::Handle<()>>();
    // The first waits for the end of the second, whose handle it finds in the channel; the second waits for the first.
    let first = Fiber::yield_now().bind(move |()| receive.recv().unwrap().join()).named("first");
    let both = first.fork().bind(move |first| {
        let second = Fiber::yield_now().bind(move |()| first.join()).named("second");
        second.fork().bind(move |second| {
            send.send(second).unwrap();
            Fiber::<()>::never()
        })
    });
    let report = TestScheduler::new().try_run(both).unwrap_err().to_string();
    let circle = report.split_once("\nthey wait in a circle\n").unwrap_or_default().1;
    assert!(circle.contains("\"first\"") && circle.contains("\"second\""), "{report}");
}

/// The file in which a call panics.
fn file_of_panic(call: impl FnOnce()) -> String {
    thread_local!(static FILE: RefCell<Option<String>> = const { RefCell::new(None) });
    static NOTES_FILES: Once = Once::new();
    NOTES_FILES.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            FILE.set(info.location().map(|at| at.file().to_owned()));
            print(info);
        }));
    });
    panic::catch_unwind(AssertUnwindSafe(call)).expect_err("it panics");
    FILE.take().expect("a panic has a place")
}

#[test]
fn the_panic_of_a_wrong_call_is_at_its_line() {
    let calls: [fn(); 11] = [
        || drop(TestScheduler::new().run(Fiber::<()>::never())),
        || drop(TestScheduler::new().run_timed(Fiber::<()>::never())),
        || drop(Explore::replay("later")),
        || drop(Explore::exhaustive().reduced().preemptions(1).check(|| Fiber::success(()))),
        || TestScheduler::new().network().set_capacity(0),
        || {
            let network = TestScheduler::new().network();
            let _hosts = ["a", "b"].map(|name| network.host(name));
            network.between("a", "b").set_bandwidth(0);
        },
        || drop(Pool::builder().workers(0)),
        || drop(Pool::builder().polls(0)),
        || drop(Pool::builder().record(0)),
        || drop(Settings::new().blocking_threads(0)),
        || drop(AffinityPool::builder().workers(0)),
    ];
    for call in calls {
        assert_eq!(file_of_panic(call), file!());
    }
}
