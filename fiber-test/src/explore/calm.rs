//! A schedule with the same bug and fewer context switches. It is easier to follow than the one with the fewest deviations from first in,
//! first out, which switches at every turn. The report names it beside that one.
//!
//! A block is a sequence of turns of one fiber without a switch. Of two blocks of one fiber, the later one is moved to the earlier one, or the
//! other way round, as long as the program breaks in the same way.

use super::nearest::order;
use super::problem::Problem;
use super::search::replay;
use super::shrink::Try;
use crate::machine::Course;
use crate::schedule::Schedule;
use crate::strategy::{Follow, LaneKey, Strategy};

/// The maximum number of turns of the program: a second in a debug build, a tenth of that in an optimised one.
const MAX_TURNS: u64 = 500_000;

/// A smaller reduction of switches is not worth more deviations.
const LEAST_GAIN: usize = 4;

#[derive(Clone)]
pub(crate) struct Calm {
    pub(crate) schedule: Schedule,
    pub(crate) switches: usize,
    /// The number before.
    pub(crate) of: usize,
    /// The number of schedules that were tried.
    pub(crate) tried: u64,
}

/// `None`: there is no schedule with half of the switches. `record` runs a schedule and keeps its trace.
pub(crate) fn calm(schedule: &Schedule, problem: &Problem, record: &mut Try<'_>) -> Option<Calm> {
    let first = order(record(replay(schedule)).trace.as_ref()?);
    let of = switches(&first);
    let mut search = Search { schedule, problem, record, tried: 1, turns_left: MAX_TURNS };
    let mut best = (schedule.clone(), first);
    while let Some(calmer) = search.calmer_than(&best.1) {
        best = calmer;
    }
    let (schedule, order) = best;
    let switches = switches(&order);
    let is_worth_it = switches * 2 <= of && switches + LEAST_GAIN <= of;
    is_worth_it.then_some(Calm { schedule, switches, of, tried: search.tried })
}

struct Search<'a, 'b> {
    schedule: &'a Schedule,
    problem: &'a Problem,
    record: &'a mut Try<'b>,
    tried: u64,
    turns_left: u64,
}

impl Search<'_, '_> {
    fn calmer_than(&mut self, order: &[LaneKey]) -> Option<(Schedule, Vec<LaneKey>)> {
        let limit = switches(order);
        for moved in moves(order) {
            if self.turns_left == 0 {
                return None;
            }
            let strategy = Strategy::Follow(Follow::new(moved));
            let execution = (self.record)(Course { strategy, ..replay(self.schedule) });
            self.tried += 1;
            self.turns_left = self.turns_left.saturating_sub(u64::from(execution.counts.turns.max(1)));
            let is_same = execution.problem.is_some_and(|problem| problem.is_like(self.problem));
            let (Some(schedule), Some(trace)) = (execution.schedule, execution.trace) else { continue };
            let ran = super::nearest::order(&trace);
            if is_same && switches(&ran) < limit {
                return Some((schedule, ran));
            }
        }
        None
    }
}

fn switches(order: &[LaneKey]) -> usize {
    order.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

/// The orders that merge two blocks of one fiber, the nearest first.
fn moves(order: &[LaneKey]) -> Vec<Vec<LaneKey>> {
    let blocks: Vec<&[LaneKey]> = order.chunk_by(|one, other| one == other).collect();
    let mut all = Vec::new();
    for first in 0..blocks.len() {
        let is_same = |at: &usize| blocks[*at][0] == blocks[first][0];
        let Some(second) = (first + 1..blocks.len()).find(is_same) else { continue };
        let (before, between, after) = (&blocks[..first], &blocks[first + 1..second], &blocks[second + 1..]);
        let (one, other) = (&blocks[first..=first], &blocks[second..=second]);
        all.push([before, one, other, between, after].concat().concat());
        all.push([before, between, one, other, after].concat().concat());
    }
    all
}
