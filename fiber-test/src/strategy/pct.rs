//! Probabilistic concurrency testing: every fiber has a random priority, and the highest one runs. At a few random decisions
//! the fiber that ran falls below those that never fell (Burckhardt, Kothari, Musuvathi, Nagarakatte: "A randomized scheduler with
//! probabilistic guarantees of finding bugs", 2010).
//!
//! The number of change points is drawn for every schedule: exactly d - 1 of them would miss the bugs of short programs
//! when d is too large. They are drawn among the decisions with several choices, from the second on: before
//! the first one, no fiber has run that could fall. In a third of the schedules there are half as many as such decisions: five
//! philosophers take a fork each only if each of them falls at once.
//!
//! Half of the schedules are strict, as in the paper: a fiber that falls later falls lower. So two fibers may have
//! alternating turns. In the others, the order of the fallen fibers is random.

use crate::machine::{Choices, Lane};
use crate::random::SplitMix64;

/// There are fewer change points than this in most schedules.
const MAX_CHANGES: usize = 24;

/// In one schedule of so many, there is a change for every second decision.
const DENSE_ONE_IN: usize = 3;

/// The first decision at which a fall makes a difference.
const FIRST_CHANGE: u32 = 2;

/// The assumed number of decisions of a program that was not run yet.
const FEW_DECISIONS: u32 = 8;

#[derive(Debug)]
pub(crate) struct Pct {
    random: SplitMix64,
    /// The decisions before which the last fiber falls, last first.
    changes: Vec<u32>,
    is_strict: bool,
    /// The number of decisions with several choices so far.
    decisions: u32,
    /// By lane.
    priorities: Vec<i64>,
    lowest: i64,
    last: Lane,
}

impl Pct {
    /// `decisions`: the expected number of decisions with several choices; 0 if unknown.
    pub(crate) fn new(mut random: SplitMix64, decisions: u32) -> Self {
        let is_strict = random.below(2) == 0;
        let decisions = if decisions == 0 { FEW_DECISIONS } else { decisions };
        let places = (decisions + 1).saturating_sub(FIRST_CHANGE) as usize;
        let is_dense = random.below(DENSE_ONE_IN) == 0;
        let count = match places {
            0 => 0,
            _ if is_dense => places.div_ceil(2),
            _ => random.below(MAX_CHANGES + usize::from(is_strict)),
        };
        let mut changes: Vec<u32> = (0..count).map(|_| FIRST_CHANGE + random.below(places) as u32).collect();
        changes.sort_unstable_by(|a, b| b.cmp(a));
        Pct {
            random,
            changes,
            is_strict,
            decisions: 0,
            priorities: Vec::new(),
            lowest: i64::MIN / 2,
            last: Lane::NONE,
        }
    }

    pub(crate) fn created(&mut self, lane: Lane) {
        let Some(index) = lane.index() else { return };
        if self.priorities.len() <= index {
            self.priorities.resize(index + 1, 0);
        }
        // Above all fibers that ever fell.
        self.priorities[index] = (self.random.next() >> 2) as i64 + 1;
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
        self.decisions += u32::from(choices.len() > 1);
        let decisions = self.decisions;
        let is_due = |decision: &u32| *decision <= decisions;
        if let Some(ahead) = choices.run_ahead()
            && choices.paused == Some(self.last)
            && !choices.has_news()
            && !self.changes.last().is_some_and(is_due)
        {
            // Its priority was the highest, and still is.
            return ahead;
        }
        while self.changes.last().is_some_and(is_due) {
            self.changes.pop();
            self.change(self.last);
        }
        // Of several tasks of one fiber, the first.
        let highest = (0..choices.len()).rev().max_by_key(|choice| self.priority(choices.lane(*choice)));
        let choice = highest.unwrap_or(0);
        self.last = choices.lane(choice);
        choice
    }

    fn priority(&self, lane: Lane) -> i64 {
        lane.index().and_then(|index| self.priorities.get(index)).copied().unwrap_or(0)
    }
}
