//! Races: which side may take what its event gives.
//!
//! The sides of a race are fibers, and each waits for an event of its own. A side that took an item, and then lost, would have lost
//! the item. So an event has to win the race first: the thread that ends the wait of a side also makes this side the *holder* of the
//! race, in one step. While a side holds a race, no event of another side takes or gives anything.
//!
//! ```text
//!   free ── an event of a side, or its end ──> held by this side ── it ends, and decides ──> decided
//!     ^                                               │
//!     └── it waits again, or ends without deciding ───┘   the wake-ups that were missed meanwhile are fired
//! ```
//!
//! So a side that is a single wait loses nothing, whatever its type is: from its event to its end, it holds the race. A longer program
//! gives the race back when it waits again, because the race is won by the first side that *ends*.
//!
//! A race may be a side of another one, or a part of a side. Then an event has to win all races around it, from the inside out. When
//! the inner race is decided, the fiber around it holds the outer ones in the place of the winner.
//!
//! The holder is changed under a lock, because it changes together with the word of the wait. The lock is held for a few moves;
//! a thread may hold that of a primitive outside, and those of outer races inside.

use std::iter::successors;
use std::mem::take;
use std::ptr;

use parking_lot::Mutex;

use super::state::{Own, Structure};
use super::{Context, FiberState, Wakeup};
use crate::cell::{EventKey, Fired, Ref};
use crate::engine::task::Waiter;
use crate::footprint::{Access, Side as Touches};

/// The state of one race.
#[derive(Default)]
pub(super) struct Race(Mutex<State>);

#[derive(Default)]
struct State {
    /// The address of the fiber that holds the race, or [`IN_PLACE`]; 0: it is free. No other fiber has this address, because the end
    /// of a side frees the race, or hands it on.
    holder: usize,
    is_decided: bool,
    /// Wake-ups of events that came while another side held the race.
    missed: Vec<Wakeup>,
}

/// The holder is a side that has ended in place, while it leaves its outcome. It holds no outer race: a side that has taken something
/// has a node.
const IN_PLACE: usize = 1;

/// A side, and the structure of its race.
#[derive(Clone, Copy)]
struct Side<'a> {
    fiber: &'a Ref<FiberState>,
    group: &'a Ref<FiberState>,
    /// A cancellation of the race does not reach the place in the side that was asked for.
    is_shielded: bool,
}

/// The side in which this is, if it is in one.
fn side_of(node: &Ref<FiberState>) -> Option<Side<'_>> {
    if !node.owner().own.has(Own::RACED) {
        return None;
    }
    let (mut fiber, mut is_shielded) = (node, false);
    while fiber.owner().own.has(Own::STRUCTURE) {
        is_shielded |= fiber.is_shielded();
        fiber = fiber.parent()?;
    }
    Some(Side { fiber, group: fiber.parent()?, is_shielded })
}

/// The race whose structure this is.
fn race_of(group: &Ref<FiberState>) -> &Mutex<State> {
    let structure = group.front::<Structure>().expect("the structure of a race");
    &structure.race.get_or_make(Race::default).0
}

impl<'a> Side<'a> {
    fn race(&self) -> &'a Mutex<State> {
        race_of(self.group)
    }

    fn address(&self) -> usize {
        ptr::from_ref(&**self.fiber).addr()
    }

    /// Whether no event of an interruptible side may win any more.
    fn is_over(&self, race: &State) -> bool {
        race.is_decided || self.group.is_cancelled()
    }

    fn touch(&self) {
        super::touch(self.group, Touches::Branches, Access::Write);
        // Whether the race was cancelled.
        super::touch(self.group, Touches::Life, Access::Read);
    }
}

/// What wants to hold the races around it.
struct Claim<'a> {
    /// The innermost side.
    holder: usize,
    /// Of the event. Without one, a claim that fails leaves nothing.
    event: Option<(&'a Context, EventKey)>,
    is_masked: bool,
}

impl Claim<'_> {
    /// Calls `then` if the claim holds all races around `node`. If that gives `false`, the races stay as they were.
    fn hold(&self, node: &Ref<FiberState>, then: impl FnOnce() -> bool) -> bool {
        let (mut innermost, mut others) = (None, Vec::new());
        let mut is_shielded = self.is_masked;
        for side in successors(side_of(node), |side| side_of(side.group)) {
            side.touch();
            is_shielded |= side.is_shielded;
            let mut race = side.race().lock();
            if side.is_over(&race) {
                if is_shielded {
                    // A side that cannot be interrupted takes what it waits for, as it would without this race and those around it.
                    break;
                }
                return false;
            }
            if race.holder != 0 && race.holder != self.holder {
                let missed = self.event.map(|(side, event)| Wakeup::of_fiber(side.clone(), event));
                race.missed.extend(missed);
                return false;
            }
            match innermost {
                None => innermost = Some(race),
                Some(_) => others.push(race),
            }
        }
        let holds = then();
        if holds {
            innermost.iter_mut().chain(&mut others).for_each(|race| race.holder = self.holder);
        }
        holds
    }
}

impl Context {
    /// Makes this the structure of a race. It has no branches yet.
    pub(crate) fn become_race(&self) {
        self.state().own.set(Own::RACES, true);
    }

    /// Whether the branches below this are the sides of a race.
    #[inline]
    pub(super) fn races(&self) -> bool {
        self.state().own.has(Own::RACES)
    }

    /// Makes this a side of the race above it. The fiber does not run yet.
    pub(crate) fn become_side(&self) {
        self.state().own.set(Own::RACED, true);
    }

    /// Whether this is a side of a race, or a part of one.
    #[inline]
    pub(crate) fn is_raced(&self) -> bool {
        self.state().own.has(Own::RACED)
    }

    /// Whether both are in sides of the same race.
    pub(super) fn races_with(&self, other: &Context) -> bool {
        let races = |node| successors(side_of(node), |side| side_of(side.group));
        races(&self.0).any(|one| races(&other.0).any(|other| Ref::ptr_eq(one.group, other.group)))
    }

    /// Whether the wait of this event goes on.
    pub(super) fn waits_in(&self, event: EventKey) -> bool {
        self.0.waits_in(event)
    }

    fn claim_of<'a>(&self, event: Option<(&'a Context, EventKey)>) -> Option<Claim<'a>> {
        let holder = side_of(&self.0)?.address();
        Some(Claim { holder, event, is_masked: self.is_masked() })
    }

    /// Holds the races around this side, for an event that has happened. `false`: another side holds or has decided one.
    #[cold]
    pub(crate) fn hold_race(&self) -> bool {
        self.claim_of(None).is_none_or(|claim| claim.hold(&self.0, || true))
    }

    /// Ends the wait by its event, if that may win. Otherwise the wait is over, or the wake-up is fired when the race is free again.
    #[cold]
    pub(super) fn fire_in_race(&self, event: EventKey) -> Fired<Waiter> {
        let Some(claim) = self.claim_of(Some((self, event))) else { return self.fire(event) };
        // Also if the event is missed: whether the wait was over before is not the same.
        self.touch(Touches::Life, Access::Write);
        let mut fired = Fired::Late;
        claim.hold(&self.0, || {
            fired = self.fire(event);
            !matches!(fired, Fired::Late)
        });
        fired
    }

    /// Whether this side holds the races around it, or cannot be interrupted in a race that is over.
    #[cold]
    pub(crate) fn holds_race(&self) -> bool {
        let Some(side) = side_of(&self.0) else { return true };
        side.touch();
        let race = side.race().lock();
        let is_shielded = side.is_shielded || self.is_masked();
        race.holder == side.address() || is_shielded && side.is_over(&race)
    }

    /// This side waits again: others may win.
    #[cold]
    pub(crate) fn waits_again(&self) {
        // The structure of a race inside of this side waits for its own sides, one of which may hold the outer race.
        if !self.races() {
            self.lets_go();
        }
    }

    /// This side does not end yet: others may win.
    pub(crate) fn lets_go(&self) {
        if let Some(side) = side_of(&self.0) {
            let mut missed = Vec::new();
            let_go(&self.0, side.address(), &mut missed);
            missed.into_iter().for_each(Wakeup::fire_again);
        }
    }

    /// Records that a side of this race, which holds it, has decided it.
    pub(crate) fn decide_race(&self) {
        self.race().lock().is_decided = true;
    }

    /// Whether this side may end now: it holds its race, or that is decided.
    #[cold]
    pub(crate) fn may_end_in_race(&self, wakeup: Option<&Wakeup>) -> bool {
        let Some(side) = side_of(&self.0) else { return true };
        side.touch();
        let mut race = side.race().lock();
        if race.is_decided || race.holder == side.address() {
            return true;
        }
        if race.holder != 0 {
            race.missed.extend(wakeup.and_then(Wakeup::again));
            return false;
        }
        race.holder = side.address();
        true
    }

    /// Whether a side that has run in place, and has no context, may end now. Called for the structure; [`ended_in_place`]
    /// follows.
    ///
    /// [`ended_in_place`]: Context::ended_in_place
    pub(crate) fn begin_end_in_place(&self) -> bool {
        self.touch(Touches::Branches, Access::Write);
        let mut race = self.race().lock();
        if race.holder != 0 && !race.is_decided {
            return false;
        }
        if !race.is_decided {
            race.holder = IN_PLACE;
        }
        true
    }

    /// A side that has run in place has left its outcome.
    pub(crate) fn ended_in_place(&self) {
        let mut race = self.race().lock();
        if race.holder != IN_PLACE {
            return;
        }
        race.holder = 0;
        let missed = take(&mut race.missed);
        drop(race);
        missed.into_iter().for_each(Wakeup::fire_again);
    }

    fn race(&self) -> &Mutex<State> {
        race_of(&self.0)
    }

    /// This side has ended, and left its outcome. If that has decided the race, the fiber around it holds the outer races instead.
    #[cold]
    pub(crate) fn ended_in_race(&self) {
        let Some(side) = side_of(&self.0) else { return };
        side.touch();
        let mut race = side.race().lock();
        let holder = side.address();
        let is_decided = race.is_decided;
        let held = race.holder == holder;
        if held {
            race.holder = 0;
        }
        let mut missed = take(&mut race.missed);
        drop(race);
        if held && is_decided {
            hand_on(side.group, holder);
        } else if held {
            let_go(side.group, holder, &mut missed);
        }
        missed.into_iter().for_each(Wakeup::fire_again);
    }
}

/// Frees all races around `node` that `holder` holds, and collects the wake-ups that were missed.
fn let_go(node: &Ref<FiberState>, holder: usize, missed: &mut Vec<Wakeup>) {
    let mut node = node;
    while let Some(side) = side_of(node) {
        let mut race = side.race().lock();
        if race.holder != holder {
            return;
        }
        side.touch();
        race.holder = 0;
        missed.append(&mut race.missed);
        node = side.group;
    }
}

/// The fiber around a race takes the place of its winner.
fn hand_on(group: &Ref<FiberState>, winner: usize) {
    let mut heir = None;
    let mut node = group;
    while let Some(side) = side_of(node) {
        let heir = *heir.get_or_insert(side.address());
        let mut race = side.race().lock();
        if race.holder != winner {
            return;
        }
        race.holder = heir;
        node = side.group;
    }
}
