//! Randomness that is the same in every run and version: SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom
//! number generators", 2014).

#[derive(Clone, Debug)]
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    pub(crate) fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    /// Another generator, whose numbers are independent of those of this one.
    pub(crate) fn split(&mut self) -> Self {
        SplitMix64(self.next())
    }

    /// One of many generators of a seed. The state moves in equal steps, so the numbers must be spread first.
    pub(crate) fn numbered(seed: u64, number: u64) -> Self {
        SplitMix64(mix(seed.wrapping_add(mix(number.wrapping_add(STEP)))))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// A number below `bound`, by multiplication; its bias is below `bound` in 2^64.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let product = u128::from(self.next()) * bound as u128;
        (product >> 64) as usize
    }
}

/// The golden ratio, as the authors chose it.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads the bits of a number over all of them.
pub(crate) fn mix(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_the_published_sequence_for_seed_1234567() {
        let mut random = SplitMix64::new(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn neighbouring_numbers_of_a_seed_have_nothing_in_common() {
        let draw = |number: u64| {
            let mut random = SplitMix64::numbered(7, number);
            (0..8).map(|_| random.next()).collect::<Vec<u64>>()
        };
        let second = draw(2);
        assert!(draw(1).iter().all(|number| !second.contains(number)));
    }
}
