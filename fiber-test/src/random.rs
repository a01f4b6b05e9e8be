//! Randomness that is the same in every run and version: SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom
//! number generators", 2014).

#[derive(Clone, Debug)]
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    pub(crate) fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    /// Another generator, whose numbers have nothing to do with those of this one.
    pub(crate) fn split(&mut self) -> Self {
        SplitMix64(self.next())
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, by multiplication; its bias is below `bound` in 2^64.
    fn below(&mut self, bound: usize) -> usize {
        let product = u128::from(self.next()) * bound as u128;
        (product >> 64) as usize
    }

    /// Every order is equally likely (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
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
    fn every_order_of_three_is_about_as_frequent() {
        let mut random = SplitMix64::new(0);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            let mut order = [0, 1, 2];
            random.shuffle(&mut order);
            *counts.entry(order).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| (800..1200).contains(count)), "{counts:?}");
    }
}
