//! The kinds of schedules, and in which order the portfolio has them.

use std::fmt;

/// The strategies of the explorer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Search {
    /// First in, first out, with a switch at every bind.
    Fifo,
    /// Each fiber until it waits.
    RunAhead,
    /// The newest task first.
    Lifo,
    /// All tasks that are runnable at one moment have a turn each, in a random order, before those that they make runnable.
    Rounds,
    /// Any task, all equally likely.
    RandomWalk,
    /// Random priorities, which change at some decisions: at a few in one schedule, at all in another one.
    Pct,
    /// Any task, weighted by the remaining turns of its fiber.
    Urw,
    /// One after the other, those with few preemptions first.
    Exhaustive,
    /// The order of turns that a pool has recorded.
    Recorded,
    /// A schedule that was given: a replay, or one of a property test.
    Given,
    /// A schedule that broke the program in an earlier run of the test.
    Regression,
}

impl Search {
    pub(crate) fn is_without_chance(self) -> bool {
        FIRST.contains(&self)
    }

    pub(crate) fn is_of_portfolio(self) -> bool {
        // Enumeration alone is `Explore::exhaustive`.
        self.is_without_chance() || IN_TURN.contains(&self) && self != Search::Exhaustive
    }
}

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Search::Fifo => "first in, first out",
            Search::RunAhead => "run ahead",
            Search::Lifo => "the newest first",
            Search::Rounds => "rounds",
            Search::RandomWalk => "random walk",
            Search::Pct => "random priorities (PCT)",
            Search::Urw => "weighted random walk (URW)",
            Search::Exhaustive => "enumeration",
            Search::Recorded => "the order of a recording",
            Search::Given => "given",
            Search::Regression => "kept from an earlier run",
        })
    }
}

/// The deterministic schedules come first, once each.
pub(super) const FIRST: [Search; 3] = [Search::Fifo, Search::RunAhead, Search::Lifo];

/// Then these alternate.
pub(super) const IN_TURN: [Search; 5] =
    [Search::Exhaustive, Search::Rounds, Search::RandomWalk, Search::Pct, Search::Urw];
