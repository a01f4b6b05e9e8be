//! Goes through schedules until one breaks the program.

use std::time::Instant;

use super::crew::RunAll;
use super::portfolio::{self, Learnt, Search};
use super::run::{Plan, Ran};
use super::{Explore, Mode};
use crate::random::SplitMix64;
use crate::schedule::{Deviation, Schedule};
use crate::strategy::{Deviate, Guided, Point, Strategy};

/// Schedules that are run before the next ones are planned with what they have taught. The first ones teach most: the three
/// without chance, then a few; the others are many, so that threads need not wait for each other.
const BATCHES: [u64; 4] = [3, 29, 224, 1024];

/// What a search came to.
pub(crate) struct Searched {
    pub(crate) schedules: u64,
    /// Whether there is no other schedule.
    pub(crate) is_complete: bool,
    pub(crate) found: Option<Found>,
}

/// A run that broke the program.
pub(crate) struct Found {
    pub(crate) ran: Ran,
    pub(crate) search: Search,
    /// Counted from 1.
    pub(crate) number: u64,
}

pub(crate) fn search(explore: &Explore, run_all: &mut RunAll<'_>) -> Searched {
    let mut progress =
        Progress { run_all, started: Instant::now(), explore, schedules: 0, batches: 0, is_complete: false };
    let found = match &explore.mode {
        Mode::Portfolio => progress.portfolio(0, Learnt::default(), None),
        Mode::Given(from, schedule) => progress.given(*from, schedule),
        Mode::CancelEverywhere => progress.cancel_everywhere(),
        Mode::Exhaustive { preemptions } => progress.exhaustive(*preemptions),
    };
    Searched { schedules: progress.schedules, is_complete: progress.is_complete, found }
}

struct Progress<'a, 'b> {
    run_all: &'a mut RunAll<'b>,
    started: Instant,
    explore: &'a Explore,
    schedules: u64,
    batches: usize,
    is_complete: bool,
}

impl Progress<'_, '_> {
    /// Schedules of the portfolio, from number `first` on. With `cancels`, each is cancelled somewhere.
    fn portfolio(
        &mut self,
        first: u64,
        mut learnt: Learnt,
        mut cancels: Option<SplitMix64>,
    ) -> Option<Found> {
        let mut next = first;
        while let Some(count) = self.next_batch() {
            let numbers = next..next + count;
            next = numbers.end;
            let search_of = |number| portfolio::search(number, self.explore.only);
            let searches: Vec<Search> = numbers.clone().map(search_of).collect();
            let plan = |(number, search): (u64, &Search)| {
                let somewhere = |random: &mut SplitMix64| random.below(learnt.turns.max(1) as usize) as u32;
                let cancel_at = cancels.as_mut().map(somewhere);
                Plan { cancel_at, ..portfolio::plan(number, self.explore.seed, *search, &learnt) }
            };
            let plans = numbers.zip(&searches).map(plan).collect();
            let found = self.run(plans, |at| searches[at], |_, ran| learnt.learn(ran));
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn given(&mut self, from: Search, schedule: &Schedule) -> Option<Found> {
        self.run(vec![replay(schedule)], |_| from, |_, _| ())
    }

    /// First in, first out, cancelled before every turn; then other schedules, cancelled anywhere.
    fn cancel_everywhere(&mut self) -> Option<Found> {
        let seed = self.explore.seed;
        let fifo = |cancel_at| Plan { strategy: Strategy::Fifo, seed, cancel_at };
        let mut learnt = Learnt::default();
        let found = self.run(vec![fifo(None)], |_| Search::Fifo, |_, ran| learnt.learn(ran));
        let found = found.or_else(|| {
            let everywhere = (0..learnt.turns).map(|turn| fifo(Some(turn))).collect();
            self.run(everywhere, |_| Search::Fifo, |_, _| ())
        });
        // Of the portfolio, what comes after first in, first out.
        found.or_else(|| self.portfolio(1, learnt, Some(SplitMix64::new(seed).split())))
    }

    /// All schedules with few preemptions before those with more (Musuvathi, Qadeer: "Iterative context bounding for
    /// systematic testing of multithreaded programs", 2007). Every one is run once: it is a shorter one, whose fibers
    /// then run until they wait, and one more choice.
    fn exhaustive(&mut self, preemptions: Option<u32>) -> Option<Found> {
        let most = preemptions.map_or(usize::MAX, |most| most as usize);
        let seed = self.explore.seed;
        // By the number of preemptions.
        let mut open: Vec<Vec<Vec<Deviation>>> = vec![vec![Vec::new()]];
        while let Some(level) = open.iter().position(|prefixes| !prefixes.is_empty()) {
            let count = self.next_batch()? as usize;
            let rest = open[level].len().saturating_sub(count);
            let prefixes = open[level].split_off(rest);
            let guided = |prefix: &Vec<Deviation>| Strategy::Guided(Guided::new(prefix.clone()));
            let plan = |prefix| Plan { strategy: guided(prefix), seed, cancel_at: None };
            let mut points: Vec<(usize, Vec<Point>)> = Vec::new();
            let plans = prefixes.iter().map(plan).collect();
            let found =
                self.run(plans, |_| Search::Exhaustive, |at, ran| points.push((at, take_points(ran))));
            if found.is_some() {
                return found;
            }
            for (at, points) in points {
                branch_off(&prefixes[at], &points, level, most, &mut open);
            }
        }
        self.is_complete = true;
        None
    }

    /// How many schedules to plan next; `None` when there were enough.
    fn next_batch(&mut self) -> Option<u64> {
        let is_late = self.explore.within.is_some_and(|within| self.started.elapsed() >= within);
        let left = self.explore.most_schedules().saturating_sub(self.schedules);
        let size = BATCHES[self.batches.min(BATCHES.len() - 1)];
        self.batches += 1;
        (!is_late && left > 0).then(|| size.min(left))
    }

    /// Runs a batch. The first that broke the program, if one did; `learn` sees those before it.
    fn run(
        &mut self,
        plans: Vec<Plan>,
        search: impl Fn(usize) -> Search,
        mut learn: impl FnMut(usize, &mut Ran),
    ) -> Option<Found> {
        let until = self.explore.within.map(|within| self.started + within);
        for (at, ran) in (self.run_all)(plans, until).into_iter().enumerate() {
            let Some(mut ran) = ran else { continue };
            self.schedules += 1;
            if ran.problem.is_some() {
                return Some(Found { ran, search: search(at), number: self.schedules });
            }
            learn(at, &mut ran);
        }
        None
    }
}

/// The plan that repeats a schedule.
pub(crate) fn replay(schedule: &Schedule) -> Plan {
    Plan {
        strategy: Strategy::Deviate(Deviate::new(schedule.deviations.clone())),
        seed: schedule.seed,
        cancel_at: schedule.cancel_at,
    }
}

fn take_points(ran: &mut Ran) -> Vec<Point> {
    match std::mem::replace(&mut ran.strategy, Strategy::Fifo) {
        Strategy::Guided(guided) => guided.into_points(),
        _ => Vec::new(),
    }
}

/// The schedules that differ from one that was run in one choice past its prefix.
fn branch_off(
    prefix: &[Deviation],
    points: &[Point],
    level: usize,
    most: usize,
    open: &mut Vec<Vec<Vec<Deviation>>>,
) {
    for point in points {
        let level = level + usize::from(point.is_preemption);
        if level > most {
            continue;
        }
        if open.len() <= level {
            open.resize_with(level + 1, Vec::new);
        }
        for choice in (0..point.choices).filter(|choice| *choice != point.usual) {
            let mut longer = prefix.to_vec();
            longer.push(Deviation { turn: point.turn, choice });
            open[level].push(longer);
        }
    }
}
