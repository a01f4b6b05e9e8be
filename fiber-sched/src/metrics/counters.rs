//! The counters of a worker. Only the worker itself writes them, without read-modify-writes; other threads read.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fiber_core::scheduler::{Task, TaskKind};

/// Latencies from below 256 ns to 8 s and more, each bucket twice the one before.
pub(super) const LATENCY_BUCKETS: usize = 26;

/// The kinds in the order of the counters.
pub(crate) const KINDS: [TaskKind; 8] = [
    TaskKind::Start,
    TaskKind::Wake,
    TaskKind::Cancel,
    TaskKind::Timer,
    TaskKind::TimeOut,
    TaskKind::Continue,
    TaskKind::Blocking,
    TaskKind::Compute,
];

#[derive(Default)]
pub(crate) struct Counters {
    counts: [AtomicU64; 16],
    latencies: [AtomicU64; LATENCY_BUCKETS],
}

#[derive(Clone, Copy)]
pub(crate) enum Count {
    Task(TaskKind),
    Steal,
    StolenBranch,
    Search,
    WakeUp,
    Notification,
    CutBySteps,
    CutByTime,
    Stuck,
}

impl Count {
    #[inline]
    fn index(self) -> usize {
        match self {
            Count::Task(kind) => kind as usize,
            Count::Steal => 8,
            Count::StolenBranch => 9,
            Count::Search => 10,
            Count::WakeUp => 11,
            Count::Notification => 12,
            Count::CutBySteps => 13,
            Count::CutByTime => 14,
            Count::Stuck => 15,
        }
    }
}

impl Counters {
    /// Adds one. Only the worker calls it, except for `Stuck`, which only the lookout counts.
    #[inline]
    pub(crate) fn add(&self, count: Count) {
        increment(&self.counts[count.index()]);
    }

    /// Counts the turn that a task begins.
    #[inline]
    pub(crate) fn add_turn(&self, task: &Task) {
        self.add(Count::Task(task.kind()));
    }

    /// The number of turns that have begun.
    #[cfg(feature = "tokio")]
    pub(crate) fn turns(&self) -> u64 {
        KINDS.iter().map(|kind| self.get(Count::Task(*kind))).sum()
    }

    pub(super) fn get(&self, count: Count) -> u64 {
        // Relaxed, here and below: each number is independent of all other data.
        self.counts[count.index()].load(Ordering::Relaxed)
    }

    /// Counts a task that has waited for `latency`.
    pub(super) fn add_latency(&self, latency: Duration) {
        // The position of the highest bit, above those below 256 ns.
        let bucket = (latency.as_nanos() >> 8).checked_ilog2().map_or(0, |bit| bit as usize + 1);
        increment(&self.latencies[bucket.min(LATENCY_BUCKETS - 1)]);
    }

    pub(super) fn latencies(&self) -> [u64; LATENCY_BUCKETS] {
        std::array::from_fn(|bucket| self.latencies[bucket].load(Ordering::Relaxed))
    }
}

#[inline]
fn increment(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}
