//! Where a transfer of the simulated network is cut short, and where a write to a simulated disk is torn: a decision of the
//! schedule, like the order of turns.

use crate::random::SplitMix64;

/// A long transfer is cut among this many bytes at its beginning, or at its end.
const NEAR: u32 = 32;

/// How many choices there are for a transfer of this many bytes: to transfer all of them, or fewer.
pub(crate) fn choices(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX).min(2 * NEAR)
}

/// How many bytes are transferred by a choice. `None`: all.
pub(crate) fn length(choice: u32, bytes: usize) -> Option<usize> {
    let at_the_end = (2 * NEAR).saturating_sub(choice) as usize;
    match choice {
        0 => None,
        _ if choice <= NEAR || bytes <= 2 * NEAR as usize => Some(choice as usize),
        _ => Some(bytes - at_the_end),
    }
}

/// The choices of the strategies that draw: every other transfer is cut, anywhere.
#[derive(Debug)]
pub(super) struct Cuts(SplitMix64);

impl Cuts {
    pub(super) fn new(seed: u64) -> Self {
        Cuts(SplitMix64::new(seed).split().split())
    }

    /// One of so many choices.
    pub(super) fn any(&mut self, choices: u32) -> u32 {
        self.0.below(choices as usize) as u32
    }

    /// The choice, and how many there would be if all were as likely.
    pub(super) fn draw(&mut self, choices: u32) -> (u32, f64) {
        match self.0.below(2) {
            0 => (0, 2.0),
            _ => (1 + self.0.below(choices as usize - 1) as u32, 2.0 * f64::from(choices - 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(bytes: usize) -> Vec<Option<usize>> {
        (0..choices(bytes)).map(|choice| length(choice, bytes)).collect()
    }

    #[test]
    fn a_short_transfer_is_cut_everywhere() {
        assert_eq!(lengths(4), [None, Some(1), Some(2), Some(3)]);
        assert_eq!(lengths(64), [vec![None], (1..64).map(Some).collect()].concat());
    }

    #[test]
    fn a_long_transfer_is_cut_near_its_ends() {
        let all = lengths(1000);
        assert_eq!(all[1..=32], (1..=32).map(Some).collect::<Vec<_>>());
        assert_eq!(all[33..], (969..1000).map(Some).collect::<Vec<_>>());
    }

    #[test]
    fn one_byte_is_not_cut() {
        assert_eq!(choices(1), 1);
        assert_eq!(choices(0), 0);
    }
}
