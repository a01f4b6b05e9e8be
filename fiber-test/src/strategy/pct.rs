//! Probabilistic concurrency testing: every fiber has a random priority, and the highest one runs. At random decisions
//! the fiber that ran falls below those that never fell (Burckhardt, Kothari, Musuvathi, Nagarakatte: "A randomized scheduler with
//! probabilistic guarantees of finding bugs", 2010).
//!
//! The paper has exactly d - 1 changes, for bugs of d orderings. No d is good for all programs, so the schedules have [rules](RULES) in
//! turn, from no change to one before every decision. The decisions are those with several choices, from the second on: before the first
//! one, no fiber has run that could fall.
//!
//! By a strict rule, as in the paper, a fiber that falls later falls lower. So two fibers may have alternating turns. By the other rules, the
//! order of the fallen fibers is random, so a second change need not release the fiber that the first one held back.

use crate::machine::{Choices, Lane};
use crate::random::SplitMix64;

/// When fibers fall, and how low.
#[derive(Clone, Copy, Debug)]
struct Rule {
    changes: Changes,
    is_strict: bool,
}

#[derive(Clone, Copy, Debug)]
enum Changes {
    /// Fewer than 2, 4, 8 or 16, at random places: one fiber is far ahead of others.
    Few,
    /// Half as many as decisions, at random places.
    Half,
    /// One before every decision up to a random one: all have begun, and then some are far ahead.
    First,
    /// One before every decision: all fibers stay abreast.
    Every,
}

/// The rules of the schedules, in turn. The first ones find bugs of few turns. The number of rules has no common factor with those of
/// the strategies and of the kinds of mishaps, which are in turn, too.
const RULES: [Rule; 7] = [
    Rule { changes: Changes::First, is_strict: false },
    Rule { changes: Changes::Few, is_strict: false },
    Rule { changes: Changes::Every, is_strict: true },
    Rule { changes: Changes::Few, is_strict: false },
    Rule { changes: Changes::First, is_strict: false },
    Rule { changes: Changes::Few, is_strict: true },
    Rule { changes: Changes::Half, is_strict: true },
];

/// "Few" is below one of so many powers of two, from 2 on.
const POWERS: usize = 4;

/// The first decision at which a fall makes a difference.
const FIRST_CHANGE: u32 = 2;

/// The assumed number of decisions of a program that was not run yet.
const FEW_DECISIONS: u32 = 8;

#[derive(Debug)]
pub(crate) struct Pct {
    random: SplitMix64,
    is_strict: bool,
    /// The last fiber falls before every decision up to this one.
    up_to: u32,
    /// And before these, last first.
    changes: Vec<u32>,
    /// The next decision before which it falls.
    next_change: u32,
    /// The number of decisions with several choices so far.
    decisions: u32,
    /// By lane.
    priorities: Vec<i64>,
    lowest: i64,
    last: Lane,
}

impl Pct {
    /// The schedule of this number. `decisions`: the expected number of decisions with several choices; 0 if unknown.
    pub(crate) fn new(mut random: SplitMix64, number: u64, decisions: u32) -> Self {
        let Rule { changes, is_strict } = RULES[(number % RULES.len() as u64) as usize];
        let decisions = if decisions == 0 { FEW_DECISIONS } else { decisions };
        let places = (decisions + 1).saturating_sub(FIRST_CHANGE).max(1) as usize;
        let up_to = match changes {
            Changes::Few | Changes::Half => 0,
            Changes::First => FIRST_CHANGE + random.below(places) as u32,
            Changes::Every => u32::MAX,
        };
        let count = match changes {
            Changes::Few => {
                let power = random.below(POWERS);
                random.below(2 << power)
            }
            Changes::Half => places.div_ceil(2),
            Changes::First | Changes::Every => 0,
        };
        let mut changes: Vec<u32> = (0..count).map(|_| FIRST_CHANGE + random.below(places) as u32).collect();
        changes.sort_unstable_by(|a, b| b.cmp(a));
        let next_change = if up_to > 0 { FIRST_CHANGE } else { changes.pop().unwrap_or(u32::MAX) };
        Pct {
            random,
            is_strict,
            up_to,
            changes,
            next_change,
            decisions: 0,
            priorities: Vec::new(),
            lowest: i64::MIN / 2,
            last: Lane::NONE,
        }
    }

    /// The next lane.
    pub(crate) fn created(&mut self) {
        // Above all fibers that ever fell.
        self.priorities.push((self.random.next() >> 2) as i64 + 1);
    }

    /// Falls below all others.
    pub(crate) fn demote(&mut self, lane: Lane) {
        self.lowest -= 1;
        let lowest = self.lowest;
        self.set(lane, lowest);
    }

    fn change(&mut self, lane: Lane) {
        if self.is_strict {
            self.demote(lane);
        } else {
            let below = -1 - (self.random.next() >> 2) as i64;
            self.set(lane, below);
        }
    }

    fn set(&mut self, lane: Lane, to: i64) {
        if let Some(priority) = lane.index().and_then(|index| self.priorities.get_mut(index)) {
            *priority = to;
        }
    }

    pub(crate) fn choose(&mut self, choices: &Choices<'_>) -> usize {
        let is_decision = choices.len() > 1;
        self.decisions += u32::from(is_decision);
        let falls = is_decision && self.decisions >= self.next_change;
        if let Some(ahead) = choices.run_ahead()
            && choices.paused == Some(self.last)
            && !choices.has_news()
            && !falls
        {
            // Its priority was the highest, and still is.
            return ahead;
        }
        if falls {
            self.find_next_change();
            self.change(self.last);
        }
        let choice = if is_decision { self.highest(choices) } else { 0 };
        self.last = choices.lane(choice);
        choice
    }

    /// The choice of the highest priority. Of several tasks of one fiber, the first.
    fn highest(&self, choices: &Choices<'_>) -> usize {
        let (mut highest, mut at) = (i64::MIN, 0);
        for choice in 0..choices.len() {
            let priority = self.priority(choices.lane(choice));
            if priority > highest {
                (highest, at) = (priority, choice);
            }
        }
        at
    }

    /// Finds the first one after this decision.
    fn find_next_change(&mut self) {
        if self.decisions < self.up_to {
            self.next_change = self.decisions + 1;
            return;
        }
        self.next_change = u32::MAX;
        while let Some(next) = self.changes.pop() {
            if next > self.decisions {
                self.next_change = next;
                return;
            }
        }
    }

    fn priority(&self, lane: Lane) -> i64 {
        lane.index().and_then(|index| self.priorities.get(index)).copied().unwrap_or(0)
    }
}
