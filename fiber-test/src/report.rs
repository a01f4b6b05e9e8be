//! What a test is told when its program cannot go on.

use std::fmt;

use fiber_core::{Context, Instant};

/// Why a program stopped short of its end.
#[derive(Clone, Debug)]
pub struct Report {
    kind: Kind,
    at: Instant,
    /// One line per fiber.
    fibers: Vec<String>,
    timers: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Deadlock,
    BusyInstant { turns: usize },
    TooManyInstants { instants: usize },
    Leak,
}

/// How many fibers and timers a report names; the rest is counted.
const LONGEST_LIST: usize = 20;

impl Report {
    pub(crate) fn deadlock(at: Instant, fibers: Vec<Context>) -> Self {
        Report::new(Kind::Deadlock, at, fibers)
    }

    /// `fibers` are those that ran last.
    pub(crate) fn busy_instant(at: Instant, turns: usize, fibers: Vec<Context>) -> Self {
        Report::new(Kind::BusyInstant { turns }, at, fibers)
    }

    pub(crate) fn too_many_instants(at: Instant, instants: usize, fibers: Vec<Context>) -> Self {
        Report::new(Kind::TooManyInstants { instants }, at, fibers)
    }

    pub(crate) fn leak(at: Instant, fibers: Vec<Context>, timers: Vec<String>) -> Self {
        Report { timers, ..Report::new(Kind::Leak, at, fibers) }
    }

    fn new(kind: Kind, at: Instant, mut fibers: Vec<Context>) -> Self {
        fibers.sort_by_cached_key(|fiber| path(&fiber.id()));
        fibers.dedup_by(|a, b| a.is_same(b));
        let fibers = fibers.iter().map(|fiber| format!("{fiber} waits for {}", fiber.waits_for())).collect();
        Report { kind, at, fibers, timers: Vec::new() }
    }

    /// Nothing can run, no timer is pending, and the program has not ended.
    pub fn is_deadlock(&self) -> bool {
        self.kind == Kind::Deadlock
    }

    /// The program runs without end: at one instant of virtual time, or from timer to timer.
    pub fn is_livelock(&self) -> bool {
        matches!(self.kind, Kind::BusyInstant { .. } | Kind::TooManyInstants { .. })
    }

    /// The virtual time when it was noticed.
    pub fn at(&self) -> Instant {
        self.at
    }
}

/// An id in the order of its numbers, not of its digits.
fn path(id: &str) -> Vec<u32> {
    id.split('.').filter_map(|part| part.parse().ok()).collect()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at;
        match self.kind {
            Kind::Deadlock => write!(
                f,
                "deadlock at {at}: nothing can run and no timer is pending, but these fibers have not ended"
            )?,
            Kind::BusyInstant { turns } => write!(
                f,
                "livelock at {at}: {turns} turns and the time does not advance; these fibers ran last \
                 (raise the bound with turns_per_instant if the program is right)"
            )?,
            Kind::TooManyInstants { instants } => write!(
                f,
                "livelock at {at}: after {instants} instants there are still timers; these fibers ran last \
                 (raise the bound with most_instants if the program is right)"
            )?,
            Kind::Leak => write!(f, "leak at {at}: these have not ended")?,
        }
        write_list(f, &self.fibers)?;
        write_list(f, &self.timers)
    }
}

fn write_list(f: &mut fmt::Formatter<'_>, lines: &[String]) -> fmt::Result {
    lines.iter().take(LONGEST_LIST).try_for_each(|line| write!(f, "\n  {line}"))?;
    match lines.len().saturating_sub(LONGEST_LIST) {
        0 => Ok(()),
        more => write!(f, "\n  and {more} more"),
    }
}

impl std::error::Error for Report {}
