//! The sources of an exploration's schedules.

use super::kinds::Search;
use super::reduction::Reduced;
use super::run::Execution;
use crate::machine::Course;
use crate::strategy::{Followed, Script, Step, Strategy};

/// Produces schedules, one after the other, and learns from their runs.
pub(crate) trait Source {
    /// The next schedule. `None`: there is none, or it depends on results that were not learnt yet.
    fn next(&mut self) -> Option<Planned>;

    /// Learns from a schedule that did not break the program. Schedules are learnt from in the order of their production.
    fn learn(&mut self, open: Option<Open>, execution: &mut Execution);

    /// Whether the next schedule must run regardless of the usual limits.
    fn is_owed(&self) -> bool {
        false
    }

    /// Whether everything was run, so that nothing is left to chance.
    fn is_complete(&self) -> bool;

    /// Whether an enumeration could not go on from some run, so that what could have followed is left out.
    fn is_broken_off(&self) -> bool {
        false
    }

    /// The number of different orders, if all were seen.
    fn orders(&self) -> Option<u64> {
        None
    }

    /// The summary of a reduced exploration.
    fn reduced(&self) -> Option<Reduced> {
        None
    }

    /// How far a recording was followed, if there is one.
    fn followed(&self) -> Option<Followed> {
        None
    }
}

/// A schedule to be run.
pub(crate) struct Planned {
    pub(crate) course: Course,
    pub(crate) search: Search,
    /// Its place in an enumeration.
    pub(crate) open: Option<Open>,
}

/// The place of a schedule in an enumeration.
pub(crate) struct Open {
    /// The decisions up to the one by which it differs.
    pub(super) prefix: Vec<Step>,
    pub(super) preemptions: usize,
    /// Whether no pass before has run it.
    pub(crate) is_new: bool,
}

impl Open {
    pub(crate) fn strategy(&self) -> Strategy {
        Strategy::Script(Script::prefix(self.prefix.clone()))
    }
}

/// One given schedule.
pub(crate) struct Given(pub(crate) Option<Planned>);

/// The order of a recording, once.
pub(crate) struct OfRecording {
    pub(crate) planned: Option<Planned>,
    /// How far it was followed.
    pub(crate) followed: Option<Followed>,
}

impl Source for OfRecording {
    fn next(&mut self) -> Option<Planned> {
        self.planned.take()
    }

    fn learn(&mut self, _: Option<Open>, execution: &mut Execution) {
        self.followed = execution.followed();
    }

    fn is_complete(&self) -> bool {
        false
    }

    fn followed(&self) -> Option<Followed> {
        self.followed
    }
}

impl Source for Given {
    fn next(&mut self) -> Option<Planned> {
        self.0.take()
    }

    fn learn(&mut self, _: Option<Open>, _: &mut Execution) {}

    fn is_complete(&self) -> bool {
        false
    }
}
