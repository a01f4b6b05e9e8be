//! Races: which side may take what its event gives.
//!
//! The sides of a race are fibers, and each waits for an event of its own. A side that took an item, and then lost, would have lost
//! the item. So an event has to *claim* the race first: the thread that ends the wait of a side also makes this side the *holder* of
//! the race, in one step. While a side holds a race, no event of another side takes or gives anything.
//!
//! ```text
//!   free ── an event of a side, or its end, claims ──> held by this side ── it ends, and decides ──> decided
//!     ^                                                       │
//!     └── it waits again, or ends without deciding: release ──┘   the wake-ups that were missed meanwhile are fired
//! ```
//!
//! So a side that is a single wait loses nothing, whatever its type is: from its event to its end, it holds the race. A longer program
//! releases the race when it waits again, because the race is won by the first side that *ends*.
//!
//! A race may be a side of another one, or a part of a side. Then an event has to claim all races around it, from the inside out. When
//! the inner race is decided, the fiber around it becomes the holder of the outer ones in the place of the winner, until the losers have
//! ended. But a loser may wait where a cancellation does not end its wait, in a finalizer for example, and it may wait for another side of
//! an outer race. So the outer ones are released as soon as a loser waits like that: the inner race was a program.
//!
//! Two sides of one race may have to serve each other: a server and its client over a channel without a buffer, for example. The one that
//! comes second holds the race while it registers, and ends the wait of the other one. If that is a single wait, it holds the race from then
//! on; two programs go on, and one of them holds the race. Two single waits never serve each other, because one of them would lose what both
//! have agreed on.
//!
//! The holder is changed under a lock, because it changes together with the word of the wait. The lock is held for a few moves;
//! a thread may hold that of a primitive outside, and those of outer races inside.

use std::iter::successors;
use std::mem::take;
use std::ptr;

use super::state::{Own, Structure};
use super::{Context, FiberState, Wakeup};
use crate::cell::{EventKey, Fired, Node, Ref};
use crate::engine::task::Waiter;
use crate::footprint::{Access, Side as Touches};
use crate::primitive::Mutex;

/// The state of one race.
pub(super) struct Race(Mutex<State>);

impl Default for Race {
    fn default() -> Self {
        Race(Mutex::new(State::default()))
    }
}

#[derive(Default)]
struct State {
    /// The [`Side::id`] of the side that holds the race, or [`FREE`].
    holder: usize,
    is_decided: bool,
    /// Wake-ups of events that came while another side held the race.
    missed: Vec<Wakeup>,
}

/// The race is free.
const FREE: usize = 0;

/// A side, and the structure of its race.
#[derive(Clone, Copy)]
struct Side<'a> {
    /// The address of its fiber, or of a local of the thread that ends it in place. No other side has this address while the side holds a
    /// race, because the end of a side releases the race, or passes it on.
    id: usize,
    group: &'a Ref<FiberState>,
    /// A cancellation of the race does not reach the place in the side that was asked for.
    is_shielded: bool,
    /// This side is a program, or one inside of it around the place that was asked for.
    is_program: bool,
    /// The place that was asked for has left this race. It claims it no more, but may still hold it.
    has_left: bool,
}

/// What two waits that share a race have in common: their fiber, or a race around both. By address, so it is compared only while both wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RaceKey {
    Fiber(usize),
    Race(usize),
}

/// The innermost side in which this is, if it is in one.
fn side_of(node: &Ref<FiberState>) -> Option<Side<'_>> {
    side_around(node).filter(|side| !side.has_left)
}

/// The same, also after the part in which this is has [left](Context::leave_races) the races around.
fn side_around(node: &Ref<FiberState>) -> Option<Side<'_>> {
    if !node.owner().own.has(Own::RACED | Own::LEFT) {
        return None;
    }
    let (mut fiber, mut is_shielded, mut has_left) = (node, false, false);
    while fiber.owner().own.has(Own::STRUCTURE) {
        has_left |= fiber.owner().own.has(Own::LEFT);
        is_shielded |= fiber.is_shielded();
        fiber = fiber.parent()?;
    }
    let is_program = fiber.owner().own.has(Own::PROGRAM);
    Some(Side {
        id: ptr::from_ref(&**fiber).addr(),
        group: fiber.parent()?,
        is_shielded,
        is_program,
        has_left,
    })
}

/// All sides in which this is, from the inside out.
fn sides_around(node: &Ref<FiberState>) -> impl Iterator<Item = Side<'_>> {
    successors(side_of(node), |side| {
        let around = side_of(side.group)?;
        Some(Side { is_program: side.is_program || around.is_program, ..around })
    })
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

    /// The race, unless nobody has claimed it yet. A claim makes it before the side that holds it goes on.
    fn claimed(&self) -> Option<&'a Mutex<State>> {
        Some(&self.group.front::<Structure>()?.race.get()?.0)
    }

    /// Whether no event of an interruptible side may win any more.
    fn is_over(&self, race: &State) -> bool {
        race.is_decided || self.group.is_cancelled()
    }

    /// Whether a fiber in another side, which holds this race as `holder`, serves this one, and may: it registers on this thread, and one of
    /// the two is a program.
    fn is_met_by(&self, holder: usize) -> bool {
        let Some(server) = Context::current().filter(Context::registers) else { return false };
        let of_server = sides_around(&server.0).find(|side| Ref::ptr_eq(side.group, self.group));
        side_of(&server.0).is_some_and(|side| side.id == holder)
            && of_server.is_some_and(|side| side.is_program || self.is_program)
    }

    fn touch(&self) {
        super::touch(self.group, Touches::Branches, Access::Write);
        // Whether the race was cancelled.
        super::touch(self.group, Touches::Life, Access::Read);
    }

    /// Claims the race for the end of this side. `false`: another side holds it, and `wakeup` is fired when it is free again.
    fn claim_end(&self, wakeup: Option<Wakeup>) -> bool {
        self.touch();
        let mut race = self.race().lock();
        if race.is_decided || race.holder == self.id {
            return true;
        }
        if race.holder != FREE {
            race.missed.extend(wakeup);
            return false;
        }
        race.holder = self.id;
        true
    }

    /// Releases the races, after the outcome of this side was delivered. If that has decided the race, the fiber around it holds the
    /// outer ones instead.
    fn end(&self) {
        self.touch();
        let mut race = self.race().lock();
        let is_held = race.holder == self.id;
        if is_held {
            race.holder = FREE;
        }
        let (is_decided, mut missed) = (race.is_decided, take(&mut race.missed));
        drop(race);
        if is_held {
            let heir = side_of(self.group).filter(|_| is_decided).map_or(FREE, |around| around.id);
            missed.append(&mut pass_on(self.group, self.id, heir));
            // A loser that begins to wait after this look releases the outer races itself.
            if heir != FREE && outlasts_below(self.group) {
                missed.append(&mut pass_on(self.group, heir, FREE));
            }
        }
        missed.into_iter().for_each(Wakeup::fire_again);
    }

    /// Releases the races around a decided one: a loser is a program, which may wait for their other sides.
    fn outlast(&self) {
        self.touch();
        let is_decided = self.race().lock().is_decided;
        if let Some(heir) = side_of(self.group).filter(|_| is_decided) {
            pass_on(self.group, heir.id, FREE).into_iter().for_each(Wakeup::fire_again);
        }
    }
}

impl Context {
    /// Makes this the structure of a race, if it `races`. It has no branches yet.
    #[inline]
    pub(crate) fn set_races(&self, races: bool) {
        if races {
            self.state().own.set(Own::RACES, true);
        }
    }

    /// Whether the branches below this are the sides of a race.
    #[inline]
    pub(super) fn races(&self) -> bool {
        self.state().own.has(Own::RACES)
    }

    /// Makes this a side of the race above it. The fiber does not run yet. `is_program`: it is known to wait more than once.
    pub(crate) fn become_side(&self, is_program: bool) {
        self.state().own.set(Own::RACED | Own::flag(Own::PROGRAM, is_program), true);
    }

    /// Takes a part of a side, and all that is in it, out of the races around: its fiber goes on in a context of its own, which is in none.
    /// What a side inside of the part has claimed, it releases when it waits again or ends.
    pub(crate) fn leave_races(&self) {
        let own = &self.state().own;
        own.replace(Own::RACED, Own::flag(Own::LEFT, self.is_raced()));
    }

    /// Whether this is a side of a race, or a part of one.
    #[inline]
    pub(crate) fn is_raced(&self) -> bool {
        self.state().own.has(Own::RACED)
    }

    /// Whether both are in sides of one race, and neither in a program. Then only one of their events can happen.
    pub(super) fn races_with(&self, other: &Context) -> bool {
        let with_other = |one: Side<'_>| {
            let other = other.claims().find(|other| Ref::ptr_eq(one.group, other.group))?;
            Some(!one.is_program && !other.is_program)
        };
        self.claims().find_map(with_other).unwrap_or(false)
    }

    /// The races that an event here has to claim: those around, up to one that is over for all but this side, which cannot be interrupted.
    fn claims(&self) -> impl Iterator<Item = Side<'_>> {
        let mut is_shielded = self.is_masked();
        sides_around(&self.0).take_while(move |side| {
            is_shielded |= side.is_shielded;
            !is_shielded || !side.is_over(&side.race().lock())
        })
    }

    /// The races that an event here has to claim.
    pub(super) fn races_around(&self) -> impl Iterator<Item = RaceKey> {
        self.claims().map(|side| RaceKey::Race(ptr::from_ref(&**side.group).addr()))
    }

    /// Claims the races around this side, for an event that has happened. `false`: another side holds or has decided one.
    #[cold]
    pub(crate) fn claim_race(&self) -> bool {
        self.claim_then(None, || true)
    }

    /// Claims the races, and ends the wait by its event. If another side holds a race, the wake-up is fired when that is free again.
    #[cold]
    pub(super) fn fire_in_race(&self, event: EventKey) -> Fired<Waiter> {
        // Also if the event is missed: whether the wait was over before is not the same.
        self.touch(Touches::Life, Access::Write);
        let mut fired = Fired::Late;
        self.claim_then(Some(event), || {
            fired = self.fire(event);
            !matches!(fired, Fired::Late)
        });
        fired
    }

    /// Claims the races, if `then` agrees, which is called while they are locked. `false`: none has another holder than before. If one is
    /// held by another side, the wake-up of the `event` is kept there.
    fn claim_then(&self, event: Option<EventKey>, then: impl FnOnce() -> bool) -> bool {
        let holder = side_of(&self.0).map_or(FREE, |side| side.id);
        // A race that is not in another one allocates nothing.
        let (mut innermost, mut others) = (None, Vec::new());
        let mut is_shielded = self.is_masked();
        // A program that serves a side which is none, and hands the races on to it.
        let mut server = FREE;
        for side in sides_around(&self.0) {
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
            if race.holder != FREE && race.holder != holder && race.holder != server {
                if event.is_none() || !side.is_met_by(race.holder) {
                    race.missed.extend(event.map(|event| Wakeup::of_fiber(self.clone(), event)));
                    return false;
                }
                if side.is_program {
                    // Two programs go on. Neither can hold this race for the other, nor those around it.
                    break;
                }
                server = race.holder;
            }
            match innermost {
                None => innermost = Some(race),
                Some(_) => others.push(race),
            }
        }
        let holds = then();
        if holds {
            innermost.iter_mut().chain(&mut others).for_each(|race| race.holder = holder);
        }
        holds
    }

    /// Ends the wait of this event, which has missed a race.
    pub(super) fn fire_missed(&self, event: EventKey) -> Fired<Waiter> {
        self.touch(Touches::Life, Access::Write);
        self.0.parking().fire_missed(event)
    }

    /// Whether the last wait has ended without an event: the one that came has missed a race, which is free again.
    pub(crate) fn has_missed_race(&self) -> bool {
        self.0.was_missed()
    }

    /// Releases the races around this side, which goes on or waits again: others may win.
    #[cold]
    pub(crate) fn release_race(&self) {
        // The structure of a race inside of this side waits for its own sides, one of which may hold the outer race.
        if let Some(side) = side_of(&self.0).filter(|_| !self.races()) {
            pass_on(&self.0, side.id, FREE).into_iter().for_each(Wakeup::fire_again);
        }
    }

    /// Called when this side has begun to wait, before it parks. `is_shielded`: the wait is one that a cancellation does not end.
    #[cold]
    pub(crate) fn wait_in_race(&self, is_shielded: bool) {
        // A race inside of this side: its own sides are cancelled too.
        let outlasts = self.is_masked() || is_shielded && !self.races();
        if outlasts || side_of(&self.0).is_some_and(|side| side.is_shielded) {
            // Before the look at the races: either this thread sees that one is decided, or the one that decides it sees this.
            self.state().own.set(Own::OUTLASTS, true);
            self.outlast_race(outlasts);
        }
    }

    /// Releases what is held until this side has ended, because it goes on or waits after it has lost. Nothing, if the side does not
    /// `outlast` a cancellation here.
    #[cold]
    pub(crate) fn outlast_race(&self, outlasts: bool) {
        let mut outlasts = outlasts;
        for side in sides_around(&self.0) {
            outlasts |= side.is_shielded;
            if outlasts {
                side.outlast();
            }
        }
    }

    /// Records that the outcome of a side has decided this race.
    // No assertion that the side holds the race: one that is abandoned ends at once, because it cannot wait until the race is free.
    pub(crate) fn decide_race(&self) {
        race_of(&self.0).lock().is_decided = true;
    }

    /// Claims the race for the end of this side, before its outcome is delivered. [`end_side`](Context::end_side) follows. `false`: another
    /// side holds the race, and `event` is fired when it is free again.
    #[cold]
    pub(crate) fn claim_end(&self, event: Option<EventKey>) -> bool {
        let wakeup = || event.map(|event| Wakeup::of_fiber(self.clone(), event));
        side_of(&self.0).is_none_or(|side| side.claim_end(wakeup()))
    }

    /// Ends this side, whose outcome was delivered: others may win, or the race is decided.
    #[cold]
    pub(crate) fn end_side(&self) {
        if let Some(side) = side_of(&self.0) {
            side.end();
        }
    }

    /// The same, from the claim on, for a side of this race that has run in place, and has no context. If another side holds the race,
    /// this does not call `deliver`, and gives `ended` back.
    pub(crate) fn end_in_place<T>(&self, ended: T, deliver: impl FnOnce(T)) -> Result<(), T> {
        let local = 0_u8;
        let side = Side {
            id: ptr::from_ref(&local).addr(),
            group: &self.0,
            is_shielded: false,
            is_program: false,
            has_left: false,
        };
        if !side.claim_end(None) {
            return Err(ended);
        }
        deliver(ended);
        side.end();
        Ok(())
    }
}

/// Changes the holder of all races around `node` that `from` holds, also of those that `node` has left: they are free then. Gives the
/// wake-ups that were missed, if the races are free now.
fn pass_on(node: &Ref<FiberState>, from: usize, to: usize) -> Vec<Wakeup> {
    let mut missed = Vec::new();
    let (mut inside, mut to) = (node, to);
    while let Some(side) = side_around(inside) {
        let Some(race) = side.claimed() else {
            inside = side.group;
            continue;
        };
        let mut race = race.lock();
        // Under the lock: either this sees that the race was left, or the heir, which goes on, releases it when it waits again.
        if to != FREE && side_of(inside).is_none() {
            to = FREE;
        }
        inside = side.group;
        if race.holder != from {
            // Those further outside may be held: another thread that passes them on has perhaps got so far.
            continue;
        }
        race.holder = to;
        if to == FREE {
            side.touch();
            missed.append(&mut race.missed);
        }
    }
    missed
}

/// Whether a side of this race, which is decided, waits although it was cancelled.
fn outlasts_below(group: &Ref<FiberState>) -> bool {
    let mut below = Node::live(group);
    while let Some(node) = below.pop() {
        let own = &node.owner().own;
        if own.has(Own::OUTLASTS) {
            return true;
        }
        // Other fibers below a side need no look: the side waits for them before it ends.
        if own.has(Own::RACED) {
            below.append(&mut Node::live(&node));
        }
    }
    false
}
