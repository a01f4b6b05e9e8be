//! The text of a recording: no text panics, and what is printed is read again as the same recording.
#![no_main]

use fiber_core::Recording;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(recording) = text.parse::<Recording>() {
        let printed = recording.to_string();
        assert_eq!(printed.parse::<Recording>().expect("it can be read").to_string(), printed);
    }
});
