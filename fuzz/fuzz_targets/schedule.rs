//! The text of a schedule: no text panics, and what is printed is read again as the same schedule.
#![no_main]

use fiber_test::Schedule;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(schedule) = text.parse::<Schedule>() {
        assert_eq!(schedule.to_string().parse().as_ref(), Ok(&schedule));
    }
});
