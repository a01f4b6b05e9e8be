//! On which host of the simulated network each fiber runs: where the fiber runs that made it, unless it was put elsewhere.

use super::lane::Lane;

/// A host, and how often it had crashed when the fiber began there. What a crash has left over is nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) host: u16,
    pub(crate) crashes: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Places {
    /// By lane. Those past its end are where programs without hosts are.
    of: Vec<Place>,
}

impl Places {
    pub(crate) fn clear(&mut self) {
        self.of.clear();
    }

    #[inline]
    pub(crate) fn created(&mut self, lane: Lane, parent: Lane) {
        if !self.of.is_empty() {
            self.inherit(lane, parent);
        }
    }

    /// Apart, because most programs have no hosts.
    #[cold]
    fn inherit(&mut self, lane: Lane, parent: Lane) {
        self.put(lane, self.of(parent));
    }

    pub(crate) fn put(&mut self, lane: Lane, place: Place) {
        let Some(index) = lane.index() else { return };
        if self.of.len() <= index {
            self.of.resize(index + 1, Place::default());
        }
        self.of[index] = place;
    }

    pub(crate) fn of(&self, lane: Lane) -> Place {
        lane.index().and_then(|index| self.of.get(index)).copied().unwrap_or_default()
    }
}
