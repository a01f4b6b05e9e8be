//! Any task, all equally likely.

use crate::machine::Choices;
use crate::random::SplitMix64;

#[derive(Debug)]
pub(crate) struct RandomWalk(SplitMix64);

impl RandomWalk {
    pub(crate) fn new(random: SplitMix64) -> Self {
        RandomWalk(random)
    }

    pub(crate) fn choose(&mut self, choices: &Choices<'_>) -> usize {
        match choices.len() {
            1 => 0,
            more => self.0.below(more),
        }
    }
}
