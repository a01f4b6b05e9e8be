//! A panic that did not become the outcome is still observed: by code that examines suppressed errors, or by the hook.

use std::time::Duration;

use crate::support::{Counter, Steps};
use fiber_core::{Error, Fiber, Outcome, Policy};
use fiber_sched::Pool;
use fiber_test::{Explore, TestScheduler};

const SECOND: Duration = Duration::from_secs(1);

fn quiet() {
    std::panic::set_hook(Box::new(|_| {}));
}

/// Fails, and panics on the way out.
fn torn() -> Fiber<u32> {
    Fiber::fail(Error::msg("genuine")).ensure(Fiber::lazy(|| panic!("not closed"))).boxed()
}

/// The hook's reports while the program runs to a success.
#[track_caller]
fn told(program: Fiber<u32>) -> Vec<String> {
    quiet();
    let test = TestScheduler::new();
    assert!(test.run(program).is_success());
    test.run_until_idle();
    test.assert_no_leaks();
    test.unobserved()
}

#[track_caller]
fn is_told(program: Fiber<u32>) {
    let told = told(program);
    assert!(told.len() == 1 && told[0].contains("panic: not closed"), "{told:?}");
}

#[track_caller]
fn is_not_told(program: Fiber<u32>) {
    assert_eq!(told(program), [""; 0]);
}

#[test]
fn a_handler_that_does_not_look_leaves_it_to_the_hook() {
    is_told(torn().catch(|_| Fiber::success(0)).boxed());
    is_told(torn().or_else(|_| Ok::<_, Error>(0)).boxed());
    is_told(torn().map_outcome(|outcome| Outcome::Success(outcome.success().unwrap_or(0))).boxed());
    is_told(
        torn().fork().bind(|child| child.outcome()).map(|outcome| outcome.success().unwrap_or(0)).boxed(),
    );
    is_told(Fiber::first_success([torn(), Fiber::delay(SECOND).map(|()| 0).boxed()]).boxed());
    is_told(torn().race_with(Fiber::<()>::never()).map(|raced| u32::from(raced.first.is_success())).boxed());
    is_told(Fiber::from_future(async { Ok::<_, Error>(torn().await.unwrap_or(0)) }).boxed());
}

#[test]
fn a_message_without_its_trace_shows_nothing_of_it() {
    is_told(torn().catch(|error| Fiber::success(error.to_string().len() as u32)).boxed());
    is_told(
        torn()
            .catch(|error| {
                Fiber::from_result(error.downcast::<std::io::Error>().map(|_| 0)).catch(|_| Fiber::success(0))
            })
            .boxed(),
    );
}

#[test]
fn a_retry_that_drops_the_error_leaves_it_to_the_hook() {
    let runs = Counter::default();
    let flaky = Fiber::defer(move || {
        runs.add();
        if runs.get() < 2 { torn() } else { Fiber::success(0).boxed() }
    });
    is_told(flaky.retry(Policy::recurs(2)).boxed());
}

#[test]
fn a_handler_that_looks_has_seen_it() {
    is_not_told(torn().catch(|error| Fiber::success(error.suppressed().len() as u32)).boxed());
    is_not_told(torn().catch(|error| Fiber::success(format!("{error:#}").len() as u32)).boxed());
    is_not_told(torn().catch(|error| Fiber::success(format!("{error:?}").len() as u32)).boxed());
    is_not_told(
        torn()
            .map_outcome(|outcome| {
                let line = format!("{outcome:?}");
                Outcome::Success(line.len() as u32)
            })
            .boxed(),
    );
}

#[test]
fn an_error_that_goes_on_takes_it_along() {
    let again =
        torn().catch(Fiber::<u32>::fail).catch(|error| Fiber::success(error.suppressed().len() as u32));
    is_not_told(again.boxed());
    let outer = torn().catch(|error| Fiber::<u32>::fail(error.context("outer")));
    is_told(outer.catch(|_| Fiber::success(0)).boxed());
    let flattened =
        Fiber::<u32>::fail(Error::msg("outer")).ensure(torn().map(drop)).catch(|_| Fiber::success(0));
    is_told(flattened.boxed());
}

fn fails_later() -> Fiber<u32> {
    Fiber::delay(SECOND / 2).bind(|()| Fiber::fail(Error::msg("genuine"))).boxed()
}

#[test]
fn the_panic_of_a_sibling_is_not_lost_either() {
    let siblings = || {
        let late = Fiber::delay(SECOND).uncancelable().map(|()| -> u32 { panic!("not closed") });
        fails_later().zip(late.boxed())
    };
    is_told(siblings().map(|_| 0).catch(|_| Fiber::success(0)).boxed());
    let parallel = || {
        let late = Fiber::delay(SECOND).uncancelable().map(|()| -> u32 { panic!("not closed") });
        Fiber::parallel([fails_later(), late.boxed()])
    };
    is_told(parallel().map(|_| 0).catch(|_| Fiber::success(0)).boxed());
    is_told(parallel().map(|_| 0).timeout(10 * SECOND).or_else(|_| Ok::<_, Error>(0)).boxed());
}

#[test]
fn a_panic_in_a_panic_is_told_when_only_the_first_was_looked_at() {
    let torn = || Fiber::lazy(|| -> u32 { panic!("first") }).ensure(Fiber::lazy(|| panic!("not closed")));
    is_told(torn().catch_panic(|panic| Fiber::success(panic.message().len() as u32)).boxed());
    is_not_told(torn().catch_panic(|panic| Fiber::success(panic.suppressed().len() as u32)).boxed());
}

#[test]
fn a_failure_that_is_suppressed_and_caught_is_no_defect() {
    let closes = Fiber::fail(Error::msg("not closed"));
    is_not_told(Fiber::fail(Error::msg("genuine")).ensure(closes).catch(|_| Fiber::success(0)).boxed());
}

#[test]
fn the_report_names_the_fiber_and_the_place() {
    let told = told(torn().catch(|_| Fiber::success(0)).boxed());
    assert!(told[0].contains("fiber 0") && told[0].contains("suppressed.rs"), "{told:?}");
}

#[test]
fn an_outcome_tells_when_it_is_dropped_unread_and_not_before() {
    quiet();
    let test = TestScheduler::new();
    let outcome = test.run(torn());
    assert_eq!(test.unobserved(), [""; 0]);
    drop(outcome);
    assert_eq!(test.unobserved().len(), 1);
    let error = test.run(torn()).failure().unwrap();
    assert_eq!(error.suppressed().len(), 1);
    drop(error);
    assert_eq!(test.unobserved().len(), 1);
}

#[test]
fn an_error_may_outlive_its_scheduler() {
    quiet();
    let pool = Pool::builder().workers(1).build();
    let error = pool.run(torn()).failure().unwrap();
    drop(pool);
    drop(error);
}

#[test]
fn a_blocking_closure_that_panics_after_its_cancellation_goes_to_the_hook() {
    quiet();
    for cancels_first in [false, true] {
        let steps = Steps::new(0, 1000);
        let handle = steps.spawn(Fiber::current().bind(move |context| {
            Fiber::blocking(move || {
                context.cancel();
                panic!("not closed")
            })
        }));
        steps.run(if cancels_first { 1 } else { usize::MAX });
        steps.run(usize::MAX);
        let _: Outcome<()> = handle.try_outcome().unwrap();
        assert_eq!(steps.unobserved().len(), 1, "{:?}", steps.unobserved());
    }
}

#[test]
fn the_explorer_takes_it_for_a_problem_of_the_schedule() {
    quiet();
    let careless = || torn().catch(|_| Fiber::success(0));
    let failure = Explore::default().no_regressions().try_check(careless).unwrap_err();
    assert!(failure.to_string().contains("not closed"), "{failure}");
    let careful = || torn().catch(|error| Fiber::success(error.suppressed().len() as u32));
    assert!(Explore::default().no_regressions().try_check(careful).is_ok());
}

/// Panics when it is dropped.
struct Bomb(&'static str);

impl Bomb {
    fn hold(&self) {}
}

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("{}", self.0)
    }
}

#[test]
fn the_hook_is_told_of_all_panics_of_one_drop() {
    let (first, second) = (Bomb("first"), Bomb("second"));
    let unrun = Fiber::lazy(move || first.hold()).map(move |()| second.hold()).boxed();
    let finalizer = Fiber::<()>::fail(Error::msg("not closed")).bind(move |()| unrun);
    let fails = Fiber::<u32>::fail(Error::msg("genuine")).ensure(finalizer);
    let told = told(fails.catch(|_| Fiber::success(0)).boxed());
    assert!(told.len() == 1 && told[0].contains("first") && told[0].contains("second"), "{told:?}");
}

#[test]
fn the_hook_is_told_of_the_panic_of_what_is_thrown_away() {
    quiet();
    let (steps, bomb) = (Steps::new(0, 1), Bomb("thrown away"));
    let handle = steps.spawn(Fiber::yield_now().map(move |()| bomb.hold()));
    assert!(steps.throws_away_after(1));
    assert!(handle.try_outcome().unwrap().is_failure());
    assert!(
        steps.unobserved().iter().any(|report| report.contains("thrown away")),
        "{:?}",
        steps.unobserved()
    );
}
