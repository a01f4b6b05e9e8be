//! Keeps a given order of fibers as far as possible: to find a schedule that differs from another one in one place only.

use super::decision::Decision;
use super::lanes::{LaneKey, Lanes};
use crate::machine::{Choices, Lane};
use crate::schedule::Deviation;

#[derive(Debug)]
pub(crate) struct Follow {
    order: Vec<LaneKey>,
    next: usize,
    lanes: Lanes,
    /// The other decisions, by their turns: random numbers, and where time passes.
    others: Option<Vec<Deviation>>,
}

impl Follow {
    pub(crate) fn new(order: Vec<LaneKey>) -> Self {
        Follow { order, next: 0, lanes: Lanes::default(), others: None }
    }

    /// With the other decisions of a schedule, at the same turns.
    pub(crate) fn with_others(order: Vec<LaneKey>, deviations: &[Deviation]) -> Self {
        let is_other = |one: &&Deviation| one.is_number() || one.is_later();
        let others = deviations.iter().filter(is_other).copied().collect();
        Follow { others: Some(others), ..Follow::new(order) }
    }

    pub(crate) fn created(&mut self, lane: Lane, parent: Lane) {
        self.lanes.created(lane, parent);
    }

    pub(crate) fn choose(&mut self, choices: &Choices<'_>) -> Decision {
        let is_here = |one: &Deviation| one.is_later() && one.turn == choices.turn;
        if choices.may_be_later
            && let Some(others) = &mut self.others
            && let Some(at) = others.iter().position(is_here)
        {
            others.remove(at);
            return Decision::Later;
        }
        let wanted = self.order.get(self.next).copied();
        self.next += 1;
        let is_wanted = |choice: &usize| self.lanes.key(choices.lane(*choice)) == wanted;
        Decision::Take(wanted.and_then(|_| (0..choices.len()).find(is_wanted)).unwrap_or(0))
    }

    /// The random number that is drawn as the `nth` before the choice of `turn`, below `most`. `None`: it is left to chance.
    pub(crate) fn number(&self, turn: u32, nth: u32, most: u32) -> Option<u32> {
        let here = self.others.as_ref()?.iter().filter(|one| one.turn == turn);
        let number = here.filter_map(Deviation::as_number).find(|(at, _)| *at == nth);
        Some(number.map_or(0, |(_, number)| number.min(most - 1)))
    }
}
