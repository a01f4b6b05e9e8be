//! Those who wait for one event.

use std::collections::BTreeMap;
use std::mem;

use crate::context::Wakeup;

/// The wake-ups of one event, first come, first served. Nearly always there is one, which needs no allocation; any of `n` is
/// removed in O(log n).
#[derive(Default)]
pub(super) struct WaitList {
    next_key: u64,
    first: Option<(u64, Wakeup)>,
    /// By key, which is the order in which they came.
    others: BTreeMap<u64, Wakeup>,
}

/// Those who waited for an event that has happened.
pub(super) struct Waiting {
    first: Option<(u64, Wakeup)>,
    others: BTreeMap<u64, Wakeup>,
}

impl Waiting {
    pub(super) fn fire(self) {
        if let Some((_, wakeup)) = self.first {
            wakeup.fire();
        }
        self.others.into_values().for_each(Wakeup::fire);
    }
}

/// Names a wake-up in the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitKey(u64);

impl WaitList {
    pub(super) fn insert(&mut self, wakeup: Wakeup) -> WaitKey {
        let key = self.next_key;
        self.next_key += 1;
        match self.first {
            None if self.others.is_empty() => self.first = Some((key, wakeup)),
            _ => drop(self.others.insert(key, wakeup)),
        }
        WaitKey(key)
    }

    pub(super) fn remove(&mut self, WaitKey(key): WaitKey) -> Option<Wakeup> {
        if let Some((_, wakeup)) = self.first.take_if(|(at, _)| *at == key) {
            return Some(wakeup);
        }
        self.others.remove(&key)
    }

    /// Those who wait now, to be fired without a lock. Keys go on from where they were: one who is taken out here, but whose
    /// fiber is just being cancelled, still gives its key back, which must not be that of somebody who comes later.
    pub(super) fn take_all(&mut self) -> Waiting {
        Waiting { first: self.first.take(), others: mem::take(&mut self.others) }
    }
}
