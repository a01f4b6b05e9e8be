//! Goes through schedules until one breaks the program.

use std::ops::ControlFlow;
use std::time::Instant;
use std::{iter, mem};

use super::crew::RunAll;
use super::enumeration::{Enumeration, Prefix};
use super::portfolio::{self, Learnt, Search};
use super::run::{Plan, Ran};
use super::{Explore, Mode};
use crate::random::SplitMix64;
use crate::schedule::Schedule;
use crate::strategy::{Deviate, Point, Strategy};

/// Schedules that are run before the next ones are planned with what they have taught. The first ones teach most: the three
/// without chance, then a few; the others are many, so that threads seldom wait for each other, and fit a core's cache.
const BATCHES: [u64; 4] = [3, 29, 96, 128];

/// Of a long program, the portfolio keeps so many schedules to be tried.
const MOST_OPEN: usize = 10_000;

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
        let mut enumeration = Enumeration::new(usize::MAX, MOST_OPEN);
        let mut next = first;
        while let Some(count) = self.next_batch() {
            let mut searches = Vec::new();
            let mut prefixes = Vec::new();
            let mut plans = Vec::new();
            for number in next..next + count {
                let mut search = portfolio::search(number, self.explore.only);
                // To run ahead is the first of the enumeration, and shows it where to go on.
                let is_enumerated =
                    matches!(search, Search::RunAhead | Search::Exhaustive) && cancels.is_none();
                let prefix = is_enumerated.then(|| enumeration.next()).flatten();
                if search == Search::Exhaustive && prefix.is_none() {
                    search = Search::RandomWalk;
                }
                let mut plan = portfolio::plan(number, self.explore.seed, search, &learnt);
                if let Some(prefix) = &prefix {
                    plan.strategy = prefix.strategy();
                }
                plan.cancel_at =
                    cancels.as_mut().map(|random| random.below(learnt.turns.max(1) as usize) as u32);
                searches.push(search);
                prefixes.push(prefix);
                plans.push(plan);
            }
            next += count;
            let found = self.run(
                plans,
                |at| searches[at],
                |at, ran| {
                    learnt.learn(ran);
                    if let Some(prefix) = &prefixes[at] {
                        enumeration.learn(prefix, &take_points(ran));
                    }
                },
            );
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

    fn exhaustive(&mut self, preemptions: Option<u32>) -> Option<Found> {
        let most = preemptions.map_or(usize::MAX, |most| most as usize);
        let seed = self.explore.seed;
        let mut enumeration = Enumeration::new(most, usize::MAX);
        while !enumeration.is_complete() {
            let count = self.next_batch()? as usize;
            let prefixes: Vec<Prefix> = iter::from_fn(|| enumeration.next()).take(count).collect();
            let plan = |prefix: &Prefix| Plan { strategy: prefix.strategy(), seed, cancel_at: None };
            let plans = prefixes.iter().map(plan).collect();
            let learn = |at: usize, ran: &mut Ran| enumeration.learn(&prefixes[at], &take_points(ran));
            let found = self.run(plans, |_| Search::Exhaustive, learn);
            if found.is_some() {
                return found;
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
        let (mut found, schedules) = (None, &mut self.schedules);
        (self.run_all)(plans, until, &mut |at, mut ran| {
            *schedules += 1;
            if ran.problem.is_some() {
                found = Some(Found { ran, search: search(at), number: *schedules });
                return ControlFlow::Break(());
            }
            learn(at, &mut ran);
            ControlFlow::Continue(())
        });
        found
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
    match mem::replace(&mut ran.strategy, Strategy::Fifo) {
        Strategy::Guided(guided) => guided.into_points(),
        _ => Vec::new(),
    }
}
