//! A run under one schedule: the fibers, and every turn that one of them took.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use fiber_core::Instant;
use fiber_core::scheduler::WaitsFor;

use crate::primitive::{Dependency, Primitive, Site, Wanted, at_primitive, place};
use crate::words::{counted, left_out};

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
    /// The number of later turns, which were not kept.
    pub(crate) left_out: usize,
    /// Effects outside of turns, each with the number of the turn that came next.
    pub(crate) outside: Vec<(usize, Effect)>,
    pub(crate) primitives: Vec<Primitive>,
    pub(crate) dependencies: Vec<Dependency>,
}

/// A fiber of the trace. The parts of a fiber that a combinator makes (the body of a timeout, the group around
/// branches) share that fiber's lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The fiber's id, such as `0.2.1`.
    pub id: String,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Where it was forked.
    pub site: Site,
    /// The lane of the fiber that created it.
    pub parent: Option<usize>,
}

/// One turn: the steps of one fiber between two scheduling points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The virtual time.
    pub at: Instant,
    /// The fiber's index in [`Trace::lanes`]. `None` for a wake-up of something that is not a fiber.
    pub lane: Option<usize>,
    /// Why the fiber ran.
    pub cause: Cause,
    /// The operator that continued, such as `bind`.
    pub operator: &'static str,
    /// Where the operator stands in the program, if that is known.
    pub site: Option<Site>,
    /// The turn that made it possible: that which started, woke or paused the fiber. `None`: it was made possible
    /// from outside, or by time.
    pub since: Option<usize>,
    /// When it became possible, if that was before `at`: all workers were busy meanwhile.
    pub ready: Option<Instant>,
    /// The place of the fiber among the runnable ones, in the order in which they became runnable; 0 is first in, first out.
    pub choice: usize,
    /// The number of runnable fibers.
    pub choices: usize,
    /// Its effects.
    pub effects: Vec<Effect>,
}

/// Why a fiber had a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It had not started yet.
    Start,
    /// It had yielded to others, at a bind or by `yield_now`.
    Continue,
    /// The event that it waited for had happened.
    Wake,
    /// It was cancelled while it waited.
    Cancel,
    /// Its timer was due.
    Timer,
    /// Its [computation](crate::compute) was over.
    Computed,
    /// Its time limit had passed.
    TimeOut,
    /// It ran a closure that may block.
    Blocking,
}

/// An effect of a fiber's turn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// Created the fiber of this lane.
    Fork(usize),
    /// Began to wait.
    Wait {
        /// What it waits for.
        what: WaitsFor,
        /// Where.
        site: Option<Site>,
        /// The lane of the fiber whose end it waits for.
        on: Option<usize>,
        /// The primitive at which it waits.
        at: Option<Box<Wanted>>,
    },
    /// Got a lock or permits.
    Acquire {
        /// The lane of the fiber that holds them now.
        lane: Option<usize>,
        /// An index of [`Trace::primitives`].
        primitive: usize,
        /// The number of permits, as [`Subject::total`](fiber_core::scheduler::Subject::total) counts them.
        permits: usize,
        /// Where.
        site: Site,
    },
    /// Gave a lock or permits back.
    Release {
        /// An index of [`Trace::primitives`].
        primitive: usize,
        /// The number of permits, as [`Subject::total`](fiber_core::scheduler::Subject::total) counts them.
        permits: usize,
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
    /// The fiber of this lane ended with this outcome: `success`, `cancelled`, `failure: ...`, `panic: ...`.
    End(usize, String),
    /// Set a timer.
    Timer {
        /// How long it lasts.
        after: Duration,
        /// When it is due.
        at: Instant,
    },
    /// Drew this random number.
    Draw(u64),
    /// Passed a named [`event`](crate::event).
    Event(String),
    /// Took items or bytes out of a primitive or stream. Recorded while a failure is analyzed.
    Take {
        /// An index of [`Trace::primitives`].
        primitive: usize,
        /// How many.
        count: usize,
        /// `item` or `byte`.
        unit: &'static str,
        /// Where, if that is known.
        site: Option<Site>,
    },
    /// Dropped items or bytes that no fiber had taken. Recorded while a failure is analyzed.
    Lose {
        /// An index of [`Trace::primitives`].
        primitive: usize,
        /// How many.
        count: usize,
        /// `item` or `byte`.
        unit: &'static str,
        /// Why: `with the last receiver`.
        why: &'static str,
    },
    /// Dropped the value of the fiber of this lane, which had lost its race. Recorded while a failure is analyzed.
    Discard(usize),
    /// Injected or repaired a fault of the simulated network, such as `crashes host a`.
    Fault(String),
}

impl Trace {
    /// The fibers, in the order of their creation.
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// The turns, in order.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// The number of later turns that were not kept: a trace has at most half a million.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    ///
    /// let test = TestScheduler::new().record();
    /// test.run(Fiber::success(7).bind(|n| Fiber::success(n + 1))).unwrap();
    /// assert_eq!((test.trace().turns().len(), test.trace().left_out()), (2, 0));
    /// ```
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// The effects before turn `number` that belong to no turn, but to the test, the explorer or another thread.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::{Effect, TestScheduler};
    ///
    /// let test = TestScheduler::new().record();
    /// let spawned = test.spawn(Fiber::<()>::never());
    /// test.run_until_idle();
    /// spawned.cancel_now();
    /// let trace = test.trace();
    /// assert_eq!(trace.outside(0).collect::<Vec<_>>(), [&Effect::Fork(0)]);
    /// assert_eq!(trace.outside(1).next(), Some(&Effect::Cancel(0)));
    /// ```
    pub fn outside(&self, number: usize) -> impl Iterator<Item = &Effect> {
        self.outside.iter().filter(move |(before, _)| *before == number).map(|(_, effect)| effect)
    }

    /// The locks, semaphores and channels that fibers held or waited for, in the order of their first use.
    pub fn primitives(&self) -> &[Primitive] {
        &self.primitives
    }

    /// Which fiber waited for which when nothing could run any more. Empty if nothing was stuck.
    ///
    /// ```
    /// use fiber_core::{Fiber, sync::Semaphore};
    /// use fiber_test::TestScheduler;
    ///
    /// // A fiber that holds the only permit, and asks for another one.
    /// let semaphore = Semaphore::new(1).named("door");
    /// let again = semaphore.with_permits(1, Fiber::success(()));
    /// let test = TestScheduler::new().record();
    /// test.try_run(semaphore.with_permits(1, again)).unwrap_err();
    ///
    /// let trace = test.trace();
    /// let [dependency] = trace.dependencies() else { panic!("{trace}") };
    /// assert_eq!((dependency.from, dependency.to, dependency.is_of_cycle), (0, 0, true));
    /// assert_eq!(trace.primitives()[dependency.primitive.unwrap()].to_string(), "Semaphore `door`");
    /// ```
    pub fn dependencies(&self) -> &[Dependency] {
        &self.dependencies
    }

    /// The name of a primitive, with a number if others have the same name.
    pub(crate) fn name(&self, primitive: usize) -> String {
        Primitive::name_in(&self.primitives, primitive)
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
        self.write_turns(f, 0..self.turns.len())?;
        self.write_outside(f, self.turns.len())?;
        match self.left_out {
            0 => Ok(()),
            count => writeln!(f, "({})", left_out(count, "turn", " after these")),
        }
    }
}

/// The number of turns in a message: about a page of a terminal.
const EXCERPT: usize = 60;

/// The turns before a given one, for messages.
struct Excerpt<'a> {
    trace: &'a Trace,
    end: usize,
}

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.end.saturating_sub(EXCERPT);
        if first > 0 {
            writeln!(f, "({})", left_out(first, "turn", " before these"))?;
        }
        self.trace.write_turns(f, first..self.end)?;
        self.trace.write_outside(f, self.end)
    }
}

impl Trace {
    pub(crate) fn excerpt(&self, end: usize) -> impl fmt::Display {
        Excerpt { trace: self, end }
    }

    fn write_turns(&self, f: &mut fmt::Formatter<'_>, numbers: Range<usize>) -> fmt::Result {
        for number in numbers {
            let turn = &self.turns[number];
            self.write_outside(f, number)?;
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

impl Trace {
    /// Forks from outside are left out: the lanes name their places.
    pub(crate) fn write_outside(&self, f: &mut fmt::Formatter<'_>, number: usize) -> fmt::Result {
        let effects = self.outside(number).filter(|effect| !matches!(effect, Effect::Fork(_)));
        let words: Vec<String> = effects.map(|effect| self.describe(effect)).collect();
        if words.is_empty() { Ok(()) } else { writeln!(f, "---- from outside: {}", words.join("; ")) }
    }
}

/// The operator and its place, the cause if it is not obvious, and since when the turn was possible.
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
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::TestScheduler;
    /// use std::time::Duration;
    ///
    /// let test = TestScheduler::new().record();
    /// test.run(Fiber::delay(Duration::from_secs(1))).unwrap();
    /// let trace = test.trace();
    /// let effects: Vec<String> =
    ///     trace.turns().iter().flat_map(|turn| &turn.effects).map(|effect| trace.describe(effect)).collect();
    /// assert!(effects.iter().any(|effect| effect.starts_with("waits for")), "{effects:?}");
    /// ```
    pub fn describe(&self, effect: &Effect) -> String {
        match effect {
            Effect::Fork(lane) => format!("makes {}", self.lanes[*lane]),
            Effect::Wait { what, site, on, at } => {
                let is_held = at.as_ref().is_some_and(|at| !at.held_by.is_empty());
                let what = self.awaited(*what, *on, at.as_deref());
                match site {
                    // The place is that of the wait, not that of the holder.
                    Some(site) if is_held => format!("waits for {what}, at {}", place(site)),
                    Some(site) => format!("waits for {what} at {}", place(site)),
                    None => format!("waits for {what}"),
                }
            }
            Effect::Acquire { primitive, permits, site, .. } => {
                let verb = if self.is_counted(*primitive) { "acquires" } else { "locks" };
                format!("{verb} {} at {}", self.some(*primitive, *permits), place(site))
            }
            Effect::Release { primitive, permits } => {
                let verb = if self.is_counted(*primitive) { "gives back" } else { "unlocks" };
                format!("{verb} {}", self.some(*primitive, *permits))
            }
            Effect::Wake(lane) => format!("wakes {}", self.lanes[*lane]),
            Effect::Cancel(lane) => format!("cancels {}", self.lanes[*lane]),
            Effect::Finalizer { operator, site } => {
                format!("begins the finalizer of {operator} at {}:{}", site.file(), site.line())
            }
            Effect::End(lane, outcome) => {
                // A message of several lines would break a table.
                let line = outcome.lines().next().unwrap_or_default();
                format!("{} ends: {line}", self.lanes[*lane])
            }
            Effect::Timer { after, at } => format!("sets a timer for {}", timer(*after, *at)),
            Effect::Draw(number) => format!("draws {number}"),
            Effect::Event(name) => format!("event {name:?}"),
            Effect::Take { primitive, count, unit, site } => {
                let site = site.map_or_else(String::new, |site| format!(" at {}", place(site)));
                format!("takes {} from {}{site}", counted(*count, unit), self.name(*primitive))
            }
            Effect::Lose { primitive, count, unit, why } => {
                format!("drops {} of {} {why}", counted(*count, unit), self.name(*primitive))
            }
            Effect::Discard(lane) => format!("drops the value of {}, which lost the race", self.lanes[*lane]),
            Effect::Fault(what) => what.clone(),
        }
    }

    pub(crate) fn is_counted(&self, primitive: usize) -> bool {
        self.primitives.get(primitive).is_some_and(|primitive| primitive.permits.is_some())
    }

    /// The words for permits of a primitive, or for the primitive.
    pub(crate) fn some(&self, primitive: usize, permits: usize) -> String {
        let name = self.name(primitive);
        match self.primitives.get(primitive) {
            Some(primitive) => primitive.some(&name, permits),
            None => name,
        }
    }

    /// The words for what a fiber waits for.
    pub(crate) fn awaited(&self, what: WaitsFor, on: Option<usize>, at: Option<&Wanted>) -> String {
        let fiber =
            |lane: usize| self.lanes.get(lane).map_or_else(|| format!("lane {lane}"), Lane::to_string);
        match (on, at) {
            (Some(on), _) => format!("the end of {}", fiber(on)),
            (None, None) => what.to_string(),
            (None, Some(Wanted { primitive, permits, held_by })) => {
                let wanted = match what {
                    WaitsFor::Lock | WaitsFor::Permits => self.some(*primitive, *permits),
                    _ => at_primitive(what, &self.name(*primitive)),
                };
                let holders: Vec<String> = held_by.iter().map(|lane| fiber(*lane)).collect();
                match &*holders {
                    [] => wanted,
                    [holders @ .., last] if !holders.is_empty() => {
                        format!("{wanted}, held by {} and {last}", holders.join(", "))
                    }
                    [holder, ..] => format!("{wanted}, held by {holder}"),
                }
            }
        }
    }
}

/// The duration of a timer, and its deadline if that is not the same.
pub(crate) fn timer(after: Duration, at: Instant) -> String {
    if at - Instant::EPOCH == after { format!("{after:?}") } else { format!("{after:?}, due at {at}") }
}
