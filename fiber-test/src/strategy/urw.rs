//! A random walk weighted by the remaining turns of each fiber. A plain walk reaches an interleaving of a long fiber with
//! a short one exponentially seldom; this makes all about equally likely (Zhao, Wolff, Mathur, Roychoudhury: "Selectively
//! Uniform Concurrency Testing", 2025).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::lanes::{LaneKey, Lanes};
use crate::machine::{Choices, Lane};
use crate::random::SplitMix64;

/// The number of turns of each fiber in earlier schedules.
pub(crate) type Expected = BTreeMap<LaneKey, u32>;

#[derive(Debug)]
pub(crate) struct Urw {
    random: SplitMix64,
    expected: Arc<Expected>,
    lanes: Lanes,
    /// By lane: turns taken, and turns expected.
    turns: Vec<(u32, u32)>,
}

impl Urw {
    pub(crate) fn new(random: SplitMix64, expected: Arc<Expected>) -> Self {
        Urw { random, expected, lanes: Lanes::default(), turns: Vec::new() }
    }

    pub(crate) fn created(&mut self, lane: Lane, parent: Lane) {
        self.lanes.created(lane, parent);
        let expected = self.lanes.key(lane).and_then(|key| self.expected.get(&key));
        self.turns.push((0, expected.copied().unwrap_or(1)));
    }

    pub(crate) fn choose(&mut self, choices: &Choices<'_>) -> usize {
        let choice = match choices.len() {
            1 => 0,
            more => self.draw(choices, more),
        };
        if let Some(index) = choices.lane(choice).index() {
            self.turns[index].0 += 1;
        }
        choice
    }

    fn draw(&mut self, choices: &Choices<'_>, count: usize) -> usize {
        let total: u64 = (0..count).map(|choice| self.weight(choices.lane(choice))).sum();
        let mut left = self.random.below(total as usize) as u64;
        for choice in 0..count {
            let weight = self.weight(choices.lane(choice));
            if left < weight {
                return choice;
            }
            left -= weight;
        }
        count - 1
    }

    /// The remaining turns of a fiber, at least the one that it waits for.
    fn weight(&self, lane: Lane) -> u64 {
        lane.index().map_or(1, |index| {
            let (taken, expected) = self.turns[index];
            u64::from(expected.saturating_sub(taken).max(1))
        })
    }

    /// The turns of every fiber of this run.
    pub(crate) fn taken(&self) -> impl Iterator<Item = (LaneKey, u32)> {
        self.lanes.keys().zip(self.turns.iter().map(|(taken, _)| *taken))
    }
}
