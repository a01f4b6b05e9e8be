//! Errors in other code: converted, displayed, walked.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use fiber_core::{Error, Fiber};
use fiber_test::TestScheduler;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn the_question_mark_converts_into_every_boxed_standard_error() {
    fn fails() -> Result<(), Error> {
        Err(Error::from(io::Error::other("no disk")).context("saving"))
    }
    fn local() -> Result<(), Box<dyn StdError>> {
        Ok(fails()?)
    }
    fn send() -> Result<(), Box<dyn StdError + Send>> {
        Ok(fails()?)
    }
    fn shared() -> Result<(), Box<dyn StdError + Send + Sync>> {
        Ok(fails()?)
    }
    let texts = [
        local().unwrap_err().to_string(),
        send().unwrap_err().to_string(),
        shared().unwrap_err().to_string(),
    ];
    assert_eq!(texts, ["saving: no disk"; 3]);
}

#[test]
fn a_boxed_error_keeps_the_trace_and_is_unboxed_as_what_it_was() {
    let error = TestScheduler::new().run(Fiber::<()>::fail(Error::msg("no disk"))).failure().unwrap();
    let frames = error.trace().len();
    assert!(frames > 0);
    let boxed: Box<dyn StdError + Send + Sync> = error.into();
    assert!(format!("{boxed:?}").contains("errors.rs"));
    assert_eq!(Error::from_boxed(boxed).trace().len(), frames);
}

#[test]
fn a_boxed_error_of_another_type_becomes_the_source() {
    let boxed: Box<dyn StdError + Send + Sync> = Box::new(io::Error::other("no disk"));
    assert!(Error::from_boxed(boxed).is::<io::Error>());
}

/// A failure that passes `count` operators, and their names.
fn failure_through(count: usize) -> (Error, Vec<&'static str>) {
    let mut fiber = Fiber::<()>::fail(Error::msg("no disk")).boxed();
    let mut names = vec!["fail"];
    for n in 0..count {
        let is_bind = n % 3 == 0;
        names.push(if is_bind { "bind" } else { "try_map" });
        fiber =
            if is_bind { fiber.bind(Fiber::success).boxed() } else { fiber.try_map(Ok::<_, Error>).boxed() };
    }
    (TestScheduler::new().run(fiber).failure().unwrap(), names)
}

fn operators(error: &Error) -> Vec<&'static str> {
    error.trace().iter().map(|frame| frame.operator()).collect()
}

#[test]
fn a_trace_of_any_length_is_complete_and_in_order() {
    for count in 0..20 {
        let (error, names) = failure_through(count);
        assert_eq!(operators(&error), names);
        assert_eq!(format!("{error:#}").lines().count(), 1 + names.len());
    }
}

#[test]
fn a_trace_that_is_too_long_says_how_many_operators_it_leaves_out() {
    let (error, names) = failure_through(149);
    assert_eq!(operators(&error), names[..100]);
    assert!(format!("{error:#}").ends_with("\n  and 50 more"));
}

#[test]
fn an_error_has_nothing_of_those_that_were_dropped_before() {
    for passed in [0, 2, 149] {
        let (error, _) = failure_through(passed);
        let mut full = error.context("saving");
        full.suppress(Error::msg("closing"));
        drop(full);
        let error = Error::msg("no disk");
        assert!(error.trace().is_empty() && error.suppressed().is_empty());
        assert_eq!(format!("{error:#}"), "no disk");
    }
}

#[test]
fn a_source_may_make_errors_while_it_is_dropped() {
    #[derive(Debug)]
    struct Reports;
    impl std::fmt::Display for Reports {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("outer")
        }
    }
    impl StdError for Reports {}
    impl Drop for Reports {
        fn drop(&mut self) {
            assert_eq!(Error::msg("inner").context("reporting").to_string(), "reporting: inner");
        }
    }
    drop(Error::new(Reports).context("saving"));
    assert_eq!(Error::new(Reports).to_string(), "outer");
}

#[test]
fn the_source_is_taken_out_by_value_once_the_type_is_right() {
    let error = Error::new(io::Error::other("no disk")).context("saving");
    let error = error.downcast::<std::fmt::Error>().unwrap_err();
    assert_eq!(error.to_string(), "saving: no disk");
    assert_eq!(error.downcast::<io::Error>().unwrap().to_string(), "no disk");
}

#[test]
fn errors_of_time_display_no_path_and_their_trace_names_the_place() {
    let test = TestScheduler::new();
    let timed_out = test.run(Fiber::<()>::never().timeout(SECOND)).failure().unwrap();
    let late = test.run(Fiber::<()>::never().with_deadline(test.now() + SECOND)).failure().unwrap();
    assert_eq!(timed_out.to_string(), "timed out after 1s");
    assert_eq!(late.to_string(), "the deadline at 2s of the scheduler's time has passed");
    for error in [timed_out, late] {
        assert!(format!("{error:#}").contains("errors.rs"), "{error:#}");
    }
}

#[test]
fn an_attempt_gives_the_failure_as_a_value_and_nothing_else() {
    let test = TestScheduler::new();
    assert_eq!(test.run(Fiber::success(1).attempt()).unwrap().unwrap(), 1);
    let failed = test.run(Fiber::delay(SECOND).bind(|()| Fiber::<()>::fail(Error::msg("no disk"))).attempt());
    let error = failed.unwrap().unwrap_err();
    assert_eq!((error.to_string().as_str(), operators(&error)), ("no disk", vec!["fail", "attempt"]));
    assert!(test.run(Fiber::lazy(|| -> u8 { panic!("planned") }).attempt()).is_panicked());
    let cancelled = test.spawn(Fiber::<()>::never().attempt());
    test.run_until_idle();
    cancelled.cancel_now();
    test.run_until_idle();
    assert!(cancelled.outcome().is_cancelled());
}

#[test]
fn an_error_of_another_type_passes_a_handler_with_its_context_and_trace() {
    let test = TestScheduler::new();
    let fails = || Fiber::<u8>::fail(io::Error::other("no disk")).context("saving");
    let error = test.run(fails().catch_err(|_: std::fmt::Error| Fiber::success(1))).failure().unwrap();
    assert_eq!(error.to_string(), "saving: no disk");
    assert_eq!(operators(&error), ["fail", "context", "catch_err"]);
    let handled = fails().catch_err(|error: io::Error| Fiber::success(error.to_string().len() as u8));
    assert_eq!(test.run(handled).unwrap(), 7);
}

#[test]
fn context_is_formatted_on_a_failure_only() {
    struct Never;
    impl std::fmt::Display for Never {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("planned")
        }
    }
    let test = TestScheduler::new();
    assert_eq!(test.run(Fiber::success(1).context(Never)).unwrap(), 1);
    assert!(test.run(Fiber::<()>::fail(Error::msg("no")).context(Never)).is_panicked());
}

#[test]
fn contexts_read_from_the_outside_to_the_inside() {
    let fails =
        Fiber::<()>::fail(Error::msg("no disk")).context("writing").bind(Fiber::success).context("saving");
    let error = TestScheduler::new().run(fails).failure().unwrap();
    assert_eq!(error.to_string(), "saving: writing: no disk");
    assert!(format!("{error:#}").contains("errors.rs"));
}
