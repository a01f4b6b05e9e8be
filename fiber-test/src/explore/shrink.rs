//! The smallest schedule that breaks a program in the same way: fewer deviations, then earlier ones, then smaller ones.
//!
//! Most bugs need one or two deviations from first in, first out, and short programs have few of them: those are all tried. For
//! the others, deviations are taken out of the schedule that was found, many at a time first (Zeller, Hildebrandt: "Simplifying and isolating
//! failure-inducing input", 2002).

use super::problem::ProblemKind;
use super::run::Ran;
use super::search::replay;
use crate::schedule::{Deviation, Schedule};

/// How many turns of the program a part of the work may cost: a second in a debug build, a tenth of that in an optimised one.
const MOST_TURNS: u64 = 500_000;

/// Of those that can run, this many are tried in the place of the first, when all small schedules are.
const MOST_CHOICES: u32 = 8;

/// Runs a schedule.
pub(crate) type Try<'a> = dyn FnMut(super::run::Plan) -> Ran + 'a;

pub(crate) struct Shrunk {
    pub(crate) schedule: Schedule,
    /// How many schedules were tried.
    pub(crate) tried: u64,
}

/// `None`: the schedule does not break the program again, so the program decides something by itself.
pub(crate) fn shrink(found: &Schedule, kind: ProblemKind, run: &mut Try<'_>) -> Option<Shrunk> {
    let mut shrinker = Shrinker { run, kind, tried: 0, turns_left: MOST_TURNS, turns: 0, last: None };
    let mut best = shrinker.breaks(found)?;
    best = shrinker.simplify_rest(best);
    best = shrinker.take_out(best);
    shrinker.turns_left = MOST_TURNS;
    if let Some(small) = shrinker.smaller_than(&best) {
        best = small;
    }
    shrinker.turns_left = MOST_TURNS;
    loop {
        let before = best.clone();
        best = shrinker.take_out(best);
        best = shrinker.pull_forward(best);
        best = shrinker.simplify_rest(best);
        if best == before {
            return Some(Shrunk { schedule: best, tried: shrinker.tried });
        }
    }
}

struct Shrinker<'a, 'b> {
    run: &'a mut Try<'b>,
    kind: ProblemKind,
    tried: u64,
    turns_left: u64,
    /// The turns of the last run.
    turns: u32,
    /// The schedule of the last run.
    last: Option<Schedule>,
}

impl Shrinker<'_, '_> {
    /// The schedule as it was run, without what had no effect, if it breaks the program.
    fn breaks(&mut self, schedule: &Schedule) -> Option<Schedule> {
        let ran = (self.run)(replay(schedule));
        self.tried += 1;
        self.turns_left = self.turns_left.saturating_sub(u64::from(ran.turns.max(1)));
        let is_same = ran.problem.is_some_and(|problem| problem.kind() == self.kind);
        self.turns = ran.turns;
        self.last = ran.schedule;
        self.last.clone().filter(|_| is_same)
    }

    /// No random numbers, no cancellation, or an earlier one.
    fn simplify_rest(&mut self, best: Schedule) -> Schedule {
        let plain = self.breaks(&Schedule { seed: 0, ..best.clone() });
        let best = plain.unwrap_or(best);
        let Some(cancel_at) = best.cancel_at else { return best };
        if let Some(without) = self.breaks(&Schedule { cancel_at: None, ..best.clone() }) {
            return without;
        }
        let earlier = (0..cancel_at).find_map(|turn| {
            let earlier = Schedule { cancel_at: Some(turn), ..best.clone() };
            self.has_time().then(|| self.breaks(&earlier)).flatten()
        });
        earlier.unwrap_or(best)
    }

    fn has_time(&self) -> bool {
        self.turns_left > 0
    }

    /// Half of the deviations, a quarter, ... one: as long as something can go.
    fn take_out(&mut self, mut best: Schedule) -> Schedule {
        let mut size = best.deviations.len().div_ceil(2);
        while size > 0 && self.has_time() {
            let mut start = 0;
            while start < best.deviations.len() && self.has_time() {
                let mut fewer = best.clone();
                let end = (start + size).min(fewer.deviations.len());
                fewer.deviations.drain(start..end);
                match self.breaks(&fewer) {
                    Some(smaller) if measure(&smaller) < measure(&best) => best = smaller,
                    _ => start += size,
                }
            }
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
        best
    }

    /// The first of all schedules with fewer deviations: of none, one, two.
    fn smaller_than(&mut self, best: &Schedule) -> Option<Schedule> {
        let fewest = best.deviations.len();
        let none = Schedule { deviations: Vec::new(), ..best.clone() };
        if fewest > 0
            && let Some(small) = self.breaks(&none)
        {
            return Some(small);
        }
        if fewest > 1
            && let Some(small) = self.one_more(&none)
        {
            return Some(small);
        }
        if fewest <= 2 {
            return None;
        }
        let firsts =
            (0..self.turns).flat_map(|turn| (1..=MOST_CHOICES).map(move |choice| Deviation { turn, choice }));
        let firsts: Vec<Deviation> = firsts.collect();
        firsts.into_iter().find_map(|first| {
            if !self.has_time() {
                return None;
            }
            let one = Schedule { deviations: vec![first], ..none.clone() };
            let broken = self.breaks(&one);
            // Otherwise there was no such choice.
            let had_effect = self.last.as_ref().is_some_and(|last| last.deviations.first() == Some(&first));
            broken.or_else(|| had_effect.then(|| self.one_more(&one)).flatten())
        })
    }

    /// With one deviation more, after the others.
    fn one_more(&mut self, schedule: &Schedule) -> Option<Schedule> {
        let from = schedule.deviations.last().map_or(0, |last| last.turn + 1);
        (from..self.turns).find_map(|turn| self.one_more_at(schedule, turn))
    }

    fn one_more_at(&mut self, schedule: &Schedule, turn: u32) -> Option<Schedule> {
        for choice in 1..=MOST_CHOICES {
            if !self.has_time() {
                return None;
            }
            let mut longer = schedule.clone();
            let one = Deviation { turn, choice };
            longer.deviations.push(one);
            if let Some(small) = self.breaks(&longer) {
                return Some(small);
            }
            let had_effect = self.last.as_ref().is_some_and(|last| last.deviations.last() == Some(&one));
            if !had_effect {
                // There were no more to choose from.
                return None;
            }
        }
        None
    }

    /// Each deviation at an earlier turn, or with a smaller choice.
    fn pull_forward(&mut self, mut best: Schedule) -> Schedule {
        for at in 0..best.deviations.len() {
            let Some(one) = best.deviations.get(at).copied() else { break };
            let from = at.checked_sub(1).map_or(0, |before| best.deviations[before].turn + 1);
            let earlier = (from..one.turn).map(|turn| Deviation { turn, ..one });
            let smaller = (1..one.choice).map(|choice| Deviation { choice, ..one });
            for candidate in earlier.chain(smaller) {
                if !self.has_time() {
                    return best;
                }
                let mut changed = best.clone();
                changed.deviations[at] = candidate;
                if let Some(ran) = self.breaks(&changed)
                    && measure(&ran) < measure(&best)
                {
                    best = ran;
                    break;
                }
            }
        }
        best
    }
}

/// What is smaller: fewer deviations, then earlier ones, then smaller choices.
fn measure(schedule: &Schedule) -> (usize, u64, u64) {
    let turns = schedule.deviations.iter().map(|one| u64::from(one.turn)).sum();
    let choices = schedule.deviations.iter().map(|one| u64::from(one.choice)).sum();
    (schedule.deviations.len(), turns, choices)
}
