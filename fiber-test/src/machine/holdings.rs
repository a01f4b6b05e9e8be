//! Who holds which locks and permits, and which primitives may have items in them.

use std::collections::BTreeMap;
use std::sync::Weak;

use fiber_core::{Contents, Context, Subject};

use super::ready::Lane;
use crate::trace::Site;

#[derive(Default)]
pub(crate) struct Holdings {
    held: BTreeMap<Key, Holding>,
    /// How many there ever were: their order.
    made: u64,
    used: BTreeMap<usize, Used>,
    /// So many may have been used before those that are gone are forgotten.
    most_used: usize,
}

/// What one fiber holds of one primitive since one place.
#[derive(Clone, Debug)]
pub(crate) struct Holding {
    pub(crate) of: Subject,
    pub(crate) fiber: Context,
    pub(crate) lane: Lane,
    pub(crate) permits: usize,
    pub(crate) site: Site,
    number: u64,
}

/// A primitive that may have items in it.
#[derive(Clone)]
pub(crate) struct Used {
    pub(crate) what: Subject,
    pub(crate) contents: Weak<dyn Contents>,
}

/// The primitive, the tag of the context, and the place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key(usize, u64, usize);

impl Key {
    fn of(of: &Subject, context: &Context, site: Site) -> Self {
        Key(of.key(), context.tag(), std::ptr::from_ref(site).addr())
    }
}

impl Holdings {
    /// `context` is `fiber`, or a part of it.
    pub(crate) fn acquired(
        &mut self,
        context: &Context,
        (fiber, lane): (&Context, Lane),
        of: &Subject,
        permits: usize,
        site: Site,
    ) {
        self.made += 1;
        let number = self.made;
        let holding = self.held.entry(Key::of(of, context, site)).or_insert_with(|| Holding {
            of: of.clone(),
            fiber: fiber.clone(),
            lane,
            permits: 0,
            site,
            number,
        });
        holding.permits = holding.permits.saturating_add(permits);
    }

    /// Returns what is to be dropped without any lock.
    pub(crate) fn released(
        &mut self,
        context: &Context,
        of: &Subject,
        permits: usize,
        site: Site,
    ) -> Option<impl Sized + use<>> {
        let key = Key::of(of, context, site);
        let holding = self.held.get_mut(&key)?;
        holding.permits = holding.permits.saturating_sub(permits);
        if holding.permits > 0 {
            return None;
        }
        self.held.remove(&key)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// All, those who hold longest first.
    pub(crate) fn held(&self) -> Vec<Holding> {
        let mut all: Vec<Holding> = self.held.values().cloned().collect();
        all.sort_by_key(|holding| holding.number);
        all
    }

    /// Those who hold something of a primitive, in the same order.
    pub(crate) fn holders(&self, of: &Subject) -> Vec<Lane> {
        let first = Key(of.key(), 0, 0);
        let last = Key(of.key(), u64::MAX, usize::MAX);
        let mut holders: Vec<_> =
            self.held.range(first..=last).map(|(_, holding)| (holding.number, holding.lane)).collect();
        holders.sort_unstable_by_key(|(number, _)| *number);
        holders.into_iter().map(|(_, lane)| lane).collect()
    }

    pub(crate) fn used(&mut self, what: &Subject, contents: &Weak<dyn Contents>) {
        const FEW: usize = 64;
        self.used.entry(what.key()).or_insert_with(|| Used { what: what.clone(), contents: contents.clone() });
        if self.used.len() > self.most_used.max(FEW) {
            self.used.retain(|_, used| used.contents.strong_count() > 0);
            self.most_used = 2 * self.used.len();
        }
    }

    /// Those that live, in the order in which they were first used. To ask them is the code of the program.
    pub(crate) fn all_used(&self) -> Vec<Used> {
        self.used.values().filter(|used| used.contents.strong_count() > 0).cloned().collect()
    }

    /// Forgets all. Returns what is to be dropped without any lock.
    pub(crate) fn clear(&mut self) -> Option<impl Sized + use<>> {
        let is_new = self.made == 0 && self.used.is_empty();
        (!is_new).then(|| std::mem::take(self))
    }
}
