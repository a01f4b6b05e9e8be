//! Keys that identify the fibers of one run in every other run: hashes of their places in the tree.

use crate::machine::Lane;
use crate::random::mix;

/// A fiber's place in the tree, hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct LaneKey(u64);

impl LaneKey {
    /// The key of no fiber.
    pub(crate) const NONE: LaneKey = LaneKey(0);

    pub(crate) fn number(self) -> u64 {
        self.0
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Lanes {
    places: Vec<Place>,
    /// The number of fibers without a parent.
    roots: u64,
}

#[derive(Clone, Debug)]
struct Place {
    key: LaneKey,
    children: u64,
}

impl Lanes {
    pub(crate) fn created(&mut self, lane: Lane, parent: Lane) {
        let above = parent.index().and_then(|index| self.places.get_mut(index));
        let (parent_key, child) = match above {
            Some(place) => {
                place.children += 1;
                (place.key.0, place.children)
            }
            None => {
                self.roots += 1;
                (0, self.roots - 1)
            }
        };
        let key = LaneKey(mix(parent_key ^ mix(child + 1)).max(1));
        debug_assert_eq!(lane.index(), Some(self.places.len()), "lanes are numbered in their order");
        self.places.push(Place { key, children: 0 });
    }

    pub(crate) fn key(&self, lane: Lane) -> Option<LaneKey> {
        Some(self.places.get(lane.index()?)?.key)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = LaneKey> {
        self.places.iter().map(|place| place.key)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn clear(&mut self) {
        self.places.clear();
        self.roots = 0;
    }
}
