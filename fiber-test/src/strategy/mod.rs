//! How a schedule is chosen: which runnable task has the next turn.
//!
//! * [`Rounds`]: bucket by bucket, each in a random order.
//! * [`RandomWalk`]: any task, all equally likely.
//! * [`Pct`]: priorities that change at a few random turns.
//! * [`Urw`]: weighted by the remaining turns of each fiber, which makes the interleavings about equally likely.
//! * [`Script`]: a fixed list of decisions: a replay, or a prefix of a systematic enumeration.
//! * [`Guide`]: a fixed prefix, and then only steps that may lead to something new.
//! * [`Follow`]: a given order of fibers, kept as far as possible.
//! * [`Recorded`]: the order that a pool has recorded, kept as far as possible.

mod decision;
mod follow;
mod guide;
mod lanes;
mod pct;
mod recorded;
mod rounds;
mod script;
mod urw;
mod walk;

pub(crate) use decision::Decision;
pub(crate) use follow::Follow;
pub(crate) use guide::{Branch, Decided, Guide, Sleeper, Taken};
pub(crate) use lanes::{LaneKey, Lanes};
pub(crate) use pct::Pct;
pub use recorded::Followed;
pub(crate) use recorded::Recorded;
pub(crate) use rounds::Rounds;
pub(crate) use script::{Point, Script, Step};
pub(crate) use urw::{Expected, Urw};
pub(crate) use walk::RandomWalk;

use crate::machine::{Choices, Lane};

/// When the longest runnable fiber was passed over for this many turns, it has the next one. So a fiber that spins until
/// another one has done something ends under every strategy. Each time that happens in a run, the bound is halved,
/// because the other fiber may need many turns.
pub(crate) const FAIRNESS_BOUND: u32 = 10_000;

/// The bound does not fall below this.
const MIN_FAIRNESS_BOUND: u32 = 64;

/// Decides the order. First in, first out is choice 0. It is moved a few times in each run, so large, rare variants are boxed.
#[derive(Debug, Default)]
pub(crate) enum Strategy {
    #[default]
    Fifo,
    /// The newest task first.
    Lifo,
    /// Each fiber until it waits.
    RunAhead,
    Rounds(Rounds),
    RandomWalk(RandomWalk),
    Pct(Pct),
    Urw(Urw),
    Script(Script),
    Follow(Follow),
    Guide(Box<Guide>),
    Recorded(Box<Recorded>),
}

impl Strategy {
    /// Chooses one of at least one.
    #[inline]
    pub(crate) fn choose(&mut self, choices: &Choices<'_>, fairness_bound: &mut u32) -> Decision {
        if choices.turn > *fairness_bound && self.may_starve() && is_starving(choices, *fairness_bound) {
            *fairness_bound = (*fairness_bound / 2).max(MIN_FAIRNESS_BOUND);
            if let Strategy::Guide(guide) = self {
                guide.is_off = true;
            }
            return Decision::Take(0);
        }
        match self {
            Strategy::Fifo => Decision::Take(0),
            Strategy::RandomWalk(walk) => Decision::Take(walk.choose(choices)),
            Strategy::Pct(pct) => Decision::Take(pct.choose(choices)),
            _ => self.choose_otherwise(choices),
        }
    }

    /// The same. Apart, so that the usual strategies pay nothing for the others.
    #[inline(never)]
    fn choose_otherwise(&mut self, choices: &Choices<'_>) -> Decision {
        Decision::Take(match self {
            Strategy::Script(script) => return script.choose(choices),
            Strategy::Guide(guide) => return guide.choose(choices),
            Strategy::Follow(follow) => return follow.choose(choices),
            Strategy::Rounds(rounds) => rounds.choose(choices),
            Strategy::Lifo => choices.len() - 1,
            Strategy::RunAhead => choices.run_ahead().unwrap_or(0),
            Strategy::Urw(urw) => urw.choose(choices),
            Strategy::Recorded(recorded) => recorded.choose(choices),
            Strategy::Fifo | Strategy::RandomWalk(_) | Strategy::Pct(_) => {
                unreachable!("chosen by the caller")
            }
        })
    }

    fn may_starve(&self) -> bool {
        match self {
            Strategy::Fifo | Strategy::Rounds(_) => false,
            Strategy::Script(script) => script.may_starve(),
            _ => true,
        }
    }

    /// Whether it draws nothing: it follows a rule, or something that was decided before.
    pub(crate) fn is_without_chance(&self) -> bool {
        match self {
            Strategy::Rounds(_) | Strategy::RandomWalk(_) | Strategy::Pct(_) | Strategy::Urw(_) => false,
            Strategy::Fifo | Strategy::Lifo | Strategy::RunAhead => true,
            Strategy::Script(_) | Strategy::Follow(_) | Strategy::Guide(_) | Strategy::Recorded(_) => true,
        }
    }

    /// A fiber was created.
    #[inline]
    pub(crate) fn created(&mut self, lane: Lane, parent: Lane) {
        match self {
            Strategy::Pct(pct) => pct.created(),
            Strategy::Urw(urw) => urw.created(lane, parent),
            Strategy::Follow(follow) => follow.created(lane, parent),
            _ => {}
        }
    }

    /// A fiber yielded explicitly.
    pub(crate) fn yielded(&mut self, lane: Lane) {
        if let Strategy::Pct(pct) = self {
            pct.demote(lane);
        }
    }
}

/// Whether the longest runnable fiber was passed over for too long.
#[cold]
fn is_starving(choices: &Choices<'_>, fairness_bound: u32) -> bool {
    choices.entry(0).is_some_and(|first| choices.turn.saturating_sub(first.since) > fairness_bound)
}
