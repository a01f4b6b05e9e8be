//! Probabilistic concurrency testing: every fiber has a random priority, the highest runs, and at a few random turns
//! the one that runs falls below those that never fell (Burckhardt, Kothari, Musuvathi, Nagarakatte: "A randomized scheduler with
//! probabilistic guarantees of finding bugs", 2010).
//!
//! The number of change points is drawn for every schedule: exactly d - 1 of them would miss the bugs of short programs
//! when d is too large.

use crate::machine::{Choices, Lane};
use crate::random::SplitMix64;

/// Change points per schedule are fewer than this: a bug that needs more orderings is hardly ever found by anything.
const MOST_CHANGES: usize = 8;

#[derive(Debug)]
pub(crate) struct Pct {
    random: SplitMix64,
    /// The turns before which the one that runs is demoted, last first.
    changes: Vec<u32>,
    /// By lane.
    priorities: Vec<i64>,
    lowest: i64,
    last: Lane,
}

impl Pct {
    /// `turns`: how many turns such a program takes.
    pub(crate) fn new(mut random: SplitMix64, turns: u32) -> Self {
        let count = random.below(MOST_CHANGES);
        let mut changes: Vec<u32> =
            (0..count).map(|_| 1 + random.below(turns.max(1) as usize) as u32).collect();
        changes.sort_unstable_by(|a, b| b.cmp(a));
        Pct { random, changes, priorities: Vec::new(), lowest: i64::MIN / 2, last: Lane::NONE }
    }

    pub(crate) fn created(&mut self, lane: Lane) {
        let Some(index) = lane.index() else { return };
        if self.priorities.len() <= index {
            self.priorities.resize(index + 1, 0);
        }
        // Above all that were ever demoted.
        self.priorities[index] = (self.random.next() >> 2) as i64 + 1;
    }

    pub(crate) fn demote(&mut self, lane: Lane) {
        if let Some(priority) = lane.index().and_then(|index| self.priorities.get_mut(index)) {
            self.lowest -= 1;
            *priority = self.lowest;
        }
    }

    /// Below all that were never changed; in which order with those that were, chance decides: who was changed first need not
    /// be above.
    fn change(&mut self, lane: Lane) {
        let below = -1 - (self.random.next() >> 2) as i64;
        if let Some(priority) = lane.index().and_then(|index| self.priorities.get_mut(index)) {
            *priority = below;
        }
    }

    pub(crate) fn choose(&mut self, choices: &Choices<'_>) -> usize {
        let is_due = |turn: &u32| *turn <= choices.turn;
        if let Some(ahead) = choices.run_ahead()
            && choices.paused == Some(self.last)
            && !choices.has_news()
            && !self.changes.last().is_some_and(is_due)
        {
            // Its priority was the highest, and is.
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
