//! The report of a failure: the problem, the few steps that matter, the line to paste.

use std::fmt;
use std::time::{Duration, Instant};

use super::calm::{Calm, calm};
use super::kinds::Search;
use super::nearest::{Nearest, nearest};
use super::problem::Problem;
use super::program::Program;
use super::run::{Keep, Runner};
use super::search::{Found, replay};
use super::settings::Settings;
use super::shrink::shrink;
use crate::columns::Columns;
use crate::fault::FaultKind;
use crate::lost::Lost;
use crate::primitive::Site;
use crate::schedule::{Cancellation, Schedule};
use crate::strategy::Followed;
use crate::trace::{Effect, Trace};
use crate::words::counted;

/// The smallest schedule that was found to break a program, and what happens under it.
#[derive(Clone)]
pub struct Failure(Box<Inner>);

#[derive(Clone)]
struct Inner {
    /// Where the test explores the program.
    site: Site,
    problem: Problem,
    schedule: Schedule,
    trace: Trace,
    nearest: Option<Nearest>,
    search: Search,
    /// The number of the schedule that broke the program first, from 1; and its deviations.
    number: u64,
    found: Schedule,
    seed: u64,
    /// The settings of the exploration, as source code.
    settings: String,
    /// Whether a closure inspects the traces, which has no source code here.
    is_inspected: bool,
    /// The number of schedules that were tried to find a smaller one. `None`: the first one does not break the program again.
    tried: Option<u64>,
    /// How far the schedule that was found has followed a recording.
    followed: Option<Followed>,
    /// A schedule with half of the context switches, if there is one.
    calm: Option<Calm>,
}

/// Runs the program again, to find the steps that matter. That ends after `time`, if there is a limit.
pub(crate) fn analyze(
    program: &dyn Program,
    settings: &Settings,
    site: Site,
    seed: u64,
    first: Found,
    time: Option<Duration>,
) -> Failure {
    let until = time.and_then(|time| Instant::now().checked_add(time));
    let Found { execution, search, number } = first;
    let followed = execution.followed();
    let problem = execution.problem.expect("it broke the program");
    let found = execution.schedule.expect("kept, since it broke the program");
    let mut runner = Runner::new(program, settings, Keep::Schedules, site);
    let shrunk = match search {
        Search::Given | Search::Regression => None,
        _ => {
            // Whether the program breaks again is worth its time in any case.
            let mut first = Some(runner.run(replay(&found)));
            let mut run = |course| first.take().or_else(|| runner.run_until(course, until));
            Some(shrink(&found, &problem, &mut run))
        }
    };
    let mut recorder = Runner::new(program, settings, Keep::Traces, site);
    let (schedule, tried) = match shrunk {
        None => (found.clone(), Some(0)),
        Some(None) => (found.clone(), None),
        Some(Some(shrunk)) => (shrunk.schedule, Some(shrunk.tried)),
    };
    let is_shrunk = tried.is_some_and(|tried| tried > 0);
    let again = recorder.run(replay(&schedule));
    let mut record = |course| recorder.run_until(course, until);
    let trace = again.trace.unwrap_or_default();
    let calm = if is_shrunk { calm(&schedule, &trace, &problem, &mut record) } else { None };
    let tried = tried.map(|tried| tried + calm.as_ref().map_or(0, |calm| calm.tried));
    let tried = tried.filter(|_| again.problem.is_some());
    let kind = again.problem.as_ref().map_or(problem.kind(), Problem::kind);
    let nearest =
        nearest(&schedule, &trace, kind, &mut |course| runner.run_until(course, until), &mut record);
    Failure(Box::new(Inner {
        site,
        problem: again.problem.unwrap_or(problem),
        schedule,
        trace,
        nearest,
        search,
        number,
        found,
        seed,
        settings: settings.to_string(),
        is_inspected: settings.inspect.is_some(),
        tried,
        followed,
        calm,
    }))
}

impl Failure {
    /// Where the test explores the program.
    #[cfg(feature = "pictures")]
    pub(super) fn site(&self) -> Site {
        self.0.site
    }

    /// What is wrong.
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// The smallest schedule that breaks the program.
    pub fn schedule(&self) -> &Schedule {
        &self.0.schedule
    }

    /// A schedule that breaks the program in the same way, with at most half of the context switches. It is further from first in, first out, but
    /// easier to follow.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::Explore;
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
    ///
    /// let failure = Explore::default().try_check(|| {
    ///     let value = Arc::new(AtomicU32::new(0));
    ///     let (counted, checked) = (value.clone(), value);
    ///     let count = Fiber::for_each(0..10, move |_| Fiber::lazy({ let value = counted.clone(); move || drop(value.fetch_add(1, SeqCst)) }));
    ///     let idle = Fiber::for_each(0..10, |_| Fiber::success(()));
    ///     count.zip(idle).map(move |_| assert_eq!(checked.load(SeqCst), 11))
    /// });
    /// let failure = failure.unwrap_err();
    /// assert_eq!(failure.schedule().to_string(), "");
    /// assert!(failure.calmer().is_some(), "{failure}");
    /// ```
    pub fn calmer(&self) -> Option<&Schedule> {
        self.0.calm.as_ref().map(|calm| &calm.schedule)
    }

    /// What happens under it.
    pub fn trace(&self) -> &Trace {
        &self.0.trace
    }

    /// A schedule that does not break the program, as close to the breaking one as could be found.
    pub fn passing(&self) -> Option<(&Schedule, &Trace)> {
        self.0.nearest.as_ref().map(|nearest| (&nearest.schedule, &nearest.trace))
    }

    /// The two turns of the [trace](Failure::trace) that are in the other order in the [passing](Failure::passing) one.
    pub fn pair(&self) -> Option<(usize, usize)> {
        self.0.nearest.as_ref()?.pair
    }

    /// The strategy that found it first.
    pub fn search(&self) -> Search {
        self.0.search
    }

    /// The number of the schedule that broke the program first, counted from 1.
    pub fn number(&self) -> u64 {
        self.0.number
    }

    /// How far the schedule that broke the program first has followed a [recording](crate::Explore::recorded). `None`: there was no recording.
    pub fn followed(&self) -> Option<Followed> {
        self.0.followed
    }

    /// The line that runs this schedule again, with the settings of the exploration. The closure of [`inspect`](crate::Explore::inspect) has no
    /// text and has to be added.
    pub fn replay(&self) -> String {
        format!("Explore::replay(\"{}\"){}", self.0.schedule, self.0.settings)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { problem, schedule, trace, search, number, found, seed, tried, is_inspected, .. } =
            &*self.0;
        // The form in which editors and CI systems find places.
        let place = problem.place().unwrap_or_else(|| self.0.site.to_string());
        write!(f, "{place}: {problem}\n\n")?;
        match search {
            Search::Given => writeln!(f, "schedule  the given one, \"{schedule}\"")?,
            Search::Regression => writeln!(f, "schedule  {search}, \"{schedule}\"")?,
            _ => writeln!(f, "found     by schedule {number}, {search}, of seed {seed}, {}", count(found))?,
        }
        if let Some(followed) = self.0.followed {
            writeln!(f, "recorded  {followed}")?;
        }
        match tried {
            None => writeln!(
                f,
                "warning   the same schedule does not break the program again: it decides something by itself; look for real time \
                 or threads, HashMap order, addresses, and state that outlives a run"
            )?,
            Some(_) if schedule == found => {}
            Some(tried) => writeln!(f, "shrunk    in {}, {}", counted(*tried, "run"), count(schedule))?,
        }
        let inspect = if *is_inspected { ".inspect(..)" } else { "" };
        writeln!(f, "replay    {}{inspect}.check(..)", self.replay())?;
        if *is_inspected {
            writeln!(f, "          (with the same inspect(..) as here, which looks at the traces)")?;
        }
        if let Some(Calm { schedule, switches, of, .. }) = &self.0.calm {
            let many = if *switches == 1 { "context switch" } else { "context switches" };
            let is = format!("\"{schedule}\" breaks it with {switches} {many} in place of {of}");
            writeln!(f, "calmer    {is}")?;
        }
        if let Some(panic) = first_panic(trace, problem) {
            writeln!(f, "earlier   {panic}")?;
        }
        writeln!(f)?;
        write!(f, "{}", Columns { trace, pair: self.pair() })?;
        self.write_nearest(f)?;
        write!(f, "{}", Lost(trace))
    }
}

/// The first panic of the run, unless it is the problem. It may be the reason of the problem: another fiber has waited in vain for what
/// the one that panicked had to do, or has found a lock of `std` poisoned.
fn first_panic(trace: &Trace, problem: &Problem) -> Option<String> {
    let mut ends = trace.turns.iter().enumerate().flat_map(|(number, turn)| {
        turn.effects.iter().filter_map(move |effect| {
            let Effect::End(lane, outcome) = effect else { return None };
            Some((number, *lane, outcome.strip_prefix("panic: ")?))
        })
    });
    let (number, lane, message) = ends.next()?;
    let line = message.lines().next().unwrap_or_default();
    let is_told = problem.message().contains(line);
    (!is_told).then(|| format!("{} panicked in turn {number}: {line}", trace.lanes[lane]))
}

impl Failure {
    fn write_nearest(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { trace, nearest, .. } = &*self.0;
        let Some(Nearest { schedule, pair, .. }) = nearest else {
            return write!(f, "\nno schedule close to this one was found that does not break the program");
        };
        let nearest = format!("the nearest schedule that does not break the program is \"{schedule}\"");
        let Some((first, second)) = pair else { return write!(f, "\n{nearest}") };
        let turn = |number: &usize| {
            let turn = &trace.turns[*number];
            let fiber =
                turn.lane.map_or_else(|| "elsewhere".to_owned(), |lane| trace.lanes[lane].to_string());
            format!("turn {number}, {fiber}: {turn}")
        };
        write!(
            f,
            "\n{nearest}; it has this pair (>) the other way round:\n  {}\n  {}",
            turn(first),
            turn(second)
        )
    }
}

fn count(schedule: &Schedule) -> String {
    let mut text = match schedule.deviations.len() {
        0 => "without a deviation from first in, first out".to_owned(),
        more => format!("with {} from first in, first out", counted(more, "deviation")),
    };
    let mut late: Vec<u32> =
        schedule.deviations.iter().filter(|one| one.is_later()).map(|one| one.turn).collect();
    late.dedup();
    match *late {
        [] => {}
        [turn] => text.push_str(&format!(", time passes before turn {turn}")),
        [first, ..] => {
            text.push_str(&format!(", time passes before {} turns, the first of them {first}", late.len()));
        }
    }
    for Cancellation { turn, fiber } in &schedule.cancellations {
        let fiber = fiber.as_ref().map_or_else(String::new, |fiber| format!("fiber {fiber} "));
        text.push_str(&format!(", {fiber}cancelled before turn {turn}"));
    }
    for fault in &schedule.faults {
        let hosts = fault.hosts.join(", ");
        let what = match fault.kind {
            FaultKind::Crash => format!("host {hosts} crashes"),
            FaultKind::Cut => format!("{hosts} cut off"),
            FaultKind::Reset => format!("connections reset between {hosts}"),
            FaultKind::Loss => format!("datagrams lost between {hosts}"),
            FaultKind::DiskError => format!("the disk of {hosts} fails once"),
            FaultKind::LaterDiskError => format!("the disk of {hosts} fails once, after one more operation"),
        };
        text.push_str(&format!(", {what} before turn {}", fault.turn));
    }
    text
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Failure {}
