//! What is decided in a run: who has which turn, and the numbers that are chosen. The decisions that are not the first choice are its schedule.

use super::lane::Lane;
use super::ready::Choices;
use crate::random::mix;
use crate::schedule::{Deviation, MAX_NUMBER};
use crate::strategy::{Decision, FAIRNESS_BOUND, Strategy};

pub(crate) struct Decisions {
    pub(crate) strategy: Strategy,
    /// The number of the turn to come.
    turn: u32,
    /// For how many turns a fiber that can run may be passed over.
    fairness_bound: u32,
    /// How many numbers were chosen since the last turn began.
    numbers: u32,
    /// `None`: they are not kept.
    deviations: Option<Vec<Deviation>>,
    count: Counts,
}

/// What a run teaches about the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    pub(crate) turns: u32,
    /// Turns with something to choose.
    pub(crate) contended: u32,
    /// How many schedules there are, as far as this one shows: the product of all choices. Its mean over a random walk is their number.
    pub(crate) orders: f64,
    /// Tells one order of turns from another: a hash of who had each of them.
    pub(crate) order: u64,
    /// Whether a random number was drawn.
    pub(crate) has_drawn: bool,
    /// Whether a choice was forced, since a fiber was passed over for too long.
    pub(crate) is_forced: bool,
    /// Whether there were more ways to break the network than can be chosen from.
    pub(crate) leaves_out: bool,
}

impl Default for Counts {
    fn default() -> Self {
        Counts {
            turns: 0,
            contended: 0,
            orders: 1.0,
            order: 0,
            has_drawn: false,
            is_forced: false,
            leaves_out: false,
        }
    }
}

impl Decisions {
    pub(super) fn new(strategy: Strategy) -> Self {
        Decisions {
            strategy,
            turn: 0,
            fairness_bound: FAIRNESS_BOUND,
            numbers: 0,
            deviations: None,
            count: Counts::default(),
        }
    }

    /// Those of the next run, which are kept.
    pub(super) fn restart(&mut self, strategy: Strategy) {
        self.strategy = strategy;
        self.turn = 0;
        self.fairness_bound = FAIRNESS_BOUND;
        self.numbers = 0;
        self.deviations.get_or_insert_default().clear();
        self.count = Counts::default();
    }

    /// The number of the turn to come, which is how many there were.
    pub(crate) fn turn(&self) -> u32 {
        self.turn
    }

    /// What the run has taught so far.
    pub(crate) fn counts(&self) -> Counts {
        Counts { turns: self.turn, is_forced: self.fairness_bound < FAIRNESS_BOUND, ..self.count }
    }

    /// Those since [`restart`](Decisions::restart) that are not the first choice.
    pub(super) fn deviations(&self) -> Vec<Deviation> {
        self.deviations.clone().unwrap_or_default()
    }

    /// Whether the strategy draws nothing.
    pub(super) fn are_without_chance(&self) -> bool {
        self.strategy.is_without_chance()
    }

    /// Chooses one of at least one.
    #[inline]
    pub(super) fn choose(&mut self, choices: &Choices<'_>) -> Decision {
        self.strategy.choose(choices, &mut self.fairness_bound)
    }

    /// A fiber has the next turn, by one of so many choices.
    #[inline]
    pub(super) fn begin_turn(&mut self, lane: Lane, choice: usize, choices: usize) {
        if choice > 0 {
            self.deviate(Deviation { turn: self.turn, choice: choice as u32 });
        }
        if choices > 1 {
            self.count.contended += 1;
            self.count.orders *= choices as f64;
        }
        self.numbers = 0;
        self.count.order = mix(self.count.order ^ (u64::from(lane.0) + 1));
        self.turn += 1;
    }

    /// Time passes before the turn.
    pub(super) fn let_time_pass(&mut self) {
        self.deviate(Deviation { turn: self.turn, choice: Deviation::LATER });
    }

    #[inline]
    fn deviate(&mut self, deviation: Deviation) {
        if let Some(deviations) = &mut self.deviations {
            deviations.push(deviation);
        }
    }

    /// A number was drawn that is no choice.
    pub(super) fn note_draw(&mut self) {
        self.count.has_drawn = true;
    }

    /// A number is a choice of the strategy, if it enumerates; otherwise it is what was drawn.
    #[cold]
    pub(super) fn choose_number(&mut self, most: u32, drawn: u64) -> u32 {
        let (nth, number) = self.next_number(most, drawn);
        if number > 0 {
            self.deviate(Deviation::number(self.turn, nth, number));
        }
        number
    }

    /// Where a transfer is cut. Only `weight` choices would be as likely as this one.
    pub(super) fn choose_cut(&mut self, choices: u32, drawn: u32, weight: f64) -> u32 {
        let choice = self.choose_number(choices, u64::from(drawn));
        self.count.orders *= weight / f64::from(choices);
        if choice > 0 {
            self.count.order = mix(self.count.order ^ !u64::from(choice));
        }
        choice
    }

    /// Which of so many faults happens before the next turn. `None`: none does. A schedule has it among its faults, and not among its numbers.
    pub(super) fn choose_fault(&mut self, possible: usize) -> Option<usize> {
        if possible == 0 {
            return None;
        }
        let most = MAX_NUMBER as usize - 1;
        self.count.leaves_out |= possible > most;
        let (_, number) = self.next_number(possible.min(most) as u32 + 1, 0);
        // When the schedule is replayed, this is no number, and must not count as one.
        self.numbers -= 1;
        (number as usize).checked_sub(1)
    }

    /// Which number since the last turn began it is, and the number.
    fn next_number(&mut self, most: u32, drawn: u64) -> (u32, u32) {
        let nth = self.numbers;
        self.numbers += 1;
        self.count.orders *= f64::from(most);
        let number = match &mut self.strategy {
            Strategy::Script(script) => script.number(self.turn, nth, most),
            Strategy::Guide(guide) => guide.number(most),
            Strategy::Follow(follow) => {
                follow.number(self.turn, nth, most).unwrap_or((drawn % u64::from(most)) as u32)
            }
            _ => (drawn % u64::from(most)) as u32,
        };
        (nth, number)
    }
}
