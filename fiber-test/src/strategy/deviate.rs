//! First in, first out, but for a given list of deviations: replay.

use crate::machine::Choices;
use crate::schedule::Deviation;

#[derive(Debug)]
pub(crate) struct Deviate {
    deviations: Vec<Deviation>,
    next: usize,
}

impl Deviate {
    /// `deviations` are in the order of their turns.
    pub(crate) fn new(deviations: Vec<Deviation>) -> Self {
        Deviate { deviations, next: 0 }
    }

    pub(crate) fn choose(&mut self, choices: &Choices<'_>) -> usize {
        match self.deviations.get(self.next) {
            Some(one) if one.turn <= choices.turn => {
                self.next += 1;
                (one.choice as usize).min(choices.len() - 1)
            }
            _ => 0,
        }
    }
}
