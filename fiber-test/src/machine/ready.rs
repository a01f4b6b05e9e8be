//! The fibers that can run, in the order in which they became able to.

use std::collections::VecDeque;

use fiber_core::Instant;
use fiber_core::scheduler::Task;

use super::lane::Lane;
use super::steps::{Steps, TaskId};

/// A task that can run.
pub(crate) struct Entry {
    pub(crate) task: Task,
    /// The fiber that it belongs to.
    pub(crate) lane: Lane,
    /// The turn that was to come when it became able to run.
    pub(crate) since: u32,
    /// Whether the turn before that has made it able to run, and not a timer, or code outside of the machine.
    pub(crate) is_of_turn: bool,
    /// The instant when it became able to run.
    pub(crate) ready: Instant,
    /// The binds that its slice has left; it keeps its simulated worker until then. 0: it has none.
    pub(crate) slice: u32,
    /// Its name, if steps are noted.
    pub(crate) id: TaskId,
}

impl Entry {
    /// The turn that made it able to run. `None`: a timer did, or code outside of the machine.
    pub(crate) fn by(&self) -> Option<u32> {
        self.since.checked_sub(1).filter(|_| self.is_of_turn)
    }
}

/// What there is to choose from. The paused fiber comes last.
pub(crate) struct Choices<'a> {
    pub(crate) turn: u32,
    /// Whether something has become able to run since the last choice.
    pub(crate) has_arrivals: bool,
    pub(crate) ready: &'a VecDeque<Entry>,
    /// The places in `ready` that may be taken; `None`: all.
    pub(crate) eligible: Option<&'a [u32]>,
    /// The fiber that has the turn, if it is paused at a bind.
    pub(crate) paused: Option<Lane>,
    /// Whether time may pass before any fiber has a turn.
    pub(crate) may_be_later: bool,
    /// The steps so far, if they are noted.
    pub(crate) steps: Option<&'a Steps>,
}

impl Choices<'_> {
    /// Whether there may be one that was not there to choose from the last time.
    pub(crate) fn has_news(&self) -> bool {
        self.has_arrivals || self.eligible.is_some()
    }

    pub(crate) fn len(&self) -> usize {
        let waiting = self.eligible.map_or(self.ready.len(), <[u32]>::len);
        waiting + usize::from(self.paused.is_some())
    }

    pub(crate) fn lane(&self, choice: usize) -> Lane {
        match self.entry(choice) {
            Some(entry) => entry.lane,
            None => self.paused.unwrap_or(Lane::NONE),
        }
    }

    /// `None` for the paused fiber.
    pub(crate) fn entry(&self, choice: usize) -> Option<&Entry> {
        match self.eligible {
            Some(eligible) => eligible.get(choice).map(|place| &self.ready[*place as usize]),
            None => self.ready.get(choice),
        }
    }

    /// The choice by which the fiber that had the last turn continues without a pause.
    pub(crate) fn run_ahead(&self) -> Option<usize> {
        self.paused.map(|_| self.len() - 1)
    }
}
