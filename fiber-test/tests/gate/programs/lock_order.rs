//! Each of n fibers acquires a lock and then the next one, in a cycle. With four of them: the dining philosophers.

use fiber_core::Fiber;

use crate::exact::{Model, Next};
use crate::support::Lock;

fn dine(first: Lock, second: Lock) -> Fiber<()> {
    let both = first.take().bind(move |first| second.take().map(move |second| (first, second)));
    both.bind(|both| Fiber::lazy(move || drop(both))).boxed()
}

fn program(count: usize, in_order: bool) -> Fiber<()> {
    let locks: Vec<Lock> = (0..count).map(|_| Lock::default()).collect();
    let one = |at: usize| {
        let next = (at + 1) % count;
        let (first, second) = if in_order { (at.min(next), at.max(next)) } else { (at, next) };
        dine(locks[first].clone(), locks[second].clone())
    };
    Fiber::parallel((0..count).map(one).collect::<Vec<_>>()).map(drop).boxed()
}

pub(crate) fn broken() -> Fiber<()> {
    program(2, false)
}

/// All acquire the lock with the smaller number first.
pub(crate) fn corrected() -> Fiber<()> {
    program(2, true)
}

pub(crate) fn philosophers_broken() -> Fiber<()> {
    program(4, false)
}

pub(crate) fn philosophers_corrected() -> Fiber<()> {
    program(4, true)
}

/// The locks, and the one that each fiber waits for.
#[derive(Clone)]
pub(crate) struct Table {
    owners: Vec<Option<usize>>,
    waits: Vec<Option<usize>>,
}

impl Table {
    fn take(&mut self, fiber: usize, lock: usize) -> Next {
        let lock = lock % self.owners.len();
        match self.owners[lock] {
            None => self.owners[lock] = Some(fiber),
            Some(_) => self.waits[fiber] = Some(lock),
        }
        Next::GoOn
    }

    fn release_all(&mut self, fiber: usize) -> Next {
        for lock in 0..self.owners.len() {
            if self.owners[lock] == Some(fiber) {
                let heir = self.waits.iter().position(|waits| *waits == Some(lock));
                self.owners[lock] = heir;
                heir.into_iter().for_each(|heir| self.waits[heir] = None);
            }
        }
        Next::GoOn
    }
}

pub(crate) fn model(count: usize) -> Model<Table> {
    let first = |table: &mut Table, fiber: usize| table.take(fiber, fiber);
    let second = |table: &mut Table, fiber: usize| table.take(fiber, fiber + 1);
    let table = Table { owners: vec![None; count], waits: vec![None; count] };
    let is_stuck = |table: &Table| table.waits.iter().any(Option::is_some);
    let waits = |table: &Table, fiber: usize| table.waits[fiber].is_some();
    let dine = vec![first, second, Table::release_all];
    Model { waits, ..Model::new(table, vec![dine; count], is_stuck) }
}
