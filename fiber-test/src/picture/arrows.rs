//! The lanes that a turn acted on.

use crate::trace::{Cause, Effect, Trace};

/// How a turn acted on another lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Fork,
    Wake,
    Cancel,
}

impl Kind {
    pub(super) const ALL: [Kind; 3] = [Kind::Fork, Kind::Wake, Kind::Cancel];

    /// The class of its drawing.
    pub(super) fn class(self) -> &'static str {
        match self {
            Kind::Fork => "fork",
            Kind::Wake => "wake",
            Kind::Cancel => "cancel",
        }
    }

    fn of(cause: Cause) -> Self {
        match cause {
            Cause::Start => Kind::Fork,
            Cause::Cancel => Kind::Cancel,
            _ => Kind::Wake,
        }
    }
}

/// From the lane of a turn to another lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arrow {
    pub(super) kind: Kind,
    pub(super) to: usize,
}

/// The arrows of each turn, in the order of their kinds and lanes.
///
/// Most arrows are effects. If a turn made another one possible without an effect of its own (it cancelled a parent, so the
/// child ran), the later turn names it in [`Turn::since`](crate::trace::Turn::since).
pub(super) fn of_turns(trace: &Trace) -> Vec<Vec<Arrow>> {
    let mut arrows: Vec<Vec<Arrow>> =
        trace.turns().iter().map(|turn| turn.effects.iter().filter_map(arrow).collect()).collect();
    for turn in trace.turns() {
        let (Some(since), Some(to)) = (turn.since, turn.lane) else { continue };
        if arrows.get(since).is_some_and(|of_turn| of_turn.iter().all(|arrow| arrow.to != to)) {
            arrows[since].push(Arrow { kind: Kind::of(turn.cause), to });
        }
    }
    for (turn, of_turn) in trace.turns().iter().zip(&mut arrows) {
        of_turn.retain(|arrow| turn.lane != Some(arrow.to) && arrow.to < trace.lanes().len());
        of_turn.sort_unstable();
        of_turn.dedup();
    }
    arrows
}

fn arrow(effect: &Effect) -> Option<Arrow> {
    match *effect {
        Effect::Fork(to) => Some(Arrow { kind: Kind::Fork, to }),
        Effect::Wake(to) => Some(Arrow { kind: Kind::Wake, to }),
        Effect::Cancel(to) => Some(Arrow { kind: Kind::Cancel, to }),
        _ => None,
    }
}
