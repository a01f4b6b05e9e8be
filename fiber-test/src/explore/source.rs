//! Where the schedules of an exploration come from.

use super::enumeration::Open;
use super::portfolio::Search;
use super::reduction::Reduced;
use super::run::Execution;
use crate::machine::Course;
use crate::strategy::Followed;

/// Gives schedules to be run, one after the other, and learns from them.
pub(crate) trait Source {
    /// The next one. `None`: there is none, or none is known before those that were given are learnt from.
    fn next(&mut self) -> Option<Planned>;

    /// Learns from a schedule that did not break the program. All are learnt from in the order in which they were given.
    fn learn(&mut self, open: Option<Open>, execution: &mut Execution);

    /// Whether the next one is to be run whatever the usual limits are.
    fn is_owed(&self) -> bool {
        false
    }

    /// Whether all was run that was to be, so that nothing is left to chance.
    fn is_complete(&self) -> bool;

    /// How many different orders there are, if all were seen.
    fn orders(&self) -> Option<u64> {
        None
    }

    /// What was found out, if independent steps were not turned round.
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

/// One that is given.
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
