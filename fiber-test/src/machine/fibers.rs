//! The fibers that have not ended, and what they wait for.

use std::collections::BTreeMap;

use fiber_core::Context;
use fiber_core::error::Frame;
use fiber_core::scheduler::{Subject, WaitsFor};

use super::lane::Lane;
use crate::primitive::Site;

#[derive(Default)]
pub(crate) struct Fibers {
    slots: Vec<Option<Slot>>,
    free: Vec<u32>,
    /// How many fibers were ever made here: what tells one in a slot from the next.
    made: u32,
    lanes: u32,
    /// The last waits at primitives, by the tags of the waiters.
    wanted: BTreeMap<u64, At>,
    /// How many waits at primitives there were: their order.
    waits: u64,
}

struct Slot {
    tag: u64,
    lane: Lane,
    /// Where the fiber is that this is a part of; or its own place.
    fiber: u32,
    context: Context,
    /// What only reports ask for. Explorations have none.
    rest: Option<Box<Rest>>,
}

#[derive(Default)]
struct Rest {
    wait: Option<Wait>,
    /// What is sure to run before it ends.
    finalizers: Vec<Frame>,
}

struct Wait {
    what: WaitsFor,
    site: Site,
    on: Option<Context>,
}

/// The primitive at which a fiber waits.
#[derive(Clone, Debug)]
pub(crate) struct At {
    pub(crate) of: Subject,
    /// How many permits it asks for.
    pub(crate) asks: usize,
    /// Its number among all such waits, for the order of those at one primitive.
    pub(crate) since: u64,
}

/// A fiber that waits, for reports.
#[derive(Clone, Debug)]
pub(crate) struct Blocked {
    pub(crate) context: Context,
    pub(crate) lane: Lane,
    pub(crate) what: WaitsFor,
    pub(crate) site: Option<Site>,
    /// The fiber whose end it waits for.
    pub(crate) on: Option<Context>,
    /// The primitive at which it waits.
    pub(crate) at: Option<At>,
    /// Its finalizers that have not run, in the order in which they would.
    pub(crate) finalizers: Vec<Frame>,
}

impl Fibers {
    /// A context of a fiber of its own gets a lane; what a combinator made is part of its parent's. Returns both lanes.
    pub(crate) fn insert(&mut self, context: &Context, parent: &Context) -> (Lane, Lane) {
        self.made = self.made.wrapping_add(1);
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        // Never 0, which is the tag of a context that is not here.
        let tag = u64::from(self.made) << 32 | u64::from(slot + 1);
        context.set_tag(tag);
        let (above, fiber) = self.slot(parent).map_or((Lane::NONE, slot), |slot| (slot.lane, slot.fiber));
        let (lane, fiber) = if context.is_structure() { (above, fiber) } else { (self.next_lane(), slot) };
        let context = context.clone();
        let filled = Some(Slot { tag, lane, fiber, context, rest: None });
        match self.slots.get_mut(slot as usize) {
            Some(free) => *free = filled,
            None => self.slots.push(filled),
        }
        (lane, above)
    }

    fn next_lane(&mut self) -> Lane {
        let lane = Lane(self.lanes);
        self.lanes += 1;
        lane
    }

    /// Returns what is to be dropped without any lock.
    pub(crate) fn remove(&mut self, context: &Context) -> Option<impl Sized + use<>> {
        let index = self.index(context)?;
        self.free.push(index as u32);
        self.forget_wanted(context);
        self.slots[index].take()
    }

    fn index(&self, context: &Context) -> Option<usize> {
        let tag = context.tag();
        let index = ((tag & u64::from(u32::MAX)) as usize).checked_sub(1)?;
        self.slots.get(index)?.as_ref().filter(|slot| slot.tag == tag)?;
        Some(index)
    }

    #[inline]
    pub(crate) fn lane(&self, context: &Context) -> Lane {
        self.slot(context).map_or(Lane::NONE, |slot| slot.lane)
    }

    /// The fiber that this is, or is a part of, and its lane.
    pub(crate) fn fiber<'a>(&'a self, context: &'a Context) -> (&'a Context, Lane) {
        let slot = self.slot(context).and_then(|slot| self.slots[slot.fiber as usize].as_ref());
        slot.map_or((context, Lane::NONE), |slot| (&slot.context, slot.lane))
    }

    fn slot(&self, context: &Context) -> Option<&Slot> {
        self.slots[self.index(context)?].as_ref()
    }

    /// Returns what is to be dropped without any lock.
    pub(crate) fn waits(
        &mut self,
        context: &Context,
        what: WaitsFor,
        site: Site,
        on: Option<&Context>,
        at: Option<(&Subject, usize)>,
    ) -> Option<impl Sized + use<>> {
        match at {
            None => self.forget_wanted(context),
            Some((of, asks)) => {
                self.waits += 1;
                self.wanted.insert(context.tag(), At { of: of.clone(), asks, since: self.waits });
            }
        }
        self.rest_mut(context)?.wait.replace(Wait { what, site, on: on.cloned() })
    }

    #[inline]
    fn forget_wanted(&mut self, context: &Context) {
        if !self.wanted.is_empty() {
            self.forget_one(context.tag());
        }
    }

    #[cold]
    fn forget_one(&mut self, tag: u64) {
        self.wanted.remove(&tag);
    }

    /// The fiber is suspended where this finalizer will run in the end.
    pub(crate) fn guarded(&mut self, context: &Context, finalizer: Frame) {
        if let Some(rest) = self.rest_mut(context) {
            rest.finalizers.push(finalizer);
        }
    }

    /// The finalizer begins.
    pub(crate) fn finalizer_begins(&mut self, context: &Context, finalizer: Frame) {
        let Some(rest) = self.rest_mut(context) else { return };
        // A suspension is attached from the outside in, so the inner ones come last.
        if let Some(at) = rest.finalizers.iter().rposition(|one| *one == finalizer) {
            rest.finalizers.remove(at);
        }
    }

    fn rest_mut(&mut self, context: &Context) -> Option<&mut Rest> {
        let index = self.index(context)?;
        Some(self.slots[index].as_mut()?.rest.get_or_insert_default())
    }

    /// What the fiber waited for the last time it did, and where.
    pub(crate) fn last_wait(&self, context: &Context) -> Option<(WaitsFor, Site)> {
        let wait = self.slot(context)?.rest.as_ref()?.wait.as_ref()?;
        Some((wait.what, wait.site))
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(crate) fn contexts(&self) -> Vec<Context> {
        self.slots.iter().flatten().map(|slot| slot.context.clone()).collect()
    }

    /// All that have not ended, in the order of their ids.
    pub(crate) fn blocked(&self) -> Vec<Blocked> {
        let mut all: Vec<Blocked> = self.slots.iter().flatten().map(|slot| self.one_blocked(slot)).collect();
        all.sort_by_cached_key(|blocked| path(&blocked.context.id()));
        all
    }

    fn one_blocked(&self, slot: &Slot) -> Blocked {
        let what = slot.context.waits_for();
        let rest = slot.rest.as_deref();
        let wait = rest.and_then(|rest| rest.wait.as_ref()).filter(|wait| wait.what == what);
        Blocked {
            context: slot.context.clone(),
            lane: slot.lane,
            what,
            site: wait.map(|wait| wait.site),
            on: wait.and_then(|wait| wait.on.clone()),
            at: wait.and_then(|_| self.wanted.get(&slot.tag).cloned()),
            finalizers: rest.map_or_else(Vec::new, |rest| rest.finalizers.iter().rev().copied().collect()),
        }
    }

    /// Forgets all. Returns what is to be dropped without any lock.
    pub(crate) fn clear(&mut self) -> impl Sized + use<> {
        std::mem::take(self).slots
    }

    /// As if no fiber had ever been made.
    pub(crate) fn reset(&mut self) {
        debug_assert_eq!(self.len(), 0, "only what has ended may be forgotten");
        self.slots.clear();
        self.free.clear();
        self.made = 0;
        self.lanes = 0;
        if self.waits > 0 {
            self.wanted.clear();
            self.waits = 0;
        }
    }
}

/// An id in the order of its numbers, not of its digits.
fn path(id: &str) -> Vec<u32> {
    id.split('.').filter_map(|part| part.parse().ok()).collect()
}
