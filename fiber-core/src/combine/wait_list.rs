//! Those who wait for one event.

use std::mem;

use crate::context::Wakeup;

/// Who waits. Nearly always one: it needs no allocation.
#[derive(Default)]
pub(super) struct WaitList {
    next_key: usize,
    first: Option<(usize, Wakeup)>,
    others: Vec<(usize, Wakeup)>,
}

/// Those who waited for an event that has happened.
pub(super) struct Waiting {
    first: Option<(usize, Wakeup)>,
    others: Vec<(usize, Wakeup)>,
}

impl Waiting {
    pub(super) fn fire(self) {
        self.first.into_iter().chain(self.others).for_each(|(_, wakeup)| wakeup.fire());
    }
}

/// Names a wake-up in the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitKey(usize);

impl WaitList {
    pub(super) fn insert(&mut self, wakeup: Wakeup) -> WaitKey {
        let key = self.next_key;
        self.next_key += 1;
        match self.first {
            None => self.first = Some((key, wakeup)),
            Some(_) => self.others.push((key, wakeup)),
        }
        WaitKey(key)
    }

    pub(super) fn remove(&mut self, WaitKey(key): WaitKey) -> Option<Wakeup> {
        if let Some((_, wakeup)) = self.first.take_if(|(at, _)| *at == key) {
            return Some(wakeup);
        }
        let place = self.others.iter().position(|(at, _)| *at == key)?;
        Some(self.others.swap_remove(place).1)
    }

    /// Those who wait now, to be fired without a lock. Keys go on from where they were: one who is taken out here, but whose
    /// fiber is just being cancelled, still gives its key back, which must not be that of somebody who comes later.
    pub(super) fn take_all(&mut self) -> Waiting {
        Waiting { first: self.first.take(), others: mem::take(&mut self.others) }
    }
}
