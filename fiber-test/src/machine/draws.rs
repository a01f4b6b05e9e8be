//! Random numbers that fibers get. Strategies have generators of their own, so drawing a number does not change the schedule.
//!
//! Every fiber has its own numbers, by its place in the tree: another order of turns does not change them.

use super::ready::Lane;
use crate::random::SplitMix64;
use crate::strategy::Lanes;

#[derive(Debug)]
pub(crate) struct Draws {
    seed: u64,
    lanes: Lanes,
    /// How many numbers each lane has drawn.
    counts: Vec<u64>,
    /// For those outside of any turn.
    outside: SplitMix64,
}

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        let outside = SplitMix64::new(seed).split();
        Draws { seed, lanes: Lanes::default(), counts: Vec::new(), outside }
    }

    pub(crate) fn restart(&mut self, seed: u64) {
        self.seed = seed;
        self.lanes.clear();
        self.counts.clear();
        self.outside = SplitMix64::new(seed).split();
    }

    pub(crate) fn created(&mut self, lane: Lane, parent: Lane) {
        self.lanes.created(lane, parent);
    }

    /// The next number of the fiber whose turn it is.
    pub(crate) fn draw(&mut self, lane: Option<Lane>) -> u64 {
        let known = lane.and_then(|lane| Some((lane.index()?, self.lanes.key(lane)?)));
        let Some((index, key)) = known else { return self.outside.next() };
        if self.counts.len() <= index {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
        SplitMix64::numbered(self.seed ^ key.number(), self.counts[index]).next()
    }
}
