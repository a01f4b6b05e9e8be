//! How a schedule is chosen: who of those that can run has the next turn.
//!
//! * [`Rounds`]: bucket by bucket, each in a random order.
//! * [`RandomWalk`]: anybody, each as likely as any other.
//! * [`Pct`]: priorities that change at a few random turns.
//! * [`Urw`]: weighted by what each has left to do, which makes the interleavings about equally likely.
//! * [`Deviate`]: a given list of deviations from first in, first out.
//! * [`Guided`]: a prefix of a systematic enumeration.
//! * [`Follow`]: a given order of fibers, as far as it can be kept.

mod deviate;
mod follow;
mod guided;
mod lanes;
mod pct;
mod rounds;
mod urw;
mod walk;

pub(crate) use deviate::Deviate;
pub(crate) use follow::Follow;
pub(crate) use guided::{Guided, Point};
pub(crate) use lanes::{LaneKey, Lanes};
pub(crate) use pct::Pct;
pub(crate) use rounds::Rounds;
pub(crate) use urw::{Expected, Urw};
pub(crate) use walk::RandomWalk;

use crate::machine::{Choices, Lane};

/// After so many turns in which the fiber that can run for longest had none, it has one: so a fiber that spins until
/// another one has done something ends under every strategy. Every time that happens in a run, the patience is half of what it was,
/// so that what the other one has to do may be long.
pub(crate) const PATIENCE: u32 = 10_000;

/// It does not get shorter than this.
const LEAST_PATIENCE: u32 = 64;

/// Who decides. First in, first out is choice 0.
#[derive(Debug)]
pub(crate) enum Strategy {
    Fifo,
    /// The newest first.
    Lifo,
    /// Each fiber until it waits.
    RunAhead,
    Rounds(Rounds),
    RandomWalk(RandomWalk),
    Pct(Pct),
    Urw(Urw),
    Deviate(Deviate),
    Guided(Guided),
    Follow(Follow),
}

impl Strategy {
    /// The choice among at least one.
    #[inline]
    pub(crate) fn choose(&mut self, choices: &Choices<'_>, patience: &mut u32) -> usize {
        if choices.turn > *patience && self.may_starve() && is_starving(choices, *patience) {
            *patience = (*patience / 2).max(LEAST_PATIENCE);
            return 0;
        }
        match self {
            Strategy::Fifo => 0,
            Strategy::Deviate(deviate) => deviate.choose(choices),
            Strategy::Rounds(rounds) => rounds.choose(choices),
            Strategy::Lifo => choices.len() - 1,
            Strategy::RunAhead => choices.run_ahead().unwrap_or(0),
            Strategy::RandomWalk(walk) => walk.choose(choices),
            Strategy::Pct(pct) => pct.choose(choices),
            Strategy::Urw(urw) => urw.choose(choices),
            Strategy::Guided(guided) => guided.choose(choices),
            Strategy::Follow(follow) => follow.choose(choices),
        }
    }

    fn may_starve(&self) -> bool {
        !matches!(self, Strategy::Fifo | Strategy::Rounds(_) | Strategy::Deviate(_))
    }

    /// A fiber was made.
    pub(crate) fn created(&mut self, lane: Lane, parent: Lane) {
        match self {
            Strategy::Pct(pct) => pct.created(lane),
            Strategy::Urw(urw) => urw.created(lane, parent),
            Strategy::Follow(follow) => follow.created(lane, parent),
            _ => {}
        }
    }

    /// A fiber asked to make place.
    pub(crate) fn yielded(&mut self, lane: Lane) {
        if let Strategy::Pct(pct) = self {
            pct.demote(lane);
        }
    }
}

/// Whether the one that can run for longest was passed over for too long.
#[cold]
fn is_starving(choices: &Choices<'_>, patience: u32) -> bool {
    choices.entry(0).is_some_and(|first| choices.turn.saturating_sub(first.since) > patience)
}
