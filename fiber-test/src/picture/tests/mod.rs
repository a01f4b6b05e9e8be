//! Pictures of hand-made traces.

mod drawn;
mod escaping;
mod exported;
mod lives;
mod samples;
mod written;

use super::Picture;
use crate::trace::Trace;

/// A picture of one schedule.
fn of(trace: &Trace) -> Picture<'_> {
    Picture { title: "deadlock", replay: "Explore::replay(\"\")", failing: trace, passing: None, pair: None }
}

/// How often `part` is in `text`.
fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}
