//! What goes wrong in a run on purpose: cancellations from outside, faults of the network, and fibers that are late.

use fiber_core::Instant;

use super::cancellations::{Cancellations, PlannedCancellation};
use super::faults::{OpenFaults, PlannedFault, PlannedFaults};
use super::lateness::Lateness;
use crate::random::SplitMix64;

#[derive(Default)]
pub(crate) struct Mishaps {
    pub(crate) cancellations: Cancellations,
    pub(super) faults: PlannedFaults,
    pub(crate) lateness: Option<Lateness>,
    /// What draws lateness if the program turns out to have a network.
    chance: Option<SplitMix64>,
    /// When something is due that overtakes no fiber.
    waits_for_fibers: Vec<Instant>,
    /// Whether there may be a cancellation or a fault. Most runs have none, and ask at every turn.
    are_planned: bool,
}

impl Mishaps {
    /// Those of the next run.
    pub(crate) fn restart(
        &mut self,
        cancellations: Vec<PlannedCancellation>,
        faults: Vec<PlannedFault>,
        open: OpenFaults,
        lateness: Option<SplitMix64>,
    ) {
        let are_planned = !cancellations.is_empty() || !faults.is_empty() || !open.left.is_empty();
        if are_planned || self.are_planned {
            self.cancellations = Cancellations::new(cancellations);
            self.faults = PlannedFaults::new(faults).and(open);
            self.are_planned = are_planned;
        }
        self.waits_for_fibers.clear();
        self.lateness.take_if(|before| before.is_of_network());
        match &mut self.lateness {
            Some(bound) => bound.restart(lateness),
            None => self.chance = lateness,
        }
    }

    /// The program has a network.
    pub(crate) fn has_network(&mut self) {
        let chance = &mut self.chance;
        self.lateness.get_or_insert_with(|| {
            let mut lateness = Lateness::of_network();
            lateness.restart(chance.take());
            lateness
        });
    }

    /// What is due at this instant is to come after the fibers that can run then, unless the test asks for lateness.
    pub(crate) fn wait_for_fibers(&mut self, due: Instant) {
        self.waits_for_fibers.push(due);
    }

    pub(crate) fn wait_no_longer(&mut self, due: Instant) {
        if let Some(place) = self.waits_for_fibers.iter().position(|one| *one == due) {
            self.waits_for_fibers.swap_remove(place);
        }
    }

    /// Whether what is due at `next` may overtake fibers that can run since `ready`.
    pub(super) fn may_overtake(&self, ready: Instant, next: Instant) -> bool {
        let Some(lateness) = &self.lateness else { return false };
        let waits = lateness.is_of_network() && self.waits_for_fibers.contains(&next);
        !waits && lateness.allows(ready, next)
    }

    #[inline]
    pub(super) fn are_planned(&self) -> bool {
        self.are_planned
    }

    /// Whether one comes before this turn.
    #[inline]
    pub(super) fn are_due(&self, turn: u32) -> bool {
        self.are_planned && (self.cancellations.is_due(turn) || self.faults.is_due(turn))
    }
}
