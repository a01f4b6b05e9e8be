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
use crate::trace::Trace;

/// The maximum number of turns of the program: a second in a debug build, a tenth of that in an optimised one.
const MAX_TURNS: u64 = 500_000;

/// Nobody reads the order of a longer run, such as a livelock, and each try would take as long as the run.
const LONGEST: usize = 10_000;

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

/// `None`: there is no schedule with half of the switches. `trace` is that of the schedule; `record` runs one and keeps its trace.
pub(crate) fn calm(
    schedule: &Schedule,
    trace: &Trace,
    problem: &Problem,
    record: &mut Try<'_>,
) -> Option<Calm> {
    let first = order(trace);
    if first.len() > LONGEST {
        return None;
    }
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
            let execution = (self.record)(Course { strategy, ..replay(self.schedule) })?;
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

/// The orders that merge two blocks of one fiber, the nearest first. They are made one by one, because each is as long as the run, and
/// a long run has as many of them.
fn moves(order: &[LaneKey]) -> impl Iterator<Item = Vec<LaneKey>> {
    let blocks: Vec<&[LaneKey]> = order.chunk_by(|one, other| one == other).collect();
    (0..2 * blocks.len()).filter_map(move |number| {
        let first = number / 2;
        let is_same = |at: &usize| blocks[*at][0] == blocks[first][0];
        let second = (first + 1..blocks.len()).find(is_same)?;
        let (before, between, after) = (&blocks[..first], &blocks[first + 1..second], &blocks[second + 1..]);
        let (one, other) = (&blocks[first..=first], &blocks[second..=second]);
        let is_pulled = number.is_multiple_of(2);
        let merged = if is_pulled { [one, other, between] } else { [between, one, other] };
        Some([before, merged[0], merged[1], merged[2], after].concat().concat())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Lane;
    use crate::strategy::Lanes;

    /// The fibers of this many lanes.
    fn keys(count: u32) -> Vec<LaneKey> {
        let mut lanes = Lanes::default();
        (0..count).for_each(|lane| lanes.created(Lane(lane), Lane::NONE));
        lanes.keys().collect()
    }

    #[test]
    fn two_blocks_of_one_fiber_are_merged_at_either_place() {
        let [a, b] = keys(2)[..] else { unreachable!("there are two") };
        let all: Vec<_> = moves(&[a, b, b, a]).collect();
        assert_eq!(all, [[a, a, b, b], [b, b, a, a]]);
    }

    /// All of them would be forty thousand million turns.
    #[test]
    fn the_orders_of_a_long_run_are_made_one_by_one() {
        let order = keys(2).repeat(100_000);
        assert!(moves(&order).take(2).all(|moved| moved.len() == order.len()));
    }
}
