//! Runs schedules until one breaks the program, or a limit is reached.

use std::collections::HashSet;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::{ControlFlow, RangeInclusive};
use std::time::{Duration, Instant};

use super::kinds::Search;
use super::pairs::{OneWay, Pairs};
use super::reduction::Reduced;
use super::run::{Execution, is_past};
use super::source::{Open, Planned, Source};
use super::workers::RunAll;
use crate::machine::{Course, PlannedCancellation, PlannedFault};
use crate::schedule::Schedule;
use crate::strategy::{Followed, Script, Strategy};
use crate::words::{all_were, counted, were};

/// The first schedules give the most information: they are the three deterministic ones.
const FIRST_BATCH: u64 = 3;

/// The number of runs is divided by this for the size of the next batch, which is planned with the information from them. Later batches are
/// large, so that threads seldom wait for each other.
const BATCH_SHARE: u64 = 8;

/// The smallest batch and the largest.
const BATCHES: RangeInclusive<u64> = 8..=1024;

/// The number of different orders that are distinguished: a few megabytes.
const MAX_ORDERS: usize = 100_000;

/// The limits of a search that does not run all schedules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) schedules: u64,
    /// Turns of all schedules together.
    pub(crate) turns: u64,
    pub(crate) time: Option<Duration>,
}

/// The summary of an exploration that found nothing wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Explored {
    schedules: u64,
    turns: u64,
    is_complete: bool,
    orders: Option<u64>,
    different: u64,
    reduced: Option<Reduced>,
    stale: u64,
    followed: Option<Followed>,
    one_way: Vec<OneWay>,
    end: End,
    is_broken_off: bool,
}

/// Why a search has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// There was nothing more to run.
    Nothing,
    Schedules,
    /// Of this many schedules.
    Turns(u64),
    Time,
}

impl Explored {
    /// The number of different schedules that were run, as far as known: drawn schedules may coincide.
    pub fn schedules(&self) -> u64 {
        self.schedules
    }

    /// The number of different orders of turns among them. The count stops at a hundred thousand.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::{Explore, Search};
    /// let walk = Explore::default().only(Search::RandomWalk).schedules(100);
    /// // One after the other, or the other way round.
    /// assert_eq!(walk.check(|| Fiber::success(1).zip(Fiber::success(2))).different_orders(), 2);
    /// ```
    pub fn different_orders(&self) -> u64 {
        self.different
    }

    /// The total number of their turns.
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// The number of different orders of the program's turns, if all were seen (within the bound on preemptions, if there is one).
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::Explore;
    /// let two_steps = || Fiber::lazy(|| ()).bind(|()| Fiber::success(()));
    /// // 4! / (2! 2!)
    /// let explored = Explore::default().check(|| Fiber::parallel([two_steps(), two_steps()]));
    /// assert_eq!(explored.orders(), Some(6));
    /// ```
    pub fn orders(&self) -> Option<u64> {
        self.orders
    }

    /// How many orders a [reduced](crate::Explore::reduced) exploration has seen that differ in more than independent steps. If it is
    /// [complete](Explored::is_complete), these are all that there are, provided that the steps say what they touch.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::Explore;
    ///
    /// let steps = || Fiber::for_each(0..10, |_| Fiber::success(()));
    /// // They share nothing. In all, there are 352,716 orders.
    /// let explored = Explore::exhaustive().reduced().check(|| Fiber::parallel([steps(), steps()]));
    /// assert!(explored.is_complete());
    /// assert_eq!(explored.traces(), Some(1));
    /// ```
    pub fn traces(&self) -> Option<u64> {
        self.reduced.map(|reduced| reduced.traces)
    }

    /// How many schedules of a [reduced](crate::Explore::reduced) exploration came to a point from which on everything had been seen.
    pub fn redundant(&self) -> Option<u64> {
        self.reduced.map(|reduced| reduced.redundant)
    }

    /// Whether a [reduced](crate::Explore::reduced) exploration has found out that some step touches something that it does not say: an order drawn at random
    /// showed what no other one had shown.
    pub fn is_undeclared(&self) -> bool {
        self.reduced.is_some_and(|reduced| reduced.unknown > 0)
    }

    /// Whether everything was run, so that nothing is left to chance.
    ///
    /// * The portfolio and an [exhaustive](crate::Explore::exhaustive) exploration: there is no other schedule (within the bound on preemptions,
    ///   if there is one). Never, if a random number was drawn that is no [choice](crate::Explore::draws), if a fiber had to have a turn since others had spun for too long, or if the program
    ///   decides something by itself.
    /// * A [reduced](crate::Explore::reduced) one: each schedule differs from one that was run only in the order of independent steps, provided that the
    ///   steps say what they touch. Never, if a random order has shown the contrary.
    /// * [Cancelled everywhere](crate::Explore::cancel_everywhere): first in, first out, the program was cancelled before each of its turns, and each of its fibers
    ///   before and after each of its own.
    ///
    /// False for a replay.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The pairs of steps that were seen in one order only, if [requested](crate::Explore::pairs).
    pub fn one_way(&self) -> &[OneWay] {
        &self.one_way
    }

    /// How far a [recording](crate::Explore::recorded) was followed. `None`: there was no recording.
    pub fn followed(&self) -> Option<Followed> {
        self.followed
    }

    /// The number of [regressions](crate::Explore::regressions) of the test that are stale: the program has changed since they broke it, and their text
    /// now means another schedule. They were run, and broke nothing. The output of the test names their lines, which may be removed. If the test
    /// explores several programs with the same settings, each exploration runs the lines of all, and those of the others may count as stale.
    ///
    /// ```
    /// use fiber_core::Fiber;
    /// use fiber_test::Explore;
    /// let explored = Explore::default().check(|| Fiber::success(1).zip(Fiber::success(2)));
    /// assert_eq!(explored.stale_regressions(), 0);
    /// ```
    pub fn stale_regressions(&self) -> u64 {
        self.stale
    }

    pub(crate) fn with_stale(self, stale: u64) -> Self {
        Explored { stale, ..self }
    }

    /// Whether the search ended because there was nothing more to run.
    pub(crate) fn is_at_end(&self) -> bool {
        self.end == End::Nothing
    }

    /// Whether an enumeration could not go on from some run.
    pub(crate) fn is_broken_off(&self) -> bool {
        self.is_broken_off
    }
}

/// The number of pairs that the summary lists.
const MAX_TOLD: usize = 10;

impl fmt::Display for Explored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_counts(f)?;
        let one_way = self.one_way.len();
        if one_way > 0 {
            write!(f, "; {} of steps {} seen in one order only:", counted(one_way, "pair"), were(one_way))?;
        }
        self.one_way.iter().take(MAX_TOLD).try_for_each(|pair| write!(f, "\n  {pair}"))
    }
}

impl Explored {
    fn write_counts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let different = counted(self.different, "different order");
        let (schedules, turns) = (counted(self.schedules, "schedule"), counted(self.turns, "turn"));
        let were = were(self.schedules);
        if let Some(reduced) = self.reduced.filter(|_| self.is_complete) {
            return write!(f, "{reduced}, in {schedules} of {turns}");
        }
        if let Some(followed) = self.followed {
            return write!(f, "the recording was followed: {followed}");
        }
        if let Some(orders) = self.orders {
            let all = all_were(orders, "order");
            return write!(f, "{all} seen, in {schedules} of {turns}");
        }
        match self.end {
            End::Nothing if self.is_complete => write!(f, "{} run", all_were(self.schedules, "schedule"))?,
            End::Nothing | End::Schedules => write!(f, "{schedules} {were} run")?,
            End::Turns(of) => write!(
                f,
                "only {} of {of} schedules {were} run, since they are long (schedules(n) runs n, and within(time) as many as it can)",
                self.schedules
            )?,
            End::Time => write!(f, "{schedules} {were} run before the time was over")?,
        }
        write!(f, ", in {turns} and {different}")
    }
}

/// A run that broke the program.
pub(crate) struct Found {
    pub(crate) execution: Execution,
    pub(crate) search: Search,
    /// Counted from 1.
    pub(crate) number: u64,
}

/// Runs schedules of a source, until one breaks the program or a limit is reached.
pub(crate) fn search(
    source: &mut dyn Source,
    limits: Limits,
    run_all: &mut RunAll<'_>,
) -> Result<Explored, Box<Found>> {
    let mut progress = Progress {
        source,
        limits,
        started: Instant::now(),
        runs: 0,
        schedules: 0,
        turns: 0,
        orders: HashSet::default(),
        pairs: Pairs::default(),
    };
    let end = loop {
        if let Some(end) = progress.limit() {
            break end;
        }
        let (courses, places) = progress.plan();
        if courses.is_empty() {
            break End::Nothing;
        }
        if let Some(end) = progress.run(courses, places, run_all)? {
            break end;
        }
    };
    let Progress { source, schedules, turns, orders, pairs, .. } = progress;
    let (is_complete, different) = (source.is_complete(), orders.len() as u64);
    let is_broken_off = source.is_broken_off();
    let (orders, reduced, followed) = (source.orders(), source.reduced(), source.followed());
    let one_way = pairs.one_way();
    Ok(Explored {
        schedules,
        turns,
        is_complete,
        orders,
        different,
        reduced,
        stale: 0,
        followed,
        one_way,
        end,
        is_broken_off,
    })
}

/// The hash of what is one already.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, _: &[u8]) {
        unreachable!("it is one number");
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The search that a course comes from, and its place there, if that enumerates.
type Place = (Search, Option<Open>);

struct Progress<'a> {
    source: &'a mut dyn Source,
    limits: Limits,
    started: Instant,
    runs: u64,
    /// The number of runs whose schedule was new.
    schedules: u64,
    turns: u64,
    orders: HashSet<u64, BuildHasherDefault<Hashed>>,
    pairs: Pairs,
}

impl Progress<'_> {
    /// The limit that is reached.
    fn limit(&self) -> Option<End> {
        let Limits { schedules, turns, .. } = self.limits;
        match self.source.is_owed() {
            _ if is_past(self.until()) => Some(End::Time),
            true => None,
            false if self.runs >= schedules => Some(End::Schedules),
            false if self.turns > turns && self.runs >= FIRST_BATCH => Some(End::Turns(schedules)),
            false => None,
        }
    }

    /// The end of the time limit: not before the first schedule was run. `None`, too, if it is beyond the range of the clock.
    fn until(&self) -> Option<Instant> {
        self.limits.time.filter(|_| self.runs > 0).and_then(|time| self.started.checked_add(time))
    }

    /// The courses of the next batch, and the place of each.
    fn plan(&mut self) -> (Vec<Course>, Vec<Place>) {
        let later = (self.runs / BATCH_SHARE).clamp(*BATCHES.start(), *BATCHES.end());
        let size = match self.limits.time {
            // It is run to its end, however long that takes.
            Some(_) if self.runs == 0 => 1,
            None if self.runs == 0 => FIRST_BATCH,
            _ => later,
        } as usize;
        let left = self.limits.schedules.saturating_sub(self.runs);
        let (mut courses, mut places) = (Vec::with_capacity(size), Vec::with_capacity(size));
        while courses.len() < size && (self.source.is_owed() || (courses.len() as u64) < left) {
            let Some(Planned { course, search, open }) = self.source.next() else { break };
            courses.push(course);
            places.push((search, open));
        }
        (courses, places)
    }

    /// Runs a batch. Returns the limit that was reached, if any.
    fn run(
        &mut self,
        courses: Vec<Course>,
        mut places: Vec<Place>,
        run_all: &mut RunAll<'_>,
    ) -> Result<Option<End>, Box<Found>> {
        let until = self.until();
        let all = self.runs + courses.len() as u64;
        let (mut found, mut end) = (None, None);
        run_all(courses, until, &mut |at, mut execution| {
            let (search, open) = &mut places[at];
            self.runs += 1;
            self.schedules += u64::from(open.as_ref().is_none_or(|open| open.is_new));
            self.turns += u64::from(execution.counts.turns);
            if self.orders.len() < MAX_ORDERS {
                self.orders.insert(execution.counts.order);
            }
            if execution.problem.is_some() {
                found = Some(Box::new(Found { execution, search: *search, number: self.runs }));
                return ControlFlow::Break(());
            }
            execution.trace.iter().for_each(|trace| self.pairs.add(trace));
            self.source.learn(open.take(), &mut execution);
            end = self.limit().filter(|end| matches!(end, End::Turns(_)));
            if end.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match found {
            Some(found) => Err(found),
            None if end.is_none() && self.runs < all => Ok(Some(End::Time)),
            None => Ok(end),
        }
    }
}

/// The course that repeats a schedule.
pub(crate) fn replay(schedule: &Schedule) -> Course {
    Course {
        strategy: Strategy::Script(Script::replay(&schedule.deviations)),
        seed: schedule.seed,
        cancellations: schedule.cancellations.iter().map(PlannedCancellation::from).collect(),
        faults: schedule.faults.iter().map(PlannedFault::from).collect(),
        ..Course::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::cancel_everywhere::CancelEverywhere;
    use super::super::enumeration::Enumeration;
    use super::super::portfolio::Portfolio;
    use super::*;
    use crate::machine::Counts;

    const HOUR: Duration = Duration::from_secs(3_600);

    /// Searches a program of this many turns in which nothing breaks; `has_time` gets the limit of each run, and decides whether it runs.
    fn searched(
        mut source: impl Source,
        limits: Limits,
        turns: u32,
        mut has_time: impl FnMut(Option<Instant>) -> bool,
    ) -> Explored {
        let explored = search(&mut source, limits, &mut |courses, until, judge| {
            for (at, course) in courses.into_iter().filter(|_| has_time(until)).enumerate() {
                let counts = Counts { turns, ..Counts::default() };
                let strategy = course.strategy;
                let (problem, schedule, trace, census, steps) = (None, None, None, None, None);
                let execution = Execution {
                    problem,
                    schedule,
                    counts,
                    turns_to_end: turns,
                    census,
                    strategy,
                    trace,
                    steps,
                };
                if judge(at, execution).is_break() {
                    return;
                }
            }
        });
        explored.ok().expect("nothing breaks")
    }

    fn cancel_everywhere(limits: Limits) -> CancelEverywhere {
        CancelEverywhere::new(0, false, Portfolio::new(0, None, limits.schedules).cancelled(false))
    }

    #[test]
    fn the_usual_limits_do_not_end_the_cancellations_before_the_last_turn() {
        let limits = Limits { schedules: 1_000, turns: 1_000_000, time: None };
        let explored = searched(cancel_everywhere(limits), limits, 20_000, |_| true);
        assert!(explored.is_complete());
        assert_eq!(explored.schedules(), 20_001);
    }

    #[test]
    fn a_limit_that_the_test_sets_does() {
        let limits = Limits { schedules: 1, turns: u64::MAX, time: Some(HOUR) };
        assert!(searched(cancel_everywhere(limits), limits, 300, |_| true).is_complete());
        let mut left = 200;
        let explored = searched(cancel_everywhere(limits), limits, 300, |_| {
            left -= 1;
            left >= 0
        });
        assert!(!explored.is_complete());
        assert_eq!(explored.schedules(), 200);
    }

    /// The last batch was not run to its end, and the source learnt nothing from the rest of it.
    #[test]
    fn an_enumeration_that_runs_out_of_time_is_not_complete() {
        let limits = Limits { schedules: 1_000, turns: u64::MAX, time: Some(HOUR) };
        let exhaustive = || Enumeration::new(0, None);
        assert!(searched(exhaustive(), limits, 1, |_| true).is_complete());
        assert!(!searched(exhaustive(), limits, 1, |_| false).is_complete());
    }

    #[test]
    fn long_schedules_end_the_search_after_the_same_number_on_every_machine() {
        let limits = Limits { schedules: 1_000, turns: 1_000_000, time: None };
        let walk = Portfolio::new(0, Some(Search::RandomWalk), 1_000);
        let explored = searched(walk, limits, 9_999, |_| true);
        assert_eq!(explored.schedules(), 101);
        assert!(explored.to_string().starts_with("only 101 of 1000 schedules were run"), "{explored}");
    }
}
