//! Bucket by bucket: all that can run at one moment have a turn, in a random order, before what they make runnable.

use crate::machine::Choices;
use crate::random::SplitMix64;

#[derive(Debug)]
pub(crate) struct Rounds {
    random: SplitMix64,
    /// How many of the round are left: those that can run for longest.
    left: usize,
}

impl Rounds {
    pub(crate) fn new(random: SplitMix64) -> Self {
        Rounds { random, left: 0 }
    }

    pub(crate) fn choose(&mut self, choices: &Choices<'_>) -> usize {
        // Fewer than were left, when simulated workers are all taken.
        self.left = self.left.min(choices.len());
        if self.left == 0 {
            self.left = choices.len();
        }
        self.left -= 1;
        self.random.below(self.left + 1)
    }
}
