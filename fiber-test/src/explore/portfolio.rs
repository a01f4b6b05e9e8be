//! Assigns strategies to schedules.

use std::sync::Arc;

use super::enumeration::Enumeration;
use super::faults::Faults;
use super::kinds::{FIRST, IN_TURN, Search};
use super::run::Execution;
use super::source::{Open, Planned, Source};
use crate::machine::{Course, PlannedCancellation, Target};
use crate::random::SplitMix64;
use crate::strategy::{Expected, Pct, RandomWalk, Rounds, Strategy, Urw};

/// The first pass of the enumeration has schedules with this many preemptions, since most bugs need one.
const FIRST_PASS: usize = 1;

/// With mishaps, these of so many schedules are cancelled: one of those that may be late, whose numbers are even, and one of the others.
const CANCELLED: [u64; 2] = [1, 4];

/// It has no common factor with the number of strategies, so all have their share.
const CANCELLED_OF: u64 = 8;

/// This many random walks suffice to estimate the number of schedules.
const LEAST_WALKS: u32 = 8;

/// The information from earlier schedules.
#[derive(Clone, Debug, Default)]
struct Learnt {
    /// The largest number of turns of a schedule until the program had ended.
    turns: u32,
    /// The largest number of turns with several choices.
    contended: u32,
    /// The largest number of turns of each fiber.
    expected: Arc<Expected>,
    walks: u32,
    /// The number of schedules, estimated from all those walks.
    orders: f64,
}

impl Learnt {
    fn learn(&mut self, execution: &Execution) {
        self.turns = self.turns.max(execution.turns_to_end);
        self.contended = self.contended.max(execution.counts.contended);
        match &execution.strategy {
            Strategy::Urw(urw) => {
                let expected = Arc::make_mut(&mut self.expected);
                for (key, turns) in urw.taken() {
                    let most = expected.entry(key).or_default();
                    *most = turns.max(*most);
                }
            }
            Strategy::RandomWalk(_) => {
                self.walks += 1;
                self.orders += execution.counts.orders;
            }
            _ => {}
        }
    }

    /// Whether the program probably has fewer schedules than this.
    fn has_fewer_orders_than(&self, most: u64) -> bool {
        self.walks >= LEAST_WALKS && self.orders / f64::from(self.walks) < most as f64
    }
}

/// The deterministic schedules, then all strategies in rotation. If the program has few schedules, all of them.
pub(crate) struct Portfolio {
    seed: u64,
    only: Option<Search>,
    /// The number of the next schedule.
    number: u64,
    /// The maximum number of schedules.
    most: u64,
    learnt: Learnt,
    /// `None`: only one strategy is used, or the schedules are cancelled.
    enumeration: Option<Enumeration>,
    /// Draws the cancellations.
    cancellations: Option<SplitMix64>,
    is_program_only: bool,
    /// Whether only a share of the schedules has cancellations.
    has_mishaps: bool,
    is_lateness_drawn: bool,
    /// The possible faults of the network, and the generator that draws them.
    faults: Option<(Faults, SplitMix64)>,
}

impl Portfolio {
    pub(crate) fn new(seed: u64, only: Option<Search>, most: u64) -> Self {
        let enumeration = only.is_none().then(|| Enumeration::new(seed, None).from(FIRST_PASS));
        let learnt = Learnt::default();
        Portfolio {
            seed,
            only,
            number: 0,
            most,
            learnt,
            enumeration,
            cancellations: None,
            is_program_only: false,
            has_mishaps: false,
            is_lateness_drawn: false,
            faults: None,
        }
    }

    /// Half of the randomized schedules may be late.
    pub(crate) fn with_lateness(self, is_drawn: bool) -> Self {
        Portfolio { is_lateness_drawn: is_drawn, ..self }
    }

    /// All randomized schedules have faults of the network.
    pub(crate) fn with_faults(self, faults: Option<Faults>) -> Self {
        let Some(faults) = faults else { return self };
        let random = SplitMix64::new(self.seed).split().split();
        Portfolio { faults: Some((faults, random)), enumeration: None, ..self }
    }

    /// All schedules after the first one have cancellations.
    pub(crate) fn cancelled(self, is_program_only: bool) -> Self {
        let cancellations = Some(SplitMix64::new(self.seed).split());
        Portfolio { cancellations, is_program_only, enumeration: None, number: 1, ..self }
    }

    /// A share of the randomized schedules has a cancellation.
    pub(crate) fn with_mishaps(self, has_mishaps: bool) -> Self {
        if !has_mishaps {
            return self;
        }
        let cancellations = Some(SplitMix64::new(self.seed).split());
        Portfolio { cancellations, has_mishaps, ..self }
    }

    /// Whether a schedule is cancelled that the enumeration does not have.
    fn is_cancelled(&self, search: Search, open: Option<&Open>) -> bool {
        let is_of_share = !search.is_without_chance() && CANCELLED.contains(&(self.number % CANCELLED_OF));
        open.is_none() && (is_of_share || !self.has_mishaps)
    }

    fn search(&self) -> Search {
        match (self.only, FIRST.get(self.number as usize)) {
            (Some(only), _) => only,
            (None, Some(first)) => *first,
            (None, None) if self.has_few_orders() => Search::Exhaustive,
            (None, None) => IN_TURN[(self.number as usize - FIRST.len()) % IN_TURN.len()],
        }
    }

    /// Whether the enumeration has all the rest, since it will probably come to the end.
    fn has_few_orders(&self) -> bool {
        self.enumeration.is_some() && !self.has_mishaps && self.learnt.has_fewer_orders_than(self.most)
    }

    /// A schedule of the program, cancelled once or twice.
    fn draw_cancellations(&mut self) -> Vec<PlannedCancellation> {
        let turns = self.learnt.turns.max(1) as usize;
        let is_program_only = self.is_program_only;
        let Some(random) = &mut self.cancellations else { return Vec::new() };
        let count = if is_program_only || self.has_mishaps { 1 } else { 1 + random.below(2) };
        let mut draw = || {
            let turn = random.below(turns) as u32;
            let target = if is_program_only || random.below(2) == 0 {
                Target::Program
            } else {
                Target::Any(random.next())
            };
            PlannedCancellation { turn, target }
        };
        (0..count).map(|_| draw()).collect()
    }

    /// The schedule of this number. It depends only on the seed, the number, and the information from earlier schedules.
    fn course(&mut self, search: Search, open: Option<&Open>) -> Course {
        // The first one of seed 0 draws the same random numbers as a TestScheduler without a seed.
        let mut random = SplitMix64::numbered(self.seed, self.number);
        let seed = if self.number == 0 { self.seed } else { u64::from(random.next() as u32) };
        let may_be_late = !search.is_without_chance() && open.is_none() && self.number.is_multiple_of(2);
        let lateness = may_be_late.then(|| match self.is_lateness_drawn {
            true => random.split(),
            // Only a program with a network draws from it, so the schedules of others stay as they are.
            false => random.clone().split(),
        });
        let turns = self.learnt.turns;
        let faults = match &mut self.faults {
            Some((faults, random)) if !search.is_without_chance() => faults.draw(random, turns),
            _ => Vec::new(),
        };
        let is_cancelled = self.is_cancelled(search, open);
        let learnt = &self.learnt;
        let strategy = match (search, open) {
            (_, Some(open)) => open.strategy(),
            (Search::RunAhead, None) => Strategy::RunAhead,
            (Search::Lifo, None) => Strategy::Lifo,
            (Search::Rounds, None) => Strategy::Rounds(Rounds::new(random)),
            (Search::RandomWalk, None) => Strategy::RandomWalk(RandomWalk::new(random)),
            (Search::Pct, None) => Strategy::Pct(Pct::new(random, self.number, learnt.contended)),
            (Search::Urw, None) => Strategy::Urw(Urw::new(random, learnt.expected.clone())),
            (
                Search::Fifo | Search::Exhaustive | Search::Recorded | Search::Given | Search::Regression,
                None,
            ) => Strategy::Fifo,
        };
        Course {
            strategy,
            seed,
            cancellations: if is_cancelled { self.draw_cancellations() } else { Vec::new() },
            faults,
            lateness,
            ..Course::default()
        }
    }
}

impl Source for Portfolio {
    fn next(&mut self) -> Option<Planned> {
        let mut search = self.search();
        // The schedule that runs ahead is the first of the enumeration, which continues from it.
        let is_enumerated = matches!(search, Search::RunAhead | Search::Exhaustive);
        let enumeration = self.enumeration.as_mut().filter(|_| is_enumerated);
        let open = enumeration.and_then(Enumeration::open);
        if self.is_complete() {
            return None;
        }
        if search == Search::Exhaustive && open.is_none() {
            if self.has_few_orders() && self.enumeration.as_ref().is_some_and(Enumeration::is_waiting) {
                // What it has given has to be run, and shows it where to go on.
                return None;
            }
            search = Search::RandomWalk;
        }
        let course = self.course(search, open.as_ref());
        self.number += 1;
        Some(Planned { course, search, open })
    }

    fn learn(&mut self, open: Option<Open>, execution: &mut Execution) {
        self.learnt.learn(execution);
        if let (Some(enumeration), Some(open)) = (&mut self.enumeration, open) {
            enumeration.learn(open, execution);
        }
    }

    fn is_complete(&self) -> bool {
        // Mishaps are drawn, so there are always more.
        !self.has_mishaps && self.enumeration.as_ref().is_some_and(Source::is_complete)
    }

    fn orders(&self) -> Option<u64> {
        self.enumeration.as_ref().filter(|_| !self.has_mishaps)?.orders()
    }
}
