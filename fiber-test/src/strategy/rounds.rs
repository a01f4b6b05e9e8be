//! Bucket by bucket: all tasks that are runnable at one moment have a turn, in a random order, before those that they make
//! runnable.

use crate::machine::Choices;
use crate::random::SplitMix64;

#[derive(Debug)]
pub(crate) struct Rounds {
    random: SplitMix64,
    /// The number of remaining tasks of the round: the longest runnable ones.
    left: usize,
}

impl Rounds {
    pub(crate) fn new(random: SplitMix64) -> Self {
        Rounds { random, left: 0 }
    }

    pub(crate) fn choose(&mut self, choices: &Choices<'_>) -> usize {
        // Fewer than were left, if all simulated workers are busy.
        self.left = self.left.min(choices.len());
        if self.left == 0 {
            self.left = choices.len();
        }
        self.left -= 1;
        self.random.below(self.left + 1)
    }
}
