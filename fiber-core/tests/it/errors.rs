//! Errors in other code: converted, displayed, walked.

use std::error::Error as StdError;
use std::io;
use std::num::ParseIntError;
use std::time::Duration;

use fiber_core::error::{IntoError, Panicked, TimedOut};
use fiber_core::sync::{Cache, Promise, PromiseFailed};
use fiber_core::{Error, Fiber, Outcome, Policy, Run, dataflow, fiber};
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

#[derive(Clone, Copy, Debug, PartialEq)]
struct Refused(u8);

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "refused: {}", self.0)
    }
}

impl StdError for Refused {}

/// The errors of two fibers that wait for the same computation, which fails with `error`.
fn shared_by_two<R: Run<Out = u8>>(computation: Fiber<u8, R>) -> [Error; 2] {
    let (cache, test) = (Cache::new(1), TestScheduler::new());
    let mut computation = Some(computation);
    let asks = [(); 2].map(|()| {
        let computation = computation.take();
        test.spawn(cache.get((), move || computation.expect("the first one computes")))
    });
    test.run_until_idle();
    asks.map(|ask| ask.outcome().failure().unwrap())
}

#[test]
fn a_shared_error_shows_its_source_and_not_that_it_is_shared() {
    for error in shared_by_two(Fiber::<u8>::never().timeout(SECOND)) {
        assert!(error.is::<TimedOut>() && !error.is::<io::Error>());
        assert_eq!(error.downcast_ref::<TimedOut>().unwrap().after(), SECOND);
        assert!(error.source().is::<TimedOut>());
        assert_eq!(error.to_string(), "timed out after 1s");
        assert!(error.is::<PromiseFailed>(), "how it came here can be told too");
    }
}

#[test]
fn a_shared_error_keeps_context_causes_trace_and_suppressed_errors() {
    let cause = io::Error::other(Refused(7));
    let fails =
        Fiber::<u8>::fail(cause).context("asking").ensure(Fiber::<()>::fail(Error::msg("not closed")));
    for error in shared_by_two(fails.context("pricing")) {
        assert_eq!(error.to_string(), "pricing: asking: refused: 7");
        assert!(error.is::<io::Error>());
        assert_eq!(operators(&error)[..3], ["fail", "context", "ensure"]);
        assert!(operators(&error).contains(&"promise"));
        let suppressed: Vec<_> = error.suppressed().iter().map(Error::to_string).collect();
        assert_eq!(suppressed, ["not closed"]);
        let error = error.context("booking");
        assert_eq!(error.to_string(), "booking: pricing: asking: refused: 7");
        let details = format!("{error:#}");
        for part in ["booking: pricing: asking: refused: 7", "suppressed: not closed", "\n  promise at "] {
            assert_eq!(details.matches(part).count(), 1, "{part} in {details}");
        }
    }
}

#[test]
fn an_error_that_is_shared_twice_shows_its_source() {
    let promise = Promise::<u8>::new();
    promise.fail(Error::new(Refused(1)).context("inside"));
    for error in shared_by_two(promise.wait().context("outside")) {
        assert_eq!(error.to_string(), "outside: inside: refused: 1");
        assert_eq!(error.downcast_ref::<Refused>(), Some(&Refused(1)));
        assert_eq!(error.source().downcast_ref::<Refused>(), Some(&Refused(1)));
    }
}

/// Errors that wrap each other this often would overflow the stack.
#[test]
fn an_error_that_is_passed_on_by_many_promises_wraps_its_source_once() {
    let mut error = Error::new(Refused(1));
    for round in 0..20_000 {
        let promise = Promise::<u8>::new();
        promise.fail(error);
        error = promise.blocking_wait().unwrap_err();
        if round == 10_000 {
            error = error.context("half way");
        }
    }
    assert_eq!(error.to_string(), "half way: refused: 1");
    assert_eq!(error.downcast_ref::<Refused>(), Some(&Refused(1)));
}

#[test]
fn a_policy_sees_the_source_of_a_shared_error() {
    let promise = Promise::<u8>::new();
    promise.fail(Refused(1));
    let policy = Policy::recurs(3).while_input(|error: &Error| !error.is::<Refused>());
    let error = TestScheduler::new().run(promise.wait().retry(policy)).failure().unwrap();
    assert_eq!(error.to_string(), "refused: 1", "there is one attempt");
}

#[test]
fn a_shared_error_is_not_given_by_value() {
    for error in shared_by_two(Fiber::fail(Refused(1))) {
        let error = error.downcast::<Refused>().unwrap_err();
        assert!(error.is::<Refused>());
        assert!(error.downcast::<PromiseFailed>().unwrap().error().is::<Refused>());
    }
    let promise = Promise::<u8>::new();
    promise.fail(Refused(1));
    let caught = promise.wait().catch_err(|_: Refused| Fiber::success(0));
    assert!(TestScheduler::new().run(caught).failure().unwrap().is::<Refused>());
}

#[test]
fn a_panic_beside_a_shared_error_is_seen_by_the_first_who_looks_and_lost_if_none_does() {
    for looks in [false, true] {
        let (promise, test) = (Promise::<u8>::new(), TestScheduler::new());
        let fails = Fiber::<u8>::fail(Refused(1)).ensure(Fiber::<()>::lazy(|| panic!("not closed")));
        promise.outcome(test.run(fails.map_outcome(Outcome::Success)).unwrap());
        let errors = [(); 2].map(|()| test.run(promise.wait()).failure().unwrap());
        if looks {
            assert_eq!(errors[1].suppressed()[0].to_string(), "panic: not closed");
        }
        drop((errors, promise));
        assert_eq!(test.unobserved().len(), usize::from(!looks), "{:?}", test.unobserved());
    }
}

#[test]
fn a_standard_error_has_the_source_among_its_causes() {
    let error = Error::new(io::Error::other(Refused(7))).context("saving");
    let boxed: Box<dyn StdError + Send + Sync> = error.into();
    assert_eq!(boxed.to_string(), "saving: refused: 7");
    let io = boxed.source().unwrap();
    assert!(io.is::<io::Error>());

    let [shared, _] = shared_by_two(Fiber::fail(Refused(7)));
    let boxed: Box<dyn StdError> = shared.context("saving").into();
    assert!(boxed.source().unwrap().is::<Refused>());
}

type Boxed = Box<dyn StdError + Send + Sync>;

fn boxed(text: &str) -> Result<u8, Boxed> {
    Ok(text.parse()?)
}

/// The error of a program that fails.
fn error_of<R: Run<Out = u8>>(fiber: Fiber<u8, R>) -> Error {
    TestScheduler::new().run(fiber).failure().unwrap()
}

#[test]
fn the_question_mark_converts_boxed_errors_and_messages_in_blocks() {
    assert!(error_of(fiber! { boxed("seven")? }).is::<ParseIntError>());
    assert_eq!(error_of(fiber! { "seven".parse().or(Err("no number"))? }).to_string(), "no number");
    assert!(error_of(dataflow! { let n = Fiber::success(boxed("seven")?); return n }).is::<ParseIntError>());
    assert!(error_of(Fiber::from_future(async { boxed("seven") })).is::<ParseIntError>());
    let block = Fiber::block(|| async {
        let n = Fiber::success(1).await?;
        Ok::<_, Boxed>(n + boxed("seven")?)
    });
    assert!(error_of(block).is::<ParseIntError>());
    let function = || -> Result<u8, Error> { boxed("seven").map_err(IntoError::into_error) };
    assert!(function().unwrap_err().is::<ParseIntError>());
}

#[test]
fn an_error_passes_boxes_and_comes_back_with_its_trace() {
    let inner = || fiber! { boxed("seven")? };
    let block = Fiber::block(move || async move { Ok::<u8, Boxed>(inner().context("inside").await?) });
    let error = error_of(fiber! { do! block.context("outside") });
    assert_eq!(error.to_string(), "outside: inside: invalid digit found in string");
    let operators = operators(&error);
    assert_eq!(operators[..3], ["?", "context", "await"]);
    assert!(operators.contains(&"block"), "{operators:?}");
}

#[test]
fn a_panic_keeps_its_type_as_an_error() {
    let panics = || Fiber::<u8>::lazy(|| panic!("out of tea"));
    let test = TestScheduler::new();
    let errors = [
        test.run(panics()).into_result().unwrap_err(),
        shared_by_two(panics()).into_iter().next().unwrap().context("asking"),
        test.run(panics().restarted(Policy::recurs(1))).failure().unwrap(),
    ];
    for error in errors {
        assert_eq!(error.downcast_ref::<Panicked>().unwrap().message(), "out of tea");
        assert!(error.to_string().ends_with("panic: out of tea"));
    }
    let fails = Fiber::<u8>::fail(Refused(1)).ensure(panics().map(drop));
    assert!(error_of(fails).suppressed()[0].is::<Panicked>());
}

#[test]
fn the_details_of_an_error_that_other_code_has_wrapped_are_shown() {
    #[derive(Debug)]
    struct Loading(Box<dyn StdError + Send + Sync>);
    impl std::fmt::Display for Loading {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("loading")
        }
    }
    impl StdError for Loading {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            Some(&*self.0)
        }
    }
    let book = Fiber::fail(Refused(7)).context("booking").ensure(Fiber::<()>::fail("no disk"));
    let inside = error_of(book);
    let outside = error_of(Fiber::fail(Loading(inside.into())));
    let details = format!("{outside:#}");
    let lines: Vec<&str> = details.lines().map(|line| line.split(" at ").next().unwrap()).collect();
    assert_eq!(
        lines,
        [
            "loading",
            "  caused by: booking: refused: 7",
            "  fail",
            "  context",
            "  ensure",
            "  fail",
            "suppressed: no disk",
            "  fail",
            "  ensure",
        ],
    );
}

mod with_anyhow {
    use anyhow::{Context, anyhow, bail};

    use super::*;

    fn refuses() -> anyhow::Result<u8> {
        bail!(Refused(7))
    }

    #[test]
    fn the_question_mark_converts_in_blocks() {
        let block = Fiber::block(|| async { Ok::<_, anyhow::Error>(Fiber::success(1).await? + refuses()?) });
        let fails = dataflow! { let n = Fiber::success(refuses()?); return n };
        for fiber in
            [fiber! { refuses()? }, block.boxed(), fails, Fiber::from_future(async { refuses() }).boxed()]
        {
            let error = error_of(fiber.context("booking"));
            assert_eq!(error.to_string(), "booking: refused: 7");
            assert!(error.source().is::<Refused>());
            assert_eq!(error.downcast::<Refused>().unwrap(), Refused(7));
        }
        assert_eq!(error_of(fiber! { Err(anyhow!("no {}", "seat"))? }).to_string(), "no seat");
    }

    #[test]
    fn a_type_is_found_below_contexts() {
        let error = error_of(fiber! { refuses().context("reading").context("loading")? });
        assert_eq!(error.to_string(), "loading");
        let details = format!("{error:#}");
        assert!(
            details.contains("caused by: reading") && details.contains("caused by: refused: 7"),
            "{details}"
        );
        assert!(error.is::<Refused>() && !error.is::<io::Error>());
        assert_eq!(error.downcast_ref::<Refused>(), Some(&Refused(7)));
        let error = error.downcast::<Refused>().unwrap_err();
        assert!(error.is::<Refused>(), "it is given back as it was");
    }

    #[test]
    fn an_error_has_its_source_in_the_chain_and_comes_back_as_itself() {
        fn outward(error: Error) -> anyhow::Result<u8> {
            Err(error)?
        }
        let error = error_of(Fiber::fail(Refused(7)).context("booking"));
        let frames = operators(&error);
        let outside = outward(error).unwrap_err();
        assert_eq!(outside.to_string(), "booking: refused: 7");
        assert!(outside.chain().any(|cause| cause.is::<Refused>()));

        let back = error_of(fiber! { Err(outside)? });
        assert_eq!(operators(&back)[..frames.len()], frames);
        assert_eq!(back.to_string(), "booking: refused: 7");

        let [shared, _] = shared_by_two(Fiber::fail(Refused(7)));
        let outside = outward(shared).context("outside").unwrap_err();
        assert!(outside.chain().any(|cause| cause.is::<Refused>()));
        let back = error_of(fiber! { Err(outside)? });
        assert!(back.is::<Refused>());
        assert_eq!(back.to_string(), "outside");
    }
}
