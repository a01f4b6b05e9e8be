//! Which faults of the network are to happen before which turn, and which have.

use std::cmp::Reverse;
use std::time::Duration;

use crate::fault::{Fault, FaultKind};

/// A fault to come.
#[derive(Clone, Debug)]
pub(crate) struct PlannedFault {
    pub(crate) turn: u32,
    pub(crate) aim: Aim,
}

#[derive(Clone, Debug)]
pub(crate) enum Aim {
    Exactly(Fault),
    /// Of the hosts that there are then, some, by this number.
    Any {
        kind: FaultKind,
        number: u64,
        lasts: Duration,
    },
}

impl From<&Fault> for PlannedFault {
    fn from(fault: &Fault) -> Self {
        PlannedFault { turn: fault.turn, aim: Aim::Exactly(fault.clone()) }
    }
}

#[derive(Default)]
pub(crate) struct PlannedFaults {
    /// The last one first.
    planned: Vec<PlannedFault>,
    happened: Vec<Fault>,
}

impl PlannedFaults {
    pub(crate) fn new(mut planned: Vec<PlannedFault>) -> Self {
        planned.sort_by_key(|one| Reverse(one.turn));
        PlannedFaults { planned, happened: Vec::new() }
    }

    /// Whether one is to happen before this turn.
    #[inline]
    pub(crate) fn is_due(&self, turn: u32) -> bool {
        self.planned.last().is_some_and(|next| next.turn <= turn)
    }

    /// The one that happens now.
    pub(crate) fn take(&mut self, turn: u32) -> Option<Aim> {
        self.planned.pop_if(|next| next.turn <= turn).map(|planned| planned.aim)
    }

    pub(crate) fn note(&mut self, fault: Fault) {
        self.happened.push(fault);
    }

    /// Those that came to something.
    pub(crate) fn happened(&self) -> &[Fault] {
        &self.happened
    }
}
