//! What a pool has done, and what waits in it: [`Metrics`].

use std::fmt;
use std::time::Duration;

use fiber_core::TaskKind;

use super::counters::{Count, Counters, LATENCY_BUCKETS};

/// What a [`Pool`](crate::Pool), an [`AffinityPool`](crate::AffinityPool) or a `TokioScheduler` has done since its start, and
/// what waits in it now. The numbers of different threads are read one after the other while those go on, so their sums may be off by what
/// happens meanwhile.
///
/// ```
/// use fiber_core::{Fiber, TaskKind};
/// use fiber_sched::{Pool, block_on};
///
/// let pool = Pool::builder().workers(2).build();
/// let handles: Vec<_> = (0..10).map(|n| pool.spawn(Fiber::success(n))).collect();
/// handles.into_iter().for_each(|handle| assert!(block_on(handle).is_success()));
/// let metrics = pool.metrics();
/// assert_eq!(metrics.workers.len(), 3);
/// assert_eq!(metrics.total(|worker| worker.tasks(TaskKind::Start)), 10);
/// println!("{metrics}");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Metrics {
    /// One for each worker. A `Pool` has one more, for its spare thread.
    pub workers: Vec<WorkerMetrics>,
    /// How many workers may run at a time: as many as the pool was built with, and in a `Pool` one more for each that is
    /// stuck or makes way.
    pub may_run: usize,
    /// Tasks from outside that wait for a worker, whichever takes them. In an `AffinityPool` there are none: each task is
    /// queued for its worker.
    pub injected: usize,
    /// Timers that are set.
    pub timers: usize,
    /// Threads for blocking calls.
    pub blocking_threads: usize,
    /// Blocking calls that wait for a thread.
    pub blocking_queue: usize,
    /// How many fibers directly below the root have not ended.
    pub fibers: usize,
}

/// What one worker has done, and what waits for it.
///
/// Those of a `TokioScheduler` count turns and wake-ups only; the rest is 0.
///
/// Workers of an [`AffinityPool`](crate::AffinityPool) take nothing from each other, and no worker looks after the turns
/// of another one. Their `steals`, `stolen_branches`, `notifications`, `cut_by_time` and `stuck` are 0.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WorkerMetrics {
    tasks: [u64; KINDS.len()],
    latencies: [u64; LATENCY_BUCKETS],
    /// Times that it took tasks from the deque of another worker.
    pub steals: u64,
    /// Branches that it took from the stack of another thread.
    pub stolen_branches: u64,
    /// Times that it began to look for work.
    pub searches: u64,
    /// Times that it got up from a sleep.
    pub wake_ups: u64,
    /// Times that it told sleepers about work of its own.
    pub notifications: u64,
    /// Turns that ended because their steps were spent while another task waited.
    pub cut_by_steps: u64,
    /// Turns that ended because they had lasted too long while another task waited.
    pub cut_by_time: u64,
    /// Turns in which it was stuck.
    pub stuck: u64,
    /// Tasks in its queue. In an `AffinityPool`, also those from other threads that it has not seen yet.
    pub queued: usize,
}

/// The kinds in the order of the counters.
pub(super) const KINDS: [TaskKind; 8] = [
    TaskKind::Start,
    TaskKind::Wake,
    TaskKind::Cancel,
    TaskKind::Timer,
    TaskKind::TimeOut,
    TaskKind::Continue,
    TaskKind::Blocking,
    TaskKind::Compute,
];

impl Metrics {
    /// The sum of a number over all workers.
    pub fn total(&self, number: impl Fn(&WorkerMetrics) -> u64) -> u64 {
        self.workers.iter().map(number).sum()
    }
}

impl WorkerMetrics {
    pub(crate) fn new(counters: &Counters, queued: usize) -> Self {
        WorkerMetrics {
            tasks: KINDS.map(|kind| counters.get(Count::Task(kind))),
            latencies: counters.latencies(),
            steals: counters.get(Count::Steal),
            stolen_branches: counters.get(Count::StolenBranch),
            searches: counters.get(Count::Search),
            wake_ups: counters.get(Count::WakeUp),
            notifications: counters.get(Count::Notification),
            cut_by_steps: counters.get(Count::CutBySteps),
            cut_by_time: counters.get(Count::CutByTime),
            stuck: counters.get(Count::Stuck),
            queued,
        }
    }

    /// How many tasks of a kind it has run.
    pub fn tasks(&self, kind: TaskKind) -> u64 {
        KINDS.iter().zip(self.tasks).filter(|(other, _)| **other == kind).map(|(_, count)| count).sum()
    }

    /// How many turns it has had.
    pub fn turns(&self) -> u64 {
        self.tasks.iter().sum()
    }

    /// How long tasks waited in its queue, sampled: upper bounds, each twice the one before, and how many samples lie
    /// below the bound and not below the one before. The time in which a task from another thread waits until the worker
    /// takes it into its queue does not count.
    pub fn latencies(&self) -> impl Iterator<Item = (Duration, u64)> + '_ {
        (0..).zip(self.latencies).map(|(bucket, count)| (Duration::from_nanos(1 << (bucket + 8)), count))
    }
}

/// One line for the pool, and one for each worker.
impl fmt::Display for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Metrics { may_run, injected, timers, blocking_threads, blocking_queue, fibers, .. } = self;
        writeln!(
            f,
            "{may_run} may run, {fibers} fibers, {injected} injected, {timers} timers, {blocking_threads} blocking \
             threads, {blocking_queue} blocking calls wait"
        )?;
        self.workers
            .iter()
            .enumerate()
            .try_for_each(|(index, worker)| writeln!(f, "worker {index}: {worker}"))
    }
}

impl fmt::Display for WorkerMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} turns", self.turns())?;
        for (kind, count) in KINDS.iter().zip(self.tasks).filter(|(_, count)| *count > 0) {
            write!(f, ", {count} {kind}")?;
        }
        let numbers = [
            ("queued", self.queued as u64),
            ("steals", self.steals),
            ("stolen branches", self.stolen_branches),
            ("searches", self.searches),
            ("wake-ups", self.wake_ups),
            ("notifications", self.notifications),
            ("cut by steps", self.cut_by_steps),
            ("cut by time", self.cut_by_time),
            ("stuck", self.stuck),
        ];
        numbers.iter().try_for_each(|(name, number)| write!(f, "; {number} {name}"))
    }
}
