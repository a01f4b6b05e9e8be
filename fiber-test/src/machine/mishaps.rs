//! What goes wrong in a run on purpose: cancellations from outside, faults of the network, and fibers that are late.

use super::cancellations::{Cancellations, PlannedCancellation};
use super::faults::{OpenFaults, PlannedFault, PlannedFaults};
use super::lateness::Lateness;
use crate::random::SplitMix64;

#[derive(Default)]
pub(crate) struct Mishaps {
    pub(crate) cancellations: Cancellations,
    pub(super) faults: PlannedFaults,
    pub(crate) lateness: Option<Lateness>,
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
        if let Some(bound) = &mut self.lateness {
            bound.restart(lateness);
        }
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
