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

/// Faults that the strategy chooses before each turn, as it does the fiber.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenFaults {
    /// How many of each kind may still happen.
    pub(crate) left: Vec<(FaultKind, u32)>,
    /// For how long each lasts.
    pub(crate) lasts: Duration,
}

impl OpenFaults {
    fn kinds(&self) -> Vec<FaultKind> {
        let is_left =
            |kind: &FaultKind| self.left.iter().any(|(one, left)| *one == kind.counts_as() && *left > 0);
        FaultKind::ALL.into_iter().filter(is_left).collect()
    }

    fn spend(&mut self, kind: FaultKind) {
        let of_kind = self.left.iter_mut().filter(|(one, _)| *one == kind.counts_as());
        of_kind.for_each(|(_, left)| *left = left.saturating_sub(1));
    }
}

#[derive(Default)]
pub(crate) struct PlannedFaults {
    /// The last one first.
    planned: Vec<PlannedFault>,
    happened: Vec<Fault>,
    open: OpenFaults,
    /// The turn before which none was chosen, or no other one.
    passed: Option<u32>,
}

impl PlannedFaults {
    pub(crate) fn new(mut planned: Vec<PlannedFault>) -> Self {
        // Those before one turn happen in the order in which they are given.
        planned.reverse();
        planned.sort_by_key(|one| Reverse(one.turn));
        PlannedFaults { planned, happened: Vec::new(), open: OpenFaults::default(), passed: None }
    }

    pub(crate) fn and(self, open: OpenFaults) -> Self {
        PlannedFaults { open, ..self }
    }

    /// The kinds of which one may be chosen before this turn.
    #[inline]
    pub(crate) fn open(&self, turn: u32) -> Vec<FaultKind> {
        if self.open.left.is_empty() || self.passed == Some(turn) { Vec::new() } else { self.open.kinds() }
    }

    /// None is chosen before this turn, or no other one.
    pub(crate) fn pass(&mut self, turn: u32) {
        self.passed = Some(turn);
    }

    /// It happens before this turn.
    pub(crate) fn choose(&mut self, turn: u32, kind: FaultKind, hosts: Vec<String>) {
        self.open.spend(kind);
        let lasts = if kind.is_instant() { Duration::ZERO } else { self.open.lasts };
        let aim = Aim::Exactly(Fault { turn, kind, hosts, lasts });
        self.planned.push(PlannedFault { turn, aim });
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
