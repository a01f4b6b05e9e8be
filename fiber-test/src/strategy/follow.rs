//! Keeps a given order of fibers as far as possible: to find a schedule that differs from another one in one place only.

use super::lanes::{LaneKey, Lanes};
use crate::machine::{Choices, Lane};

#[derive(Debug)]
pub(crate) struct Follow {
    order: Vec<LaneKey>,
    next: usize,
    lanes: Lanes,
}

impl Follow {
    pub(crate) fn new(order: Vec<LaneKey>) -> Self {
        Follow { order, next: 0, lanes: Lanes::default() }
    }

    pub(crate) fn created(&mut self, lane: Lane, parent: Lane) {
        self.lanes.created(lane, parent);
    }

    pub(crate) fn choose(&mut self, choices: &Choices<'_>) -> usize {
        let wanted = self.order.get(self.next).copied();
        self.next += 1;
        let is_wanted = |choice: &usize| self.lanes.key(choices.lane(*choice)) == wanted;
        wanted.and_then(|_| (0..choices.len()).find(is_wanted)).unwrap_or(0)
    }
}
