//! All schedules, those with few preemptions before those with more (Musuvathi, Qadeer: "Iterative context bounding for
//! systematic testing of multithreaded programs", 2007).
//!
//! Every schedule is run once: it is a shorter one, whose fibers then run until they wait, and one more choice.

use crate::schedule::Deviation;
use crate::strategy::{Guided, Point, Strategy};

pub(crate) struct Enumeration {
    /// What is to be run, by the number of preemptions.
    open: Vec<Vec<Vec<Deviation>>>,
    most_preemptions: usize,
    /// How many more schedules may be kept to be run.
    room: usize,
}

/// Where a schedule differs from one whose fibers run until they wait.
pub(crate) struct Prefix {
    deviations: Vec<Deviation>,
    preemptions: usize,
}

impl Prefix {
    pub(crate) fn strategy(&self) -> Strategy {
        Strategy::Guided(Guided::new(self.deviations.clone()))
    }
}

impl Enumeration {
    pub(crate) fn new(most_preemptions: usize, room: usize) -> Self {
        Enumeration { open: vec![vec![Vec::new()]], most_preemptions, room }
    }

    /// Whether nothing is left to be run.
    pub(crate) fn is_complete(&self) -> bool {
        self.open.iter().all(Vec::is_empty)
    }

    pub(crate) fn next(&mut self) -> Option<Prefix> {
        let preemptions = self.open.iter().position(|prefixes| !prefixes.is_empty())?;
        let deviations = self.open[preemptions].pop()?;
        Some(Prefix { deviations, preemptions })
    }

    /// A schedule was run: those that differ from it in one choice past its prefix are to be run, too.
    pub(crate) fn learn(&mut self, prefix: &Prefix, points: &[Point]) {
        for point in points {
            let preemptions = prefix.preemptions + usize::from(point.is_preemption);
            if preemptions > self.most_preemptions {
                continue;
            }
            if self.open.len() <= preemptions {
                self.open.resize_with(preemptions + 1, Vec::new);
            }
            for choice in (0..point.choices).filter(|choice| *choice != point.usual) {
                if self.room == 0 {
                    return;
                }
                self.room -= 1;
                let mut deviations = prefix.deviations.clone();
                deviations.push(Deviation { turn: point.turn, choice });
                self.open[preemptions].push(deviations);
            }
        }
    }
}
