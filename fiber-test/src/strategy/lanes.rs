//! What tells the fibers of one run from each other in the same way in every other run: their place in the tree.

use crate::machine::Lane;
use crate::random::mix;

/// A fiber's place in the tree, hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct LaneKey(u64);

impl LaneKey {
    /// What is no fiber.
    pub(crate) const NONE: LaneKey = LaneKey(0);
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Lanes(Vec<Place>);

#[derive(Clone, Debug)]
struct Place {
    key: LaneKey,
    children: u64,
}

impl Lanes {
    pub(crate) fn created(&mut self, lane: Lane, parent: Lane) {
        let above = parent.index().and_then(|index| self.0.get_mut(index));
        let (parent_key, child) = above.map_or((0, 0), |place| {
            place.children += 1;
            (place.key.0, place.children)
        });
        let key = LaneKey(mix(parent_key ^ mix(child + 1)).max(1));
        debug_assert_eq!(lane.index(), Some(self.0.len()), "lanes are numbered in their order");
        self.0.push(Place { key, children: 0 });
    }

    pub(crate) fn key(&self, lane: Lane) -> Option<LaneKey> {
        Some(self.0.get(lane.index()?)?.key)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = LaneKey> {
        self.0.iter().map(|place| place.key)
    }
}
