//! The state of a lane between its turns: waiting, runnable, or ended.

use super::arrows::Arrow;
use crate::trace::{Cause, Effect, Trace};

/// A stretch of a lane between two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) from: Place,
    pub(super) to: Place,
    pub(super) waits: bool,
}

/// A vertical position in the picture, in terms of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Where the turn begins.
    Before(usize),
    /// Where the turn's box ends.
    After(usize),
    /// Where the turn acts on the lane.
    Touched(usize),
    /// Where virtual time reached the turn's instant.
    Instant(usize),
    /// Below the last turn.
    Foot,
}

/// The life of one lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Life {
    pub(super) stretches: Vec<Stretch>,
    /// The turn of another lane in which this one ended.
    pub(super) ended_by_other: Option<usize>,
    /// The last turn that affected it.
    pub(super) last: Option<usize>,
    /// Its state at the end of the trace, if it had not ended.
    pub(super) open: Option<Open>,
}

/// The state of a fiber that had not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    /// It could have run.
    CanRun,
    /// It waits since this turn.
    Waits { since: usize },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    Made,
    Ran,
    Touched,
    Ended,
}

/// The lives of all lanes.
pub(super) fn of_lanes(trace: &Trace, arrows: &[Vec<Arrow>]) -> Vec<Life> {
    moments(trace, arrows).iter().map(|moments| Walk::over(trace, moments)).collect()
}

/// For each lane, the events that affected it, with their turns.
fn moments(trace: &Trace, arrows: &[Vec<Arrow>]) -> Vec<Vec<(usize, Moment)>> {
    let mut lanes = vec![Vec::new(); trace.lanes().len()];
    let mut note = |lane: usize, turn: usize, moment: Moment| {
        if let Some(moments) = lanes.get_mut(lane) {
            moments.push((turn, moment));
        }
    };
    for (index, turn) in trace.turns().iter().enumerate() {
        if let Some(lane) = turn.lane {
            note(lane, index, Moment::Ran);
        }
        for arrow in &arrows[index] {
            let made = turn.effects.contains(&Effect::Fork(arrow.to));
            note(arrow.to, index, if made { Moment::Made } else { Moment::Touched });
        }
        for effect in turn.effects.iter().chain(trace.outside(index + 1)) {
            if let Effect::End(lane, _) = effect {
                note(*lane, index, Moment::Ended);
            }
        }
    }
    lanes
}

/// Goes through the moments of one lane.
struct Walk<'a> {
    trace: &'a Trace,
    life: Life,
    /// The current state and its beginning, while it waits or can run.
    now: Option<(Place, Open)>,
}

impl<'a> Walk<'a> {
    fn over(trace: &'a Trace, moments: &[(usize, Moment)]) -> Life {
        let mut walk = Walk { trace, life: Life::default(), now: None };
        for (at, &(turn, moment)) in moments.iter().enumerate() {
            walk.life.last = Some(turn);
            match moment {
                Moment::Made => walk.now = Some((Place::Touched(turn), Open::CanRun)),
                Moment::Touched => walk.touched(turn),
                Moment::Ran => walk.ran(turn, &moments[at + 1..]),
                Moment::Ended => walk.ended(turn),
            }
        }
        walk.close(Place::Foot);
        walk.life.open = walk.now.map(|(_, open)| open);
        walk.life
    }

    fn touched(&mut self, turn: usize) {
        if let Some((_, Open::Waits { .. })) = self.now {
            self.close(Place::Touched(turn));
            self.now = Some((Place::Touched(turn), Open::CanRun));
        }
    }

    fn ran(&mut self, turn: usize, later: &[(usize, Moment)]) {
        let timed = matches!(self.trace.turns()[turn].cause, Cause::Timer | Cause::Computed | Cause::TimeOut);
        if let Some((_, Open::Waits { .. })) = self.now
            && timed
        {
            self.close(Place::Instant(turn));
            self.now = Some((Place::Instant(turn), Open::CanRun));
        }
        self.close(Place::Before(turn));
        let open = if self.waits_after(turn, later) { Open::Waits { since: turn } } else { Open::CanRun };
        self.now = Some((Place::After(turn), open));
    }

    /// A fiber may wait in several places at once (the body of a timeout, and its timer), so only the next turn shows
    /// whether it was runnable all the time.
    fn waits_after(&self, turn: usize, later: &[(usize, Moment)]) -> bool {
        match later.iter().find(|(_, moment)| *moment == Moment::Ran) {
            Some((next, _)) => self.trace.turns()[*next].since != Some(turn),
            None => {
                self.trace.turns()[turn].effects.iter().any(|effect| matches!(effect, Effect::Wait { .. }))
            }
        }
    }

    fn ended(&mut self, turn: usize) {
        let own = self.now.is_some_and(|(from, _)| from == Place::After(turn));
        if !own {
            self.close(Place::Touched(turn));
            self.life.ended_by_other = Some(turn);
        }
        self.now = None;
    }

    fn close(&mut self, to: Place) {
        if let Some((from, open)) = self.now {
            self.life.stretches.push(Stretch { from, to, waits: matches!(open, Open::Waits { .. }) });
        }
    }
}
