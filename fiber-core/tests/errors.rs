//! Errors as other code sees them: converted, displayed, walked.

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
