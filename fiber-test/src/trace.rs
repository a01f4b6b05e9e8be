//! What happened under one schedule: the fibers, and every turn that one of them took.

use std::fmt;
use std::panic::Location;

use fiber_core::{Instant, WaitsFor};

/// Where in the program something is.
pub type Site = &'static Location<'static>;

/// A run, turn by turn. The same schedule of the same program gives the same trace, byte for byte.
///
/// ```
/// use fiber_core::Fiber;
/// use fiber_test::{Cause, TestScheduler};
/// use std::time::Duration;
///
/// let test = TestScheduler::new().record();
/// test.run(Fiber::delay(Duration::from_secs(1)).bind(|()| Fiber::success(7))).unwrap();
/// let trace = test.trace();
/// assert_eq!(trace.lanes().len(), 1);
/// let turns: Vec<_> = trace.turns().iter().map(|turn| (turn.cause, turn.operator)).collect();
/// assert_eq!(turns, [(Cause::Start, "start"), (Cause::Timer, "delay"), (Cause::Continue, "bind")]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    pub(crate) lanes: Vec<Lane>,
    pub(crate) turns: Vec<Turn>,
}

/// A fiber of the trace. What a combinator makes of parts of one fiber (the body of a timeout, the group around
/// branches) is in that fiber's lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The fiber's id, such as `0.2.1`.
    pub id: String,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Where it was forked.
    pub site: Site,
    /// The lane of the fiber that made it.
    pub parent: Option<usize>,
}

/// One turn: what one fiber did between two scheduling points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// When, in virtual time.
    pub at: Instant,
    /// Whose turn it was: an index of [`Trace::lanes`]. `None` for a wake-up of something that is not a fiber.
    pub lane: Option<usize>,
    /// Why the fiber ran.
    pub cause: Cause,
    /// The operator that went on, such as `bind`, and where it stands in the program.
    pub operator: &'static str,
    /// Where the operator stands in the program, if that is known.
    pub site: Option<Site>,
    /// The turn in which it became possible: the one that started, woke or paused the fiber. `None`: from outside, or by time.
    pub since: Option<usize>,
    /// When it became possible, if that was before `at`: all workers were busy meanwhile.
    pub ready: Option<Instant>,
    /// Which of those that could run was taken, in the order in which they had become able to; 0 is first in, first out.
    pub choice: usize,
    /// How many could have run.
    pub choices: usize,
    /// What it did.
    pub effects: Vec<Effect>,
}

/// Why a fiber had a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It had not started yet.
    Start,
    /// It had made place for others, at a bind or by `yield_now`.
    Continue,
    /// What it waited for had happened.
    Wake,
    /// It was cancelled while it waited.
    Cancel,
    /// Its timer was due.
    Timer,
    /// Its [computation](crate::compute) was over.
    Computed,
    /// The time that was allowed to it was over.
    TimeOut,
    /// It ran a closure that may block.
    Blocking,
}

/// Something that a fiber did in a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// Made the fiber of this lane.
    Fork(usize),
    /// Began to wait.
    Wait {
        /// For what.
        what: WaitsFor,
        /// Where.
        site: Option<Site>,
        /// The lane of the fiber whose end it waits for.
        on: Option<usize>,
    },
    /// Ended the wait of this lane: it can run now.
    Wake(usize),
    /// Cancelled this lane, and all below it.
    Cancel(usize),
    /// Began a finalizer.
    Finalizer {
        /// `ensure`, `bracket`, ...
        operator: &'static str,
        /// Where.
        site: Site,
    },
    /// The fiber of this lane ended with this: `success`, `cancelled`, `failure: ...`, `panic: ...`.
    End(usize, String),
    /// Passed a named [`event`](crate::event).
    Event(String),
}

impl Trace {
    /// The fibers, in the order in which they were made.
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// The turns, in their order.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }
}

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fiber {}", self.id)?;
        match &self.name {
            Some(name) => write!(f, " {name:?}"),
            None => Ok(()),
        }
    }
}

/// One line for every turn, and one for each thing done in it.
impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, turn) in self.turns.iter().enumerate() {
            write!(f, "{number:>4} {} ", turn.at)?;
            match turn.lane {
                Some(lane) => write!(f, "{}: {turn}", self.lanes[lane])?,
                None => write!(f, "elsewhere: {turn}")?,
            }
            if turn.choices > 1 {
                write!(f, " (choice {} of {})", turn.choice, turn.choices)?;
            }
            writeln!(f)?;
            turn.effects.iter().try_for_each(|effect| writeln!(f, "       {}", self.describe(effect)))?;
        }
        Ok(())
    }
}

/// The operator and its place, why it had the turn if that is not plain, and since when it could have had it.
impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.operator)?;
        match self.cause {
            Cause::Cancel => f.write_str(" cancelled")?,
            Cause::Timer => f.write_str(" is due")?,
            Cause::Computed => f.write_str(" is over")?,
            Cause::Start | Cause::Continue | Cause::Wake | Cause::TimeOut | Cause::Blocking => {}
        }
        if let Some(site) = self.site {
            write!(f, " at {}:{}", site.file(), site.line())?;
        }
        self.ready.iter().try_for_each(|ready| write!(f, ", ready since {ready}"))
    }
}

impl Trace {
    /// An effect in words.
    pub fn describe(&self, effect: &Effect) -> String {
        match effect {
            Effect::Fork(lane) => format!("makes {}", self.lanes[*lane]),
            Effect::Wait { what, site, on } => {
                let what = on.map_or_else(|| what.to_string(), |on| format!("the end of {}", self.lanes[on]));
                match site {
                    Some(site) => format!("waits for {what} at {}:{}", site.file(), site.line()),
                    None => format!("waits for {what}"),
                }
            }
            Effect::Wake(lane) => format!("wakes {}", self.lanes[*lane]),
            Effect::Cancel(lane) => format!("cancels {}", self.lanes[*lane]),
            Effect::Finalizer { operator, site } => {
                format!("begins the finalizer of {operator} at {}:{}", site.file(), site.line())
            }
            Effect::End(lane, outcome) => {
                // A message of several lines would tear a table apart.
                let line = outcome.lines().next().unwrap_or_default();
                format!("{} ends: {line}", self.lanes[*lane])
            }
            Effect::Event(name) => format!("event {name:?}"),
        }
    }
}
