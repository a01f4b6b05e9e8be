//! `#[fiber_test::test]` and `#[fiber_test::explore]`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use fiber_core::sync::{Cache, Semaphore};
use fiber_core::{Error, Fiber, Instant, Policy, Recording, fiber};
use fiber_test::{Faults, Search, TestScheduler};

fn visit(count: &Arc<AtomicU32>) -> Fiber<()> {
    let (before, count) = (count.clone(), count.clone());
    Fiber::lazy(move || before.load(SeqCst))
        .bind(move |seen| Fiber::lazy(move || count.store(seen + 1, SeqCst)))
        .boxed()
}

/// Either update may be lost.
fn two_visits() -> Fiber<()> {
    let count = Arc::new(AtomicU32::new(0));
    let both = visit(&count).zip(visit(&count));
    both.map(move |_| assert_eq!(count.load(SeqCst), 2, "a visit is lost")).boxed()
}

#[fiber_test::test]
fn a_fiber_runs_in_virtual_time() -> Fiber<()> {
    fiber! {
        do! Fiber::delay(Duration::from_secs(3600));
        let! now = Fiber::now();
        assert_eq!(now, Instant::EPOCH + Duration::from_secs(3600));
    }
}

#[fiber_test::test]
async fn an_async_function_awaits_fibers() {
    assert_eq!(Fiber::success(7).await.unwrap(), 7);
}

#[fiber_test::test]
async fn a_result_may_be_the_value() -> Result<(), Error> {
    let number: u32 = Fiber::success("7").await?.parse()?;
    assert_eq!(number, 7);
    Ok(())
}

#[fiber_test::test]
async fn the_error_may_be_a_box() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let number: u32 = Fiber::success("7").await?.parse()?;
    assert_eq!(number, 7);
    Ok(())
}

#[fiber_test::test]
#[should_panic(expected = "the test has failed: no such order")]
async fn a_message_as_the_error_fails_the_test() -> Result<(), String> {
    Err("no such order".to_owned())
}

/// Has the name of what the expansion calls, if that has a name of its own.
fn program() -> Fiber<()> {
    Fiber::delay(Duration::from_secs(1)).boxed()
}

#[fiber_test::test]
async fn a_test_calls_any_function_beside_it() {
    program().await.unwrap();
    assert_eq!(Fiber::now().await.unwrap(), Instant::EPOCH + Duration::from_secs(1));
}

#[fiber_test::test]
#[should_panic(expected = "the test has failed: no such order")]
fn a_failure_fails_the_test() -> Fiber<()> {
    Fiber::fail(Error::msg("no such order")).boxed()
}

#[fiber_test::test]
#[should_panic(expected = "the test has failed: no such order")]
async fn an_error_as_the_value_fails_the_test() -> Result<(), Error> {
    Err(Error::msg("no such order"))
}

#[fiber_test::test]
#[should_panic(expected = "the test has failed: no such order")]
fn an_error_in_the_value_of_a_fiber_fails_the_test() -> Fiber<Result<(), Error>> {
    Fiber::success(Err(Error::msg("no such order"))).boxed()
}

#[fiber_test::test]
#[should_panic(expected = "seven is odd")]
fn a_panic_is_that_of_the_test() -> Fiber<()> {
    Fiber::lazy(|| panic!("seven is odd")).boxed()
}

#[fiber_test::test]
#[should_panic(expected = "the test has ended as cancelled")]
fn what_is_cancelled_has_not_passed() -> Fiber<()> {
    Fiber::current().map(|own| own.cancel()).bind(|()| Fiber::never()).boxed()
}

#[fiber_test::test]
#[should_panic(expected = "deadlock at 0ns")]
fn what_never_ends_is_a_deadlock() -> Fiber<()> {
    Fiber::never().boxed()
}

#[fiber_test::test]
#[should_panic(expected = "leak at 0ns")]
fn a_timer_that_is_left_behind_is_a_leak() -> Fiber<()> {
    Fiber::delay(Duration::from_secs(1)).detach().map(drop).boxed()
}

/// Nobody waits for the computation any more: it was cancelled, and has its last turns after the test.
#[fiber_test::test]
fn what_was_cancelled_in_the_background_is_no_leak() -> Fiber<()> {
    let values = Cache::<u32, ()>::new(1);
    let computes = || Fiber::delay(Duration::from_secs(60)).ensure(Fiber::yield_now());
    values.get(7, computes).timeout_option(Duration::from_secs(1)).map(drop).boxed()
}

#[fiber_test::test]
#[should_panic(expected = "leak at 0ns")]
fn what_runs_without_end_in_the_background_is_a_leak() -> Fiber<()> {
    Fiber::yield_now().repeat(Policy::forever()).detach().map(drop).boxed()
}

#[fiber_test::test]
#[should_panic(expected = "an unobserved failure")]
fn a_failure_that_nobody_sees_fails_the_test() -> Fiber<()> {
    let fails = Fiber::<()>::fail(Error::msg("nobody cares"));
    fails.fork().bind(|fork| (drop(fork), Fiber::delay(Duration::from_secs(1))).1).boxed()
}

#[fiber_test::test(may_hold)]
fn what_is_held_is_no_failure_if_that_is_said() -> Fiber<()> {
    Semaphore::new(1).acquire(1).map(std::mem::forget).boxed()
}

#[fiber_test::test(schedule = "1:1 2:1")]
#[should_panic(expected = "a visit is lost")]
fn a_schedule_is_followed() -> Fiber<()> {
    // Passes first in, first out.
    let count = Arc::new(AtomicU32::new(0));
    let late = visit(&count);
    let both = visit(&count).zip(Fiber::yield_now().bind(|()| late));
    both.map(move |_| assert_eq!(count.load(SeqCst), 2, "a visit is lost")).boxed()
}

#[fiber_test::test(schedule = "1:=5", draws = 6, as_production = 1024)]
fn a_number_of_a_schedule_is_drawn() -> Fiber<()> {
    Fiber::random_u64().map(|number| assert_eq!(number, 5)).boxed()
}

#[fiber_test::test(seed = 7, virtual_cpus = 2)]
fn a_seed_is_that_of_the_random_numbers() -> Fiber<()> {
    let expected = TestScheduler::with_seed(7).run(Fiber::random_u64()).unwrap();
    Fiber::random_u64().map(move |number| assert_eq!(number, expected)).boxed()
}

#[fiber_test::explore(no_regressions)]
#[should_panic(expected = "a visit is lost")]
fn the_portfolio_finds_the_lost_visit() -> Fiber<()> {
    two_visits()
}

#[fiber_test::explore(no_regressions)]
#[should_panic(expected = "fiber 0 (forked at fiber-test/tests/attributes.rs:")]
fn a_report_names_the_place_of_the_function() -> Fiber<()> {
    two_visits()
}

#[fiber_test::explore(no_regressions)]
#[should_panic(expected = "a visit is lost")]
async fn an_async_function_is_explored_too() -> Result<(), Error> {
    two_visits().await
}

#[fiber_test::explore(only = Search::RunAhead)]
fn one_strategy_may_be_chosen() -> Fiber<()> {
    two_visits()
}

#[fiber_test::explore(exhaustive, preemptions = 0, schedules = 1_000, threads = 2)]
fn preemptions_are_bounded() -> Fiber<()> {
    two_visits()
}

static ORDERS: AtomicU32 = AtomicU32::new(0);

/// There are hundreds of orders in all.
#[fiber_test::explore(exhaustive, reduced, inspect = |_| assert!(ORDERS.fetch_add(1, SeqCst) < 50))]
fn fibers_that_share_nothing_have_one_order() -> Fiber<()> {
    let steps = || Fiber::for_each(0..6, |_| Fiber::success(()));
    steps().zip(steps()).map(drop).boxed()
}

#[fiber_test::explore(exhaustive, faults = Faults::new().crashes(1))]
fn every_fault_is_tried() -> Fiber<()> {
    Fiber::success(1).zip(Fiber::success(2)).map(drop).boxed()
}

#[fiber_test::explore(replay = "1:1")]
fn a_schedule_is_replayed() -> Fiber<()> {
    Fiber::success(1).zip(Fiber::success(2)).map(drop).boxed()
}

fn recording() -> Recording {
    "recording 1, 0 lost\n0 0 start\n1 0.0.1 start\n0 0.0.0 start\n0 0 resume\n".parse().unwrap()
}

#[fiber_test::explore(recorded = &recording(), inspect = |trace| assert_eq!(trace.lanes()[2].id, "0.0.1"))]
fn a_recording_is_followed() -> Fiber<()> {
    Fiber::success(1).zip(Fiber::success(2)).map(drop).boxed()
}

#[fiber_test::explore(cancel_everywhere, program_only, within = Duration::from_millis(20))]
fn the_program_is_cancelled() -> Fiber<()> {
    Fiber::success(1).zip(Fiber::delay(Duration::from_secs(1))).map(drop).boxed()
}

static RUNS: AtomicU32 = AtomicU32::new(0);

#[fiber_test::explore(schedules = 17, seed = 3, may_leak, may_hold, may_be_unobserved, faults = Faults::new().crashes(1))]
fn settings_are_those_of_the_builder() -> Fiber<()> {
    assert!(RUNS.fetch_add(1, SeqCst) < 17, "no more than were asked for");
    Fiber::random_u64().map(drop).boxed()
}

#[fiber_test::explore(inspect = |trace| assert!(!trace.turns().is_empty()), draws = 2, lateness = Duration::from_millis(1))]
fn a_trace_is_inspected() -> Fiber<()> {
    Fiber::random_u64().map(drop).boxed()
}
