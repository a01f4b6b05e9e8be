//! The smallest schedule that breaks a program in the same way: the one closest to first in, first out, which has fewer deviations, then
//! earlier ones, then smaller ones. First in, first out itself is tried first.
//!
//! Most bugs need one or two deviations from first in, first out, and a short program has few such schedules: those are all tried. For
//! longer programs, deviations are removed from the schedule that was found, many at a time first (Zeller, Hildebrandt: "Simplifying and isolating
//! failure-inducing input", 2002).

use std::collections::BTreeSet;
use std::time::Duration;

use super::problem::Problem;
use super::run::Execution;
use super::search::replay;
use crate::fault::Fault;
use crate::machine::Course;
use crate::schedule::{Cancellation, Deviation, Schedule};

/// The maximum number of turns of the program in one phase: a second in a debug build, a tenth of that in an optimised one.
const MAX_TURNS: u64 = 500_000;

/// At least this many runs like the one that was found may be tried, in all phases together: livelocks are long.
const LEAST_RUNS: u64 = 24;

/// But not more turns than this.
const MOST_TURNS: u64 = 10 * MAX_TURNS;

/// The durations that are tried for a fault of the network.
const TIMES: [Duration; 4] =
    [Duration::from_millis(1), Duration::from_millis(10), Duration::from_millis(100), Duration::from_secs(1)];

/// So many deviations from first in, first out are tried everywhere: one, and two.
const MOST_TRIED: usize = 2;

/// Runs a schedule. `None`: the time for that is over.
pub(crate) type Try<'a> = dyn FnMut(Course) -> Option<Execution> + 'a;

pub(crate) struct Shrunk {
    pub(crate) schedule: Schedule,
    /// The number of schedules that were tried.
    pub(crate) tried: u64,
}

/// `None`: the schedule does not break the program again, so the program is not deterministic.
pub(crate) fn shrink(found: &Schedule, problem: &Problem, run: &mut Try<'_>) -> Option<Shrunk> {
    let mut shrinker =
        Shrinker { run, problem, tried: 0, turns_left: MAX_TURNS, is_over: false, turns: 0, last: None };
    let mut best = shrinker.breaks(found)?;
    shrinker.turns_left = MAX_TURNS.max((LEAST_RUNS * u64::from(shrinker.turns)).min(MOST_TURNS));
    // Nothing is smaller.
    if let Some(fifo) = shrinker.breaks(&Schedule::fifo()) {
        return Some(Shrunk { schedule: fifo, tried: shrinker.tried });
    }
    best = shrinker.simplify_rest(best);
    best = shrinker.take_out(best);
    shrinker.begin_phase();
    if let Some(small) = shrinker.smaller_than(&best) {
        best = small;
    }
    shrinker.begin_phase();
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

/// The kinds of deviations of a schedule, besides the order of turns.
struct Kinds {
    /// The random numbers, and the smallest one. None if it has no numbers.
    numbers: BTreeSet<u32>,
    /// Whether time passes although a fiber could run.
    has_late: bool,
}

impl Kinds {
    fn of(schedule: &Schedule) -> Self {
        let all = &schedule.deviations;
        let numbers: BTreeSet<u32> =
            all.iter().filter_map(Deviation::as_number).map(|(_, number)| number).collect();
        let smallest = (!numbers.is_empty()).then_some(1);
        Kinds {
            numbers: numbers.into_iter().chain(smallest).collect(),
            has_late: all.iter().any(Deviation::is_later),
        }
    }
}

/// The result of one more deviation.
enum Tried {
    /// The program breaks, with it or with further ones.
    Broke(Schedule),
    /// It does not break.
    Possible,
    /// There is no such choice.
    Nothing,
}

struct Shrinker<'a, 'b> {
    run: &'a mut Try<'b>,
    problem: &'a Problem,
    tried: u64,
    turns_left: u64,
    /// Whether the time is over.
    is_over: bool,
    /// The turns of the last run.
    turns: u32,
    /// The schedule of the last run.
    last: Option<Schedule>,
}

impl Shrinker<'_, '_> {
    /// What is left of the turns of long runs, and at least the usual number.
    fn begin_phase(&mut self) {
        self.turns_left = self.turns_left.max(MAX_TURNS);
    }

    /// The schedule as it was run, without decisions that had no effect, if it breaks the program in the same way.
    fn breaks(&mut self, schedule: &Schedule) -> Option<Schedule> {
        let ran = (self.run)(replay(schedule));
        self.is_over = ran.is_none();
        let execution = ran?;
        self.tried += 1;
        self.turns = execution.counts.turns;
        self.turns_left = self.turns_left.saturating_sub(u64::from(self.turns.max(1)));
        let is_same = execution.problem.is_some_and(|problem| problem.is_like(self.problem));
        self.last = execution.schedule;
        self.last.clone().filter(|_| is_same)
    }

    /// Removes the seed of random numbers; removes each cancellation, or applies it to the whole program or an earlier turn.
    fn simplify_rest(&mut self, best: Schedule) -> Schedule {
        let plain = self.breaks(&Schedule { seed: 0, ..best.clone() });
        let mut best = plain.unwrap_or(best);
        let mut at = 0;
        while let Some(one) = best.cancellations.get(at).cloned() {
            let mut without = best.clone();
            without.cancellations.remove(at);
            match self.breaks(&without) {
                Some(smaller) => best = smaller,
                None => {
                    best = self.simpler_cancellation(&best, at, &one).unwrap_or(best);
                    at += 1;
                }
            }
        }
        self.simplify_faults(best)
    }

    /// Removes the faults of the network, or makes each of them earlier and shorter.
    fn simplify_faults(&mut self, mut best: Schedule) -> Schedule {
        let mut at = 0;
        while let Some(one) = best.faults.get(at).cloned() {
            match self.without_fault(&best, at) {
                Some(smaller) => best = smaller,
                None => {
                    best = self.simpler_fault(&best, at, &one).unwrap_or(best);
                    at += 1;
                }
            }
        }
        best
    }

    /// Removes a fault. Without it, the program has other turns, so another fault may have to come at another one.
    fn without_fault(&mut self, best: &Schedule, at: usize) -> Option<Schedule> {
        let mut without = best.clone();
        without.faults.remove(at);
        let plain = self.breaks(&without);
        let turns = self.turns;
        let places = (0..without.faults.len()).flat_map(|other| (0..turns).map(move |turn| (other, turn)));
        plain.or_else(|| {
            places.into_iter().find_map(|(other, turn)| {
                let mut moved = without.clone();
                moved.faults[other].turn = turn;
                self.has_time().then(|| self.breaks(&moved)).flatten()
            })
        })
    }

    fn simpler_fault(&mut self, best: &Schedule, at: usize, one: &Fault) -> Option<Schedule> {
        let sooner = TIMES.into_iter().filter(|lasts| *lasts < one.lasts);
        let sooner = sooner.map(|lasts| Fault { lasts, ..one.clone() });
        let earlier = (0..one.turn).map(|turn| Fault { turn, ..one.clone() });
        // The operation that fails may be the first one of a later turn.
        let kind = one.kind.counts_as();
        let plainer =
            (0..self.turns).filter(|_| kind != one.kind).map(|turn| Fault { turn, kind, ..one.clone() });
        plainer.chain(earlier).chain(sooner).find_map(|simpler| {
            let mut changed = best.clone();
            changed.faults[at] = simpler;
            self.has_time().then(|| self.breaks(&changed)).flatten()
        })
    }

    fn simpler_cancellation(&mut self, best: &Schedule, at: usize, one: &Cancellation) -> Option<Schedule> {
        let whole =
            (0..=one.turn).filter(|_| one.fiber.is_some()).map(|turn| Cancellation { turn, fiber: None });
        let earlier = (0..one.turn).map(|turn| Cancellation { turn, ..one.clone() });
        whole.chain(earlier).find_map(|simpler| {
            let mut changed = best.clone();
            changed.cancellations[at] = simpler;
            self.has_time().then(|| self.breaks(&changed)).flatten()
        })
    }

    fn has_time(&self) -> bool {
        self.turns_left > 0 && !self.is_over
    }

    /// Removes half of the deviations, a quarter, ... one, as long as possible.
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

    /// The first of all schedules with fewer deviations: none, one, two. They have deviations of the same kinds.
    fn smaller_than(&mut self, best: &Schedule) -> Option<Schedule> {
        let fewest = best.deviations.len();
        let none = Schedule { deviations: Vec::new(), ..best.clone() };
        // First in, first out itself was tried before.
        if fewest > 0
            && none != Schedule::fifo()
            && let Some(small) = self.breaks(&none)
        {
            return Some(small);
        }
        let kinds = Kinds::of(best);
        (1..fewest.min(MOST_TRIED + 1)).find_map(|more| self.with_more(&none, more, &kinds))
    }

    /// With so many more deviations, after the others.
    fn with_more(&mut self, schedule: &Schedule, more: usize, kinds: &Kinds) -> Option<Schedule> {
        let from = schedule.deviations.last().map_or(0, |last| last.turn);
        (from..self.turns).find_map(|turn| {
            self.with_numbers(schedule, turn, more, kinds)
                .or_else(|| self.with_time(schedule, turn, more, kinds))
                .or_else(|| self.with_choices(schedule, turn, more, kinds))
        })
    }

    /// Other random numbers before a turn.
    fn with_numbers(
        &mut self,
        schedule: &Schedule,
        turn: u32,
        more: usize,
        kinds: &Kinds,
    ) -> Option<Schedule> {
        let last = schedule.deviations.last().filter(|last| last.turn == turn);
        let first = last.map_or(Some(0), |last| last.as_number().map(|(nth, _)| nth + 1))?;
        for nth in (first..).take_while(|_| !kinds.numbers.is_empty()) {
            let mut is_drawn = false;
            for number in &kinds.numbers {
                match self.with_one(schedule, Deviation::number(turn, nth, *number), more, kinds) {
                    Tried::Broke(small) => return Some(small),
                    Tried::Possible => is_drawn = true,
                    Tried::Nothing => {}
                }
            }
            if !is_drawn {
                break;
            }
        }
        None
    }

    /// Time passes before a turn.
    fn with_time(&mut self, schedule: &Schedule, turn: u32, more: usize, kinds: &Kinds) -> Option<Schedule> {
        let later = Deviation { turn, choice: Deviation::LATER };
        match kinds.has_late.then(|| self.with_one(schedule, later, more, kinds))? {
            Tried::Broke(small) => Some(small),
            Tried::Possible | Tried::Nothing => None,
        }
    }

    /// Another fiber has a turn.
    fn with_choices(
        &mut self,
        schedule: &Schedule,
        turn: u32,
        more: usize,
        kinds: &Kinds,
    ) -> Option<Schedule> {
        for choice in 1.. {
            match self.with_one(schedule, Deviation { turn, choice }, more, kinds) {
                Tried::Broke(small) => return Some(small),
                Tried::Possible => {}
                // There were no more choices.
                Tried::Nothing => return None,
            }
        }
        None
    }

    /// With a deviation after the others, and then, if that is not enough, with as many more that there are `more` in all.
    fn with_one(&mut self, schedule: &Schedule, one: Deviation, more: usize, kinds: &Kinds) -> Tried {
        if !self.has_time() || schedule.deviations.last().is_some_and(|last| !one.is_after(last)) {
            return Tried::Nothing;
        }
        let mut longer = schedule.clone();
        longer.deviations.push(one);
        if let Some(small) = self.breaks(&longer) {
            return Tried::Broke(small);
        }
        let is_possible = self.last.as_ref().is_some_and(|last| last.deviations.last() == Some(&one));
        if is_possible
            && more > 1
            && let Some(small) = self.with_more(&longer, more - 1, kinds)
        {
            return Tried::Broke(small);
        }
        if is_possible { Tried::Possible } else { Tried::Nothing }
    }

    /// Moves each deviation to an earlier turn, or reduces its choice.
    fn pull_forward(&mut self, mut best: Schedule) -> Schedule {
        for at in 0..best.deviations.len() {
            let Some(one) = best.deviations.get(at).copied() else { break };
            let from = at.checked_sub(1).map_or(0, |before| best.deviations[before].turn + 1);
            let earlier = (from..one.turn).filter(|_| !one.is_number()).map(|turn| Deviation { turn, ..one });
            let smaller = match one.as_number() {
                Some((nth, number)) => {
                    (1..number).map(|less| Deviation::number(one.turn, nth, less)).collect()
                }
                None if one.is_later() => Vec::new(),
                None => (1..one.choice).map(|choice| Deviation { choice, ..one }).collect(),
            };
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

/// The size of a schedule: fewer deviations, then earlier ones, then smaller choices.
fn measure(schedule: &Schedule) -> (usize, u64, u64) {
    let turns = schedule.deviations.iter().map(|one| u64::from(one.turn)).sum();
    let choices = schedule.deviations.iter().map(|one| u64::from(one.choice)).sum();
    (schedule.deviations.len(), turns, choices)
}
