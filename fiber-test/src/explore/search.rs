//! Goes through schedules until one breaks the program.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use std::{iter, mem};

use super::crew::{RunAll, is_past};
use super::enumeration::{Enumeration, Prefix};
use super::portfolio::{self, Learnt, Search};
use super::run::{Plan, Ran};
use super::{Explore, Mode};
use crate::random::SplitMix64;
use crate::schedule::Schedule;
use crate::strategy::{Deviate, Point, Strategy};

/// Schedules that are run before the next ones are planned with what they have taught. The first ones teach most: the three
/// without chance, then a few; the others are many, so that threads seldom wait for each other.
const BATCHES: [u64; 4] = [3, 29, 224, 1024];

/// An enumeration remembers all turns of a batch: of so many, a core's cache does.
const ENUMERATED: u64 = 128;

/// Cancellations that are planned at a time: they teach nothing.
const CANCELLATIONS: usize = 1024;

/// Of a long program, the portfolio keeps so many schedules to be tried.
const MOST_OPEN: usize = 10_000;

/// What a search came to.
pub(crate) struct Searched {
    pub(crate) schedules: u64,
    /// Whether all was run that was to be.
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
    let mut progress = Progress {
        run_all,
        started: Instant::now(),
        explore,
        schedules: 0,
        batches: 0,
        is_late: false,
        is_complete: false,
    };
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
    /// Whether a batch was not run to its end.
    is_late: bool,
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
                self.explore.time_limit(),
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
        self.run(vec![replay(schedule)], None, |_| from, |_, _| ())
    }

    /// First in, first out, cancelled before every turn; then other schedules, cancelled anywhere.
    fn cancel_everywhere(&mut self) -> Option<Found> {
        let mut learnt = Learnt::default();
        let whole = vec![self.fifo(None)];
        let found = self.run(whole, None, |_| Search::Fifo, |_, ran| learnt.learn(ran));
        let found = found.or_else(|| self.cancel_at_each_of(learnt.turns));
        // Of the portfolio, what comes after first in, first out.
        found.or_else(|| self.portfolio(1, learnt, Some(SplitMix64::new(self.explore.seed).split())))
    }

    fn fifo(&self, cancel_at: Option<u32>) -> Plan {
        Plan { strategy: Strategy::Fifo, seed: self.explore.seed, cancel_at }
    }

    /// First in, first out, cancelled before each of so many turns. Only a limit that the test has set ends it before the last one.
    fn cancel_at_each_of(&mut self, turns: u32) -> Option<Found> {
        let mut turns = (0..turns).peekable();
        while turns.peek().is_some() && !self.is_late {
            let batch = turns.by_ref().take(CANCELLATIONS);
            let plans = batch.map(|turn| self.fifo(Some(turn))).collect();
            let found = self.run(plans, self.explore.within, |_| Search::Fifo, |_, _| ());
            if found.is_some() {
                return found;
            }
        }
        self.is_complete = !self.is_late;
        None
    }

    fn exhaustive(&mut self, preemptions: Option<u32>) -> Option<Found> {
        let most = preemptions.map_or(usize::MAX, |most| most as usize);
        let seed = self.explore.seed;
        let mut enumeration = Enumeration::new(most, usize::MAX);
        while !enumeration.is_complete() {
            let count = self.next_batch()?.min(ENUMERATED) as usize;
            let prefixes: Vec<Prefix> = iter::from_fn(|| enumeration.next()).take(count).collect();
            let plan = |prefix: &Prefix| Plan { strategy: prefix.strategy(), seed, cancel_at: None };
            let plans = prefixes.iter().map(plan).collect();
            let learn = |at: usize, ran: &mut Ran| enumeration.learn(&prefixes[at], &take_points(ran));
            let found = self.run(plans, self.explore.within, |_| Search::Exhaustive, learn);
            if found.is_some() {
                return found;
            }
        }
        self.is_complete = !self.is_late;
        None
    }

    /// How many schedules to plan next; `None` when there were enough.
    fn next_batch(&mut self) -> Option<u64> {
        let is_over = is_past(self.end(self.explore.time_limit()));
        let left = self.explore.most_schedules().saturating_sub(self.schedules);
        let size = BATCHES[self.batches.min(BATCHES.len() - 1)];
        self.batches += 1;
        (!is_over && left > 0).then(|| size.min(left))
    }

    /// When a limit ends the search: not before the first batch was run. A limit that is too far away for the clock is none.
    fn end(&self, limit: Option<Duration>) -> Option<Instant> {
        limit.filter(|_| self.schedules > 0).and_then(|limit| self.started.checked_add(limit))
    }

    /// Runs a batch. The first that broke the program, if one did; `learn` sees those before it.
    fn run(
        &mut self,
        plans: Vec<Plan>,
        limit: Option<Duration>,
        search: impl Fn(usize) -> Search,
        mut learn: impl FnMut(usize, &mut Ran),
    ) -> Option<Found> {
        let until = self.end(limit);
        let all = self.schedules + plans.len() as u64;
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
        self.is_late = found.is_none() && self.schedules < all;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches a program of so many turns in which nothing breaks; `run_all` is told the limit of each batch, and whether it is to be run.
    fn searched(
        explore: &Explore,
        turns: u32,
        mut has_time: impl FnMut(Option<Instant>) -> bool,
    ) -> Searched {
        search(explore, &mut |plans, until, judge| {
            let plans = plans.into_iter().filter(|_| has_time(until)).enumerate();
            for (at, plan) in plans {
                let ran = Ran { problem: None, schedule: None, turns, strategy: plan.strategy, trace: None };
                if judge(at, ran).is_break() {
                    return;
                }
            }
        })
    }

    #[test]
    fn the_usual_limit_does_not_end_the_cancellations_before_the_last_turn() {
        // Whatever has a limit is too late.
        let searched = searched(&Explore::cancel_everywhere(), 20_000, |until| until.is_none());
        assert!(searched.is_complete);
        assert_eq!(searched.schedules, 20_001);
    }

    #[test]
    fn a_limit_that_the_test_sets_does() {
        let hour = Explore::cancel_everywhere().within(Duration::from_secs(3_600)).schedules(1);
        assert!(searched(&hour, 300, |_| true).is_complete);
        let mut left = 200;
        let searched = searched(&hour, 300, |_| {
            left -= 1;
            left >= 0
        });
        assert!(!searched.is_complete);
        assert_eq!(searched.schedules, 200);
    }

    /// The last batch was not run to its end, and nothing was learnt from what is left of it.
    #[test]
    fn an_enumeration_that_runs_out_of_time_is_not_complete() {
        let hour = Explore::exhaustive().within(Duration::from_secs(3_600));
        assert!(searched(&hour, 1, |_| true).is_complete);
        assert!(!searched(&hour, 1, |_| false).is_complete);
    }
}
