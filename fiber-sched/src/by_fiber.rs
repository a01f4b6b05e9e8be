//! The values that an observer keeps for live fibers.

use std::collections::HashMap;

use crossbeam_utils::CachePadded;
use fiber_core::Context;
use parking_lot::Mutex;

/// With this many shards, threads rarely contend.
const SHARDS: usize = 16;

/// Values by the keys of fibers.
#[derive(Debug)]
pub(crate) struct ByFiber<V>(Box<[CachePadded<Mutex<HashMap<usize, V>>>]>);

impl<V> ByFiber<V> {
    fn shard(&self, key: usize) -> &Mutex<HashMap<usize, V>> {
        // Cells are aligned to more than 16 bytes.
        &self.0[(key >> 5) % SHARDS]
    }

    pub(crate) fn insert(&self, fiber: &Context, value: V) {
        let before = self.shard(fiber.key()).lock().insert(fiber.key(), value);
        drop(before);
    }

    /// Calls `look` with the value of a fiber. A lock is held, so `look` must not call user code.
    pub(crate) fn with<R>(&self, fiber: &Context, look: impl FnOnce(&mut V) -> R) -> Option<R> {
        self.with_key(fiber.key(), look)
    }

    /// The same, by the key of the fiber.
    pub(crate) fn with_key<R>(&self, key: usize, look: impl FnOnce(&mut V) -> R) -> Option<R> {
        self.shard(key).lock().get_mut(&key).map(look)
    }

    /// Removes and returns the value, so that the caller drops it without the lock.
    pub(crate) fn remove(&self, fiber: &Context) -> Option<V> {
        self.shard(fiber.key()).lock().remove(&fiber.key())
    }
}

#[cfg(test)]
impl<V> ByFiber<V> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|shard| shard.lock().is_empty())
    }
}

impl<V> Default for ByFiber<V> {
    fn default() -> Self {
        ByFiber((0..SHARDS).map(|_| CachePadded::default()).collect())
    }
}
