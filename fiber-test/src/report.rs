//! The report of a program that cannot continue.

use std::collections::BTreeMap;
use std::fmt;

use fiber_core::scheduler::WaitsFor;
use fiber_core::{Context, Instant};

use crate::machine::Blocked;
use crate::primitive::Site;
use crate::wait_graph::{Link, Snapshot, WaitGraph};
use crate::words::counted;

/// Why a program stopped short of its end.
#[derive(Clone, Debug)]
pub struct Report(Box<Facts>);

#[derive(Clone, Debug)]
struct Facts {
    kind: Kind,
    at: Instant,
    /// Where an editor looks first: at a wait of a stuck fiber, at what was acquired, or where the busiest fiber was forked.
    site: Option<Site>,
    /// One line per fiber.
    fibers: Vec<String>,
    /// So many others have no line.
    more_fibers: usize,
    /// A cycle of fibers that wait for each other, or one fiber that waits for itself.
    circle: Option<String>,
    timers: Vec<String>,
    /// Permits and locks that were not given back, one line for each fiber and place.
    held: Vec<String>,
    /// Primitives that have items in them, one line for each.
    items: Vec<String>,
    /// The hosts of the network, and its faults, one line for each.
    network: Vec<String>,
    /// A fiber waits for an event that may come from outside of the program.
    has_outside: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Deadlock,
    /// Time does not advance by itself.
    Stopped {
        next: Instant,
    },
    BusyInstant {
        turns: usize,
    },
    TooManyInstants {
        instants: usize,
        has_setting: bool,
    },
    TooManyTurns {
        turns: usize,
    },
    Leak,
}

/// The number of fibers and timers that a report names; it only counts the rest.
const LONGEST_LIST: usize = 20;

/// What is left, apart from fibers.
pub(crate) struct Rest {
    pub(crate) timers: Vec<String>,
    pub(crate) items: Vec<String>,
}

impl Report {
    /// `next`: the deadline of the next timer.
    pub(crate) fn deadlock(
        at: Instant,
        next: Option<Instant>,
        snapshot: &Snapshot,
        items: Vec<String>,
        network: Vec<String>,
    ) -> Self {
        let kind = next.map_or(Kind::Deadlock, |next| Kind::Stopped { next });
        let graph = WaitGraph::new(snapshot);
        let (fibers, more_fibers) = graph.lines(LONGEST_LIST);
        Report::of(Facts {
            site: graph.site(),
            fibers,
            more_fibers,
            circle: circle(&graph),
            items,
            network,
            has_outside: snapshot.blocked.iter().any(is_outside),
            ..Facts::new(kind, at)
        })
    }

    pub(crate) fn leak(at: Instant, snapshot: &Snapshot, rest: Rest) -> Self {
        let graph = WaitGraph::new(snapshot);
        let (fibers, more_fibers) = graph.lines(LONGEST_LIST);
        let held = snapshot.held.iter().map(|holding| graph.held_line(holding));
        let Rest { timers, items } = rest;
        let kept = snapshot.held.first().map(|holding| holding.site);
        Report::of(Facts {
            site: graph.site().or(kept),
            fibers,
            more_fibers,
            circle: circle(&graph),
            timers,
            held: held.collect(),
            items,
            ..Facts::new(Kind::Leak, at)
        })
    }

    fn of(facts: Facts) -> Self {
        Report(Box::new(facts))
    }

    /// `fibers`: those that ran last.
    pub(crate) fn busy_instant(at: Instant, turns: usize, fibers: Vec<Context>) -> Self {
        Report::busy(Kind::BusyInstant { turns }, at, &fibers)
    }

    /// `has_setting`: the user may raise the bound.
    pub(crate) fn too_many_instants(
        at: Instant,
        instants: usize,
        has_setting: bool,
        fibers: Vec<Context>,
    ) -> Self {
        Report::busy(Kind::TooManyInstants { instants, has_setting }, at, &fibers)
    }

    pub(crate) fn too_many_turns(at: Instant, turns: usize, fibers: Vec<Context>) -> Self {
        Report::busy(Kind::TooManyTurns { turns }, at, &fibers)
    }

    /// The busiest first.
    fn busy(kind: Kind, at: Instant, last: &[Context]) -> Self {
        let mut turns: BTreeMap<String, usize> = BTreeMap::new();
        last.iter().for_each(|fiber| *turns.entry(fiber.to_string()).or_default() += 1);
        let mut turns: Vec<(String, usize)> = turns.into_iter().collect();
        turns.sort_by(|(a, m), (b, n)| n.cmp(m).then_with(|| a.cmp(b)));
        let busiest = turns.first().map(|(fiber, _)| fiber);
        let site = last.iter().find(|fiber| Some(&fiber.to_string()) == busiest).map(Context::fork_site);
        let fibers = turns
            .iter()
            .map(|(fiber, count)| format!("{fiber} had {count} of the last {}", counted(last.len(), "turn")));
        Report::of(Facts { site, fibers: fibers.collect(), ..Facts::new(kind, at) })
    }

    /// Nothing can run, no timer is pending, and the program has not ended.
    pub fn is_deadlock(&self) -> bool {
        self.0.kind == Kind::Deadlock
    }

    /// The program runs without end: at one instant of virtual time, or from timer to timer.
    pub fn is_livelock(&self) -> bool {
        matches!(
            self.0.kind,
            Kind::BusyInstant { .. } | Kind::TooManyInstants { .. } | Kind::TooManyTurns { .. }
        )
    }

    pub(crate) fn site(&self) -> Option<Site> {
        self.0.site
    }

    /// The virtual time when the problem was noticed.
    pub fn at(&self) -> Instant {
        self.0.at
    }
}

impl Facts {
    fn new(kind: Kind, at: Instant) -> Self {
        Facts {
            kind,
            at,
            site: None,
            fibers: Vec::new(),
            more_fibers: 0,
            circle: None,
            timers: Vec::new(),
            held: Vec::new(),
            items: Vec::new(),
            network: Vec::new(),
            has_outside: false,
        }
    }

    /// Whether everything has ended.
    fn has_ended(&self) -> bool {
        self.fibers.is_empty() && self.timers.is_empty()
    }
}

/// Says what a fiber that has not ended waits for, directly and indirectly.
pub(crate) fn pending(fiber: &Context, snapshot: &Snapshot) -> String {
    let graph = WaitGraph::new(snapshot);
    let Some(at) = graph.at(fiber) else { return format!("{fiber} has not ended") };
    let before = graph.before(at).into_iter().map(|at| format!("\n  {}", graph.line(at)));
    format!("{fiber} has not ended: it {}{}", graph.waits(at), before.collect::<String>())
}

fn circle(graph: &WaitGraph<'_>) -> Option<String> {
    let cycle = graph.cycle();
    match &*cycle {
        [] => None,
        [Link { from, .. }] => {
            let waits = graph.circle(&cycle)?;
            Some(format!("it waits for itself: {}: {waits}", graph.context(*from)))
        }
        _ => Some(format!("they wait in a circle{}", graph.circle(&cycle)?)),
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at;
        match self.kind {
            Kind::Deadlock => write!(
                f,
                "deadlock at {at}: nothing can run and no timer is pending, but these fibers have not ended"
            )?,
            Kind::Stopped { next } => write!(
                f,
                "stopped at {at}: nothing can run now, and time does not advance by itself, since auto_advance is off; the next \
                 timer is due at {next}, and these fibers have not ended"
            )?,
            Kind::BusyInstant { turns } => write!(
                f,
                "livelock at {at}: {} and the time does not advance; these fibers ran last \
                 (raise the bound with turns_per_instant if the program is right)",
                counted(turns, "turn")
            )?,
            Kind::TooManyInstants { instants, has_setting } => {
                let advice = if has_setting {
                    "raise the bound with most_instants if the program is right"
                } else {
                    "that is the bound under Explore, whose programs are short: let its loops end"
                };
                write!(
                    f,
                    "livelock at {at}: after {} there are still timers; these fibers ran last ({advice})",
                    counted(instants, "instant")
                )?;
            }
            Kind::TooManyTurns { turns } => {
                write!(
                    f,
                    "livelock at {at}: after {turns} turns in all it has not ended; these fibers ran last (that is the bound under Explore, whose programs are short: let its loops end)"
                )?;
            }
            Kind::Leak if self.has_ended() => {
                write!(f, "leak at {at}: these were not given back")?;
            }
            Kind::Leak => write!(f, "leak at {at}: these have not ended")?,
        }
        write_list(f, &self.fibers, self.more_fibers)?;
        self.circle.iter().try_for_each(|circle| write!(f, "\n{circle}"))?;
        self.network.iter().try_for_each(|line| write!(f, "\n{line}"))?;
        if self.has_outside {
            f.write_str(
                "\nvirtual time does not wait for other threads: what resumes a callback or wakes a future has to be a fiber \
                 of the program",
            )?;
        }
        write_list(f, &self.timers, 0)?;
        if !self.held.is_empty() && !self.has_ended() {
            f.write_str("\nand these were not given back")?;
        }
        write_list(f, &self.held, 0)?;
        if !self.items.is_empty() {
            f.write_str("\nand these were not received")?;
        }
        write_list(f, &self.items, 0)
    }
}

fn is_outside(blocked: &Blocked) -> bool {
    matches!(blocked.what, WaitsFor::Callback | WaitsFor::Future)
}

/// `more`: the number of others, that have no line.
fn write_list(f: &mut fmt::Formatter<'_>, lines: &[String], more: usize) -> fmt::Result {
    lines.iter().take(LONGEST_LIST).try_for_each(|line| write!(f, "\n  {line}"))?;
    match more + lines.len().saturating_sub(LONGEST_LIST) {
        0 => Ok(()),
        more => write!(f, "\n  and {more} more"),
    }
}

impl std::error::Error for Report {}
