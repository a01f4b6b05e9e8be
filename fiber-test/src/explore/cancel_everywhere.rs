//! First in, first out, cancelled everywhere: the whole program before each of its turns; then every fiber alone, before and after each of
//! its turns; then other schedules, with one or two cancellations anywhere, also while finalizers run.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::kinds::Search;
use super::portfolio::Portfolio;
use super::run::Execution;
use super::source::{Open, Planned, Source};
use crate::machine::{Census, Course, PlannedCancellation, Target};

pub(crate) struct CancelEverywhere {
    seed: u64,
    /// No fiber is cancelled alone.
    is_program_only: bool,
    stage: Stage,
    /// The planned cancellations, each for its own run.
    due: VecDeque<PlannedCancellation>,
    outstanding: usize,
    others: Portfolio,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The program is about to run to its end.
    First,
    /// It runs.
    Awaited,
    Known,
}

impl CancelEverywhere {
    pub(crate) fn new(seed: u64, is_program_only: bool, others: Portfolio) -> Self {
        CancelEverywhere {
            seed,
            is_program_only,
            stage: Stage::First,
            due: VecDeque::new(),
            outstanding: 0,
            others,
        }
    }

    fn plan(&self, cancellation: Option<PlannedCancellation>) -> Planned {
        let has_census = cancellation.is_none();
        let cancellations = cancellation.into_iter().collect();
        let course = Course { seed: self.seed, cancellations, has_census, ..Course::default() };
        Planned { course, search: Search::Fifo, open: None }
    }
}

/// All possible cancellations in a program that was run to its end.
fn everywhere(turns: u32, census: Option<&Census>) -> VecDeque<PlannedCancellation> {
    let whole = (0..turns).map(|turn| PlannedCancellation { turn, target: Target::Program });
    let mut last = BTreeMap::new();
    let mut alone = BTreeSet::new();
    let turns = census.into_iter().flat_map(Census::turns).take(turns as usize);
    for (turn, fiber) in (0..).zip(turns) {
        let Some(fiber) = fiber.filter(|fiber| *fiber != "0") else { continue };
        alone.insert((turn, fiber));
        // While it waits, or is runnable after that.
        alone.extend(last.insert(fiber, turn + 1).map(|after| (after, fiber)));
    }
    let alone = alone
        .into_iter()
        .map(|(turn, fiber)| PlannedCancellation { turn, target: Target::Fiber(fiber.to_owned()) });
    whole.chain(alone).collect()
}

impl Source for CancelEverywhere {
    fn next(&mut self) -> Option<Planned> {
        match self.stage {
            Stage::First => {
                self.stage = Stage::Awaited;
                Some(self.plan(None))
            }
            Stage::Awaited => None,
            Stage::Known => match self.due.pop_front() {
                Some(next) => {
                    self.outstanding += 1;
                    Some(self.plan(Some(next)))
                }
                None if self.outstanding > 0 => None,
                None => self.others.next(),
            },
        }
    }

    fn learn(&mut self, open: Option<Open>, execution: &mut Execution) {
        if self.stage == Stage::Awaited {
            self.stage = Stage::Known;
            self.due = everywhere(
                execution.turns_to_end,
                execution.census.as_ref().filter(|_| !self.is_program_only),
            );
            self.others.learn(open, execution);
        } else if self.outstanding > 0 {
            self.outstanding -= 1;
        } else {
            self.others.learn(open, execution);
        }
    }

    fn is_owed(&self) -> bool {
        self.stage != Stage::Known || !self.due.is_empty()
    }

    fn is_complete(&self) -> bool {
        !self.is_owed() && self.outstanding == 0
    }
}
