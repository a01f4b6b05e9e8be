//! What other threads see of a worker.

use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crossbeam_deque::Stealer;
use crossbeam_utils::atomic::AtomicCell;
use fiber_core::Context;
use fiber_core::scheduler::Task;

use super::pinned::Pinned;
use crate::metrics::{Counters, WorkerMetrics};

/// One for each worker, on cache lines of its own.
pub(super) struct Seat {
    /// The other end of the worker's deque.
    pub(super) deque: Stealer<Task>,
    /// The other end of its place for the task that runs next.
    pub(super) next: Stealer<Task>,
    /// Tasks that no other worker may run.
    pub(super) pinned: Pinned,
    /// Whether the worker has to tell the sleepers when it queues a task.
    is_marked: AtomicBool,
    /// Whether the worker polls the injector before its own deque, once.
    is_called: AtomicBool,
    /// Whether the fiber asks at its next bind whether it may go on.
    is_overdue: AtomicBool,
    /// Odd while the worker runs a fiber. It changes with each turn, and whenever the fiber asks whether it may go on.
    stage: AtomicU64,
    /// The number of fibers that were joined before they had started.
    taken_back: AtomicU64,
    /// Where the fiber was forked that has the turn.
    site: AtomicCell<Option<&'static Location<'static>>>,
    /// Whether another worker runs in its place.
    is_stuck: AtomicBool,
    counters: Counters,
}

// Relaxed, everywhere below: each value stands for itself. Those that tell a worker something may be seen late, and those
// that a worker tells are compared with what was seen before.
impl Seat {
    pub(super) fn new(deque: Stealer<Task>, next: Stealer<Task>) -> Self {
        Seat {
            deque,
            next,
            pinned: Pinned::default(),
            is_marked: AtomicBool::new(true),
            is_called: AtomicBool::new(false),
            is_overdue: AtomicBool::new(false),
            stage: AtomicU64::new(0),
            taken_back: AtomicU64::new(0),
            site: AtomicCell::new(None),
            is_stuck: AtomicBool::new(false),
            counters: Counters::default(),
        }
    }

    /// Makes the worker tell the sleepers, once, when it queues a task.
    pub(super) fn mark(&self) {
        self.is_marked.store(true, Ordering::Relaxed);
    }

    /// `true`: the worker has to tell the sleepers.
    #[inline]
    pub(super) fn take_mark(&self) -> bool {
        self.is_marked.load(Ordering::Relaxed) && {
            self.is_marked.store(false, Ordering::Relaxed);
            true
        }
    }

    /// Calls the worker to the injector and the timers.
    pub(super) fn call(&self) {
        self.is_called.store(true, Ordering::Relaxed);
    }

    /// Whether it has been called since it looked.
    #[inline]
    pub(super) fn is_called(&self) -> bool {
        self.is_called.load(Ordering::Relaxed)
    }

    #[inline]
    pub(super) fn take_call(&self) -> bool {
        self.is_called() && {
            self.is_called.store(false, Ordering::Relaxed);
            true
        }
    }

    /// Set while the turn of the worker lasts too long.
    pub(super) fn is_overdue(&self) -> &AtomicBool {
        &self.is_overdue
    }

    /// The worker begins a turn with a fiber.
    #[inline]
    pub(super) fn begin_turn(&self, task: &Task) {
        self.counters.add_turn(task);
        self.site.store(task.context().map(Context::fork_site));
        // The turn before may have lasted too long, and ended without asking.
        if self.is_overdue.load(Ordering::Relaxed) {
            self.is_overdue.store(false, Ordering::Relaxed);
        }
        let stage = self.stage.load(Ordering::Relaxed);
        self.stage.store(stage | 1, Ordering::Relaxed);
    }

    /// The worker has ended its turn.
    #[inline]
    pub(super) fn end_turn(&self) {
        let stage = self.stage.load(Ordering::Relaxed);
        self.stage.store((stage | 1).wrapping_add(1), Ordering::Relaxed);
    }

    /// The fiber asks whether it may go on in the same turn, so it is not stuck. `true`: the turn lasts too long.
    pub(super) fn renew_turn(&self) -> bool {
        self.continues();
        let was_overdue = self.is_overdue.load(Ordering::Relaxed);
        self.is_overdue.store(false, Ordering::Relaxed);
        was_overdue
    }

    /// The worker computes in its turn, so it is not stuck.
    pub(super) fn continues(&self) {
        self.stage.store(self.stage.load(Ordering::Relaxed).wrapping_add(2), Ordering::Relaxed);
    }

    /// A number for the turn that the worker is in.
    pub(super) fn turn(&self) -> Option<u64> {
        let stage = self.stage.load(Ordering::Relaxed);
        (stage % 2 == 1).then_some(stage)
    }

    /// A fiber joins one that has not started, and runs it in the same turn.
    pub(super) fn takes_back(&self) {
        self.taken_back.store(self.taken_back.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// How many tasks it has got through: turns, also renewed ones, and fibers that were run in the turn of another one.
    pub(super) fn progress(&self) -> u64 {
        (self.stage.load(Ordering::Relaxed) / 2).wrapping_add(self.taken_back.load(Ordering::Relaxed))
    }

    /// Where the fiber was forked that has this turn, if the turn still lasts.
    pub(super) fn site(&self, turn: u64) -> Option<Option<&'static Location<'static>>> {
        // The cell's Acquire: a thread that sees the site of a later turn sees the end of this one.
        let site = self.site.load();
        (self.turn() == Some(turn)).then_some(site)
    }

    pub(super) fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(super) fn metrics(&self) -> WorkerMetrics {
        let queued = self.deque.len() + self.next.len() + self.pinned.len();
        let runs = self.turn().and_then(|turn| self.site(turn)).flatten();
        let mut metrics = WorkerMetrics::new(&self.counters, queued);
        (metrics.runs, metrics.is_stuck) = (runs, self.is_stuck());
        metrics
    }

    /// Whether another worker runs in its place.
    pub(super) fn is_stuck(&self) -> bool {
        self.is_stuck.load(Ordering::Relaxed)
    }

    /// Whether tasks wait here that others may run.
    pub(super) fn has_any(&self) -> bool {
        !self.deque.is_empty() || !self.next.is_empty()
    }

    /// Notes that the worker is stuck in its turn. `false`: that is known.
    pub(super) fn set_stuck(&self) -> bool {
        !self.is_stuck.swap(true, Ordering::Relaxed)
    }

    /// Notes that the worker is not stuck, and whether it was.
    #[inline]
    pub(super) fn recover(&self) -> bool {
        self.is_stuck.load(Ordering::Relaxed) && self.is_stuck.swap(false, Ordering::Relaxed)
    }
}
