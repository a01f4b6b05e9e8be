//! The asynchronous trace of an error: the operators that it passed.

use std::fmt::{self, Display};
use std::panic::Location;

/// A place in the source code.
pub(crate) type Site = &'static Location<'static>;

/// An operator of a program, and its place in the source code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    operator: &'static str,
    location: Site,
}

impl Frame {
    pub(crate) fn new(operator: &'static str, location: Site) -> Self {
        Frame { operator, location }
    }

    /// The operator's name, such as `"bind"`.
    pub fn operator(&self) -> &'static str {
        self.operator
    }

    /// Where the program calls the operator.
    pub fn location(&self) -> &'static Location<'static> {
        self.location
    }
}

impl Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}:{}", self.operator, self.location.file(), self.location.line())
    }
}

/// How many operators a trace names. A failure at the bottom of a deep recursion passes millions of them; the
/// first hundred tell where it came from.
const LONGEST_TRACE: usize = 100;

/// How many operators a trace names without an allocation. Most errors pass only a few before they are caught or
/// reported.
const INLINE_FRAMES: usize = 4;

/// Fills the unused places.
const NO_FRAME: Frame = Frame { operator: "", location: Location::caller() };

#[derive(Clone)]
pub(crate) struct Trace {
    first: [Frame; INLINE_FRAMES],
    /// All frames that are kept, including the inline ones, once the inline places do not suffice.
    all: Vec<Frame>,
    /// How many operators the error passed, including those that are not kept.
    passed: usize,
}

impl Default for Trace {
    fn default() -> Self {
        Trace { first: [NO_FRAME; INLINE_FRAMES], all: Vec::new(), passed: 0 }
    }
}

impl Trace {
    #[cold]
    pub(crate) fn push(&mut self, frame: Frame) {
        match self.first.get_mut(self.passed) {
            Some(place) => *place = frame,
            None => self.spill(frame),
        }
        self.passed += 1;
    }

    fn spill(&mut self, frame: Frame) {
        if self.all.is_empty() {
            self.all.extend(self.first);
        }
        if self.all.len() < LONGEST_TRACE {
            self.all.push(frame);
        }
    }

    pub(super) fn clear(&mut self) {
        self.all = Vec::new();
        self.passed = 0;
    }

    pub(crate) fn frames(&self) -> &[Frame] {
        self.first.get(..self.passed).unwrap_or(&self.all)
    }
}

impl Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frames = self.frames();
        frames.iter().try_for_each(|frame| write!(f, "\n  {frame}"))?;
        match self.passed - frames.len() {
            0 => Ok(()),
            omitted => write!(f, "\n  and {omitted} more"),
        }
    }
}
