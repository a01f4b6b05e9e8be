//! What a test is told when its program cannot go on.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use fiber_core::error::Frame;
use fiber_core::{Context, Instant, WaitsFor};

use crate::machine::{Blocked, Fibers};

/// Why a program stopped short of its end.
#[derive(Clone, Debug)]
pub struct Report {
    kind: Kind,
    at: Instant,
    /// One line per fiber.
    fibers: Vec<String>,
    /// Fibers that wait for each other in a circle, or one that waits for itself.
    cycle: Vec<String>,
    timers: Vec<String>,
    /// Somebody waits for what may come from outside of the program.
    has_outside: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Deadlock,
    BusyInstant { turns: usize },
    TooManyInstants { instants: usize, has_setting: bool },
    Leak,
}

/// How many fibers and timers a report names; the rest is counted.
const LONGEST_LIST: usize = 20;

impl Report {
    pub(crate) fn deadlock(at: Instant, fibers: &Fibers) -> Self {
        let blocked = fibers.blocked();
        let graph = WaitGraph::new(&blocked);
        Report {
            kind: Kind::Deadlock,
            at,
            fibers: graph.lines(),
            cycle: graph.cycle().into_iter().map(|at| blocked[at].context.to_string()).collect(),
            timers: Vec::new(),
            has_outside: blocked.iter().any(is_outside),
        }
    }

    /// `fibers` are those that ran last.
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

    pub(crate) fn leak(at: Instant, fibers: &Fibers, timers: Vec<String>) -> Self {
        let blocked = fibers.blocked();
        let fibers = WaitGraph::new(&blocked).lines();
        Report { kind: Kind::Leak, at, fibers, cycle: Vec::new(), timers, has_outside: false }
    }

    /// The busiest first.
    fn busy(kind: Kind, at: Instant, last: &[Context]) -> Self {
        let mut turns: BTreeMap<String, usize> = BTreeMap::new();
        last.iter().for_each(|fiber| *turns.entry(fiber.to_string()).or_default() += 1);
        let mut turns: Vec<(String, usize)> = turns.into_iter().collect();
        turns.sort_by(|(a, m), (b, n)| n.cmp(m).then_with(|| a.cmp(b)));
        let fibers = turns
            .into_iter()
            .map(|(fiber, count)| format!("{fiber} had {count} of the last {} turns", last.len()));
        Report {
            kind,
            at,
            fibers: fibers.collect(),
            cycle: Vec::new(),
            timers: Vec::new(),
            has_outside: false,
        }
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

/// What a fiber that has not ended waits for, and all that it waits for by that.
pub(crate) fn pending(fiber: &Context, fibers: &Fibers) -> String {
    let blocked = fibers.blocked();
    let graph = WaitGraph::new(&blocked);
    let Some(at) = graph.at(fiber) else { return format!("{fiber} has not ended") };
    let before = graph.before(at).into_iter().map(|at| format!("\n  {}", graph.line(at)));
    format!("{fiber} has not ended: it {}{}", graph.waits(at), before.collect::<String>())
}

/// Who waits for whom.
struct WaitGraph<'a> {
    blocked: &'a [Blocked],
    by_id: BTreeMap<String, usize>,
    children: Vec<Vec<usize>>,
}

impl<'a> WaitGraph<'a> {
    fn new(blocked: &'a [Blocked]) -> Self {
        let by_id: BTreeMap<String, usize> =
            blocked.iter().enumerate().map(|(at, one)| (one.context.id(), at)).collect();
        let mut children = vec![Vec::new(); blocked.len()];
        for (id, at) in &by_id {
            let parent = id.rsplit_once('.').and_then(|(parent, _)| by_id.get(parent));
            if let Some(parent) = parent {
                children[*parent].push(*at);
            }
        }
        WaitGraph { blocked, by_id, children }
    }

    /// A fiber whose parts wait in its place has no line of its own, unless it has finalizers.
    fn lines(&self) -> Vec<String> {
        let all = self.blocked.iter().enumerate();
        all.filter(|(at, one)| !one.finalizers.is_empty() || self.parts(*at).next().is_none())
            .map(|(at, _)| self.line(at))
            .collect()
    }

    fn line(&self, at: usize) -> String {
        let Blocked { context, finalizers, .. } = &self.blocked[at];
        let mut line = format!("{context} {}", self.waits(at));
        if !finalizers.is_empty() {
            let list: Vec<String> = finalizers.iter().map(Frame::to_string).collect();
            line.push_str(&format!("; finalizers not run: {}", list.join(", ")));
        }
        line
    }

    /// For what it waits, and where.
    fn waits(&self, at: usize) -> String {
        let Blocked { context, site, .. } = &self.blocked[at];
        let awaited = self.awaited(at);
        match site.filter(|site| *site != context.fork_site()) {
            Some(site) => format!("waits for {awaited}, at {}:{}", site.file(), site.line()),
            None => format!("waits for {awaited}"),
        }
    }

    fn awaited(&self, at: usize) -> String {
        let one = &self.blocked[at];
        match (&one.on, self.parts(at).next()) {
            (Some(_), _) if one.what == WaitsFor::Forks => one.what.to_string(),
            (Some(on), _) => format!("the end of fiber {}", on.id()),
            (None, Some(part)) => format!("its part {}", self.blocked[part].context.id()),
            (None, None) => one.what.to_string(),
        }
    }

    /// What combinators have made of a fiber that runs, or is about to, if its own context waits for nothing.
    fn parts(&self, at: usize) -> impl Iterator<Item = usize> {
        let is_elsewhere = self.blocked[at].what == WaitsFor::Nothing;
        let parts = self.children[at].iter().copied();
        parts.filter(move |part| is_elsewhere && self.blocked[*part].context.is_structure())
    }

    /// The fibers that were forked in a scope.
    fn forks(&self, scope: &Context) -> Vec<usize> {
        let children = self.at(scope).map(|at| &self.children[at]);
        children
            .into_iter()
            .flatten()
            .copied()
            .filter(|at| !self.blocked[*at].context.is_structure())
            .collect()
    }

    fn at(&self, context: &Context) -> Option<usize> {
        self.by_id.get(&context.id()).copied()
    }

    fn waits_for(&self, at: usize) -> Vec<usize> {
        let one = &self.blocked[at];
        match (&one.on, one.what) {
            (Some(scope), WaitsFor::Forks) => self.forks(scope),
            (Some(on), _) => self.at(on).into_iter().collect(),
            (None, WaitsFor::Children) => self.children[at].clone(),
            (None, WaitsFor::Nothing) => self.parts(at).collect(),
            (None, _) => Vec::new(),
        }
    }

    /// All that have to end before `start` does, as far as that is known, in the order of their ids.
    fn before(&self, start: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut left = self.waits_for(start);
        while let Some(at) = left.pop() {
            if at != start && found.insert(at) {
                left.extend(self.waits_for(at));
            }
        }
        found
    }

    /// The fibers of a circle, if there is one.
    fn cycle(&self) -> Vec<usize> {
        let mut is_done = vec![false; self.blocked.len()];
        for start in 0..self.blocked.len() {
            // The way to here, each with those it waits for that have not been looked at.
            let mut way = vec![(start, self.waits_for(start))];
            while let Some((at, left)) = way.last_mut() {
                let Some(next) = left.pop() else {
                    is_done[*at] = true;
                    way.pop();
                    continue;
                };
                if let Some(from) = way.iter().position(|(on_way, _)| *on_way == next) {
                    return way[from..].iter().map(|(at, _)| *at).collect();
                }
                if !is_done[next] {
                    way.push((next, self.waits_for(next)));
                }
            }
        }
        Vec::new()
    }
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
            Kind::TooManyInstants { instants, has_setting } => {
                let advice = if has_setting {
                    "raise the bound with most_instants if the program is right"
                } else {
                    "that is the bound under Explore, whose programs are short: let its loops end"
                };
                write!(
                    f,
                    "livelock at {at}: after {instants} instants there are still timers; these fibers ran last ({advice})"
                )?;
            }
            Kind::Leak => write!(f, "leak at {at}: these have not ended")?,
        }
        write_list(f, &self.fibers)?;
        match &*self.cycle {
            [] => {}
            [one] => write!(f, "\nit waits for itself: {one}")?,
            [first, ..] => write!(f, "\nthey wait in a circle: {}, for {first}", self.cycle.join(", for "))?,
        }
        if self.has_outside {
            f.write_str(
                "\nvirtual time does not wait for other threads: what resumes a callback or wakes a future has to be a fiber \
                 of the program",
            )?;
        }
        write_list(f, &self.timers)
    }
}

fn is_outside(blocked: &Blocked) -> bool {
    matches!(blocked.what, WaitsFor::Callback | WaitsFor::Future)
}

fn write_list(f: &mut fmt::Formatter<'_>, lines: &[String]) -> fmt::Result {
    lines.iter().take(LONGEST_LIST).try_for_each(|line| write!(f, "\n  {line}"))?;
    match lines.len().saturating_sub(LONGEST_LIST) {
        0 => Ok(()),
        more => write!(f, "\n  and {more} more"),
    }
}

impl std::error::Error for Report {}
