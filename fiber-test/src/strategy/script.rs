//! A fixed list of decisions, and a rule for all others: a replay, or a prefix of a systematic enumeration.

use super::decision::Decision;
use crate::machine::Choices;
use crate::schedule::Deviation;

#[derive(Debug)]
pub(crate) struct Script {
    base: Base,
    /// In the order of their turns.
    steps: Vec<Step>,
    next: usize,
    /// After the script, the decisions with alternatives.
    points: Vec<Point>,
    is_off: bool,
}

/// Decides the turns that are not in the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    Fifo,
    /// Each fiber until it waits.
    RunAhead,
}

/// One decision of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Step {
    pub(crate) decision: Deviation,
    /// The number of choices when it was planned; 0 if unknown.
    pub(crate) choices: u32,
}

/// A decision with alternatives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub(crate) turn: u32,
    /// The choice that was taken.
    pub(crate) usual: u32,
    pub(crate) choices: u32,
    /// Whether any other choice preempts a fiber that could continue.
    pub(crate) is_preemption: bool,
    /// Whether time could have passed first.
    pub(crate) may_be_later: bool,
    /// It is a random number, with this index among those drawn since the previous choice.
    pub(crate) draw: Option<u32>,
}

impl Script {
    /// A replay.
    pub(crate) fn replay(deviations: &[Deviation]) -> Self {
        let steps = deviations.iter().map(|decision| Step { decision: *decision, choices: 0 });
        Script::new(Base::Fifo, steps.collect())
    }

    /// Decisions against [`RunAhead`](super::Strategy::RunAhead).
    pub(crate) fn prefix(steps: Vec<Step>) -> Self {
        Script::new(Base::RunAhead, steps)
    }

    fn new(base: Base, steps: Vec<Step>) -> Self {
        Script { base, steps, next: 0, points: Vec::new(), is_off: false }
    }

    /// Whether a runnable fiber may be passed over for ever: not by a finite list.
    pub(crate) fn may_starve(&self) -> bool {
        self.base == Base::RunAhead
    }

    pub(crate) fn choose(&mut self, choices: &Choices<'_>) -> Decision {
        while let Some(step) = self.steps.get(self.next)
            && step.decision.turn <= choices.turn
        {
            self.next += 1;
            if step.decision.is_number() {
                continue;
            }
            self.is_off |= step.choices > 0 && step.choices as usize != choices.len();
            if !step.decision.is_later() {
                return Decision::Take((step.decision.choice as usize).min(choices.len() - 1));
            }
            if choices.may_be_later {
                return Decision::Later;
            }
        }
        let ahead = choices.run_ahead();
        let usual = ahead.filter(|_| self.base == Base::RunAhead).unwrap_or(0);
        let is_past = self.base == Base::RunAhead && self.next == self.steps.len();
        if is_past && (choices.len() > 1 || choices.may_be_later) {
            self.points.push(Point {
                turn: choices.turn,
                usual: usual as u32,
                choices: choices.len() as u32,
                is_preemption: ahead.is_some(),
                may_be_later: choices.may_be_later,
                draw: None,
            });
        }
        Decision::Take(usual)
    }

    /// The random number that is drawn as the `nth` before the choice of `turn`, below `most`.
    pub(crate) fn number(&mut self, turn: u32, nth: u32, most: u32) -> u32 {
        if let Some(step) = self.steps.get(self.next)
            && let Some((at, number)) = step.decision.as_number()
            && (step.decision.turn, at) == (turn, nth)
        {
            self.next += 1;
            return number.min(most - 1);
        }
        if self.base == Base::RunAhead && self.next == self.steps.len() {
            let draw = Some(nth);
            let (usual, choices, is_preemption, may_be_later) = (0, most, false, false);
            self.points.push(Point { turn, usual, choices, is_preemption, may_be_later, draw });
        }
        0
    }

    /// The decisions with alternatives after the script. `None`: the run did not reach the end of the script, or a decision had
    /// other choices than before. The program then decides something by itself.
    pub(crate) fn into_points(self) -> Option<Vec<Point>> {
        (!self.is_off && self.next == self.steps.len()).then_some(self.points)
    }
}
