//! The ends of a dataflow other than success.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fiber_core::{Error, Fiber, Outcome, dataflow};
use fiber_test::{Explore, TestScheduler};

use super::{SECOND, later};
use crate::support::{Counter, Queue};

fn broken<T: Send + 'static>(seconds: u32, why: &'static str) -> Fiber<T> {
    Fiber::delay(seconds * SECOND).try_map(move |()| Err(Error::msg(why))).boxed()
}

fn without_messages() {
    std::panic::set_hook(Box::new(|info| {
        if !info.payload().is::<&'static str>() {
            eprintln!("{info}");
        }
    }));
}

#[test]
fn a_failure_cancels_the_others_and_awaits_their_finalizers() {
    let (started, released) = (Counter::default(), Counter::default());
    let behind = started.clone();
    let release = released.count();
    let flow = dataflow! {
        let slow = Fiber::<u32>::never().ensure(Fiber::delay(2 * SECOND)).ensure(release);
        let short = broken::<u32>(1, "no stock");
        let next = { behind.add(); later(1, short + slow) };
        return next
    };
    let test = TestScheduler::new();
    let error = test.run(flow).failure().unwrap();
    assert_eq!(error.to_string(), "no stock");
    assert_eq!((test.now().as_nanos(), started.get(), released.get()), (3_000_000_000, 0, 1));
    test.assert_no_leaks();
}

#[test]
fn later_failures_are_suppressed_into_the_first() {
    let flow = dataflow! {
        let a = broken::<()>(1, "first");
        let b = broken::<()>(2, "second").uncancelable();
        return (a, b)
    };
    let error = TestScheduler::new().run(flow).failure().unwrap();
    assert_eq!(error.to_string(), "first");
    assert_eq!(error.suppressed()[0].to_string(), "second");
}

#[test]
fn a_trace_names_the_line_of_the_step() {
    let line = line!() + 3;
    let flow = dataflow! {
        let a = later(1, 1);
        let b = broken::<u32>(1, "no stock");
        return a + b
    };
    let error = TestScheduler::new().run(flow).failure().unwrap();
    let trace = format!("{error:#}");
    assert!(trace.contains(&format!("dataflow! at {}:{line}", file!())), "{trace}");
}

#[test]
fn a_question_mark_fails_the_dataflow() {
    let run = |text: &'static str, other: Result<u32, Error>| {
        let flow = dataflow! {
            let number = Fiber::success(text.parse::<u32>()?);
            let more = Fiber::success(number + 1);
            return more + other?
        };
        TestScheduler::new().run(flow).into_result().map_err(|error| error.to_string())
    };
    assert_eq!(run("40", Ok(1)), Ok(42));
    assert_eq!(run("x", Ok(1)), Err("invalid digit found in string".to_owned()));
    assert_eq!(run("40", Err(Error::msg("none"))), Err("none".to_owned()));
}

#[test]
fn panics_of_expressions_and_fibers_become_the_outcome() {
    without_messages();
    let message = |flow: Fiber<u32>| {
        let test = TestScheduler::new();
        let Outcome::Panicked(panic) = test.run(flow) else { panic!("it should have panicked") };
        test.assert_no_leaks();
        panic.message().to_owned()
    };
    let released = Counter::default();
    let release = [released.count(), released.count(), released.count()];
    let [one, two, three] = release;
    assert_eq!(
        message(dataflow! {
            let slow = Fiber::<u32>::never().ensure(one);
            let a = later(1, 1);
            let b = { assert!(a > 1, "an expression"); later(1, a) };
            return slow + b
        }),
        "an expression"
    );
    assert_eq!(
        message(dataflow! {
            let slow = Fiber::<u32>::never().ensure(two);
            let b = Fiber::lazy(|| -> u32 { panic!("a fiber") });
            return slow + b
        }),
        "a fiber"
    );
    assert_eq!(
        message(dataflow! {
            let a = later(1, 1).ensure(three);
            return { assert!(a > 1, "the value"); a }
        }),
        "the value"
    );
    assert_eq!(released.get(), 3);
}

/// Panics when it is dropped.
struct Bomb(Arc<AtomicUsize>);

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        panic!("a drop");
    }
}

#[test]
fn values_whose_drops_panic_are_dropped_once() {
    without_messages();
    let drops = Arc::new(AtomicUsize::new(0));
    let bomb = || later(0, Bomb(drops.clone()));
    let kept = || {
        let (one, two) = (bomb(), bomb());
        dataflow! {
            let a = one;
            let b = two;
            let _ = { let _ = (&a, &b); later(1, ()) };
            let _ = { let _ = (&a, &b); later(1, ()) };
            return 1
        }
    };
    let test = TestScheduler::new();
    assert!(matches!(test.run(kept()), Outcome::Panicked(_)));
    test.assert_no_leaks();
    assert!(matches!(Queue::run(kept()), Outcome::Panicked(_)));
    assert_eq!(drops.load(Ordering::Relaxed), 4);
    let unused = {
        let one = bomb();
        dataflow! { let (_, n) = one.map(|bomb| (bomb, 1)); return n }
    };
    assert!(matches!(test.run(unused), Outcome::Panicked(_)));
    assert_eq!(drops.load(Ordering::Relaxed), 5);
}

#[test]
fn a_cancelled_dataflow_starts_no_more_steps() {
    let (started, released) = (Counter::default(), Counter::default());
    let (behind, release) = (started.clone(), released.count());
    let flow = dataflow! {
        let slow = later(5, 1).ensure(release);
        let next = { behind.add(); later(1, slow) };
        return next
    };
    let test = TestScheduler::new();
    let outcome = test.run(flow.timeout(2 * SECOND)).failure().unwrap();
    assert_eq!(outcome.to_string(), "timed out after 2s");
    assert_eq!((started.get(), released.get()), (0, 1));
    test.assert_no_leaks();
}

#[test]
fn a_cancellation_after_the_last_step_keeps_the_value() {
    let flow = dataflow! { let a = later(1, 7); return a };
    let test = TestScheduler::new();
    assert_eq!(test.run(flow.uncancelable().timeout(Duration::from_millis(1))).unwrap(), 7);
}

#[test]
fn a_dataflow_that_is_thrown_away_drops_its_values() {
    let value = Arc::new(());
    let held = value.clone();
    let flow = dataflow! {
        let a = later(1, held);
        let b = { let copy = a.clone(); later(9, copy) };
        return (a, b)
    };
    let test = TestScheduler::new();
    let spawned = test.spawn(flow);
    test.run_for(2 * SECOND);
    assert!(spawned.is_pending());
    drop(spawned);
    drop(test);
    assert_eq!(Arc::strong_count(&value), 1);
}

/// A checkout in which any step may fail.
fn checkout(fails: usize, begun: &Counter, released: &Counter, behind: &Counter) -> Fiber<u32> {
    let step = |number: usize| {
        let (begin, end) = (begun.count(), released.count());
        begin
            .bind(|()| Fiber::yield_now())
            .try_map(move |()| if number == fails { Err(Error::msg("failed")) } else { Ok(number as u32) })
            .ensure(end)
            .boxed()
    };
    let (one, two, three, four) = (step(1), step(2), step(3), step(4));
    let behind = behind.clone();
    dataflow! {
        let user = one;
        let cart = two;
        let price = { let _ = cart; three };
        let mail = { if fails > 0 && fails < 4 { behind.add() } let _ = (user, price); four };
        return mail
    }
}

#[test]
fn whatever_fails_or_is_cancelled_nothing_is_left() {
    for fails in 0..=4 {
        let program = move || {
            let (begun, released, behind) = (Counter::default(), Counter::default(), Counter::default());
            let flow = checkout(fails, &begun, &released, &behind);
            flow.on_outcome(move |outcome| {
                assert_eq!(begun.get(), released.get(), "finalizers");
                assert_eq!(behind.get(), 0, "a step behind a failure has started");
                assert!(outcome.is_cancelled() || outcome.is_success() == (fails == 0), "{outcome:?}");
                Fiber::success(())
            })
            .catch(|_| Fiber::success(0))
        };
        Explore::default().schedules(400).no_regressions().check(program);
        Explore::cancel_everywhere().schedules(400).no_regressions().check(program);
        Explore::default().as_production(8).schedules(200).no_regressions().check(program);
    }
}
