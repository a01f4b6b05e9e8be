//! The numbers that a run needs apart from the order of turns: those that the program draws, and those that simulated machines do.

use super::cuts::{self, Cuts};
use super::decisions::Decisions;
use super::draws::Draws;
use super::lane::Lane;
use crate::schedule::MAX_NUMBER;

pub(crate) struct Numbers {
    draws: Draws,
    cuts: Cuts,
    /// Random numbers are below this, and each is a choice.
    pub(crate) below: Option<u32>,
}

impl Numbers {
    pub(super) fn new(seed: u64) -> Self {
        Numbers { draws: Draws::new(seed), cuts: Cuts::new(seed), below: None }
    }

    pub(super) fn restart(&mut self, seed: u64) {
        self.draws.restart(seed);
        self.cuts = Cuts::new(seed);
    }

    /// The next lane.
    pub(super) fn created(&mut self, parent: Lane) {
        self.draws.created(parent);
    }

    /// A random number of the fiber whose turn it is.
    pub(super) fn random(&mut self, lane: Option<Lane>, decisions: &mut Decisions) -> u64 {
        let drawn = self.draws.draw(lane);
        match self.below {
            Some(most) => u64::from(decisions.choose_number(most, drawn)),
            None => {
                decisions.note_draw();
                drawn
            }
        }
    }

    /// Which of several borrowed tasks runs next. It is chosen as a random number is that the strategy enumerates. Without chance, it is the
    /// first one.
    pub(super) fn task(&mut self, count: usize, lane: Option<Lane>, decisions: &mut Decisions) -> usize {
        let most = u32::try_from(count).unwrap_or(u32::MAX);
        // In any case, so that the random numbers of the fiber are the same under each strategy.
        let drawn = self.draws.draw(lane);
        let drawn = if decisions.are_without_chance() { 0 } else { drawn };
        decisions.choose_number(most, drawn) as usize
    }

    /// How many bytes of these the network transfers at once. `None`: all.
    pub(super) fn cut(&mut self, bytes: usize, decisions: &mut Decisions) -> Option<usize> {
        let choices = cuts::choices(bytes);
        let (drawn, weight) = match decisions.are_without_chance() {
            true => (0, f64::from(choices)),
            false => self.cuts.draw(choices),
        };
        cuts::length(decisions.choose_cut(choices, drawn, weight), bytes)
    }

    /// One of so many outcomes of a crash of a disk. Without chance, it is the first one.
    pub(super) fn loss(&mut self, outcomes: usize, decisions: &mut Decisions) -> usize {
        let most = u32::try_from(outcomes).unwrap_or(MAX_NUMBER).min(MAX_NUMBER);
        let drawn = if decisions.are_without_chance() { 0 } else { self.cuts.any(most) };
        decisions.choose_number(most, u64::from(drawn)) as usize
    }
}
