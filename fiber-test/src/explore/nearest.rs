//! The schedule next to one that breaks the program, which does not: the two turns whose order makes the difference.

use super::run::{Plan, Ran};
use super::search::replay;
use super::shrink::Try;
use crate::machine::Lane;
use crate::schedule::Schedule;
use crate::strategy::{Follow, LaneKey, Lanes, Strategy};
use crate::trace::Trace;

/// Swaps of neighbours that are tried: the last ones, next to the failure.
const MOST_SWAPS: usize = 1_000;

/// How many turns of the program they may cost: they are recorded, which is slow.
const MOST_TURNS: usize = 500_000;

#[derive(Clone, Debug)]
pub(crate) struct Nearest {
    pub(crate) schedule: Schedule,
    pub(crate) trace: Trace,
    /// Two turns of the failing trace, whose order is the other way round here. `None`: it is cancelled elsewhere.
    pub(crate) pair: Option<(usize, usize)>,
}

/// `run` records.
pub(crate) fn nearest(schedule: &Schedule, failing: &Trace, run: &mut Try<'_>) -> Option<Nearest> {
    let swapped = swap_neighbours(schedule, failing, run);
    swapped.or_else(|| leave_one_out(schedule, failing, run)).or_else(|| cancel_elsewhere(schedule, run))
}

/// The same order of turns, but for two neighbours of different fibers.
fn swap_neighbours(schedule: &Schedule, failing: &Trace, run: &mut Try<'_>) -> Option<Nearest> {
    let keys = keys(failing);
    let order: Vec<LaneKey> =
        failing.turns.iter().map(|turn| turn.lane.map_or(LaneKey::NONE, |lane| keys[lane])).collect();
    let neighbours = (1..order.len()).rev().filter(|second| order[second - 1] != order[*second]);
    let most = (MOST_TURNS / order.len().max(1)).clamp(1, MOST_SWAPS);
    neighbours.take(most).find_map(|second| {
        let mut swapped = order.clone();
        swapped.swap(second - 1, second);
        let strategy = Strategy::Follow(Follow::new(swapped.clone()));
        let ran = run(Plan { strategy, seed: schedule.seed, cancel_at: schedule.cancel_at });
        let (schedule, trace) = passing(ran)?;
        let keys = self::keys(&trace);
        let begins_so = trace
            .turns
            .iter()
            .zip(&swapped[..=second])
            .all(|(turn, key)| turn.lane.is_some_and(|lane| keys[lane] == *key));
        begins_so.then(|| Nearest { schedule, trace, pair: Some((second - 1, second)) })
    })
}

/// The same deviations but one.
fn leave_one_out(schedule: &Schedule, failing: &Trace, run: &mut Try<'_>) -> Option<Nearest> {
    (0..schedule.deviations.len()).rev().find_map(|out| {
        let mut fewer = schedule.clone();
        fewer.deviations.remove(out);
        let (schedule, trace) = passing(run(replay(&fewer)))?;
        let first = (0..failing.turns.len())
            .find(|at| trace.turns.get(*at).is_none_or(|turn| turn.lane != failing.turns[*at].lane))?;
        let other = trace.turns.get(first)?.lane;
        let later = (first..failing.turns.len()).find(|at| failing.turns[*at].lane == other)?;
        Some(Nearest { schedule, trace, pair: Some((first, later)) })
    })
}

/// The same, cancelled a turn later or earlier, or not at all.
fn cancel_elsewhere(schedule: &Schedule, run: &mut Try<'_>) -> Option<Nearest> {
    let at = schedule.cancel_at?;
    [Some(at + 1), at.checked_sub(1), None].into_iter().find_map(|cancel_at| {
        let elsewhere = Schedule { cancel_at, ..schedule.clone() };
        let (schedule, trace) = passing(run(replay(&elsewhere)))?;
        Some(Nearest { schedule, trace, pair: None })
    })
}

fn passing(ran: Ran) -> Option<(Schedule, Trace)> {
    if ran.problem.is_some() { None } else { Some((ran.schedule?, ran.trace?)) }
}

/// By lane.
fn keys(trace: &Trace) -> Vec<LaneKey> {
    let mut lanes = Lanes::default();
    for (number, lane) in trace.lanes.iter().enumerate() {
        lanes.created(Lane(number as u32), lane.parent.map_or(Lane::NONE, |parent| Lane(parent as u32)));
    }
    lanes.keys().collect()
}
