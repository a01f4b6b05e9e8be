//! Goes through schedules until one breaks the program.

use std::time::Instant;

use super::crew::RunAll;
use super::portfolio::{self, Learnt, Search};
use super::run::{Plan, Ran};
use super::{Explore, Mode};
use crate::random::SplitMix64;
use crate::schedule::{Deviation, Schedule};
use crate::strategy::{Deviate, Guided, Point, Strategy};

/// Schedules that are run before the next ones are planned with what they have taught.
const BATCH: u64 = 32;

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
    let progress = Progress { run_all, started: Instant::now(), explore, schedules: 0 };
    match &explore.mode {
        Mode::Portfolio => progress.portfolio(),
        Mode::Given(schedule) => progress.given(schedule),
        Mode::CancelEverywhere => progress.cancel_everywhere(),
        Mode::Exhaustive { preemptions } => progress.exhaustive(*preemptions),
    }
}

struct Progress<'a, 'b> {
    run_all: &'a mut RunAll<'b>,
    started: Instant,
    explore: &'a Explore,
    schedules: u64,
}

impl Progress<'_, '_> {
    fn portfolio(mut self) -> Searched {
        let mut learnt = Learnt::default();
        while let Some(numbers) = self.next_numbers(self.schedules) {
            let only = self.explore.only;
            let searches: Vec<Search> = numbers.map(|number| portfolio::search(number, only)).collect();
            let first = self.schedules;
            let plans = (first..).zip(&searches);
            let plans =
                plans.map(|(number, search)| portfolio::plan(number, self.explore.seed, *search, &learnt));
            let batch = plans.collect();
            if let Some(found) = self.run(batch, |at| searches[at], |ran| learnt.learn(ran)) {
                return self.searched(Some(found));
            }
        }
        self.searched(None)
    }

    fn given(mut self, schedule: &Schedule) -> Searched {
        let found = self.run(vec![replay(schedule)], |_| Search::Given, |_| ());
        self.searched(found)
    }

    /// First in, first out, cancelled before every turn; then other schedules, cancelled anywhere.
    fn cancel_everywhere(mut self) -> Searched {
        let mut turns = 0;
        let whole = vec![Plan { strategy: Strategy::Fifo, seed: self.explore.seed, cancel_at: None }];
        if let Some(found) = self.run(whole, |_| Search::Fifo, |ran| turns = ran.turns) {
            return self.searched(Some(found));
        }
        let seed = self.explore.seed;
        let everywhere =
            (0..turns).map(|turn| Plan { strategy: Strategy::Fifo, seed, cancel_at: Some(turn) });
        if let Some(found) = self.run(everywhere.collect(), |_| Search::Fifo, |_| ()) {
            return self.searched(Some(found));
        }
        let mut random = SplitMix64::new(seed).split();
        let mut learnt = Learnt { turns, ..Learnt::default() };
        // Of the portfolio, what comes after first in, first out.
        let mut next = 1;
        while let Some(numbers) = self.next_numbers(self.schedules) {
            let numbers = next..next + (numbers.end - numbers.start);
            next = numbers.end;
            let first = numbers.start;
            let search_of = |number| portfolio::search(number, self.explore.only);
            let plans = numbers.map(|number| Plan {
                cancel_at: Some(random.below(learnt.turns.max(1) as usize) as u32),
                ..portfolio::plan(number, seed, search_of(number), &learnt)
            });
            let batch = plans.collect();
            let only = self.explore.only;
            if let Some(found) =
                self.run(batch, |at| portfolio::search(first + at as u64, only), |ran| learnt.learn(ran))
            {
                return self.searched(Some(found));
            }
        }
        self.searched(None)
    }

    /// All schedules with few preemptions before those with more (Musuvathi, Qadeer: "Iterative context bounding for
    /// systematic testing of multithreaded programs", 2007). Every one is run once: it is a shorter one, whose fibers
    /// then run until they wait, and one more choice.
    fn exhaustive(mut self, preemptions: Option<u32>) -> Searched {
        let most = preemptions.map_or(usize::MAX, |most| most as usize);
        // By the number of preemptions.
        let mut open: Vec<Vec<Vec<Deviation>>> = vec![vec![Vec::new()]];
        while let Some(level) = open.iter().position(|prefixes| !prefixes.is_empty()) {
            let Some(numbers) = self.next_numbers(self.schedules) else { return self.searched(None) };
            let count = ((numbers.end - numbers.start) as usize).min(open[level].len());
            let rest = open[level].len() - count;
            let prefixes = open[level].split_off(rest);
            let seed = self.explore.seed;
            let guided = |prefix: &Vec<Deviation>| Strategy::Guided(Guided::new(prefix.clone()));
            let plans = prefixes
                .iter()
                .map(|prefix| Plan { strategy: guided(prefix), seed, cancel_at: None })
                .collect();
            let mut points: Vec<Vec<Point>> = Vec::new();
            let found = self.run(plans, |_| Search::Exhaustive, |ran| points.push(take_points(ran)));
            if found.is_some() {
                return self.searched(found);
            }
            for (prefix, points) in prefixes.iter().zip(points) {
                branch_off(prefix, &points, level, most, &mut open);
            }
        }
        Searched { schedules: self.schedules, is_complete: true, found: None }
    }

    /// The numbers of the next batch; `None` when there were enough schedules.
    fn next_numbers(&self, first: u64) -> Option<std::ops::Range<u64>> {
        let is_late = self.explore.within.is_some_and(|within| self.started.elapsed() >= within);
        let most = self.explore.most_schedules();
        // The first batch has the schedules without chance, which teach the others.
        let size = if first == 0 { 3 } else { BATCH };
        (!is_late && first < most).then(|| first..most.min(first + size))
    }

    /// Runs a batch. The first that broke the program, if one did; `learn` sees those before it.
    fn run(
        &mut self,
        plans: Vec<Plan>,
        search: impl Fn(usize) -> Search,
        mut learn: impl FnMut(&mut Ran),
    ) -> Option<Found> {
        for (at, mut ran) in (self.run_all)(plans).into_iter().enumerate() {
            self.schedules += 1;
            if ran.problem.is_some() {
                return Some(Found { ran, search: search(at), number: self.schedules });
            }
            learn(&mut ran);
        }
        None
    }

    fn searched(self, found: Option<Found>) -> Searched {
        Searched { schedules: self.schedules, is_complete: false, found }
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
