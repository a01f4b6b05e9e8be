//! The memory of the timers: nodes with a deadline and a task.
//!
//! A key names a node and its generation, so a key of an earlier use finds nothing:
//!
//! ```text
//!   bit 63        48 47         28 27        0
//!       |  worker   | generation  |  index   |
//! ```

use std::collections::VecDeque;
use std::ops::{Index, IndexMut};

use fiber_core::scheduler::TimerKey;

use super::slot::Entry;

/// The null link.
const NONE: u32 = u32::MAX;

/// The number of bits of a key. The rest of a `u64` is 0 here; a pool's timers put the number of the worker there.
pub(super) const KEY_BITS: u32 = 48;
/// 268 million timers at a time, which take 17 GB.
const INDEX_BITS: u32 = 28;
const GENERATIONS: u32 = 1 << (KEY_BITS - INDEX_BITS);

/// This many nodes whose generations are used up wait before they restart at the first. A key thus recurs
/// after 4,294,967,296 other timers at the earliest, although the node that was freed last is used first.
const WORN_NODES: usize = 1 << 12;

/// Nodes, found by index or by key. The memory of a free node is reused, and freed only when the slab is dropped.
pub(super) struct Slab<T> {
    nodes: Vec<Node<T>>,
    /// The free node that was used last, and is probably in the cache. `next` links it to the others.
    free: u32,
    /// Free nodes whose generations are used up, in the order in which they were freed.
    worn: VecDeque<u32>,
    /// The number of timers.
    live: usize,
}

/// A timer, or a free node.
pub(super) struct Node<T> {
    /// The exact deadline, in nanoseconds.
    pub(super) at: u64,
    /// While it is free: the next free node.
    next: u32,
    /// How often the node was freed since its generations restarted. While the node is free, no key has this generation yet.
    generation: u32,
    task: Option<T>,
}

impl<T> Slab<T> {
    /// Stores a timer and gives its index.
    ///
    /// # Panics
    /// If there are 268,435,456 timers.
    pub(super) fn insert(&mut self, at: u64, task: T) -> u32 {
        self.live += 1;
        let index = self.free;
        if let Some(node) = self.nodes.get_mut(index as usize) {
            self.free = node.next;
            *node = Node { at, next: NONE, generation: node.generation, task: Some(task) };
            return index;
        }
        let index = u32::try_from(self.nodes.len()).unwrap_or(NONE);
        assert!(index < 1 << INDEX_BITS, "too many timers");
        self.nodes.push(Node { at, next: NONE, generation: 0, task: Some(task) });
        index
    }

    /// The largest number of timers at any time.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The number of timers.
    pub(super) fn live(&self) -> usize {
        self.live
    }

    /// The key of the timer in this node.
    pub(super) fn key(&self, index: u32) -> TimerKey {
        TimerKey::new(u64::from(self[index].generation) << INDEX_BITS | u64::from(index))
    }

    /// The node of a timer. `None`: the timer is gone.
    pub(super) fn find(&self, key: TimerKey) -> Option<u32> {
        let index = key.get() as u32 & ((1 << INDEX_BITS) - 1);
        let node = self.nodes.get(index as usize)?;
        (u64::from(node.generation) == key.get() >> INDEX_BITS && node.task.is_some()).then_some(index)
    }

    /// Whether the timer of an entry is there. The deadline is compared, too: keys are given out again in time, and an entry may
    /// lie for years.
    #[inline]
    pub(super) fn has(&self, entry: Entry) -> bool {
        self.find(entry.key).is_some_and(|index| self[index].at == entry.at)
    }

    /// Frees a node, and returns the task of its timer.
    pub(super) fn free(&mut self, index: u32) -> Option<T> {
        let node = &mut self[index];
        let task = node.task.take();
        node.generation += 1;
        let is_worn = node.generation == GENERATIONS;
        self.live -= 1;
        if !is_worn {
            self.push_free(index);
        } else {
            self.rest(index);
        }
        task
    }

    /// Sets a worn node aside, and frees the one that was set aside first.
    #[cold]
    fn rest(&mut self, index: u32) {
        self[index].generation = 0;
        self.worn.push_back(index);
        if self.worn.len() > WORN_NODES {
            let first = self.worn.pop_front();
            first.into_iter().for_each(|index| self.push_free(index));
        }
    }

    fn push_free(&mut self, index: u32) {
        self[index].next = self.free;
        self.free = index;
    }
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { nodes: Vec::new(), free: NONE, worn: VecDeque::new(), live: 0 }
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = Node<T>;

    fn index(&self, index: u32) -> &Node<T> {
        &self.nodes[index as usize]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    fn index_mut(&mut self, index: u32) -> &mut Node<T> {
        &mut self.nodes[index as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::{GENERATIONS, INDEX_BITS, KEY_BITS, NONE, Slab, WORN_NODES};
    use fiber_core::scheduler::TimerKey;
    use std::collections::HashSet;

    #[test]
    fn a_node_is_used_again_under_another_key() {
        let mut slab = Slab::default();
        let index = slab.insert(1, "a");
        let stale = slab.key(index);
        assert_eq!(slab.free(index), Some("a"));
        assert_eq!(slab.find(stale), None);
        assert_eq!(slab.insert(2, "b"), index);
        assert_eq!(slab.find(stale), None);
        assert_eq!(slab.find(slab.key(index)), Some(index));
    }

    #[test]
    fn a_free_node_is_not_found_under_its_next_key() {
        let mut slab = Slab::default();
        let index = slab.insert(1, ());
        slab.free(index);
        assert_eq!(slab.find(slab.key(index)), None);
    }

    #[test]
    fn bits_above_the_key_belong_to_it() {
        let mut slab = Slab::default();
        let index = slab.insert(1, ());
        let key = slab.key(index).get();
        assert_eq!(slab.find(TimerKey::new(key)), Some(index));
        assert_eq!(slab.find(TimerKey::new(key | 1 << KEY_BITS)), None);
        assert_eq!(slab.find(TimerKey::new(u64::MAX)), None);
    }

    /// A node in its last generation.
    fn worn(slab: &mut Slab<()>) -> u32 {
        let index = slab.insert(0, ());
        slab[index].generation = GENERATIONS - 1;
        index
    }

    #[test]
    fn a_worn_node_waits_until_many_others_are_worn() {
        let mut slab = Slab::default();
        let first = worn(&mut slab);
        assert_eq!(slab.key(first).get() >> KEY_BITS, 0);
        slab.free(first);
        for _ in 1..WORN_NODES {
            let index = worn(&mut slab);
            assert_ne!(index, first);
            slab.free(index);
        }
        assert_eq!(slab.free, NONE);
        let last = worn(&mut slab);
        slab.free(last);
        assert_eq!(slab.insert(0, ()), first);
        assert_eq!(slab.key(first).get() >> INDEX_BITS, 0);
    }

    #[test]
    fn keys_differ_when_one_node_is_used_often() {
        let mut slab = Slab::default();
        let keys: HashSet<TimerKey> = (0..100_000)
            .map(|_| {
                let index = slab.insert(0, ());
                let key = slab.key(index);
                slab.free(index);
                key
            })
            .collect();
        assert_eq!(keys.len(), 100_000);
        assert_eq!(slab.len(), 1);
    }
}
