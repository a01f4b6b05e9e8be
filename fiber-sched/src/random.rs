//! Random numbers without a lock: SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators",
//! 2014).

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

/// The golden ratio in 64 bits. It is odd, so the counter visits every number before one recurs.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// A counter, whose values are mixed into random numbers. Not for secrets.
#[derive(Debug)]
pub(crate) struct Random(AtomicU64);

impl Random {
    /// Starts at a random number from the operating system.
    pub(crate) fn new() -> Self {
        Random(AtomicU64::new(RandomState::new().hash_one(GAMMA)))
    }

    pub(crate) fn next(&self) -> u64 {
        // Relaxed: publishes nothing, pairs with nothing. Each call gets its own value, because it is a single
        // operation.
        mix(self.0.fetch_add(GAMMA, Ordering::Relaxed).wrapping_add(GAMMA))
    }
}

fn mix(counter: u64) -> u64 {
    let mixed = (counter ^ (counter >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_the_published_sequence_for_seed_1234567() {
        let random = Random(AtomicU64::new(1_234_567));
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn two_generators_differ() {
        assert_ne!(Random::new().next(), Random::new().next());
    }
}
