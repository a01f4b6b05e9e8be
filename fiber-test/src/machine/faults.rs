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
        // Those before one turn happen in the order in which they are given.
        planned.reverse();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_before_one_turn_keep_their_order() {
        let fault = |turn, host: &str| Fault {
            turn,
            kind: FaultKind::Crash,
            hosts: vec![host.to_owned()],
            lasts: Duration::ZERO,
        };
        let all = [fault(3, "a"), fault(1, "b"), fault(3, "c"), fault(2, "d")];
        let mut planned = PlannedFaults::new(all.iter().map(PlannedFault::from).collect());
        let names = std::iter::from_fn(|| match planned.take(3)? {
            Aim::Exactly(fault) => Some(fault.hosts.concat()),
            Aim::Any { .. } => None,
        });
        assert_eq!(names.collect::<Vec<_>>(), ["b", "d", "a", "c"]);
    }
}
