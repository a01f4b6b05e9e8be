use crate::trace::Trace;

/// The input of a picture.
pub(crate) struct Picture<'a> {
    /// A one-line description of the failure. It may contain any characters.
    pub(crate) title: &'a str,
    /// The line that replays the schedule in a test.
    pub(crate) replay: &'a str,
    /// The schedule that failed.
    pub(crate) failing: &'a Trace,
    /// The nearest schedule that passes.
    pub(crate) passing: Option<&'a Trace>,
    /// The two turns of `failing` whose order differs in `passing`.
    pub(crate) pair: Option<(usize, usize)>,
}
