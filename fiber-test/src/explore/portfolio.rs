//! Which strategy has which schedule.

use std::fmt;
use std::sync::Arc;

use super::run::{Plan, Ran};
use crate::random::SplitMix64;
use crate::strategy::{Expected, Pct, RandomWalk, Rounds, Strategy, Urw};

/// The strategies of the explorer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Search {
    /// First in, first out, with a switch at every bind.
    Fifo,
    /// Each fiber until it waits.
    RunAhead,
    /// The newest first.
    Lifo,
    /// All that can run at one moment have a turn each, in a random order, before what they make runnable.
    Rounds,
    /// Anybody, each as likely as any other.
    RandomWalk,
    /// Random priorities, which change at a few random turns.
    Pct,
    /// Anybody, the more likely the more it has left to do.
    Urw,
    /// One after the other, those with few preemptions first.
    Exhaustive,
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
        // To enumerate is what `Explore::exhaustive` is for.
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
            Search::Given => "given",
            Search::Regression => "kept from an earlier run",
        })
    }
}

/// The schedules without chance come first, once each.
const FIRST: [Search; 3] = [Search::Fifo, Search::RunAhead, Search::Lifo];

/// Then these, in turn.
const IN_TURN: [Search; 5] =
    [Search::Exhaustive, Search::Rounds, Search::RandomWalk, Search::Pct, Search::Urw];

/// What earlier schedules have taught.
#[derive(Clone, Debug, Default)]
pub(crate) struct Learnt {
    /// The most turns that a schedule took.
    pub(crate) turns: u32,
    pub(crate) expected: Arc<Expected>,
}

impl Learnt {
    pub(crate) fn learn(&mut self, ran: &Ran) {
        self.turns = self.turns.max(ran.turns);
        if let Strategy::Urw(urw) = &ran.strategy {
            let expected = Arc::make_mut(&mut self.expected);
            for (key, turns) in urw.taken() {
                let most = expected.entry(key).or_default();
                *most = turns.max(*most);
            }
        }
    }
}

/// The strategy of schedule `number`: of the whole portfolio, or of the one that was asked for.
pub(crate) fn search(number: u64, only: Option<Search>) -> Search {
    if let Some(only) = only {
        return only;
    }
    let first = FIRST.get(number as usize).copied();
    first.unwrap_or(IN_TURN[(number as usize).wrapping_sub(FIRST.len()) % IN_TURN.len()])
}

/// The plan of schedule `number`. The same number of the same seed is the same plan, if the same was learnt.
pub(crate) fn plan(number: u64, seed: u64, search: Search, learnt: &Learnt) -> Plan {
    // The first one of seed 0 draws the random numbers that a TestScheduler without a seed draws.
    let mut random = SplitMix64::numbered(seed, number);
    let program_seed = if number == 0 { seed } else { u64::from(random.next() as u32) };
    let strategy = match search {
        Search::RunAhead => Strategy::RunAhead,
        Search::Lifo => Strategy::Lifo,
        Search::Rounds => Strategy::Rounds(Rounds::new(random)),
        Search::RandomWalk => Strategy::RandomWalk(RandomWalk::new(random)),
        Search::Pct => Strategy::Pct(Pct::new(random, learnt.turns)),
        Search::Urw => Strategy::Urw(Urw::new(random, learnt.expected.clone())),
        Search::Fifo | Search::Exhaustive | Search::Given | Search::Regression => Strategy::Fifo,
    };
    Plan { strategy, seed: program_seed, cancel_at: None }
}
