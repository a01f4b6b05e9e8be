//! A fixed prefix of a schedule, and then only steps that may lead to something new: one run of a reduced enumeration.

use std::sync::Arc;

use super::decision::Decision;
use crate::machine::{Choices, Footprint, Step, Steps, TaskId, may_change};

/// A decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// The task that had the turn.
    Task(TaskId),
    /// A random number below `most`.
    Number { value: u32, most: u32 },
}

/// A task that need not run until a dependent step has run: everything that can follow it was explored.
#[derive(Clone, Debug)]
pub(crate) struct Sleeper {
    pub(crate) task: TaskId,
    pub(crate) touches_all: bool,
    pub(crate) footprint: Arc<Footprint>,
}

impl Sleeper {
    /// Whether it may behave differently after this step.
    pub(crate) fn is_woken_by(&self, step: &Step, steps: &Steps) -> bool {
        self.touches_all || step.touches_all || may_change(&self.footprint, steps.footprint(step))
    }
}

/// The steps to take next, and what follows them: a wakeup tree.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub(crate) task: TaskId,
    pub(crate) next: Vec<Branch>,
}

/// A decision of the run after its prefix.
#[derive(Clone, Debug)]
pub(crate) struct Decided {
    pub(crate) taken: Taken,
    /// The sleeping tasks when it was taken.
    pub(crate) sleep: Vec<Sleeper>,
    /// Other steps to take here, in other runs.
    pub(crate) others: Vec<Branch>,
}

#[derive(Debug)]
pub(crate) struct Guide {
    beginning: Vec<Taken>,
    /// The sleeping tasks: initially, at the last task of the prefix.
    sleep: Vec<Sleeper>,
    /// The steps to take after the prefix.
    tree: Vec<Branch>,
    at: usize,
    pub(crate) decided: Vec<Decided>,
    /// From this step on, the run explores nothing new.
    pub(crate) redundant_from: Option<u32>,
    /// The prefix could not be repeated, or the choice was made elsewhere.
    pub(crate) is_off: bool,
}

impl Guide {
    pub(crate) fn new(beginning: Vec<Taken>, sleep: Vec<Sleeper>, tree: Vec<Branch>) -> Self {
        Guide { beginning, sleep, tree, at: 0, decided: Vec::new(), redundant_from: None, is_off: false }
    }

    pub(crate) fn choose(&mut self, choices: &Choices<'_>) -> Decision {
        let steps = choices.steps.expect("a guided run notes its steps");
        Decision::Take(self.place(choices, steps).unwrap_or(0))
    }

    fn place(&mut self, choices: &Choices<'_>, steps: &Steps) -> Option<usize> {
        if self.is_off || self.redundant_from.is_some() {
            return None;
        }
        let place_of = |task: TaskId| choices.ready.iter().position(|entry| entry.id == task);
        let at = self.at;
        self.at += 1;
        if let Some(taken) = self.beginning.get(at) {
            let place = match taken {
                Taken::Task(task) => place_of(*task),
                Taken::Number { .. } => None,
            };
            self.is_off = place.is_none();
            return place;
        }
        if at > 0 {
            self.wake(steps);
        }
        // If other random numbers are drawn than those that the tree was made with, parts of it may not exist.
        let mut others = std::mem::take(&mut self.tree);
        others.retain(|branch| !self.sleeps(branch.task) && place_of(branch.task).is_some());
        let place = if others.is_empty() {
            self.awake(choices, steps)
        } else {
            let first = others.remove(0);
            self.tree = first.next;
            place_of(first.task)
        };
        let Some(place) = place else {
            self.redundant_from = Some(choices.turn);
            return None;
        };
        let taken = Taken::Task(choices.ready[place].id);
        self.decided.push(Decided { taken, sleep: self.sleep.clone(), others });
        Some(place)
    }

    /// A task that may lead to something new: the last one to have a turn, if possible, and otherwise the longest runnable one.
    fn awake(&self, choices: &Choices<'_>, steps: &Steps) -> Option<usize> {
        let last = steps.all().last().map(|step| step.lane);
        let is_awake = |place: &usize| !self.sleeps(choices.ready[*place].id);
        let places = || (0..choices.ready.len()).filter(is_awake);
        places().find(|place| Some(choices.ready[*place].lane) == last).or_else(|| places().next())
    }

    fn sleeps(&self, task: TaskId) -> bool {
        self.sleep.iter().any(|sleeper| sleeper.task == task)
    }

    /// Wakes the tasks that depend on the last step.
    fn wake(&mut self, steps: &Steps) {
        let Some(last) = steps.all().last() else { return };
        self.sleep.retain(|sleeper| !sleeper.is_woken_by(last, steps));
    }

    /// A random number below `most`.
    pub(crate) fn number(&mut self, most: u32) -> u32 {
        if self.is_off || self.redundant_from.is_some() {
            return 0;
        }
        let at = self.at;
        self.at += 1;
        match self.beginning.get(at) {
            Some(Taken::Number { value, .. }) => *value,
            Some(Taken::Task(_)) => {
                self.is_off = true;
                0
            }
            None => {
                let taken = Taken::Number { value: 0, most };
                self.decided.push(Decided { taken, sleep: Vec::new(), others: Vec::new() });
                0
            }
        }
    }
}
