//! What is wrong with a run.

use std::fmt;

use fiber_core::error::Frame;
use fiber_core::{Error, Instant};

use super::panic_hook;
use crate::primitive::Site;
use crate::report::Report;
use crate::text::text_of;

/// How a program broke under a schedule.
#[derive(Clone, Debug)]
pub struct Problem {
    kind: ProblemKind,
    at: Instant,
    message: String,
    /// The location of a panic: file, line and column.
    place: Option<String>,
    /// The location of anything else, as far as known.
    site: Option<Site>,
}

/// The kinds of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// A panic: an assertion, most of the time.
    Panic,
    /// The program failed.
    Failure,
    /// The program ended as cancelled without a cancellation from outside.
    Cancelled,
    /// Nothing could run, no timer was pending, and the program had not ended.
    Deadlock,
    /// The program ran without end.
    Livelock,
    /// The program had ended, and a fiber or timer was left that does not end by itself, or a lock or permits that were not
    /// released.
    Leak,
    /// A fiber failed or panicked, and no handle was left to observe it; or a panic was suppressed, and not examined.
    Unobserved,
    /// An assertion about the [trace](crate::Explore::inspect) does not hold.
    Claim,
}

impl Problem {
    /// How the program broke.
    pub fn kind(&self) -> ProblemKind {
        self.kind
    }

    /// The virtual time of the problem.
    pub fn at(&self) -> Instant {
        self.at
    }

    /// The panic's or error's message, or the report.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Where to look first, as `file:line:column`: a panic, the innermost operator that an error has passed, the wait of a fiber of a
    /// deadlock, or where a busy fiber was forked. The report begins with it. `None`: that is not known, and the report begins with the place of the test.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::Explore;
    ///
    /// let failure = Explore::default().try_check(|| Fiber::lazy(|| panic!("broken"))).unwrap_err();
    /// let place = failure.problem().place().unwrap();
    /// assert_eq!(failure.to_string().lines().next().unwrap(), format!("{place}: panic at 0ns: broken"));
    /// ```
    pub fn place(&self) -> Option<String> {
        self.place.clone().or_else(|| self.site.map(ToString::to_string))
    }

    /// A panic of the run that has ended last on this thread.
    pub(crate) fn panicked(at: Instant, message: String) -> Self {
        let place = panic_hook::place(|panic| panic == message);
        Problem { place, ..Problem::new(ProblemKind::Panic, at, message) }
    }

    /// The closure that inspects the trace has panicked, on the exploring thread.
    pub(crate) fn claimed(at: Instant, message: String) -> Self {
        Problem { kind: ProblemKind::Claim, ..Problem::panicked(at, message) }
    }

    /// Whether this is probably the same bug as another one.
    pub(crate) fn is_like(&self, other: &Problem) -> bool {
        self.kind == other.kind && self.place == other.place
    }

    pub(crate) fn failed(at: Instant, error: &Error) -> Self {
        let site = error.trace().first().map(Frame::location);
        Problem { site, ..Problem::new(ProblemKind::Failure, at, text_of(error)) }
    }

    pub(crate) fn cancelled(at: Instant) -> Self {
        let message = "the program ended as cancelled without a cancellation from outside".to_owned();
        Problem::new(ProblemKind::Cancelled, at, message)
    }

    pub(crate) fn unobserved(at: Instant, message: String) -> Self {
        let place = panic_hook::place(|panic| message.contains(&format!(": panic: {panic}")));
        Problem { place, ..Problem::new(ProblemKind::Unobserved, at, message) }
    }

    pub(crate) fn deadlock(report: Report) -> Self {
        Problem::of_report(ProblemKind::Deadlock, report)
    }

    pub(crate) fn livelock(report: Report) -> Self {
        Problem::of_report(ProblemKind::Livelock, report)
    }

    pub(crate) fn leak(report: Report) -> Self {
        Problem::of_report(ProblemKind::Leak, report)
    }

    /// The program had ended, and what it left behind runs without end.
    pub(crate) fn endless_rest(ended: Instant, report: &Report) -> Self {
        let (at, site) = (report.at(), report.site());
        let mut message = format!(
            "leak at {at}: the program had ended at {ended}, but what it left behind goes on without end; these fibers ran last"
        );
        // Below the title of a livelock.
        let fibers = report.to_string();
        fibers.lines().skip(1).for_each(|fiber| message.push_str(&format!("\n{fiber}")));
        Problem { site, ..Problem::new(ProblemKind::Leak, at, message) }
    }

    fn of_report(kind: ProblemKind, report: Report) -> Self {
        Problem { site: report.site(), ..Problem::new(kind, report.at(), report.to_string()) }
    }

    fn new(kind: ProblemKind, at: Instant, message: String) -> Self {
        Problem { kind, at, message, place: None, site: None }
    }

    /// The title line.
    pub(crate) fn title(&self) -> String {
        let line = self.message.lines().next().unwrap_or_default();
        match self.kind {
            ProblemKind::Panic => format!("panic at {}: {line}", self.at),
            ProblemKind::Claim => format!("claim at {}: {line}", self.at),
            ProblemKind::Failure => format!("failure at {}: {line}", self.at),
            ProblemKind::Cancelled => format!("cancelled at {}: {line}", self.at),
            ProblemKind::Unobserved => format!("at {}, {line}", self.at),
            // The text of a report contains its title.
            ProblemKind::Deadlock | ProblemKind::Livelock | ProblemKind::Leak => line.to_owned(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.title())?;
        self.message.lines().skip(1).try_for_each(|line| write!(f, "\n{line}"))
    }
}
