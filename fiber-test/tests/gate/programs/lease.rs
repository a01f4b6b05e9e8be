//! A leader checks whether its lease is still valid, and then writes. In the last moment of the lease, another one becomes the leader and writes
//! in between.

use std::time::Duration;

use fiber_core::{Fiber, Instant};

use crate::support::Shared;

const LEASE: Duration = Duration::from_secs(10);

/// Each write carries the number of its writer's lease.
#[derive(Default)]
pub(crate) struct Store {
    written_by: u32,
    is_fenced: bool,
}

impl Store {
    pub(crate) fn write(&mut self, lease: u32) {
        assert!(self.is_fenced || lease >= self.written_by, "an old leader overwrote a new one");
        self.written_by = self.written_by.max(lease);
    }
}

fn old_leader(store: Shared<Store>) -> Fiber<()> {
    let work = Fiber::delay(LEASE).bind(|()| Fiber::now());
    let write = move |now| {
        let is_good = now <= Instant::EPOCH + LEASE;
        store.step(move |store| {
            if is_good {
                store.write(1)
            }
        })
    };
    work.bind(write).boxed()
}

fn new_leader(store: Shared<Store>) -> Fiber<()> {
    Fiber::delay(LEASE).bind(move |()| store.step(|store| store.write(2))).boxed()
}

fn program(is_fenced: bool) -> Fiber<()> {
    let store = Shared::new(Store { written_by: 0, is_fenced });
    Fiber::parallel([old_leader(store.clone()), new_leader(store)]).map(drop).boxed()
}

pub(crate) fn broken() -> Fiber<()> {
    program(false)
}

/// The store rejects the writes of an old leader.
pub(crate) fn corrected() -> Fiber<()> {
    program(true)
}
