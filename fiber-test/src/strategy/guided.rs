//! One schedule of a systematic enumeration: a given prefix, then each fiber until it waits. It notes where it could
//! have gone another way.

use crate::machine::Choices;
use crate::schedule::Deviation;

#[derive(Debug)]
pub(crate) struct Guided {
    /// The choices of the prefix that are not the usual one, in the order of their turns.
    prefix: Vec<Deviation>,
    next: usize,
    /// Past the prefix.
    points: Vec<Point>,
    from: u32,
}

/// A turn with more than one choice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub(crate) turn: u32,
    /// What was taken.
    pub(crate) usual: u32,
    pub(crate) choices: u32,
    /// Whether any other choice preempts a fiber that could go on.
    pub(crate) is_preemption: bool,
}

impl Guided {
    pub(crate) fn new(prefix: Vec<Deviation>) -> Self {
        let from = prefix.last().map_or(0, |last| last.turn + 1);
        Guided { prefix, next: 0, points: Vec::new(), from }
    }

    pub(crate) fn choose(&mut self, choices: &Choices<'_>) -> usize {
        if let Some(one) = self.prefix.get(self.next)
            && one.turn == choices.turn
        {
            self.next += 1;
            // A program that decides something by itself may have fewer this time.
            return (one.choice as usize).min(choices.len() - 1);
        }
        let ahead = choices.run_ahead();
        let usual = ahead.unwrap_or(0);
        if choices.turn >= self.from && choices.len() > 1 {
            self.points.push(Point {
                turn: choices.turn,
                usual: usual as u32,
                choices: choices.len() as u32,
                is_preemption: ahead.is_some(),
            });
        }
        usual
    }

    pub(crate) fn into_points(self) -> Vec<Point> {
        self.points
    }
}
