//! Random numbers that fibers get. Strategies have generators of their own, so drawing a number does not change the schedule.
//!
//! Every fiber has its own numbers, by its place in the tree: another order of turns does not change them.

use super::lane::Lane;
use crate::random::SplitMix64;
use crate::strategy::{LaneKey, Lanes};

#[derive(Debug)]
pub(crate) struct Draws {
    seed: u64,
    /// The parents of all lanes.
    parents: Vec<Lane>,
    /// As far as they were asked for: most programs draw nothing.
    lanes: Lanes,
    /// How many numbers each lane has drawn.
    counts: Vec<u64>,
    /// For those outside of any turn.
    outside: SplitMix64,
}

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        let outside = SplitMix64::new(seed).split();
        Draws { seed, parents: Vec::new(), lanes: Lanes::default(), counts: Vec::new(), outside }
    }

    pub(crate) fn restart(&mut self, seed: u64) {
        self.seed = seed;
        self.parents.clear();
        self.lanes.clear();
        self.counts.clear();
        self.outside = SplitMix64::new(seed).split();
    }

    /// The next lane.
    pub(crate) fn created(&mut self, parent: Lane) {
        self.parents.push(parent);
    }

    fn key(&mut self, lane: Lane) -> Option<LaneKey> {
        for index in self.lanes.len()..self.parents.len() {
            self.lanes.created(Lane(index as u32), self.parents[index]);
        }
        self.lanes.key(lane)
    }

    /// The next number of the fiber whose turn it is.
    pub(crate) fn draw(&mut self, lane: Option<Lane>) -> u64 {
        let known = lane.and_then(|lane| Some((lane.index()?, self.key(lane)?)));
        let Some((index, key)) = known else { return self.outside.next() };
        if self.counts.len() <= index {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
        SplitMix64::numbered(self.seed ^ key.number(), self.counts[index]).next()
    }
}
