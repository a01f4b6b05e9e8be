//! Those who wait for one event.

use crate::context::Wakeup;

/// Who waits. Nearly always one: it needs no allocation.
#[derive(Default)]
pub(super) struct WaitList {
    next_key: usize,
    first: Option<(usize, Wakeup)>,
    others: Vec<(usize, Wakeup)>,
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

    pub(super) fn fire_all(self) {
        self.first.into_iter().chain(self.others).for_each(|(_, wakeup)| wakeup.fire());
    }
}
